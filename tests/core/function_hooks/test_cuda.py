"""`CUDAProfileHook` and `CupyMemoryProfileHook`, with a fake profiler, and without a profiler."""

import io

import numpy as np
import pytest

import xpgrad
from xpgrad.backend.plugins import plugins
from xpgrad.function_hooks import CUDAProfileHook, CupyMemoryProfileHook


class Profiler:
    """Fake `xpgrad_cupy.profiling`: each function uses 1024 bytes of the pool, 512 of them newly allocated."""

    def __init__(self):
        self.ranges = []
        self.meter = None

    def check_ranges(self):
        pass

    def start_range(self, title):
        self.ranges.append(title)

    def end_range(self):
        self.ranges.append("end")

    def Meter(self):  # noqa: N802 - a class there
        self.meter = Meter()
        return self.meter


class Meter:
    used = acquired = 0
    active = False

    def __enter__(self):
        self.active = True

    def __exit__(self, *_):
        self.active = False


@pytest.fixture
def profiler(monkeypatch):
    made = Profiler()
    host = xpgrad.get_device("@numpy").backend
    monkeypatch.setattr(plugins, "backend_of_prefix", lambda prefix: host)
    monkeypatch.setattr(host, "profiler", lambda: made)
    return made


@pytest.mark.parametrize("hook", [CUDAProfileHook, CupyMemoryProfileHook])
def test_missing_gpu_raises_runtime_error_with_the_cause(hook):
    if xpgrad.cuda.available:
        pytest.skip("there is a GPU here")
    with pytest.raises(RuntimeError, match="cupy"):
        hook()


def test_a_backend_without_a_profiler_raises_a_clear_error():
    with pytest.raises(xpgrad.BackendUnavailable, match="numpy: the library has no profiler of CUDA"):
        xpgrad.get_device("@numpy").backend.profiler()


def test_ranges_have_labels_and_passes(profiler):
    x = xpgrad.Variable(np.ones(3))
    with CUDAProfileHook():
        y = x * 2
        y.grad = np.ones(3)
        y.backward()
    assert profiler.ranges == ["_ * 2.forward", "end", "_ * 2.backward", "end"]


class Taking(xpgrad.FunctionNode):
    """Takes bytes by a meter, and more in a function within."""

    def __init__(self, meter, inner=None, fails=False):
        self.meter, self.inner, self.fails = meter, inner, fails

    def forward(self, inputs):
        self.meter.used += 1024
        self.meter.acquired += 512
        if self.inner is not None:
            self.inner.apply(inputs)
        if self.fails:
            raise RuntimeError("broken")
        return (2 * inputs[0],)


def test_a_range_is_ended_after_an_error(profiler):
    with pytest.raises(RuntimeError, match="broken"), CUDAProfileHook():
        Taking(Meter(), fails=True).apply((np.ones(3),))
    assert profiler.ranges == ["Taking.forward", "end"]


def test_bytes_are_counted_by_function_and_depth(profiler):
    hook = CupyMemoryProfileHook()
    with hook:
        assert profiler.meter.active
        with pytest.raises(RuntimeError, match="broken"):
            Taking(profiler.meter, fails=True).apply((np.ones(3),))
        Taking(profiler.meter, Taking(profiler.meter)).apply((np.ones(3),))
    assert not profiler.meter.active
    assert hook.call_history[0] == ("Taking", 1024, 512, hook.call_history[1][3] + 1)
    assert hook.call_history[1][:3] == ("Taking", 2048, 1024)
    assert hook.summary() == {"Taking": {"used_bytes": 3072, "acquired_bytes": 1536, "occurrence": 2}}


def test_totals_count_the_outermost_functions(profiler):
    hook = CupyMemoryProfileHook()
    with hook:
        Taking(profiler.meter, Taking(profiler.meter)).apply((np.ones(3),))
    assert hook.total_used_bytes() == 2048
    assert hook.total_acquired_bytes() == 1024
    stream = io.StringIO()
    hook.print_report(file=stream)
    assert stream.getvalue() == (
        "FunctionName  UsedBytes  AcquiredBytes  Occurrence\n      Taking     3.00KB         1.50KB           2\n"
    )
    hook.print_report("auto_foreach", stream)
    with pytest.raises(ValueError, match=r"CupyMemoryProfileHook\.print_report: unit must be"):
        hook.print_report("bit")
