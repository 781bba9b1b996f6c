"""Devices, queues, moves, and the plugin where dpnp or its devices are missing."""

import dpctl
import dpnp
import numpy as np
import pytest
from tests.processes import output_of

import xpgrad
from xpgrad import Variable
from xpgrad.backends import intel64
from xpgrad.errors import BackendUnavailable, DeviceMismatch, SpecifierError
from xpgrad.testing.arrays import on_host

DEVICES = xpgrad.get_device("@dpnp").backend.devices()
FIRST = DEVICES[0]
CPU = next((each for each in DEVICES if ":cpu:" in each.name), None)
needs_cpu = pytest.mark.skipif(CPU is None, reason="SYCL sees no CPU here")


def test_every_device_of_sycl_is_one(device):
    handle = device.handle
    for thing in (handle, handle.sycl_device, handle.sycl_queue, device.name):
        assert xpgrad.get_device(thing) == device
    x = Variable(dpnp.ones(2, device=handle))
    assert x.device == device
    assert device.xp is dpnp
    with xpgrad.using_device(device):
        assert xpgrad.array_api.zeros(3).device == device


def test_the_default_device_is_sycls():
    assert FIRST.name == f"@dpnp:{dpctl.select_default_device().filter_string}"
    assert Variable(dpnp.ones(2)).device == FIRST


@needs_cpu
@pytest.mark.parametrize("specifier", ["@intel64", "intel64", "@intel64:0", "@dpnp:cpu", "@dpnp:cpu:0"])
def test_the_cpu_has_chainers_name(specifier):
    assert CPU is not None
    device = xpgrad.get_device(specifier)
    assert device == CPU
    assert repr(device) == f"<Intel64Device {CPU.name}>"
    assert isinstance(device, xpgrad.backend.Intel64Device)
    assert not isinstance(xpgrad.get_device("@numpy"), xpgrad.backend.Intel64Device)
    assert intel64.is_ideep_available()


@needs_cpu
def test_to_intel64_moves_what_dpnp_can_hold():
    x = Variable(np.ones((2, 3), np.float32), grad=np.full((2, 3), 2, np.float32)).to_intel64()
    assert x.device == x.grad_var.device == CPU
    y = Variable(np.ones(2)) * 3.0
    w = y.to_intel64() * 2.0
    assert (w.device, w.dtype) == (CPU, np.float64)
    assert Variable(np.ones(2, np.longdouble), requires_grad=False).to_intel64().device == xpgrad.get_device("@numpy")


@pytest.mark.parametrize(
    ("specifier", "error", "text"),
    [
        ("@dpnp:cuda:gpu:7", BackendUnavailable, "dpnp: SYCL sees no device cuda:gpu:7 here, only @dpnp:"),
        ("@dpnp:99", BackendUnavailable, "SYCL sees no device 99 here"),
        ("@dpnp:shelf", SpecifierError, "unknown device '@dpnp:shelf'; dpnp has @dpnp:"),
        ("@dpnp:cpu:shelf", SpecifierError, "unknown device '@dpnp:cpu:shelf'"),
        ("@intel64:99", BackendUnavailable, "SYCL sees no device cpu:99 here"),
        ("@intel64:x", SpecifierError, "expected '@intel64' or '@intel64:number', got '@intel64:x'"),
    ],
)
def test_what_is_not_here_is_named(specifier, error, text):
    with pytest.raises(error, match=text):
        xpgrad.get_device(specifier)


@needs_cpu
def test_a_part_of_a_device_is_refused():
    part = dpctl.SyclDevice("cpu").create_sub_devices(partition=1)[0]
    with pytest.raises(BackendUnavailable, match="dpnp: got a part of a device; dpnp keeps arrays on whole devices"):
        xpgrad.get_device(part)


def test_a_queue_of_the_program_is_a_device_of_its_own(device):
    queue = dpctl.SyclQueue(device.handle.sycl_device)
    x = Variable(dpnp.asarray([1.0, 2.0], sycl_queue=queue))
    assert x.device != device
    assert xpgrad.get_device(str(x.device)) == xpgrad.get_device(queue) == x.device
    xpgrad.array_api.sum(x * x * 3.0 + x[0]).backward()
    assert x.grad.sycl_queue == queue
    assert on_host(x.grad).tolist() == [8.0, 12.0]
    z = Variable(dpnp.ones(2, device=device.handle))
    for mixed in (lambda: x + z, lambda: x * z.array, lambda: xpgrad.array_api.concat([x, z])):
        with pytest.raises(DeviceMismatch, match=f"{x.device} and {device}; move one"):
            mixed()
    x.to_device(device)
    assert x.grad_var.device == device
    assert on_host(x + z).tolist() == [2.0, 3.0]


HOST = {
    "plain": np.arange(6.0).reshape(2, 3),
    "Fortran's order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "reversed": np.arange(6.0)[::-2],
    "read-only": np.broadcast_to(np.float32(1.5), (2, 2)),
    "swapped bytes": np.arange(3.0).astype(">f8"),
    "0-d": np.asarray(2.5),
    "empty": np.zeros((0, 3), np.complex64),
    "bool": np.asarray([True, False]),
    "uint64": np.asarray([2**63], np.uint64),
}


@pytest.mark.parametrize("name", HOST)
def test_host_arrays_come_and_go_as_copies(name, device):
    values = HOST[name]
    there = device.send(values)
    assert device.is_array_supported(there)
    back = xpgrad.get_device("@numpy").send(there)
    assert back.dtype == values.dtype.newbyteorder("=")
    assert back.flags.c_contiguous
    assert np.array_equal(back, values)
    if back.size:
        back[...] = 0
        assert np.array_equal(on_host(there), values)


VIEWS = {
    "a slice": lambda x: x[2:5],
    "columns reversed": lambda x: x[:, ::-2],
    "transposed": lambda x: x.T,
    "spread": lambda x: dpnp.broadcast_to(x, (3, 6, 4)),
    "one element": lambda x: x[1, 1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_reaches_the_host_alone(name, device):
    values = np.arange(24.0).reshape(6, 4)
    view = VIEWS[name](device.send(values))
    back = on_host(view)
    base = back
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert base.nbytes == back.nbytes
    assert back.flags.writeable
    assert np.array_equal(back, VIEWS[name](values) if name != "spread" else np.broadcast_to(values, (3, 6, 4)))


def test_work_that_was_started_is_waited_for(device):
    x = dpnp.ones((200, 200), device=device.handle)
    for _ in range(10):
        x = x @ x / 200.0
    device.synchronize()
    assert float(x[0, 0]) == 1.0


def test_one_seed_gives_the_hosts_numbers(device):
    xpgrad.random.seed(7, device)
    xpgrad.random.seed(7, "@numpy")
    drawn, host = (xpgrad.random.uniform((5,), device=each, dtype=np.dtype("float32")) for each in (device, "@numpy"))
    assert np.array_equal(on_host(drawn), host)


LAZY = """
import sys
import xpgrad
from xpgrad.backend.plugins import plugins

assert "dpnp" in plugins.names()
xpgrad.get_device("@numpy")
import xpgrad_dpnp.plugin
assert "dpnp" not in sys.modules and "dpctl" not in sys.modules
"""
MISSING = """
import sys
sys.modules["dpnp"] = None  # as if it were not installed
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "dpnp" else find(name, *rest)
import numpy as np
import xpgrad

try:
    xpgrad.get_device("@dpnp")
except xpgrad.errors.BackendUnavailable as error:
    print(error)
print(xpgrad.Variable(np.ones(2)).to_intel64().device)
"""
NO_DEVICE = """
import numpy as np
import xpgrad

for name in "@dpnp", "@intel64":
    try:
        xpgrad.get_device(name)
    except xpgrad.errors.BackendUnavailable as error:
        print(str(error).partition(";")[0])
print(xpgrad.Variable(np.ones(2)).to_intel64().device)
"""


def test_nothing_imports_dpnp_before_it_is_needed():
    assert output_of("-c", LAZY) == ""


def test_without_dpnp_the_host_is_there():
    assert output_of("-c", MISSING).splitlines() == ["dpnp: dpnp is not installed; pip install dpnp", "@numpy"]


def test_without_a_device_the_host_is_there():
    reason = "dpnp: SYCL finds no device that can be used"
    hidden = {"ONEAPI_DEVICE_SELECTOR": "cuda:gpu", "OCL_ICD_FILENAMES": "none.so"}
    assert output_of("-c", NO_DEVICE, **hidden).splitlines() == [reason, reason, "@numpy"]
