"""Reasons why CuPy cannot be used are found with the cheapest test first, and reported in one sentence."""

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.processes import output_of

from xpgrad.errors import BackendUnavailable
from xpgrad_cupy import detection


def driver(status: int = 0, count: int = 1, init: int = 0) -> Any:
    def tell(reference: Any) -> int:
        reference._obj.value = count
        return status

    return SimpleNamespace(cuInit=lambda flags: init, cuDeviceGetCount=tell)


def missing(*_: Any) -> Any:
    raise OSError("cannot open shared object file")


@pytest.mark.parametrize(
    ("installed", "library", "reason"),
    [
        (False, missing, r"^cupy: CuPy is not installed; pip install 'xpgrad\[cuda13\]' on a machine with a GPU$"),
        (True, missing, r"^cupy: no CUDA driver found \(libcuda.so.1\); pip install 'xpgrad\[cuda13\]'"),
        (True, lambda name: driver(init=100), "^cupy: the CUDA driver gives error 100; see that nvidia-smi"),
        (True, lambda name: driver(status=3), "^cupy: the CUDA driver gives error 3; see"),
        (True, lambda name: driver(count=0), "^cupy: the CUDA driver lists no GPU; see nvidia-smi and CUDA_VISIBLE"),
    ],
)
def test_the_first_thing_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, installed: bool, library: Any, reason: str
) -> None:
    monkeypatch.setattr(detection, "find_spec", lambda name: object() if installed else None)
    monkeypatch.setattr(ctypes, "CDLL", library)
    with pytest.raises(BackendUnavailable, match=reason):
        raise BackendUnavailable(str(detection.why_unavailable()))


def test_a_driver_with_a_gpu_is_enough_to_import_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "find_spec", lambda name: object())
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver())
    assert detection.why_unavailable() is None


def test_a_missing_gpu_is_detected_without_importing_cupy() -> None:
    text = (
        "import sys, xpgrad, xpgrad.errors\n"
        "try:\n    xpgrad.get_device('@cupy:0')\n"
        "except xpgrad.errors.BackendUnavailable:\n    assert 'cupy' not in sys.modules\n"
    )
    assert output_of("-c", text) == ""


def test_a_listed_gpu_that_runs_no_kernel_is_broken() -> None:
    class Device:
        def __init__(self, number: int) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    def compile_nothing(n: int) -> Any:
        raise RuntimeError("nvrtc: error: invalid value for --gpu-architecture")

    cuda = SimpleNamespace(Device=Device)
    assert detection.why_broken(SimpleNamespace(cuda=cuda, arange=np.arange), 0) is None
    reason = detection.why_broken(SimpleNamespace(cuda=cuda, arange=compile_nothing), 3)
    assert reason == (
        "cupy: GPU 3 is listed but runs no kernel: RuntimeError: nvrtc: error: invalid value for --gpu-architecture"
    )
    wrong = detection.why_broken(SimpleNamespace(cuda=cuda, arange=np.zeros), 1)
    assert wrong == "cupy: GPU 1 computes wrong sums: 1 + 2 + 3 gave 3"
