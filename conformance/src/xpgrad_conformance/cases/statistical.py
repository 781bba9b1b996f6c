"""Cases of reductions and accumulations along axes."""

from typing import Any

import numpy as np

from xpgrad.array_api.statistical import average
from xpgrad_conformance.table.case import Case, Input, Inputs

CUBE = ((2, 3, 4),)
TIES = (Input(values=[[1.5, 2.5, 2.5], [3.0, -1.0, 0.5]]),)
ZEROS = (Input(values=[[0.0, 1.5, -2.0, 0.7], [0.0, 1.2, 0.0, 0.4], [1.1, -0.6, 0.9, 2.0]]),)

SUMS = (
    Case("sum", {}, lambda x: np.ones(x.size) @ x.ravel(), CUBE, (), complex=True),
    Case("sum-axis", {"axis": 1}, lambda x: np.einsum("ijk->ik", x), CUBE, (), complex=True),
    Case("sum-axes", {"axis": (-1, 0), "keepdims": True}, lambda x: np.einsum("ijk->j", x)[None, :, None], CUBE, (),
         complex=True),
    Case("sum-dtype", lambda xp, x: xp.sum(x, axis=0, dtype=xp.float64), lambda x: x.T @ np.ones(len(x)), keeps=(),
         dtype="float64", needs=("float64",)),
    Case("sum-int", {"axis": 0}, lambda x: x[0] + x[1] + x[2], (Input(kind="int"),), order=0),
    Case("mean", {}, lambda x: np.ones(x.size) @ x.ravel() / x.size, CUBE, (), complex=True),
    Case("mean-axis", {"axis": -2}, lambda x: np.einsum("ijk->ik", x) / x.shape[1], CUBE, (), complex=True),
    Case("mean-keepdims", {"axis": (0, 2), "keepdims": True},
         lambda x: np.einsum("ijk->j", x)[None, :, None] / x[:, 0].size, CUBE, (), complex=True),
    Case("average", lambda xp, x, w: average(x, 1, w), lambda x, w: x @ w / w.sum(), ((3, 4), Input((4,), low=0.3)),
         complex=True),
    Case("average-axes", lambda xp, x, w: average(x, (2, 0), w, keepdims=True),
         lambda x, w: (np.einsum("ijk,ki->j", x, w) / w.sum())[None, :, None], ((2, 3, 4), Input((4, 2), low=0.3)),
         complex=True),
)  # fmt: skip

EXTREMA = (
    Case("max", {}, lambda x: np.sort(x.ravel())[-1], keeps=("x", "y")),
    Case("max-axis", {"axis": 1}, lambda x: np.sort(x, 1)[:, -1], CUBE, ("x", "y")),
    Case("max-axes", {"axis": (0, -1), "keepdims": True}, lambda x: x.max(0).max(-1)[None, :, None], CUBE, ("x", "y")),
    Case("min", {}, lambda x: np.sort(x.ravel())[0], keeps=("x", "y")),
    Case("min-axis", {"axis": -1, "keepdims": True}, lambda x: np.sort(x)[..., :1], CUBE, ("x", "y")),
)


def _square(x: Any) -> Any:
    return x.real**2 + x.imag**2


def _moment(name: str, call: Any, reference: Any, inputs: Inputs = ((3, 4),), keeps: tuple[str, ...] = ("x",)) -> Case:
    return Case(name, call, reference, inputs, keeps, complex=True, dtype="real")


MOMENTS = (
    _moment("var", {}, lambda x: _square(x).mean() - _square(x.mean())),
    _moment("var-axis", {"axis": 1, "correction": 1},
            lambda x: (_square(x).sum(1) - x.shape[1] * _square(x.mean(1))) / (x.shape[1] - 1), CUBE),
    _moment("var-axes", {"axis": (0, 2), "correction": 0.5, "keepdims": True},
            lambda x: np.var(x, axis=(0, 2), keepdims=True) * x[:, 0].size / (x[:, 0].size - 0.5), CUBE),
    _moment("std", {}, lambda x: (_square(x).mean() - _square(x.mean())) ** 0.5, keeps=("x", "y")),
    _moment("std-axis", {"axis": -1, "correction": 0.5, "keepdims": True},
            lambda x: np.std(x, axis=-1, ddof=0.5, keepdims=True), CUBE, ("x", "y")),
)  # fmt: skip

PRODUCTS = (
    Case("prod", {}, lambda x: np.multiply.reduce(x.ravel()), keeps=("x",), complex=True),
    Case("prod-axis", {"axis": 1}, lambda x: np.multiply.reduce(x, 1), CUBE, ("x",), complex=True),
    Case("prod-axes", {"axis": (-1, 0), "keepdims": True},
         lambda x: np.multiply.reduce(np.multiply.reduce(x, 0), -1)[None, :, None], CUBE, ("x",), complex=True),
    Case("prod-zeros", {"axis": 1}, lambda x: np.multiply.reduce(x, 1), ZEROS, ("x",), complex=True),
    Case("cumulative_prod", {"axis": 1}, lambda x: np.multiply.accumulate(x, 1), CUBE, ("x",), complex=True),
    Case("cumulative_prod-zeros", {"axis": -1, "include_initial": True},
         lambda x: np.concatenate([np.ones((len(x), 1)), np.multiply.accumulate(x, 1)], 1), ZEROS, ("x",),
         complex=True),
    Case("cumulative_sum", {"axis": 1}, lambda x: np.einsum("ijk,lj->ilk", x, np.tri(x.shape[1])), CUBE, (),
         complex=True),
    Case("cumulative_sum-initial", {"include_initial": True}, lambda x: np.tri(x.size + 1, x.size, -1) @ x, ((5,),), (),
         complex=True),
)  # fmt: skip

CASES = SUMS + EXTREMA + MOMENTS + PRODUCTS
