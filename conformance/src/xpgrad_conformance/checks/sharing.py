"""Family A, aliasing: gradients, copies and new arrays share no memory, which is checked by writing."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad import Variable, grad, using_config, using_device
from xpgrad.backend.transfer import transfer
from xpgrad.errors import ChangedArray
from xpgrad.functions import copy
from xpgrad.testing.arrays import on_host
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.layouts import assert_untouched, layouts
from xpgrad_conformance.generated import writing
from xpgrad_conformance.generated.writing import WRITES
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits

MARK = 17.0
"""The value that overwrites arrays to check that their memory is not shared."""


def overwrite(array: Array) -> None:
    """Overwrite an array."""
    array[...] = MARK


@check("A12", needs=WRITES)
def honest_views(s: Subject) -> None:
    """If is_view returns False, writing to the array changes no other array."""
    xp = s.backend.namespace
    for what, x, before in layouts(s):
        shape = tuple(before.shape)
        if 0 in shape:
            continue
        made: dict[str, Any] = {"reshape": lambda x=x, n=before.size: xp.reshape(x, (n,))}
        made["x[...]"] = lambda x=x: x[...]
        made["asarray"] = lambda x=x: xp.asarray(x)
        made["positive"] = lambda x=x: xp.positive(x)
        made["astype without a copy"] = lambda x=x: xp.astype(x, x.dtype, copy=False)
        made["expand_dims"] = lambda x=x: xp.expand_dims(x, axis=0)
        if len(shape) == 2:
            made["permute_dims"] = lambda x=x: xp.permute_dims(x, (1, 0))
            made["x[1:]"] = lambda x=x: x[1:, ...]
            made["broadcast_to"] = lambda x=x, to=shape: xp.broadcast_to(x, (2, *to))
            if s.has("unstack"):
                made["unstack"] = lambda x=x: xp.unstack(x, axis=1)[0]
        for name, make in made.items():
            out = s.backend.restore(make())
            if out is not x and not s.backend.is_view(out):
                overwrite(out)
                call = (
                    f"{name} of {what}: is_view returns False, but writing to the result shows in the argument, which"
                )
                assert_untouched(s, x, before, call)


@check("A25", needs=WRITES)
def writes_of_its_own_views(s: Subject) -> None:
    """An assignment of a view of an array to the same array uses the previous values, or raises without changes."""
    for n in (5, 40, 1030, 9001) if s.quick else (5, 17, 40, 130, 1030, 9001, 70_000):
        for what, to, of in _overlapping(s, n):
            x = s.array(np.arange(float(n)))
            wanted = np.arange(float(n))
            try:
                x[to] = x[of]
            except Exception as error:
                how = f"refused: {type(error).__name__}: {error}"
            else:
                wanted[to], how = wanted[of].copy(), "done"
            assert_same_bits(on_host(x), wanted.astype(s.wide), f"x of {n} numbers after {what}, which was {how},")


def _overlapping(s: Subject, n: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield writes of one part of a vector into another, as Python, and the two keys."""
    yield "x[1:] = x[:-1]", slice(1, None), slice(None, -1)
    yield "x[:-1] = x[1:]", slice(None, -1), slice(1, None)
    yield f"x[{n // 2}:] = x[{n // 4}:{n // 4 - n // 2}]", slice(n // 2, None), slice(n // 4, n // 4 - n // 2)
    if s.has("negative_steps"):
        yield "x[...] = x[::-1]", ..., slice(None, None, -1)
        yield "x[::-1] = x[...]", slice(None, None, -1), ...


@check("A26", needs=WRITES)
def refused_writes(s: Subject) -> None:
    """A rejected write does not change the array."""
    for shape in ((3, 4), (40, 33)):
        host = s.values(shape)
        odd, vector = (s.array(s.values(each)) for each in ((5, 7), (shape[1] + 1,)))
        writes: dict[str, tuple[Any, Any]] = {
            "x[...] = an array of shape (5, 7)": (..., odd),
            "x[1, :] = a vector that is too long": ((1, slice(None)), vector),
            "x[:, 1:3] = an array of shape (5, 7)": ((slice(None), slice(1, 3)), odd),
            f"x[{shape[0] + 2}, :] = 0.0, out of range": ((shape[0] + 2, slice(None)), 0.0),
            "x[0, 0, 0] = 0.0, of one axis too many": ((0, 0, 0), 0.0),
            "x[...] = a text": (..., "a text"),
        }
        for what, (key, value) in writes.items():
            x = s.array(host)
            try:
                x[key] = value
            except Exception as error:
                assert_same_bits(on_host(x), host, f"x after {what}, rejected with a {type(error).__name__},")


@check("A13", needs=WRITES)
def copies(s: Subject) -> None:
    """Backend.copy, astype to the same dtype, and asarray and reshape with copy=True return copies for any layout."""
    kind, xp = s.dtype_of(s.wide), s.kernels
    made: dict[str, Callable[[Any], Any]] = {
        "Backend.copy(x)": s.backend.copy,
        "astype(x, its dtype)": lambda x: xp.astype(x, kind),
        "asarray(x, copy=True)": lambda x: xp.asarray(x, copy=True),
        "reshape(x, its shape, copy=True)": lambda x: xp.reshape(x, tuple(x.shape), copy=True),
    }
    for name, make in made.items():
        for what, x, before in layouts(s):
            if 0 in before.shape:
                continue
            own, another = make(x), make(x)
            s.expect(own, before, f"{name} of {what}")
            _write_first(s, own, before, f"{name} of {what}")
            overwrite(own)
            for array, which in (x, what), (another, f"a second {name} of {what}"):
                assert_untouched(s, array, before, f"{which}, after {name} was written to,")
            own = make(x)
            if "broadcast" not in what:
                overwrite(x)
                assert_untouched(s, own, before, f"{name} of {what}, after that was written to,")


def _write_first(s: Subject, array: Array, before: Any, what: str) -> None:
    """Write to the first row of an array with separate memory, each element once; other arrays must not change."""
    if before.ndim:
        array[0, ...] = 9.0
        wanted = before.copy()
        wanted[0] = 9.0
        assert_untouched(s, array, wanted, f"{what}, whose first row was written to,")


@check("A14", needs=WRITES)
def new_arrays(s: Subject) -> None:
    """Functions that create arrays give new memory at each call."""
    xp, handle, dtype = s.kernels, s.device.handle, s.array(np.ones(1)).dtype
    for shape in ((3, 4), (), (1,)):
        spec = s.backend.spec_for(shape, dtype, handle)
        like = s.array(s.values(shape))
        made: dict[str, tuple[Any, Any]] = {
            "Backend.ones": (lambda spec=spec: s.backend.ones(spec), np.ones(shape)),
            "Backend.asarray": (lambda: s.backend.asarray(2.5, dtype=dtype, device=handle), np.asarray(2.5)),
            "zeros": (lambda shape=shape: xp.zeros(shape, dtype=dtype, device=handle), np.zeros(shape)),
            "ones": (lambda shape=shape: xp.ones(shape, dtype=dtype, device=handle), np.ones(shape)),
            "full": (lambda shape=shape: xp.full(shape, 2.5, dtype=dtype, device=handle), np.full(shape, 2.5)),
            "zeros_like": (lambda like=like: xp.zeros_like(like), np.zeros(shape)),
            "ones_like": (lambda like=like: xp.ones_like(like), np.ones(shape)),
            "full_like": (lambda like=like: xp.full_like(like, 2.5), np.full(shape, 2.5)),
            "asarray": (lambda: xp.asarray([0.5, 1.5], dtype=dtype, device=handle), np.array([0.5, 1.5])),
            "arange": (lambda: xp.arange(0.0, 3.0, dtype=dtype, device=handle), np.arange(3.0)),
            "linspace": (lambda: xp.linspace(0.0, 1.0, 5, dtype=dtype, device=handle), np.linspace(0, 1, 5)),
            "eye": (lambda: xp.eye(3, 4, dtype=dtype, device=handle), np.eye(3, 4)),
        }
        for name, (make, expected) in made.items():
            if name.startswith("Backend") or s.has(name):
                writing.overwrite(make(), MARK)
                again = make()
                s.expect(again, expected, f"{name}, shape {expected.shape}, after the last such was written to")


@check("A20", needs=WRITES)
def scalars(s: Subject) -> None:
    """A Python number means the same after results of it have been written to."""
    numbers = 2.5, 3, -0.75
    for shape in ((), (1,), (3, 4)):
        host = s.values(shape, 0.5, 1.5)
        for attempt in (1, 2):
            for number in numbers:
                x = s.variable(host)
                results = {"x * c": x * number, "x + c": x + number, "c - x": number - x, "x / c": x / number}
                wide = host.astype(float)
                expected = wide * number, wide + number, number - wide, wide / number
                slopes = number, 1.0, -1.0, 1.0 / number
                for (name, y), value, slope in zip(results.items(), expected, slopes, strict=True):
                    what = f"{name}, c = {number}, shape {shape}, attempt {attempt}"
                    s.expect(y, value, what)
                    start = s.array(np.full(shape, 1.25))
                    g = grad([y], [x], [Variable(start)])[0]
                    s.expect(g, np.full(shape, 1.25 * slope), f"the gradient of {what}")
                    assert g is not None
                    overwrite(y.array)
                    overwrite(g.array)
                    assert_untouched(s, x.array, host, f"x, after {what} was written to,")


@check("A21", needs=WRITES)
def changed_in_debug_mode(s: Subject) -> None:
    """In debug mode an in-place change of a retained array raises an error, and an unchanged array raises none."""
    host = s.values((3, 4), 0.5, 1.5)
    for changed in (False, True):
        with using_config("debug", True):
            x = s.variable(host)
            y = s.xp.sum(x * x)
            if changed:
                overwrite(x.array)
                s.raises(ChangedArray, y.backward, "x was written to between x * x and its backward, in debug mode")
            else:
                y.backward()
                s.expect(x.grad, 2.0 * host, "the gradient of x * x in debug mode")


@check("A24", needs=WRITES)
def moved(s: Subject) -> None:
    """A moved array, and the gradient that returns from the other device, share memory with no other array."""
    here, there = s.pair
    host, gy = s.values((3, 4)), s.values((3, 4))
    x, seed = s.variable(host, device=here), s.array(gy, device=there)
    y = copy(x, there)
    y.grad = seed
    y.backward()
    assert x.grad is not None
    results = {"what transfer gave": transfer(x.array, there), "the result of F.copy": y.array, "x.grad": x.grad}
    for what, array in results.items():
        with using_device(here if array is x.grad else there):
            overwrite(array)
        assert_untouched(s, x.array, host, f"x on {here}, after {what}, from {there}, was written to,")
        assert_untouched(s, seed, gy, f"the seed on {there}, after {what} was written to,")
    for what, x, before in layouts(s) if here == s.device else ():
        if 0 not in before.shape:
            own, another = transfer(x, there), transfer(x, there)
            with using_device(there):
                _write_first(s, own, before, f"{what}, moved to {there},")
            assert_untouched(s, another, before, f"{what}, moved to {there} again, after the first was written to,")
