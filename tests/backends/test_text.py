"""Printed forms of backends, devices and their objects."""

import numpy as np
import pytest
from tests.devices import device_or_skip

import xpgrad
import xpgrad_chx as chx
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.kernels import KernelTable
from xpgrad.backend.naming import class_name
from xpgrad.backend.plugins import Plugins, plugins

HOST = xpgrad.get_device("@numpy")
NATIVE = chx.get_device("native:0")
TEXTS = {
    "backend": (lambda: HOST.backend, f"<NumPyBackend numpy, numpy {np.__version__}>"),
    "device": (lambda: HOST, "<CpuDevice (numpy)>"),
    "device of chx": (lambda: xpgrad.get_device("native:1"), "<ChainerxDevice native:1>"),
    "using_device": (lambda: xpgrad.using_device("native:1"), "using_device('native:1')"),
    "kernels": (lambda: HOST.backend.xp, "<the names and kernels of numpy>"),
    "extension": (lambda: HOST.backend.xp.linalg, "<names looked up at their first use>"),
    "table": (KernelTable, "<0 declared kernels>"),
    "record": (
        lambda: plugins.records["xpgrad_numpy.plugin"],
        f"<plugin xpgrad_numpy.plugin of xpgrad {xpgrad.__version__}: loaded>",
    ),
    "nothing loaded": (Plugins, "<the plugins of xpgrad; loaded: none>"),
    "spec": (lambda: HOST.backend.spec(np.ones((2, 3))), "float64 (2, 3)"),
    "chx device": (lambda: NATIVE, "native:0"),
    "chx backend": (lambda: NATIVE.backend, "<Backend native>"),
    "chx context": (lambda: NATIVE.context, "<Context of native and cuda>"),
    "chx scope": (lambda: chx.backprop_scope("inner"), "backprop_scope('inner')"),
    "chx mode": (chx.no_backprop_mode, "no_backprop_mode()"),
    "chx mode of an id": (
        lambda: chx.force_backprop_mode(chx.backprop_scope("a").__enter__()),
        "force_backprop_mode(a)",
    ),
    "chx information": (chx.__array_namespace_info__, "<information on the namespace of chx arrays>"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_repr_of_backend_objects(kind: str) -> None:
    make, text = TEXTS[kind]
    assert repr(make()) == text


def test_the_plugins_print_the_loaded_backends_and_load_none() -> None:
    before = dict(plugins.records)
    assert repr(plugins).startswith("<the plugins of xpgrad; loaded: ")
    assert "numpy" in repr(plugins)
    assert plugins.records == before


@pytest.mark.parametrize("kind", [Backend, Device, type(HOST.backend), xpgrad.using_device("@numpy").device.__class__])
def test_an_object_that_is_not_finished_prints_too(kind: type) -> None:
    assert repr(object.__new__(kind)).startswith(f"<{kind.__name__}")


def test_classes_are_called_as_users_import_them() -> None:
    inner = type("ArrayImpl", (), {"__module__": "lib._core.arrays"})
    names = {int: "int", np.ndarray: "numpy.ndarray", xpgrad.Variable: "xpgrad.Variable", inner: "lib.arrays.ArrayImpl"}
    assert {kind: class_name(kind) for kind in names} == names


WRONG = {
    "device": (xpgrad.get_device, "got xpgrad.Variable"),
    "recognised": (plugins.backend_of, "got a Variable; use its .array"),
    "chx": (lambda x: chx.add(x, 1), "expected chx arrays, got xpgrad.Variable;"),
    "to chx": (device_or_skip("@strict").send, "got a Variable; move it with to_device"),
}


@pytest.mark.parametrize("case", WRONG)
def test_messages_show_no_internal_class(case: str) -> None:
    call, text = WRONG[case]
    with pytest.raises((TypeError, ValueError), match=text) as caught:
        call(xpgrad.Variable(np.ones(2)))
    assert "xpgrad.graph" not in str(caught.value)
