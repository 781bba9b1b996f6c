"""Arrays of chx in double precision, arrays that require a gradient, and the values of arrays."""

import numpy as np

import xpgrad_chx as chx


def array(values, device="native:0"):
    return chx.array(values, dtype=chx.float64, device=device)


def leaf(values=(1.0, 2.0, 3.0), *ids):
    """Return an array that requires a gradient, for the default id or others."""
    a = array(list(values))
    for each in ids or (None,):
        a.require_grad(each)
    return a


def values(a):
    return (chx.to_numpy(a) if isinstance(a, chx.ndarray) else np.asarray(a)).tolist()


def tree(x, function):
    """Return nested lists of the results of a function for all items of nested lists and tuples."""
    return [tree(item, function) for item in x] if isinstance(x, (tuple, list)) else function(x)


def leaves(x):
    """Return the items of nested lists."""
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, list) else [x]
