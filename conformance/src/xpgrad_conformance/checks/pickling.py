"""Family R, pickle and copies: values, dtype and device are preserved."""

import copy
import pickle
from typing import Any

import numpy as np

from xpgrad import Device, Parameter, Variable, using_device
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import assert_unchanged, dtypes_on, extremes, views_of
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place, shared_memory

LARGE = 1033, 70_001
"""Numbers of elements of arrays that are pickled, written to, and pickled again."""


def _pickled(obj: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(obj, protocol))


@check("R01")
def variables(s: Subject) -> None:
    """Variables and Parameters are pickled with data, gradient, name and device."""
    for device in s.places:
        for kind in (Variable, Parameter):
            for shape in ((3, 4), (), *([(0, 2)] if s.has("empty_arrays") else [])):
                values, gradient = s.values(shape), s.values(shape)
                x = kind(s.array(values, device=device))
                x.name, x.grad = "w", s.array(gradient, device=device)
                back = _pickled(x)
                what = f"{kind.__name__} of shape {shape} on {device} that was pickled"
                assert type(back) is kind, f"a {what} is {type(back).__name__}"
                assert back.name == "w", f"a {what} is called {back.name!r}"
                assert back.requires_grad, f"a {what} requires no gradient"
                s.expect(back, values, f"a {what}", device=device)
                s.expect(back.grad, gradient, f"the gradient of a {what}", device=device)
    for dtype in dtypes_on(s):
        x = Variable(s.array(extremes(dtype), dtype), requires_grad=False)
        found = _pickled(x)
        assert_place(s.device, found.array, f"a Variable of {dtype} that was pickled")
        assert_unchanged(s.host(found), extremes(dtype), f"a Variable of {dtype} that was pickled")
        assert not found.requires_grad, f"a Variable of {dtype} that needed no gradient needs one after pickle"


@check("R02")
def devices(s: Subject) -> None:
    """Devices are pickled by name, and restored as the same device."""
    for device in s.places:
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = _pickled(device, protocol)
            assert back == device, f"{device}, pickled, is {back}"
            assert back.handle == device.handle, f"{device}, pickled, has the handle {back.handle!r}"
            x = s.array(s.values((2, 3), dtype="float64"), device=back)
            assert_place(device, x, f"an array that was put on {device} after that was pickled")
    waiting = Parameter(name="w")
    waiting.to_device(s.pair[1])
    back = _pickled(waiting)
    assert back.device == s.pair[1], f"a Parameter without an array, sent to {s.pair[1]}, is on {back.device} now"


@check("R03", needs=("pickle",))
def arrays(s: Subject) -> None:
    """The library's arrays are pickled with values, dtype and device; views with the elements that they show."""
    with_device = s.has("pickle_keeps_device")
    for dtype in dtypes_on(s):
        back = _pickled(s.array(extremes(dtype), dtype))
        if with_device:
            assert_place(s.device, back, f"an array of {dtype} that was pickled")
        assert_unchanged(s.host(back), extremes(dtype), f"an array of {dtype} that was pickled")
    values = s.values((3, 4))
    for device in s.places:
        for what, expected, view in views_of(s, values, s.array(values, device=device), device):
            back = _pickled(view)
            if with_device:
                assert_place(device, back, f"{what} that was pickled")
            assert_unchanged(s.host(back), expected, f"{what} that was pickled")


@check("R04")
def copies(s: Subject) -> None:
    """A deep copy has separate memory on the same device; a shallow copy shares the array."""
    for device in s.places:
        values, gradient = s.values((3, 4)), s.values((3, 4))
        x = Variable(s.array(values, device=device), name="x", grad=s.array(gradient, device=device))
        deep, shallow = copy.deepcopy(x), copy.copy(x)
        for what, each in (("deep", deep), ("shallow", shallow)):
            s.expect(each, values, f"a {what} copy", device=device)
            s.expect(each.grad, gradient, f"the gradient of a {what} copy", device=device)
            assert (each.name, each.node is x.node) == ("x", False), f"a {what} copy lost its name or shares its node"
        assert not shared_memory(deep, x), f"a deep copy of a Variable on {device} shares its memory"
        assert not shared_memory(deep.grad, x.grad), f"a deep copy of a Variable on {device} shares its gradient"
        assert shallow.array is x.array, "a shallow copy has another array"
        if s.has("in_place_update", "index_assignment"):
            _written(s, deep, device)
            s.expect(x, values, "a Variable, after a write to its deep copy,", device=device)


def _written(s: Subject, x: Variable, device: Device) -> None:
    with using_device(device):
        x.array[...] = 7.25
    s.expect(x, np.full(x.shape, 7.25), "what was written", device=device)


@check("R21", needs=("pickle",))
def views_together(s: Subject) -> None:
    """Views of one array, pickled separately or together, are restored with the right elements."""
    values = s.values((3, 4))
    for device in s.places:
        base = s.array(values, device=device)
        with using_device(device):
            shown = [(what, expected, view) for what, expected, view in views_of(s, values, base, device)]
        given = [base, *(view for _, _, view in shown), base]
        expected = [values, *(each for _, each, _ in shown), values]
        for back in ([_pickled(each) for each in given], _pickled(given)):
            for found, wanted in zip(back, expected, strict=True):
                assert_unchanged(s.host(found), wanted, f"a view of an array on {device}, pickled among others,")


@check("R23", needs=("pickle",))
def after_writes(s: Subject) -> None:
    """Arrays are pickled, copied and read with their current values: after a write, and in reused memory."""
    for dtype in dtypes_on(s):
        host = extremes(dtype)
        x = s.array(host, dtype)
        _assert_read(s, x, host, f"an array of {dtype}")
        if s.has("in_place_update", "index_assignment") and not s.backend.immutable:
            for place in ((2, 3), (1, 1), (0, 0)):
                host = host.copy()
                host[place] = host[place[1] % 3, 1 + place[0]]
                with using_device(s.device):
                    x[place] = s.array(host[place], dtype)
                _assert_read(s, x, host, f"an array of {dtype}, after a write in one place,")
    common = dtypes_on(s)
    for number in range(4 * len(common)):  # arrays that die, whose addresses are used again
        dtype, order = common[number % len(common)], number // len(common)
        host = np.roll(extremes(dtype), order).reshape(((3, 4), (4, 3), (12,), (2, 6))[order])
        _assert_read(s, s.array(host, dtype), host, f"a new array of {dtype}")
    _assert_apart(s)
    for count in LARGE:
        host = s.values((count,))
        x = s.array(host)
        _assert_read(s, x, host, f"an array of {count} elements")
        if s.has("in_place_update", "index_assignment") and not s.backend.immutable:
            host[[0, count // 2, count - 1]] = 7.25
            with using_device(s.device):
                for i in (0, count // 2, count - 1):
                    x[i] = 7.25
            _assert_read(s, x, host, f"an array of {count} elements, after writes to it,")


def _assert_apart(s: Subject) -> None:
    """Raise AssertionError unless each result of unpickling, also of equal pickles, has separate memory."""
    if not s.has("in_place_update", "index_assignment") or s.backend.immutable:
        return
    for shape in (3, 4), (40, 70):
        values = s.values(shape)
        kept = pickle.dumps(s.array(values))
        found = [pickle.loads(kept), pickle.loads(kept), _pickled(s.array(values))]
        with using_device(s.device):
            found[0][...] = 7.25
        for back in (*found[1:], pickle.loads(kept)):
            assert_unchanged(s.host(back), values, f"an array of {shape} that was pickled, after a write to another,")


def _assert_read(s: Subject, x: Any, host: Any, what: str) -> None:
    """Raise AssertionError unless pickling, copying and reading by the host preserve an array."""
    assert_unchanged(s.host(_pickled(x)), host, f"{what} that was pickled")
    assert_unchanged(s.host(copy.deepcopy(x)), host, f"a deep copy of {what}")
    assert_unchanged(np.asarray(s.host(x)), host, f"{what} on the host")
