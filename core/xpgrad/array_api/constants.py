"""Constants, the same in all namespaces: Python's numbers, and None for a new axis."""

import math

e: float = math.e
inf: float = math.inf
nan: float = math.nan
newaxis: None = None
pi: float = math.pi

CONSTANTS = {"e": e, "inf": inf, "nan": nan, "newaxis": newaxis, "pi": pi}
