"""What other libraries look for in an array: NumPy's protocols, and the names and classes that dispatchers expect."""

from xpgrad.graph.methods import copies

copies.PASSING_ON.add("xarray")  # it makes deep copies in `sortby`, `reindex` and others
