"""Family Y, async: reading a result waits for its computation, and work is done in the order of the calls."""

from typing import Any

import numpy as np

from xpgrad import Variable, grad, using_config, using_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import XpgradError
from xpgrad.functions import copy
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.writing import WRITES
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_near

WORK = 181, 203
"""Shape of matrices that are large enough for an asynchronous call to return before it has finished."""


def _matrix(s: Subject) -> tuple[Array, Any]:
    host = s.values(WORK, -0.1, 0.1)
    return s.array(host), host.astype(float)


def _worked(s: Subject, array: Array, times: int = 4) -> Array:
    """Return the pending result of a long computation."""
    for _ in range(times):
        array = s.kernels.matmul(s.kernels.matmul(array, s.kernels.matrix_transpose(array)), array) + 0.25 * array
    return array


def _expected(host: Any, times: int = 4) -> Any:
    for _ in range(times):
        host = host @ host.T @ host + 0.25 * host
    return host


@check("Y02")
def numbers(s: Subject) -> None:
    """float, int, bool, complex and item wait for their element."""
    x, host = s.variable(np.array([[1.5, -2.25, 4.0]])), np.array([1.5, -2.25, 4.0])
    expected = float(np.sum(host * 3.0))
    where = f"the sum of x * 3, x = {host}"
    for name, read in (
        ("item", lambda v: v.item()),
        ("float", float),
        ("complex", complex),
        ("int", int),
        ("float of the array", lambda v: float(v.array)),
    ):
        with using_config("warn_graph_end", False):
            got = read(s.xp.sum(x * 3.0))
        wanted: Any = int(expected) if name == "int" else expected
        assert got == wanted, f"{name} of {where}: got {got!r}, expected {wanted!r}"
    for bound in (9.0, 10.0):
        got = bool(s.xp.sum(x * 3.0) > bound)
        assert got is (expected > bound), f"bool of whether {where}, is above {bound}: got {got}, it is {expected}"
    count = int(s.xp.sum(s.variable(np.array([3, 5, 7])) * 2))
    assert count == 30, f"int of the sum of 2 * (3, 5, 7): got {count}, expected 30"


@check("Y03")
def printing(s: Subject) -> None:
    """Printing waits for the values."""
    x = s.variable(np.array([0.75, -2.5, 6.25]))
    for name, write in (("repr", repr), ("str", str)):
        text = write(x * 2.0 + 1.0)
        for number in ("2.5", "-4", "13.5"):
            assert number in text, f"{name} of (2.5, -4, 13.5), which is being computed, is {text!r}"


@check("Y04", needs=("dlpack_export",))
def exchange(s: Subject) -> None:
    """DLPack waits: another library sees the finished values."""
    array, host = _matrix(s)
    result = _worked(s, array)
    numpy = plugins.host
    if s.backend.exports(result, numpy.dlpack_device(numpy.default_device)):
        seen = np.array(np.from_dlpack(result))
        assert_near(seen, _expected(host), s.rtol(), "a chain of matmuls that NumPy took by DLPack")


@check("Y05")
def synchronize(s: Subject) -> None:
    """Device.synchronize can be called at any time, on every device, and does not change results."""
    s.device.synchronize()
    array, host = _matrix(s)
    result = _worked(s, array)
    for device in (s.device, *s.pair, *s.backend.devices()):
        device.synchronize()
    s.device.synchronize()
    s.expect(result, _expected(host), "a chain of matmuls, after synchronize,")
    s.expect(_worked(s, array, 1), _expected(host, 1), "a matmul after synchronize")


@check("Y06")
def order_across_devices(s: Subject) -> None:
    """Work that goes from one device to another and back is done in order."""
    here, there = s.pair
    host = s.values((3, 4))
    x = s.variable(host, device=here)
    y = (x * 2.0).to_device(there)
    s.expect(y, 2.0 * host, f"x * 2, moved from {here} to {there} immediately,", device=there)
    array = transfer(s.array(host, device=here), there)
    for _step in range(3):
        with using_device(there):
            array = array * 1.5
        with using_device(here):
            array = transfer(array, here) + 0.25
        array = transfer(array, there)
    expected = host.astype(float)
    for _ in range(3):
        expected = expected * 1.5 + 0.25
    s.expect(array, expected, f"three times x * 1.5 on {there} and + 0.25 on {here}, moved immediately,", device=there)
    gy = s.values((3, 4))
    x = s.variable(host, device=here)
    z = copy(x * x, there) * 3.0
    with using_device(there):
        seed = s.array(gy, device=there) * 2.0
    g = grad([z], [x], [Variable(seed)])[0]
    s.expect(g, 12.0 * host * gy, f"the gradient on {here} of a program that ends on {there}", device=here)


@check("Y07", needs=WRITES)
def source_overwritten(s: Subject) -> None:
    """The result of to_host does not change when its source is overwritten immediately."""
    array, host = _matrix(s)
    result = _worked(s, array)
    fetched = s.backend.to_host(result)
    result[...] = 17.0
    s.backend.synchronize(s.device)
    assert_near(fetched, _expected(host), s.rtol(), "what to_host gave, after the source was written to,")
    there = s.pair[1]
    source = s.array(host, device=s.pair[0])
    moved = transfer(source, there)
    source[...] = 17.0
    s.expect(moved, host, f"an array moved to {there}, after its source was written to,", device=there)


@check("Y08")
def host_overwritten(s: Subject) -> None:
    """The host's array can be written to as soon as from_host returns."""
    for device in (s.device, s.pair[1]):
        for shape in ((3, 4), (), WORK):
            host = s.values(shape)
            before = host.copy()
            made = device.backend.from_host(host, device)
            host[...] = 17.0
            with using_device(device):
                result = device.backend.restore(made * 2.0)
            s.backend.synchronize(s.device)
            what = f"from_host of shape {shape} to {device}, after the host's array was written to,"
            s.expect(made, before, what, device=device)
            s.expect(result, 2.0 * before, f"{what} doubled,", device=device)


@check("Y09")
def accumulating(s: Subject) -> None:
    """Sums of cotangents that are still being computed are right."""
    start = s.backend.in_place_from
    rows = max(3, int(start) // 60 + 1) if start <= 2**20 else 3
    hosts = [s.values((rows, 60)) for _ in range(4)]
    x = s.variable(hosts[0])
    y = s.xp.sum(x * s.array(hosts[1]))
    for host in hosts[2:]:
        y = y + s.xp.sum(s.xp.exp(x) * s.array(host))
    y.backward()
    wide = [host.astype(float) for host in hosts]
    expected = wide[1] + np.exp(wide[0]) * (wide[2] + wide[3])
    s.expect(x.grad, expected, f"a gradient of three contributions, shape {(rows, 60)}")
    total = s.kernels.accumulate(s.array(hosts[0]) * 2.0, s.array(hosts[1]) * 3.0)
    s.expect(total, 2 * wide[0] + 3 * wide[1], "accumulate of two results that are being computed")


@check("Y10")
def errors(s: Subject) -> None:
    """An operation that cannot be done is an error, at the latest when its values are fetched; later work is sound."""
    a, b = s.array(s.values((3, 4))), s.array(s.values((3, 5)))
    for name, call in (
        ("matmul of (3, 4) and (3, 5)", lambda: s.kernels.matmul(a, b)),
        ("the sum of (3, 4) and (3, 5)", lambda: a + b),
        ("reshape of (3, 4) to (5, 2)", lambda: s.kernels.reshape(a, shape=(5, 2))),
    ):
        s.raises(Exception, lambda call=call: s.host(call()), f"the values of {name}")
    s.device.synchronize()
    host = s.values((3, 4))
    s.expect(s.array(host) * 2.0, 2.0 * host, "x * 2, after operations that failed,")


@check("Y11")
def nan_detection(s: Subject) -> None:
    """Debug mode waits for the values: it finds a NaN in a pending result, and reports no false NaN."""
    x = s.variable(np.array([0.5, 1.5]))
    with using_config("debug", True), np.errstate(all="ignore"):
        fine = s.xp.sum(s.xp.log(x * 2.0))
        s.expect(fine, np.asarray(np.log(1.0) + np.log(3.0)), "the sum of log(2 x) in debug mode")
        zeros = s.array(np.zeros(2))
        assert s.backend.has_nan(zeros / zeros), "has_nan says no of 0 / 0, which is being computed"
        assert not s.backend.has_nan(s.array(np.ones(2)) * 2.0), "has_nan says yes of 2, which is being computed"
        s.raises(XpgradError, lambda: s.xp.log(x - 2.0), "log of a negative number in debug mode")


@check("Y12", needs=WRITES)
def inputs_overwritten(s: Subject) -> None:
    """An operation uses the values of its inputs at the time of the call, even if they are overwritten immediately."""
    host = s.values((3, 4), 0.5, 1.5)
    wide = host.astype(float)
    for name, call, expected in (
        ("x * 2", lambda x: x * 2.0, wide * 2.0),
        ("exp", s.kernels.exp, np.exp(wide)),
        ("sum", lambda x: s.kernels.sum(x, axis=0), wide.sum(0)),
        ("matmul", lambda x: s.kernels.matmul(x, s.kernels.matrix_transpose(x)), wide @ wide.T),
        ("add", lambda x: x + x, 2.0 * wide),
        ("concat", lambda x: s.kernels.concat([x, x]), np.concatenate([wide, wide])),
        ("tanh", s.kernels.tanh, np.tanh(wide)),
    ):
        x = s.array(host)
        y = call(x)
        x[...] = 17.0
        s.expect(y, expected, f"{name}, its input written to right after the call,")


@check("Y14", needs=WRITES)
def in_order(s: Subject) -> None:
    """Writes and reads of an array happen in the order of the calls."""
    x = s.array(np.zeros((3, 4)))
    seen = []
    for step in range(4):
        x[1:, ...] = float(step)
        seen.append(x + 0.5)
    for step, y in enumerate(seen):
        expected = np.full((3, 4), 0.5)
        expected[1:] += step
        s.expect(y, expected, f"x + 0.5 between the writes {step} and {step + 1}")
