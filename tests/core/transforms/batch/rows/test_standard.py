"""Functions of the standard, for batches: each against a loop over the members."""

import numpy as np
import pytest
from tests.core.transforms.batch.rows.one_by_one import Case, compare

import xpgrad

INDEXING = [
    Case("integer", lambda xp, x: x[1], "f8 3 4", raw=False),
    Case("negative", lambda xp, x: x[..., -2], "f4 3 4"),
    Case("slices", lambda xp, x: x[1:, ::2], "c16 3 4"),
    Case("backwards", lambda xp, x: x[::-1, 3:0:-2], "f8 3 4"),
    Case("all kinds of basic", lambda xp, x: x[None, 0, ..., None, 1:], "i8 3 4 5"),
    Case("nothing", lambda xp, x: x[...], "f8"),
    Case("of 0-d", lambda xp, x: x[()], "f8", raw=False),
    Case("array", lambda xp, x, i: x[i, ...], "f8 3 4", "i8+ 5", raw=False),
    Case("array of two axes", lambda xp, x, i: x[i, ...], "f8 3 4", "i8+ 2 2", raw=False),
    Case("array behind", lambda xp, x, i: x[:, i], "f8 2 4 3", "i8+ 5", raw=False),
    Case("array of two axes behind", lambda xp, x, i: x[..., i], "f8 2 4 3", "i8+ 2 2", raw=False),
    Case("arrays", lambda xp, x, i, j: x[i, j], "f8 3 4", "i8+ 5", "i8+ 5"),
    Case("arrays that broadcast", lambda xp, x, i, j: x[i, j], "f8 3 4", "i8+ 2 1", "i8+ 3", raw=False),
    Case("arrays apart", lambda xp, x, i, j: x[i, :, j], "f8 3 5 4", "i8+ 2", "i8+ 2", raw=False),
    Case("arrays apart, two axes", lambda xp, x, i, j: x[:, i, :, j], "f8 2 3 5 4", "i8+ 2 3", "i8+ 3", raw=False),
    Case("an integer apart", lambda xp, x, i: x[0, :, i], "f8 3 5 4", "i8+ 2", raw=False),
    Case("an integer beside", lambda xp, x, i: x[:, 0, i], "f8 3 5 4", "i8+ 2", raw=False),
    Case("apart by None", lambda xp, x, i, j: x[i, None, j], "f8 3 4 2", "i8+ 2", "i8+ 2", raw=False),
    Case("beside None", lambda xp, x, i, j: x[None, :, i, j, None], "f8 3 4 2", "i8+ 2", "i8+ 2", raw=False),
    Case("0-d array", lambda xp, x, i: x[i, ...], "f8 3 4", "i8+", raw=False),
    Case("0-d arrays apart", lambda xp, x, i, j: x[i, :, j], "f8 3 4 5", "i8+", "i8+", raw=False),
    Case("int32 array", lambda xp, x, i: x[i, ...], "f8 3 4", "i4+ 5", raw=False),
    Case("empty array", lambda xp, x, i: x[i, ...], "f8 3 4", "i8+ 0", raw=False),
    Case("mask", lambda xp, x, m: x[m], "f8 3 4", "b1 3 4", batched=[(True, False)]),
    Case("mask of an axis", lambda xp, x, m: x[:, m], "f8 3 4", "b1 4", batched=[(True, False)], raw=False),
    Case("mask beside arrays", lambda xp, x, m, i: x[m[:2], ..., i[:1]], "f8 2 3 4", "b1 2", "i8+ 5",
         batched=[(True, False, False), (True, False, True), (False, False, True)], raw=False),
    Case("take", lambda xp, x, i: xp.take(x, i, axis=1), "f8 2 4 3", "i8+ 5"),
    Case("take from the end", lambda xp, x, i: xp.take(x, i, axis=-2), "f4 2 4 3", "i8+ 5"),
    Case("take of a vector", lambda xp, x, i: xp.take(x, i), "f8 4", "i8+ 5"),
    Case("take_along_axis", lambda xp, x, i: xp.take_along_axis(x, i, axis=1), "f8 2 4", "i8+ 2 3"),
    Case("take_along_axis, last", lambda xp, x, i: xp.take_along_axis(x, i), "f8 2 4", "i8+ 2 3"),
    Case("take_along_axis, wide", lambda xp, x, i: xp.take_along_axis(x, i, axis=0), "f8 2 4", "i8+ 3 1"),
]  # fmt: skip

MANIPULATION = [
    Case("concat", lambda xp, x, y: xp.concat([x, y], axis=1), "f8 2 3", "f8 2 1"),
    Case("concat from the end", lambda xp, x, y: xp.concat((x, y), axis=-2), "f4 2 3", "f8 1 3"),
    Case("concat flat", lambda xp, x, y: xp.concat([x, y], axis=None), "f8 2 3", "f8"),
    Case("concat of three", lambda xp, *xs: xp.concat(xs), "i8 2", "i8 0", "i8 1"),
    Case("stack", lambda xp, x, y: xp.stack([x, y]), "f8 2 3", "f8 2 3"),
    Case("stack last", lambda xp, x, y: xp.stack([x, y], axis=-1), "f8 2", "f4 2"),
    Case("unstack", lambda xp, x: xp.unstack(x, axis=-1), "f8 2 3"),
    Case("flip", lambda xp, x: xp.flip(x), "f8 2 3"),
    Case("flip 0-d", lambda xp, x: xp.flip(x), "f8", raw=False),
    Case("flip axes", lambda xp, x: xp.flip(x, axis=(-1, 0)), "f8 2 3 2"),
    Case("flip axis", lambda xp, x: xp.flip(x, axis=-1), "c16 2 3 2"),
    Case("roll", lambda xp, x: xp.roll(x, 2), "f8 2 3"),
    Case("roll axis", lambda xp, x: xp.roll(x, -1, axis=-2), "f8 2 3"),
    Case("roll axes", lambda xp, x: xp.roll(x, (1, 2), axis=(0, -1)), "f8 2 3"),
    Case("moveaxis", lambda xp, x: xp.moveaxis(x, 0, -1), "f8 2 3 4"),
    Case("moveaxis several", lambda xp, x: xp.moveaxis(x, (0, -1), (-1, 1)), "f8 2 3 4"),
    Case("permute_dims", lambda xp, x: xp.permute_dims(x, (2, 0, 1)), "f8 2 3 4"),
    Case("permute_dims 0-d", lambda xp, x: xp.permute_dims(x, ()), "f8"),
    Case("squeeze", lambda xp, x: xp.squeeze(x, axis=-1), "f8 2 3 1"),
    Case("squeeze axes", lambda xp, x: xp.squeeze(x, axis=(0, -1)), "f8 1 3 1"),
    Case("expand_dims", lambda xp, x: xp.expand_dims(x, axis=-1), "f8 2"),
    Case("expand_dims in front", lambda xp, x: xp.expand_dims(x, axis=0), "f8"),
    Case("reshape", lambda xp, x: xp.reshape(x, (3, -1)), "f8 2 3"),
    Case("reshape nothing", lambda xp, x: xp.reshape(x, (0, 5)), "f8 2 0"),
    Case("reshape to 0-d", lambda xp, x: xp.reshape(x, ()), "f8 1 1"),
    Case("broadcast_to", lambda xp, x: xp.broadcast_to(x, (3, 2, 4)), "f8 2 1"),
    Case("broadcast_to from 0-d", lambda xp, x: xp.broadcast_to(x, (3,)), "f8"),
    Case("broadcast_arrays", lambda xp, *xs: xp.broadcast_arrays(*xs), "f8 3 1", "i8 2", "f8"),
    Case("repeat", lambda xp, x: xp.repeat(x, 2), "f8 2 3"),
    Case("repeat axis", lambda xp, x: xp.repeat(x, 3, axis=-1), "f8 2 3"),
    Case("repeat differently", lambda xp, x, n: xp.repeat(x, xp.abs(n), axis=0), "f8 3 2", "i8+ 3",
         batched=[(True, False)]),
    Case("tile", lambda xp, x: xp.tile(x, (2, 1, 3)), "f8 2 3"),
    Case("tile less", lambda xp, x: xp.tile(x, (2,)), "f8 2 3"),
    Case("tile 0-d", lambda xp, x: xp.tile(x, (2, 2)), "f8"),
    Case("tril", lambda xp, x: xp.tril(x, k=1), "f8 3 4"),
    Case("triu", lambda xp, x: xp.triu(x), "f8 2 3 4"),
    Case("meshgrid", lambda xp, x, y, z: xp.meshgrid(x, y, z), "f8 2", "f8 3", "f8 1"),
    Case("meshgrid of matrices", lambda xp, x, y: xp.meshgrid(x, y, indexing="ij"), "f4 2", "f4 3"),
    Case("matrix_transpose", lambda xp, x: xp.matrix_transpose(x), "f8 2 3 4"),
]  # fmt: skip

CREATION = [
    Case("zeros_like", lambda xp, x: xp.zeros_like(x) + x, "f4 2 3"),
    Case("ones_like", lambda xp, x: xp.ones_like(x, dtype=xp.float64), "f4 2 3"),
    Case("empty_like", lambda xp, x: xp.empty_like(x) * 0 == 0, "i8 2", smooth=False),
    Case("full_like", lambda xp, x: xp.full_like(x, 3), "i8 2 3"),
    Case("full_like of arrays", lambda xp, x, v: xp.full_like(x, v), "f8 2 3", "f8", raw=False),
    Case("full", lambda xp, v: xp.full((2, 3), v), "f8", raw=False),
    Case("linspace", lambda xp, a, b: xp.linspace(a, b, 5), "f8", "f8", raw=False),
    Case("astype", lambda xp, x: xp.astype(x, xp.float32), "f8 2 3"),
    Case("astype alike", lambda xp, x: xp.astype(x, xp.float64, copy=False), "f8 2 3"),
    Case("asarray", lambda xp, x: xp.asarray(x, copy=True), "f8 2 3"),
]

SEARCHING = [
    Case("argmax", lambda xp, x: xp.argmax(x), "f8 2 3"),
    Case("argmax 0-d", lambda xp, x: xp.argmax(x), "f8"),
    Case("argmin kept", lambda xp, x: xp.argmin(x, keepdims=True), "i8 2 3"),
    Case("argmax axis", lambda xp, x: xp.argmax(x, axis=-2, keepdims=True), "f4 2 3"),
    Case("count_nonzero", lambda xp, x: xp.count_nonzero(x, axis=-1), "b1 2 3"),
    Case("searchsorted", lambda xp, x, y: xp.searchsorted(x, y), "f8s 5", "f8 7"),
    Case("searchsorted right", lambda xp, x, y: xp.searchsorted(x, y, side="right"), "i8s 4", "i8 7"),
    Case("searchsorted left", lambda xp, x, y: xp.searchsorted(x, y), "i8s 8", "i8 2 3", raw=False),
    Case("searchsorted in nothing", lambda xp, x, y: xp.searchsorted(x, y), "f8s 0", "f8 2"),
    Case("searchsorted sorter", lambda xp, x, y: xp.searchsorted(x, y, sorter=xp.argsort(x)), "f8 5", "f8 7"),
    Case("where", lambda xp, c, x, y: xp.where(c, x, y), "b1 3 1", "f8 4", "f8"),
    Case("sort", lambda xp, x: xp.sort(x), "f8 2 5"),
    Case("sort axis", lambda xp, x: xp.sort(x, axis=0, descending=True), "f4 3 2", raw=False),
    Case("argsort", lambda xp, x: xp.argsort(x, axis=-2, stable=True), "f8 5 2"),
    Case("isin", lambda xp, x, y: xp.isin(x, y), "i8 2 3", "i8 4"),
    Case("isin inverted", lambda xp, x, y: xp.isin(x, y, invert=True), "i8", "i8 2 2", raw=False),
    Case("isin nothing", lambda xp, x, y: xp.isin(x, y), "i8 3", "i8 0"),
]

STATISTICS = [
    Case("sum", lambda xp, x: xp.sum(x), "f8 2 3"),
    Case("sum 0-d", lambda xp, x: xp.sum(x, keepdims=True), "f8"),
    Case("max 0-d", lambda xp, x: xp.max(x), "f8"),
    Case("sum axes", lambda xp, x: xp.sum(x, axis=(0, -1), keepdims=True), "f8 2 3 4"),
    Case("prod", lambda xp, x: xp.prod(x, axis=-1), "i8 2 3"),
    Case("mean", lambda xp, x: xp.mean(x, axis=0), "f4 2 3"),
    Case("var", lambda xp, x: xp.var(x, correction=1), "f8 2 3"),
    Case("std", lambda xp, x: xp.std(x, axis=-2), "f8 2 3"),
    Case("min of nothing", lambda xp, x: xp.min(x, axis=0), "f8 2 0"),
    Case("cumulative_sum", lambda xp, x: xp.cumulative_sum(x), "f8 4"),
    Case("cumulative_sum axis", lambda xp, x: xp.cumulative_sum(x, axis=-2, include_initial=True), "f8 2 3"),
    Case("cumulative_prod", lambda xp, x: xp.cumulative_prod(x, axis=1), "f8 2 3"),
    Case("cumulative_prod first", lambda xp, x: xp.cumulative_prod(x, include_initial=True), "f8 3"),
    Case("cumulative_sum of nothing", lambda xp, x: xp.cumulative_sum(x, dtype=xp.float64), "f4 0"),
    Case("diff", lambda xp, x, p, a: xp.diff(x, n=2, prepend=p, append=a), "f8 2 3", "f8 2 1", "f8 2 2"),
    Case("diff axis", lambda xp, x: xp.diff(x, axis=0), "f8 3 2"),
    Case("all", lambda xp, x: xp.all(x), "b1 2 3"),
    Case("any", lambda xp, x: xp.any(x, axis=-1), "b1 2 3"),
]

CASES = [*INDEXING, *MANIPULATION, *CREATION, *SEARCHING, *STATISTICS]
SIZES = (3, 1, 0)


@pytest.fixture(params=("@numpy", "@strict:cpu"))
def device(request):
    return xpgrad.get_device(request.param)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_function_of_variables_agrees_with_each_member(device, case):
    for size in SIZES:
        compare(case, device, size, raw=False)


@pytest.mark.parametrize("case", [case for case in CASES if case.raw], ids=repr)
def test_a_function_of_arrays_agrees_with_each_member(device, case):
    for size in SIZES:
        compare(case, device, size, raw=True)


def test_names_of_cases_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) == len(np.unique(names))
