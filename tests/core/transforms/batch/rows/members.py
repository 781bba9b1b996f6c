"""Functions of batches, compared with a loop over the members: values, gradients, and gradients of these."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.core.transforms.references import looped

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as public
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, vmap

SIZE = 3


class Case:
    """A function, and its arrays: shapes with letters for dtypes, ``"f8 2 3"``.

    Parameters
    ----------
    name : str
    function : callable
        Takes a namespace and arrays: the library's namespace and arrays, or xpgrad's namespace and Variables.
    *arrays : str or callable
        ``+`` after the dtype means indices, from -2 to 1; ``s``: sorted. A function returns a member, from a seed.
    raw : bool
        Whether it also accepts arrays of the library.
    order : int
        The highest order of the gradients that are compared.
    batched : sequence of sequences of bool
        The batched arrays; by default each one, all but one, and all.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], *arrays: Any, raw: bool = True, order: int = 1,
        batched: Sequence[Sequence[bool]] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.function, self.arrays, self.raw, self.order = name, function, arrays, raw, order
        count = len(arrays)
        every = itertools.product((True, False), repeat=count)
        several = [flags for flags in every if any(flags) and sum(flags) in (1, count - 1, count)]
        self.batched = several if batched is None else batched

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(x if isinstance(x, str) else x.__name__ for x in self.arrays)})"

    def members(self, dtype: str | None) -> list[list[Any]]:
        """Return arrays of three members for each argument."""
        return [
            [made(x, 7 * i + k, dtype) if isinstance(x, str) else x(7 * i + k) for k in range(SIZE)]
            for i, x in enumerate(self.arrays)
        ]

    def called(self, raw: bool) -> Callable[..., Any]:
        """Return the function, for Variables: it computes with them or with their arrays."""

        def on_variables(*xs: Any) -> Any:
            if not raw:
                return tuple(leaves(self.function(public, *xs)))
            restore = plugins.backend_of(xs[0].array).restore  # the library may return scalars
            found = self.function(xs[0].array.__array_namespace__(), *[x.array for x in xs])
            return tuple(Variable(restore(y)) for y in leaves(found))

        return on_variables


def made(text: str, seed: int, dtype: str | None = None) -> np.ndarray[Any, Any]:
    """Return the array described by the text of a case, in its dtype or in another one."""
    name, *lengths = text.split()
    rng, shape, kind = np.random.default_rng(seed), [*map(int, lengths)], dtype or name.rstrip("+s")
    if kind == "b1":
        return rng.uniform(size=shape) < 0.5
    if name.endswith("+"):
        return np.asarray(rng.integers(-2, 2, size=shape)).astype(kind)
    values = rng.normal(size=shape) * 3
    if kind.startswith("c"):
        values = values + 1j * rng.normal(size=shape)
    found = np.asarray(values).astype(kind)
    return np.sort(found, axis=-1) if name.endswith("s") else found


def leaves(result: Any) -> list[Any]:
    """Return the arrays of a result."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def check(
    case: Case, device: xpgrad.Device, *, raw: bool = False, dtype: str | None = None, order: int | None = None,
    rtol: float = 1e-12,
) -> None:  # fmt: skip
    """Compare a case with a loop, for three members, one, and none.

    Raises
    ------
    AssertionError
        Another value, gradient, or gradient of a squared gradient, of all members together or of a single member.
    """
    members, order = case.members(dtype), 0 if raw else case.order if order is None else order
    rtol = max(rtol, 1e-6 if any(str(x).startswith(("f4", "i4")) for x in case.arrays) else 0.0)
    with xpgrad.using_device(device):
        for batched in case.batched:
            axes = tuple(0 if several else None for several in batched)
            arrays = [np.stack(x) if several else x[0] for x, several in zip(members, batched, strict=True)]
            try:
                for size in (SIZE, 1):
                    some = [x[:size] if several else x for x, several in zip(arrays, batched, strict=True)]
                    expected = compare(case.called(raw), axes, some, device, order if size > 1 else min(order, 1), rtol)
                none = [placed(x[:0] if several else x, device) for x, several in zip(arrays, batched, strict=True)]
                found = vmap(case.called(raw), axes)(*map(Variable, none))
                assert [(y.shape, on_host(y).dtype) for y in found] == [((0, *shape), kind) for shape, kind in expected]
            except Exception as error:
                error.add_note(f"{case}, batched: {batched}, raw: {raw}, {dtype} on {device}")
                raise


def compare(
    call: Callable[..., Any], axes: tuple[int | None, ...], arrays: Sequence[Any], device: xpgrad.Device, order: int,
    rtol: float, within: int = 1,
) -> list[tuple[Any, Any]]:  # fmt: skip
    """Compare a batch of members with a loop, and return the shapes and dtypes of the results of a member.

    Gradients from outside are of the given order, and gradients computed within are of order `within`.
    """
    found, expected = (orders(way(call, axes), arrays, device, order) for way in (vmap, looped))
    for k, (a, e) in enumerate(itertools.zip_longest(found[0] + found[1], expected[0] + expected[1])):
        assert_near(a, e, rtol, f"number {k} of {len(expected[0])} values and {len(expected[1])} gradients")
    argnums = tuple(i for i, x in enumerate(arrays) if x.dtype.kind in "fc")
    xs = [Variable(placed(x, device), requires_grad=x.dtype.kind in "fc") for x in arrays]
    inner = call
    for _ in range(within if expected[1] else 0):
        inner = grad(lambda *xs, f=inner: total(leaves(f(*xs)), device), argnums, allow_constant=True)
        for a, e in zip(*(leaves(way(inner, axes)(*xs)) for way in (vmap, looped)), strict=True):
            assert_near(on_host(a), on_host(e), rtol, "the gradient of each member")
    return [(y.shape[1:], y.dtype) for y in expected[0]]


def orders(
    function: Callable[..., Any], arrays: Sequence[Any], device: xpgrad.Device, order: int
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Return the values, and the gradients of their sum and of the sum of its squared gradients."""
    xs = [Variable(placed(x, device), requires_grad=x.dtype.kind in "fc") for x in arrays]
    ys, gradients = function(*xs), list[Any]()
    inputs = [x for x in xs if x.requires_grad]
    if order and any(y.requires_grad for y in ys):
        gradients = first = xpgrad.grad([total(ys, device)], inputs, enable_double_backprop=order > 1)
        again = [g * g for g in first if g is not None and g.requires_grad]
        if order > 1 and again:
            gradients = first + xpgrad.grad([total(again, device)], inputs)
    return [on_host(y) for y in ys], [None if g is None else on_host(g) for g in gradients]


def assert_near(a: Any, e: Any, rtol: float, what: str) -> None:
    """Compare two arrays, or None and zeros."""
    if a is None or e is None:
        assert a is e or not np.any(e if a is None else a), f"{what} is missing in one"
        return
    assert (a.shape, a.dtype) == (e.shape, e.dtype), what
    with np.errstate(all="ignore"):
        scale = float(np.max(np.abs(e), initial=0.0, where=np.isfinite(e)))
    np.testing.assert_allclose(a, e, rtol=rtol, atol=rtol * scale, err_msg=what)


def total(ys: Sequence[Any], device: xpgrad.Device) -> Any:
    """Return a real number that depends on all elements, each with another weight."""
    found: Any = 0.0
    for y in ys:
        if y.node.spec.differentiable:
            y = public.real(y) + 0.5 * public.imag(y) if y.node.spec.complex else y
            weights = np.cos(np.arange(1.0, y.size + 1) ** 2).reshape(y.shape)
            found = found + public.sum(y * placed(weights.astype(y.node.spec.backend.dtype_name(y.dtype)), device))
    return found
