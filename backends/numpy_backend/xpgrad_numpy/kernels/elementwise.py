"""Elementwise kernels: NumPy's own loops, called without anything in between."""

import numpy as np

_SAME_NAME = """add subtract multiply divide floor_divide remainder pow square negative positive
equal not_equal less less_equal greater greater_equal"""

ELEMENTWISE = {name: getattr(np, name) for name in _SAME_NAME.split() if hasattr(np, name)}
