"""Cases of `xpgrad.functions`: Chainer's names and defaults for the manipulation of arrays and for mathematics."""

from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input, Inputs

CUBE = ((2, 3, 4),)
VECTORS, PAIR = ((3,), (3,)), ((3, 4), (3, 4))


def _f(
    name: str, call: Any, reference: Any, inputs: Inputs = ((3, 4),), order: int = 2, complex: bool = True, **rest: Any
) -> Case:
    return Case(f"F.{name}", call, reference, inputs, order=order, area="F", complex=complex, **rest)


ARRAY = (
    _f("broadcast", lambda F, a, b: F.add(*F.broadcast(a, b)), lambda a, b: a + b, ((3, 1), (4,))),
    _f("broadcast_to", ((2, 3, 4),), lambda x: x + np.zeros((2, 3, 4))),
    _f("cast", lambda F, x: F.cast(F.cast(x, "float64"), x.dtype), lambda x: x, needs=("float64",), complex=False),
    _f("concat", lambda F, a, b: F.concat((a, b)), lambda a, b: np.hstack((a, b)), ((3, 4), (3, 2))),
    _f("copy", {}, lambda x: x),
    _f("dstack", lambda F, a, b: F.dstack((a, b)), lambda a, b: np.dstack((a, b)), PAIR),
    _f("dstack-vectors", lambda F, a, b: F.dstack((a, b)), lambda a, b: np.dstack((a, b)), VECTORS),
    _f("expand_dims", (1,), lambda x: x[:, None]),
    _f("flatten", {}, np.ravel, CUBE),
    _f("flip", (1,), lambda x: x[:, ::-1]),
    _f("fliplr", {}, np.fliplr),
    _f("flipud", {}, np.flipud),
    _f("get_item", ((slice(1, None), -1),), lambda x: x[1:, -1], CUBE),
    _f("hstack", lambda F, a, b: F.hstack((a, b)), lambda a, b: np.hstack((a, b)), PAIR),
    _f("hstack-vectors", lambda F, a, b: F.hstack((a, b)), lambda a, b: np.hstack((a, b)), VECTORS),
    _f("moveaxis", (0, 2), lambda x: np.einsum("ijk->jki", x), CUBE),
    _f("repeat", (2, 1), lambda x: np.repeat(x, 2, 1)),
    _f("repeat-each", lambda F, x: F.repeat(x, (1, 0, 2), axis=0), lambda x: x[[0, 2, 2]],
       needs=("data_dependent_shapes",)),
    _f("reshape", ((2, -1),), lambda x: x.ravel().reshape(2, -1)),
    _f("rollaxis", (2,), lambda x: np.rollaxis(x, 2), CUBE),
    _f("rollaxis-start", (0, 3), lambda x: np.rollaxis(x, 0, 3), CUBE),
    _f("select_item", {}, lambda x, t: x[range(3), t], (Input(), Input((3,), kind="int", values=[3, 0, 3]))),
    _f("separate", {"axis": 1}, lambda x: tuple(np.moveaxis(x, 1, 0)), CUBE),
    _f("split_axis", (2, -1), lambda x: np.split(x, 2, -1)),
    _f("split_axis-at", ((1, 1, 3), 1), lambda x: np.split(x, (1, 1, 3), 1)),
    _f("split_axis-one", lambda F, x: F.split_axis(x, 1, 0, force_tuple=False), lambda x: x),
    _f("squeeze", {}, np.squeeze, ((1, 3, 1, 2),)),
    _f("squeeze-axis", (2,), lambda x: x[:, :, 0], ((1, 3, 1, 2),)),
    _f("stack", lambda F, a, b: F.stack((a, b), 1), lambda a, b: np.stack((a, b), 1), PAIR),
    _f("swapaxes", (0, -1), lambda x: np.einsum("ijk->kji", x), CUBE),
    _f("tile", ((2, 1, 2),), lambda x: np.tile(x, (2, 1, 2))),
    _f("tile-one", (2,), lambda x: np.hstack((x, x))),
    _f("transpose", {}, lambda x: np.einsum("ijk->kji", x), CUBE),
    _f("transpose-axes", ((1, 2, 0),), lambda x: np.einsum("ijk->jki", x), CUBE),
    _f("vstack", lambda F, a, b: F.vstack((a, b)), lambda a, b: np.vstack((a, b)), VECTORS),
    _f("where", {}, lambda c, a, b: np.choose(c, (b, a)), (Input((3, 4), kind="bool"), *PAIR)),
)  # fmt: skip

MATH = (
    _f("add", lambda F, a, b: F.add(a, b, a, b), lambda a, b: 2 * (a + b), PAIR),
    _f("argmax", (1,), lambda x: x.argmax(1), order=0, dtype="int", complex=False),
    _f("argmin", {}, lambda x: x.argmin(), order=0, dtype="int", complex=False),
    _f("average", (1, None, True), lambda x: x.sum(1, keepdims=True) / x.shape[1]),
    _f("average-weights", lambda F, x, w: F.average(x, 1, w), lambda x, w: x @ w / w.sum(),
       (Input(), Input((4,), low=0.5, high=2.0))),
    _f("mean", {}, lambda x: x.sum() / x.size),
    _f("batch_matmul", {"transa": True}, lambda a, b: np.einsum("nki,nkj->nij", a, b), ((2, 3, 4), (2, 3, 5))),
    _f("batch_matmul-vectors", {}, lambda a, b: np.einsum("nij,nj->ni", a, b)[:, :, None], ((2, 3, 4), (2, 4))),
    _f("clip", (-1.0, 0.5), lambda x: np.interp(x, [-1, 0.5], [-1, 0.5]), complex=False),
    _f("cumprod", (1,), lambda x: np.cumprod(x, 1)),
    _f("cumsum", {}, lambda x: np.tri(x.size) @ x.ravel()),
    _f("fix", {}, lambda x: np.sign(x) * np.floor(abs(x)), order=0, complex=False),
    _f("identity", lambda F, a, b: F.add(*F.identity(a, b)), lambda a, b: a + b, PAIR),
    _f("logsumexp", {}, lambda x: np.log(np.exp(x).sum()), order=3, complex=False),
    _f("logsumexp-axis", ((0, 2),), lambda x: np.log(np.exp(x).sum((0, 2))), CUBE, complex=False),
    _f("matmul", (True, True), lambda a, b: np.einsum("ki,jk->ij", a, b), ((3, 4), (2, 3))),
    _f("max", (1, True), lambda x: np.sort(x, 1)[:, -1:], complex=False),
    _f("maximum", {}, lambda a, b, c: np.stack((a, b, c)).max(0), (*PAIR, Input()), complex=False),
    _f("min", {}, lambda x: np.sort(x.ravel())[0], complex=False),
    _f("prod", {"axis": (0, 1)}, lambda x: np.exp(np.log(abs(x)).sum()) * np.sign(x).prod()),
    _f("rsqrt", {}, lambda x: x**-0.5, (Input(low=0.3),)),
    _f("sum", ((0, -1), True), lambda x: np.einsum("ijk->j", x)[None, :, None], CUBE),
    _f("sum_to", ((3, 1),), lambda x: np.einsum("ijk->j", x).reshape(3, 1), CUBE),
)  # fmt: skip

CASES = ARRAY + MATH
