"""The standard's Fourier transforms: dpnp's, of arrays in plain memory."""

from typing import Any

import dpnp

from xpgrad_dpnp.layouts import on_plain


def __getattr__(name: str) -> Any:
    found = getattr(dpnp.fft, name)
    return on_plain(found) if callable(found) and not isinstance(found, type) else found
