"""Functions of batches, compared with a loop over the members."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as public
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import vmap

Function = Callable[..., Any]
"""Takes a namespace and arrays: the library's namespace and arrays, or xpgrad's namespace and Variables."""


class Case:
    """A function, and its arrays: shapes with letters for dtypes, ``"f8 2 3"``.

    Parameters
    ----------
    name : str
    function : callable
    *arrays : str
        ``+`` after the dtype means indices, from -2 to 1; ``s``: sorted.
    raw : bool
        Whether it also accepts arrays of the library.
    smooth : bool
        Whether to compare gradients as well.
    batched : sequence of sequences of bool
        The batched arrays; by default all combinations.
    """

    def __init__(
        self, name: str, function: Function, *arrays: str, raw: bool = True, smooth: bool = True,
        batched: Sequence[Sequence[bool]] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.function, self.arrays = name, function, arrays
        self.raw, self.smooth = raw, smooth
        several = [flags for flags in product((True, False), repeat=len(arrays)) if any(flags)]
        self.batched = several if batched is None else batched

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(self.arrays)})"


def made(text: str, lead: tuple[int, ...], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return an array described by the text of a case."""
    dtype, *lengths = text.split()
    shape = (*lead, *map(int, lengths))
    kind = dtype.rstrip("+s")
    if kind == "b1":
        return rng.uniform(size=shape) < 0.5
    if dtype.endswith("+"):
        return rng.integers(-2, 2, size=shape).astype(kind)
    values = rng.normal(size=shape) * 3
    if kind.startswith("c"):
        values = values + 1j * rng.normal(size=shape)
    found = np.asarray(values, dtype=kind)
    return np.sort(found, axis=-1) if dtype.endswith("s") else found


def leaves(result: Any) -> list[Any]:
    """Return the arrays of a result."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def called(function: Function, raw: bool) -> Callable[..., Any]:
    """Return a function of Variables, which computes with them or with their arrays."""

    def on_variables(*xs: Any) -> Any:
        variables = [Variable(x) if not isinstance(x, Variable) else x for x in xs]
        if not raw:
            return tuple(leaves(function(public, *variables)))
        arrays = [x.array for x in variables]
        restore = plugins.backend_of(arrays[0]).restore  # the library may return scalars
        return tuple(Variable(restore(y)) for y in leaves(function(arrays[0].__array_namespace__(), *arrays)))

    return on_variables


def weighted(function: Function) -> Callable[..., Any]:
    """Return a real number that depends on all elements of the results of a function of Variables."""

    def number(*xs: Any) -> Any:
        total = 0.0
        for y in called(function, False)(*xs):
            if not y.node.spec.differentiable:
                continue
            real = public.real(y) + public.imag(y) if y.node.spec.complex else y
            count = public.reshape(public.arange(real.size, device=real.device), real.shape)
            total = total + public.sum(real * public.cos(public.astype(count, real.dtype)))
        return total

    return number


def compare(case: Case, device: xpgrad.Device, size: int, raw: bool) -> None:
    """Raise unless a case gives the same results for a batch and for single members."""
    with xpgrad.using_device(device):
        for flags in case.batched:
            arrays, loop = _arrays(case, device, size, flags)
            f = called(case.function, raw)
            _same(vmap(f, in_axes=_axes(flags))(*arrays), [f(*each) for each in loop], size)
            if case.smooth and not raw:
                _compare_gradients(weighted(case.function), case, flags, arrays, loop)


def _axes(flags: Sequence[bool]) -> tuple[int | None, ...]:
    return tuple(0 if each else None for each in flags)


def _arrays(case: Case, device: xpgrad.Device, size: int, flags: Sequence[bool]) -> tuple[list[Any], list[list[Any]]]:
    rng = np.random.default_rng(0)
    host = [made(text, (size,) if each else (), rng) for text, each in zip(case.arrays, flags, strict=True)]
    members = [[x[i] if each else x for x, each in zip(host, flags, strict=True)] for i in range(size)]
    if not size:
        members = [[np.zeros(x.shape[1:], x.dtype) if each else x for x, each in zip(host, flags, strict=True)]]
    put = [placed(np.asarray(x), device) for x in host]
    return put, [[placed(np.asarray(x), device) for x in each] for each in members]


def _compare_gradients(f: Callable[..., Any], case: Case, flags: Sequence[bool], arrays: Any, loop: Any) -> None:
    where = [i for i, text in enumerate(case.arrays) if text[0] in "fc" and flags[i]]
    for i in where:

        def slope(*xs: Any, i: int = i) -> Any:
            x = Variable(xs[i].array if isinstance(xs[i], Variable) else xs[i])
            y = f(*xs[:i], x, *xs[i + 1 :])
            (gx,) = xpgrad.grad([y], [x]) if isinstance(y, Variable) and y.requires_grad else (None,)
            return (public.zeros_like(x) if gx is None else gx,)

        _same(vmap(slope, in_axes=_axes(flags))(*arrays), [slope(*each) for each in loop], arrays[i].shape[0])


def _same(got: Sequence[Any], wanted: Sequence[Sequence[Any]], size: int) -> None:
    assert {len(each) for each in wanted} == {len(got)}
    for i, y in enumerate(got):
        members = [on_host(each[i]) for each in wanted]
        expected = np.stack(members)[:size]
        values = on_host(y)
        assert values.shape == expected.shape
        assert values.dtype == expected.dtype
        np.testing.assert_allclose(values, expected, rtol=1e-6 if expected.dtype.itemsize < 8 else 1e-12, atol=1e-7)
