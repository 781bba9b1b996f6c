"""Cases of `xpgrad.scipy.signal`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, complex_uniform, of_both, uniform

from xpgrad.scipy import signal

ref = pytest.importorskip("scipy.signal")
both = of_both(signal, ref)


def of(name, *inputs, args=(), orders=2, libraries=True, label="", **kwargs):
    """Return a case whose first arguments are arrays."""
    found, expected = getattr(signal, name), getattr(ref, name)
    return ScipyCase(
        f"signal.{name}{label}",
        lambda *xs: found(*xs, *args, **kwargs),
        lambda *xs: expected(*xs, *args, **kwargs),
        inputs,
        orders=orders,
        libraries=libraries,
    )


B, A = np.asarray([0.5, 0.3, 0.1]), np.asarray([2.0, -0.6, 0.5, 0.1])
SOS = np.asarray([[0.5, 0.3, 0.1, 1.0, -0.3, 0.2], [1.0, 0.2, 0.4, 1.0, 0.1, -0.3]])

CASES = [
    of("convolve", uniform(4, 5), uniform(2, 3)),
    of("convolve", complex_uniform(5), uniform(3), args=("same", "direct"), label=":same,complex"),
    of("convolve", uniform(3), uniform(7), args=("valid", "fft"), label=":valid,fft"),
    of("correlate", complex_uniform(4, 3), complex_uniform(2, 2), args=("valid",), label=":valid,complex"),
    of("fftconvolve", uniform(4, 5), uniform(2, 3), args=("same",), label=":same"),
    of("fftconvolve", complex_uniform(2, 5), uniform(2, 3), axes=1, label=":axes,complex"),
    of("lfilter", B, A, uniform(2, 9)),
    of("lfilter", B, A, complex_uniform(9, 2), axis=0, label=":axis,complex"),
    both("signal.lfilter:zi", lambda m, b, a, x, z: m.lfilter(b, a, x, zi=z), (B, A, uniform(2, 9), uniform(2, 3))),
    both("signal.lfilter:zi,short", lambda m, b, a, x, z: m.lfilter(b, a, x, zi=z), (B, A, uniform(2), uniform(3)),
         libraries=False),
    both("signal.lfilter:long", lambda m, a, x: m.lfilter(a[:1], a, x), (A, uniform(300)), orders=1),
    of("lfilter_zi", B, A),
    of("sosfilt", SOS, uniform(2, 7)),
    of("filtfilt", B, A, uniform(15)),
    of("filtfilt", B, A, uniform(9, 2), axis=0, padtype="even", padlen=3, label=":even", libraries=False),
    of("filtfilt", B, A, uniform(9), padtype="constant", padlen=3, label=":constant", libraries=False),
    of("hilbert", uniform(2, 6), orders=1),
    of("hilbert", uniform(5, 2), axis=0, N=7, orders=1, label=":axis,N"),
    of("stft", uniform(2, 21), nperseg=8, orders=1),
    of("stft", uniform(20), nperseg=6, noverlap=4, nfft=8, fs=2.0, boundary="odd", scaling="psd", detrend="constant",
       orders=1, label=":odd,psd", libraries=False),
    both("signal.stft:window", lambda m, x, w: m.stft(x, window=w, nperseg=8), (uniform(20), uniform(8, low=0.5))),
    of("stft", np.sin(np.arange(9.0)), window=[0.5, 1.0, 0.7], nperseg=3, orders=1, label=":list", libraries=False),
    of("stft", uniform(256), nperseg=None, noverlap=3, orders=1, label=":all", libraries=False),
    of("stft", uniform(9, 2), nperseg=4, axis=0, detrend=lambda parts: parts - parts[:1], orders=1, label=":detrend",
       libraries=False),
    of("istft", complex_uniform(5, 6), nperseg=8, noverlap=5, fs=2.0, orders=1),
    both("signal.istft:axes", lambda m, z: m.istft(z, time_axis=1, freq_axis=2)[1], (complex_uniform(2, 6, 5),),
         orders=1, libraries=False),
    of("spectrogram", uniform(30), nperseg=8),
    of("spectrogram", uniform(2, 30), nperseg=7, mode="complex", scaling="spectrum", label=":complex", libraries=False),
    of("spectrogram", complex_uniform(30), nperseg=8, return_onesided=False, label=":psd,complex", libraries=False),
    of("spectrogram", complex_uniform(30), nperseg=8, mode="magnitude",
       return_onesided=False, label=":magnitude", libraries=False),
    of("savgol_filter", uniform(2, 12), args=(5, 2), orders=1),
    of("savgol_filter", uniform(12, 2), args=(7, 3), deriv=1, delta=0.5, axis=0, mode="mirror", orders=1, label=":m",
       libraries=False),
    of("savgol_filter", uniform(12), args=(5, 3), mode="constant", cval=2.0, orders=1, label=":c", libraries=False),
    of("detrend", uniform(2, 9), orders=1),
    of("detrend", uniform(9, 2), axis=0, bp=[4], orders=1, label=":bp"),
    of("detrend", uniform(2, 9), type="constant", orders=1, label=":constant"),
    of("savgol_filter", uniform(12), args=(4, 2), orders=1, label=":even", libraries=False),
    of("savgol_filter", uniform(12), args=(4, 2), mode="mirror", orders=1, label=":even,mirror", libraries=False),
    *(of("spectrogram", uniform(30), nperseg=7, mode=mode, label=f":{mode}", libraries=False)
      for mode in ("angle", "phase")),
    ScipyCase(
        "signal.savgol_filter:distance",
        lambda x, d, c: signal.savgol_filter(x, 5, 2, deriv=1, delta=d, mode="constant", cval=c),
        lambda x, d, c: ref.savgol_filter(x, 5, 2, deriv=1, delta=float(d), mode="constant", cval=float(c)),
        (uniform(9), np.asarray(0.5), np.asarray(1.5)),
        libraries=False,
    ),
]  # fmt: skip
