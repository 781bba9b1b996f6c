"""Transformations whose arrays enclose arrays of the level below, with a graph connected to the outer graph."""
