"""Elementwise kernels: NumPy's own loops, called without anything in between."""

import numpy as np

_SAME_NAME = """add subtract multiply divide floor_divide remainder pow square negative positive
equal not_equal less less_equal greater greater_equal
bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
exp expm1 log log1p log2 log10 logaddexp
acosh asinh atanh cosh sinh tanh
isfinite isinf isnan logical_and logical_not logical_or logical_xor
abs copysign hypot reciprocal sign signbit sqrt
conj imag nextafter real
maximum minimum where
acos asin atan atan2 cos sin tan"""

ELEMENTWISE = {name: getattr(np, name) for name in _SAME_NAME.split() if hasattr(np, name)}
