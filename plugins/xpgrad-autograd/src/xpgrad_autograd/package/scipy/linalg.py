"""``scipy.linalg`` of arrays whose derivatives are taken: `sqrtm`, `solve_triangular`, `solve_sylvester`, ..."""

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import scipy.linalg

from xpgrad_autograd.boxes import boxed, functions, inside
from xpgrad_autograd.derivatives import defvjp, defvjp_argnum, primitive


def _of_xpgrad(name: str) -> Callable[..., Any]:
    """Return xpgrad's function of this name, for boxes."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = getattr(importlib.import_module("xpgrad.scipy.linalg"), name, None)  # late: few programs need it
        if found is None:
            other = f", or use autograd.numpy.linalg.{name}" if hasattr(np.linalg, name) else ""
            raise NotImplementedError(f"VJP of {name} not defined; give it one by defvjp{other}")
        return boxed(found(*map(inside, args), **{key: inside(x) for key, x in kwargs.items()}))

    return call


# All functions are primitives: a program can define other derivatives, and those that are missing.
globals().update(
    {
        name: primitive(function, _of_xpgrad(name))
        for name, function in vars(scipy.linalg).items()
        if isinstance(function, FunctionType)
    }
)
sqrtm = primitive(scipy.linalg.sqrtm)
solve_triangular = primitive(scipy.linalg.solve_triangular)
solve_sylvester = primitive(scipy.linalg.solve_sylvester)
solve_banded = primitive(scipy.linalg.solve_banded)


def _adjoint(a: Any) -> Any:
    xp = functions()
    return xp["conj"](xp["swapaxes"](a, -1, -2))


def _of_root(ans: Any, A: Any, **options: Any) -> Any:
    # The differential of X X = A is X dX + dX X = dA; its adjoint is the equation with the adjoint of X.
    def pulled(g: Any) -> Any:
        return functions()["conj"](solve_sylvester(_adjoint(ans), _adjoint(ans), functions()["conj"](g)))

    return pulled


defvjp(sqrtm, _of_root)


def _of_triangular(argnum: int, ans: Any, args: Any, options: Any) -> Any:
    a, _ = args[:2]
    trans, lower = options.get("trans", args[2] if len(args) > 2 else 0), options.get("lower", False)
    lower = args[3] if len(args) > 3 else lower
    plain = trans in (0, "N")
    xp = functions()
    rest = {key: value for key, value in options.items() if key not in ("trans", "lower")}
    part = xp["tril"] if lower else xp["triu"]

    def by_right_side(g: Any) -> Any:
        return solve_triangular(a, g, trans="T" if plain else "N", lower=lower, **rest)

    def by_matrix(g: Any) -> Any:
        columns, solved = (x if x.ndim > 1 else xp["reshape"](x, (-1, 1)) for x in (by_right_side(g), ans))
        made = -xp["dot"](columns, xp["transpose"](solved))
        return part(made if plain else xp["transpose"](made))

    return by_right_side if argnum == 1 else by_matrix


defvjp_argnum(solve_triangular, _of_triangular)


def _of_sylvester(argnum: int, ans: Any, args: Any, options: Any) -> Any:
    a, b, _ = args
    xp = functions()

    def pulled(g: Any) -> Any:
        solved = xp["conj"](solve_sylvester(_adjoint(a), _adjoint(b), xp["conj"](g)))
        if argnum == 2:
            return solved
        if argnum == 0:
            return -xp["dot"](solved, xp["transpose"](ans))
        return -xp["dot"](xp["transpose"](ans), solved)

    return pulled


defvjp_argnum(solve_sylvester, _of_sylvester)


def _of_banded(argnum: int, ans: Any, args: Any, options: Any) -> Any:
    (below, above), bands, _ = args
    xp = functions()
    n = np.shape(getattr(bands, "_value", bands))[1]

    def turned() -> Any:
        """Return the bands of the transposed matrix."""
        rows = []
        for i, k in enumerate(range(-above, below + 1)):  # element j of row i is matrix[j + k, j]
            pad = xp["zeros"](abs(k))
            rows.append(xp["concatenate"]([pad, bands[i][: n - k]] if k > 0 else [bands[i][-k:], pad]))
        return xp["stack"](rows[::-1])

    def by_right_side(g: Any) -> Any:
        return solve_banded((above, below), turned(), g)

    def by_bands(g: Any) -> Any:
        solved = by_right_side(g)
        solved, found = (xp["reshape"](x, (n, -1)) for x in (solved, ans))
        rows = []
        for k in range(-above, below + 1):
            products = -xp["sum"](solved[max(k, 0) : n + min(k, 0)] * found[max(-k, 0) : n - max(k, 0)], axis=1)
            pad = xp["zeros"](abs(k))
            rows.append(xp["concatenate"]([products, pad] if k > 0 else [pad, products]))
        return xp["stack"](rows)

    return by_right_side if argnum == 2 else by_bands


defvjp_argnum(solve_banded, _of_banded)
