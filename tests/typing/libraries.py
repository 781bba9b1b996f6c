"""Arrays of each library, and other objects, as arguments of public functions."""

from typing import Any

import array_api_strict
import dask.array
import jax
import jax.numpy as jnp
import numpy as np
import torch
from numpy.typing import NDArray

import xpgrad.array_api as xp
import xpgrad.functions as F
import xpgrad_chx
from xpgrad import Parameter, Variable


def numpy_arrays(
    a: NDArray[np.float64],
    b: NDArray[np.bool_],
    c: NDArray[np.complex128],
    d: NDArray[Any],
    e: NDArray[np.int8],
    f: NDArray[np.number[Any]],
    g: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    h: np.float32,
) -> None:
    for x in (a, b, c, d, e, f, g, h):
        xp.exp(x)
    xp.exp(a)
    xp.logical_not(b)
    xp.exp(c)
    xp.exp(d)
    xp.abs(e)
    xp.exp(f)
    xp.matmul(g, g)
    xp.exp(h)
    xp.add(a, 2.0)
    xp.add(1, np.float32(2.0))


def others(a: jax.Array, b: dask.array.Array, c: xpgrad_chx.ndarray, d: torch.Tensor) -> None:
    F.relu(a)
    F.relu(b)
    F.relu(c)
    F.relu(d)


F.relu(torch.ones(3))
F.relu(torch.nn.Parameter(torch.ones(3)))
F.relu(jnp.ones(3))
F.relu(array_api_strict.ones(3))
F.relu(dask.array.ones(3))
F.relu(Variable(np.ones(3)))
F.relu(Parameter(np.ones(3)))
xp.multiply(Variable(np.ones(3)), True)
xp.multiply(2, Variable(np.ones(3)))
xp.multiply(1j, Variable(np.ones(3)))
Variable(torch.ones(3)).to_device("cpu")
F.relu(torch)  # error: arg-type | reportArgumentType
F.relu(range(3))  # error: arg-type | reportArgumentType
F.relu(memoryview(b"x"))  # error: arg-type | reportArgumentType
