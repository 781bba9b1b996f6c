"""Functions of the standard, for batches, in forms that the case table lacks: each against a loop over the members."""

import pytest
from tests.core.transforms.batch.rows.members import Case, check

import xpgrad

INDEXING = [
    Case("arrays", lambda xp, x, i, j: x[i, j], "f8 3 4", "i8+ 5", "i8+ 5"),
    Case("0-d array", lambda xp, x, i: x[i, ...], "f8 3 4", "i8+", raw=False),
    Case("int32 array", lambda xp, x, i: x[i, ...], "f8 3 4", "i4+ 5", raw=False),
    Case("empty array", lambda xp, x, i: x[i, ...], "f8 3 4", "i8+ 0", raw=False),
    Case("mask", lambda xp, x, m: x[m], "f8 3 4", "b1 3 4", batched=[(True, False)]),
    Case("mask of an axis", lambda xp, x, m: x[:, m], "f8 3 4", "b1 4", batched=[(True, False)], raw=False),
    Case("mask beside arrays", lambda xp, x, m, i: x[m[:2], ..., i[:1]], "f8 2 3 4", "b1 2", "i8+ 5",
         batched=[(True, False, False), (True, False, True), (False, False, True)], raw=False),
    Case("take", lambda xp, x, i: xp.take(x, i, axis=1), "f8 2 4 3", "i8+ 5"),
    Case("take_along_axis, last", lambda xp, x, i: xp.take_along_axis(x, i), "f8 2 4", "i8+ 2 3"),
    Case("take_along_axis, wide", lambda xp, x, i: xp.take_along_axis(x, i, axis=0), "f8 2 4", "i8+ 3 1"),
]  # fmt: skip

MANIPULATION = [
    Case("concat from the end", lambda xp, x, y: xp.concat((x, y), axis=-2), "f4 2 3", "f8 1 3"),
    Case("concat flat", lambda xp, x, y: xp.concat([x, y], axis=None), "f8 2 3", "f8"),
    Case("concat of three", lambda xp, *xs: xp.concat(xs), "i8 2", "i8 0", "i8 1"),
    Case("flip 0-d", lambda xp, x: xp.flip(x), "f8", raw=False),
    Case("flip axis", lambda xp, x: xp.flip(x, axis=-1), "c16 2 3 2"),
    Case("roll axis", lambda xp, x: xp.roll(x, -1, axis=-2), "f8 2 3"),
    Case("permute_dims 0-d", lambda xp, x: xp.permute_dims(x, ()), "f8"),
    Case("squeeze", lambda xp, x: xp.squeeze(x, axis=-1), "f8 2 3 1"),
    Case("expand_dims in front", lambda xp, x: xp.expand_dims(x, axis=0), "f8"),
    Case("reshape nothing", lambda xp, x: xp.reshape(x, (0, 5)), "f8 2 0"),
    Case("reshape to 0-d", lambda xp, x: xp.reshape(x, ()), "f8 1 1"),
    Case("broadcast_to from 0-d", lambda xp, x: xp.broadcast_to(x, (3,)), "f8"),
    Case("broadcast_arrays", lambda xp, *xs: xp.broadcast_arrays(*xs), "f8 3 1", "i8 2", "f8"),
    Case("repeat differently", lambda xp, x, n: xp.repeat(x, xp.abs(n), axis=0), "f8 3 2", "i8+ 3",
         batched=[(True, False)]),
    Case("tile 0-d", lambda xp, x: xp.tile(x, (2, 2)), "f8"),
]  # fmt: skip

CREATION = [
    Case("zeros_like", lambda xp, x: xp.zeros_like(x) + x, "f4 2 3"),
    Case("ones_like", lambda xp, x: xp.ones_like(x, dtype=xp.float64), "f4 2 3"),
    Case("empty_like", lambda xp, x: xp.empty_like(x) * 0 == 0, "i8 2", order=0),
    Case("full_like", lambda xp, x: xp.full_like(x, 3), "i8 2 3"),
    Case("asarray", lambda xp, x: xp.asarray(x, copy=True), "f8 2 3"),
]

SEARCHING = [
    Case("argmax 0-d", lambda xp, x: xp.argmax(x), "f8"),
    Case("argmin kept", lambda xp, x: xp.argmin(x, keepdims=True), "i8 2 3"),
    Case("argmax axis", lambda xp, x: xp.argmax(x, axis=-2, keepdims=True), "f4 2 3"),
    Case("searchsorted left", lambda xp, x, y: xp.searchsorted(x, y), "i8s 8", "i8 2 3", raw=False),
    Case("searchsorted in nothing", lambda xp, x, y: xp.searchsorted(x, y), "f8s 0", "f8 2"),
    Case("searchsorted sorter", lambda xp, x, y: xp.searchsorted(x, y, sorter=xp.argsort(x)), "f8 5", "f8 7"),
    Case("where", lambda xp, c, x, y: xp.where(c, x, y), "b1 3 1", "f8 4", "f8"),
    Case("isin inverted", lambda xp, x, y: xp.isin(x, y, invert=True), "i8", "i8 2 2", raw=False),
    Case("isin nothing", lambda xp, x, y: xp.isin(x, y), "i8 3", "i8 0"),
]

STATISTICS = [
    Case("sum 0-d", lambda xp, x: xp.sum(x, keepdims=True), "f8"),
    Case("max 0-d", lambda xp, x: xp.max(x), "f8"),
    Case("var", lambda xp, x: xp.var(x, correction=1), "f8 2 3"),
    Case("min of nothing", lambda xp, x: xp.min(x, axis=0), "f8 2 0"),
    Case("cumulative_sum", lambda xp, x: xp.cumulative_sum(x), "f8 4"),
    Case("cumulative_sum axis", lambda xp, x: xp.cumulative_sum(x, axis=-2, include_initial=True), "f8 2 3"),
    Case("cumulative_prod first", lambda xp, x: xp.cumulative_prod(x, include_initial=True), "f8 3"),
    Case("cumulative_sum of nothing", lambda xp, x: xp.cumulative_sum(x, dtype=xp.float64), "f4 0"),
    Case("diff", lambda xp, x, p, a: xp.diff(x, n=2, prepend=p, append=a), "f8 2 3", "f8 2 1", "f8 2 2"),
    Case("all", lambda xp, x: xp.all(x), "b1 2 3"),
]

FOURIER = [
    Case("ifft of the first axis", lambda xp, x: xp.fft.ifft(x, axis=0, norm="ortho"), "c16 3 4"),
    Case("fftn of the last axes", lambda xp, x: xp.fft.fftn(x, s=(4,)), "c16 3 4", raw=False),
    Case("ifftn of given axes", lambda xp, x: xp.fft.ifftn(x, axes=(0,)), "c16 3 4"),
    Case("ifftshift of one axis", lambda xp, x: xp.fft.ifftshift(x, axes=0), "c16 3 4"),
    Case("ihfft of the first axis", lambda xp, x: xp.fft.ihfft(x, axis=0), "f8 4 2"),
    Case("fftfreq", lambda xp, x: x * xp.fft.fftfreq(4, dtype=x.dtype), "f8 4", raw=False, order=2),
]

CASES = [*INDEXING, *MANIPULATION, *CREATION, *SEARCHING, *STATISTICS, *FOURIER]


@pytest.fixture(params=("@numpy", "@strict:cpu"))
def device(request):
    return xpgrad.get_device(request.param)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_function_of_variables_and_of_arrays_agrees_with_each_member(device, case):
    check(case, device)
    if case.raw:
        check(case, device, raw=True)


def test_names_of_cases_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)
