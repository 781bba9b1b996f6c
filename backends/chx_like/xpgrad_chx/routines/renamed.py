"""The standard's functions under the names of NumPy and ChainerX."""

NAMES = {
    "abs": "absolute fabs",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "bitwise_not invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "concat": "concatenate",
    "divide": "true_divide",
    "max": "amax",
    "min": "amin",
    "pow": "power",
    "remainder": "mod",
}
"""Other names of each function."""
RENAMED = {new: old for old, names in NAMES.items() for new in names.split()}
"""The function of each other name."""
