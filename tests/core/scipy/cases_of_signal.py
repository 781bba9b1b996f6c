"""Cases of `xpgrad.scipy.signal`."""

import numpy as np
import pytest
from tests.core.scipy.table import cases_of, complex_uniform, uniform

from xpgrad.scipy import signal

of = cases_of("signal", signal, pytest.importorskip("scipy.signal"))

B, A = np.asarray([0.5, 0.3, 0.1]), np.asarray([2.0, -0.6, 0.5, 0.1])
SOS = np.asarray([[0.5, 0.3, 0.1, 1.0, -0.3, 0.2], [1.0, 0.2, 0.4, 1.0, 0.1, -0.3]])

CASES = [
    of("convolve", uniform(4, 5), uniform(2, 3)),
    of("convolve:same,complex", complex_uniform(5), uniform(3), args=("same", "direct")),
    of("convolve:valid,fft", uniform(3), uniform(7), args=("valid", "fft")),
    of("correlate:valid,complex", complex_uniform(4, 3), complex_uniform(2, 2), args=("valid",)),
    of("fftconvolve:same", uniform(4, 5), uniform(2, 3), args=("same",)),
    of("fftconvolve:axes,complex", complex_uniform(2, 5), uniform(2, 3), axes=1),
    of("lfilter", B, A, uniform(2, 9)),
    of("lfilter:axis,complex", B, A, complex_uniform(9, 2), axis=0),
    of("lfilter:zi", B, A, uniform(2, 9), uniform(2, 3), call=lambda m, b, a, x, z: m.lfilter(b, a, x, zi=z)),
    of("lfilter:zi,short", B, A, uniform(2), uniform(3), call=lambda m, b, a, x, z: m.lfilter(b, a, x, zi=z),
       libraries=False),
    of("lfilter:long", A, uniform(300), call=lambda m, a, x: m.lfilter(a[:1], a, x), orders=1),
    of("lfilter_zi", B, A),
    of("sosfilt", SOS, uniform(2, 7)),
    of("filtfilt", B, A, uniform(15)),
    of("filtfilt:even", B, A, uniform(9, 2), axis=0, padtype="even", padlen=3, libraries=False),
    of("filtfilt:constant", B, A, uniform(9), padtype="constant", padlen=3, libraries=False),
    of("hilbert", uniform(2, 6), orders=1),
    of("hilbert:axis,N", uniform(5, 2), axis=0, N=7, orders=1),
    of("stft", uniform(2, 21), nperseg=8, orders=1),
    of("stft:odd,psd", uniform(20), nperseg=6, noverlap=4, nfft=8, fs=2.0, boundary="odd", scaling="psd",
       detrend="constant", orders=1, libraries=False),
    of("stft:window", uniform(20), uniform(8, low=0.5), call=lambda m, x, w: m.stft(x, window=w, nperseg=8)),
    of("stft:list", np.sin(np.arange(9.0)), window=[0.5, 1.0, 0.7], nperseg=3, orders=1, libraries=False),
    of("stft:all", uniform(256), nperseg=None, noverlap=3, orders=1, libraries=False),
    of("stft:detrend", uniform(9, 2), nperseg=4, axis=0, detrend=lambda parts: parts - parts[:1], orders=1,
       libraries=False),
    of("istft", complex_uniform(5, 6), nperseg=8, noverlap=5, fs=2.0, orders=1),
    of("istft:axes", complex_uniform(2, 6, 5), call=lambda m, z: m.istft(z, time_axis=1, freq_axis=2)[1],
         orders=1, libraries=False),
    of("spectrogram", uniform(30), nperseg=8),
    of("spectrogram:complex", uniform(2, 30), nperseg=7, mode="complex", scaling="spectrum", libraries=False),
    of("spectrogram:psd,complex", complex_uniform(30), nperseg=8, return_onesided=False, libraries=False),
    of("spectrogram:magnitude", complex_uniform(30), nperseg=8, mode="magnitude",
       return_onesided=False, libraries=False),
    of("savgol_filter", uniform(2, 12), args=(5, 2), orders=1),
    of("savgol_filter:m", uniform(12, 2), args=(7, 3), deriv=1, delta=0.5, axis=0, mode="mirror", orders=1,
       libraries=False),
    of("savgol_filter:c", uniform(12), args=(5, 3), mode="constant", cval=2.0, orders=1, libraries=False),
    of("detrend", uniform(2, 9), orders=1),
    of("detrend:bp", uniform(9, 2), axis=0, bp=[4], orders=1),
    of("detrend:constant", uniform(2, 9), type="constant", orders=1),
    of("savgol_filter:even", uniform(12), args=(4, 2), orders=1, libraries=False),
    of("savgol_filter:even,mirror", uniform(12), args=(4, 2), mode="mirror", orders=1, libraries=False),
    *(of(f"spectrogram:{mode}", uniform(30), nperseg=7, mode=mode, libraries=False)
      for mode in ("angle", "phase")),
    of("savgol_filter:distance", uniform(9), np.asarray(0.5), np.asarray(1.5), libraries=False,
       call=lambda m, x, d, c: m.savgol_filter(x, 5, 2, deriv=1, delta=d, mode="constant", cval=c)),
]  # fmt: skip
