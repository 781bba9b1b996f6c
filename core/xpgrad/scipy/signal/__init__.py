"""`scipy.signal` of Variables: convolution, linear filters, analytic signals, spectra, smoothing and trends."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.signal.convolution import convolve, correlate, fftconvolve
from xpgrad.scipy.signal.filters import filtfilt, lfilter, lfilter_zi, sosfilt
from xpgrad.scipy.signal.smoothing import detrend, savgol_filter
from xpgrad.scipy.signal.spectra import hilbert, istft, spectrogram, stft

__all__ = [
    "convolve", "correlate", "detrend", "fftconvolve", "filtfilt", "hilbert", "istft", "lfilter", "lfilter_zi",
    "savgol_filter", "sosfilt", "spectrogram", "stft",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
