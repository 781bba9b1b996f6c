"""The protocols, names and classes by which other libraries use Variables: NumPy's protocols, einops, dispatchers."""

from xpgrad.graph.methods import copies

copies.PASSING_ON.add("xarray")  # it makes deep copies in `sortby`, `reindex` and others
