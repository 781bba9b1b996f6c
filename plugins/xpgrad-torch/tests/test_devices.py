"""Devices, moves, random numbers, and the plugin where PyTorch is missing."""

import numpy as np
import pytest
import torch
from tests.processes import output_of

import xpgrad
from xpgrad import Variable
from xpgrad.errors import BackendUnavailable, SpecifierError
from xpgrad.testing.arrays import on_host

CPU = "@torch:cpu"
SECOND = torch.device(torch.accelerator.current_accelerator()) if torch.accelerator.is_available() else None
needs_accelerator = pytest.mark.skipif(SECOND is None, reason="PyTorch sees no accelerator here")


def test_the_host_is_the_default():
    assert str(xpgrad.get_device("@torch")) == CPU
    assert xpgrad.get_device(torch.device("cpu")) == xpgrad.get_device(torch.device("cpu", 0)) == xpgrad.get_device(CPU)
    assert xpgrad.get_device(CPU).xp is torch


def test_every_device_of_pytorch_is_one(device):
    assert xpgrad.get_device(device.handle) == device
    x = Variable(torch.ones(2, device=device.handle))
    assert x.device == device
    with xpgrad.using_device(device):
        assert xpgrad.array_api.zeros(3).device == device


@pytest.mark.parametrize(
    ("specifier", "error", "text"),
    [
        ("@torch:meta", BackendUnavailable, "the device meta is left out: its tensors have shapes but no values"),
        ("@torch:cuda:7", BackendUnavailable, "sees no device cuda:7 here, only @torch:cpu"),
        ("@torch:xla", BackendUnavailable, "sees no device xla here"),
        ("@torch:shelf", SpecifierError, "unknown device '@torch:shelf'; torch has @torch:cpu"),
    ],
)
def test_what_is_not_here_is_named(specifier, error, text):
    with pytest.raises(error, match=text):
        xpgrad.get_device(specifier)


@needs_accelerator
def test_a_kind_of_device_means_its_current_one():
    assert SECOND is not None
    number = torch.accelerator.current_device_index()
    assert str(xpgrad.get_device(f"@torch:{SECOND.type}")) == f"@torch:{SECOND.type}:{number}"
    assert str(xpgrad.get_device(torch.device(SECOND.type))) == f"@torch:{SECOND.type}:{number}"


@needs_accelerator
def test_memory_of_an_accelerator_is_counted_and_freed():
    device = xpgrad.get_device(SECOND)
    before = device.memory_used()
    x = torch.ones(1 << 20, device=SECOND)
    device.synchronize()
    assert device.memory_used() - before >= x.numel() * 4
    del x
    device.free_memory()
    assert device.memory_used() == before


def test_the_hosts_memory_is_not_counted():
    device = xpgrad.get_device(CPU)
    device.synchronize()
    device.free_memory()
    assert device.memory_used() is None


HOST = {
    "plain": np.arange(6.0).reshape(2, 3),
    "reversed": np.arange(6.0)[::-2],
    "read-only": np.broadcast_to(np.float32(1.5), (2, 2)),
    "swapped bytes": np.arange(3.0).astype(">f8"),
    "0-d": np.asarray(2.5),
    "empty": np.zeros((0, 3), np.complex64),
    "bool": np.asarray([True, False]),
    "float16": np.asarray([1.5], np.float16),
    "uint64": np.asarray([2**63], np.uint64),
}


@pytest.mark.parametrize("name", HOST)
def test_host_arrays_come_and_go_as_copies(name, device):
    values = HOST[name]
    there = device.send(values)
    assert device.is_array_supported(there)
    back = xpgrad.get_device("@numpy").send(there)
    assert back.dtype == values.dtype.newbyteorder("=")
    assert np.array_equal(back, values)
    if back.size:
        back[...] = 0
        assert np.array_equal(on_host(there), values)


def test_one_seed_gives_the_hosts_numbers():
    xpgrad.random.seed(7, CPU)
    xpgrad.random.seed(7, "@numpy")
    drawn, host = (xpgrad.random.uniform((5,), device=name, dtype=kind) for name, kind in
                   ((CPU, torch.float64), ("@numpy", np.float64)))  # fmt: skip
    assert np.array_equal(drawn.numpy(), host)


def test_random_numbers_can_be_drawn_again(device):
    for draw in (xpgrad.random.uniform, xpgrad.random.normal):
        state = xpgrad.random.get_state(device)
        first = draw((100,), device=device)
        assert device.is_array_supported(first)
        xpgrad.random.set_state(state, device)
        assert torch.equal(draw((100,), device=device), first)
        assert not torch.equal(draw((100,), device=device), first)


PROGRAM = """
import sys
import xpgrad
from xpgrad.backend.plugins import plugins

assert "torch" in plugins.names()
xpgrad.get_device("@numpy")
import xpgrad_torch.plugin
assert "torch" not in sys.modules
"""

WITHOUT = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)

import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "torch" else real(name, package)
sys.meta_path.insert(0, Nothing())

from click.testing import CliRunner
from xpgrad.cli import main

print(CliRunner().invoke(main, ["devices", "torch"]).output)
"""


def test_pytorch_is_not_imported_before_it_is_asked_for():
    output_of("-W", "error", "-c", PROGRAM)


def test_without_pytorch_the_list_of_devices_says_how_to_get_it():
    assert "torch:  PyTorch is not installed; pip install torch" in output_of("-W", "error", "-c", WITHOUT)
