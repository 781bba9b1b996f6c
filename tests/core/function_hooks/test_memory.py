"""`xpgrad.function_hooks.MemoryHook`."""

import gc
import io

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api as ap
from xpgrad.function_hooks import MemoryHook

pytestmark = pytest.mark.exhaustive(1)

BYTES = 4000


def leaf(device):
    return xpgrad.Variable(device.send(np.ones((100, 10), np.float32)))


def device_of(specifier):
    if specifier.startswith(("@torch", "@jax", "@dask")):
        pytest.importorskip(specifier.partition(":")[0][1:])
    return xpgrad.get_device(specifier)


@pytest.fixture(params=["@numpy", "@strict:cpu", "native:0", "@torch:cpu", "@jax", "@dask"])
def anywhere(request):
    return device_of(request.param)


def test_results_and_inputs_count_while_they_are_referenced(anywhere):
    x = leaf(anywhere)
    with MemoryHook() as hook:
        y = x * 2
        assert hook.live_bytes == 2 * BYTES
        z = ap.tanh(y)
        assert hook.live_bytes == 3 * BYTES
    del y, z
    gc.collect()
    assert hook.live_bytes == BYTES
    assert hook.peak_bytes == 3 * BYTES
    del x
    gc.collect()
    assert hook.live_bytes == 0


def test_the_graph_holds_the_arrays_of_its_rules():
    x = leaf(xpgrad.get_device("@numpy"))
    with MemoryHook() as hook:
        y = ap.exp(ap.exp(x) + 1)  # each exp keeps its result, the addition keeps no array
    assert hook.summary()["add"]["live_bytes"] == 0
    assert hook.summary()["exp"]["live_bytes"] == 2 * BYTES
    assert y is not None


def test_a_view_counts_once():
    x = leaf(xpgrad.get_device("@numpy"))
    with MemoryHook() as hook:
        y = ap.reshape(x * 2, (1000,))
        z = y[:5]
    assert hook.live_bytes == 2 * BYTES
    assert hook.summary()["reshape"]["allocated_bytes"] == 0
    del y
    assert hook.live_bytes == 2 * BYTES, "the small view holds all of it"
    del z
    assert hook.live_bytes == BYTES


def test_views_of_torch_count_once():
    x = leaf(device_of("@torch:cpu"))
    with MemoryHook() as hook:
        y = ap.reshape(x * 2, (1000,))[:5]
    assert hook.live_bytes == 2 * BYTES
    del y
    assert hook.live_bytes == BYTES


def test_history_and_summary_have_both_passes(device):
    x = leaf(device)
    with MemoryHook() as hook:
        y = ap.sum(x * x)
        y.backward()
    assert [(event.name, event.which) for event in hook.history if event.name in ("multiply", "sum")][:3] == [
        ("multiply", "forward"),
        ("sum", "forward"),
        ("sum", "backward"),
    ]
    assert all(event.live_bytes <= hook.peak_bytes for event in hook.history)
    assert hook.peak_bytes == sum(record["bytes_at_peak"] for record in hook.summary().values())
    assert hook.live_bytes == sum(record["live_bytes"] for record in hook.summary().values())
    assert hook.summary()["(given)"]["allocated_bytes"] == BYTES
    assert hook.summary()["multiply"]["allocated_bytes"] > BYTES


def test_releasing_the_graph_lowers_the_peak(device):
    def peak(**options):
        x = leaf(device)
        with MemoryHook() as hook:
            y = x
            for _ in range(20):
                y = ap.tanh(y)
            y = ap.sum(y)
            y.backward(**options)
        return hook.peak_bytes

    assert peak(retain_graph=False) <= peak()


def test_sums_of_gradients_have_their_own_name():
    x = leaf(xpgrad.get_device("@numpy"))
    with MemoryHook() as hook:
        y = x * 2
        ap.sum(ap.tanh(y) * ap.exp(y)).backward()
    assert hook.summary()["(sums of gradients)"]["allocated_bytes"] >= BYTES


def test_functions_with_several_outputs_and_no_outputs_for_inputs(device):
    class Split(xpgrad.FunctionNode):
        def forward(self, inputs):
            return 2 * inputs[0], 3 * inputs[0]

        def backward(self, target_input_indexes, grad_outputs):
            return (None,)

    with MemoryHook() as hook:
        y, z = Split().apply((leaf(device),))
        (y + z).grad = None
    assert hook.summary()["Split"]["live_bytes"] == 2 * BYTES


def test_memory_hook_retains_no_arrays_under_vmap_and_jvp():
    from xpgrad.transforms import jvp, vmap

    x = np.ones((100, 10), np.float32)
    with MemoryHook() as hook:
        vmap(ap.tanh)(x)
        jvp(ap.tanh, (x,), (x,))
    gc.collect()
    assert hook.live_bytes <= BYTES
    assert hook.summary()["tanh"]["allocated_bytes"] >= 2 * BYTES


def test_the_report(capsys):
    x = leaf(xpgrad.get_device("@numpy"))
    with MemoryHook() as hook:
        y = x * 2
    hook.print_report()
    assert capsys.readouterr().out == (
        "FunctionName  Allocated    Live  AtPeak  Occurrence\n"
        "     (given)     3.91KB  3.91KB  3.91KB           0\n"
        "    multiply     3.91KB  3.91KB  3.91KB           1\n"
        "       total     7.81KB  7.81KB  7.81KB           1\n"
    )
    stream = io.StringIO()
    hook.print_report("B", stream)
    assert "8000.00B" in stream.getvalue()
    hook.print_report("auto_foreach", stream)
    with pytest.raises(ValueError, match=r"MemoryHook\.print_report: unit must be auto, .*, PB; got 'bit'"):
        hook.print_report("bit")
    assert y is not None
