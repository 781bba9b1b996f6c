"""Properties of the machine, and the resulting advice."""

import io
import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from xpgrad.cli.health.findings import machine_findings
from xpgrad.cli.health.machine import machine, thread_pools
from xpgrad.cli.health.report import show

HERE: dict[str, Any] = {"usable": 2, "cores": 64, "avx512": True}
POOL: dict[str, Any] = {"kind": "blas", "name": "openblas", "version": "0.3", "kernels": "SkylakeX", "threads": 2}


def test_usable_cores_do_not_exceed_the_cores_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    here = machine()
    assert 1 <= here["usable"] <= here["cores"] == os.cpu_count()
    assert here["variables"]["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in here["variables"]


def test_affinity_bounds_the_cores_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3}, raising=False)
    here = machine()
    assert (here["cores"], here["affinity"], here["usable"]) == (64, 1, 1)


@pytest.mark.parametrize(
    ("name", "variable"), [("openblas", "OPENBLAS_NUM_THREADS"), ("mkl", "MKL_NUM_THREADS"), ("openmp", "OMP_NUM")]
)
def test_more_threads_than_cores_are_warned_of(name: str, variable: str) -> None:
    (advice,) = machine_findings(HERE, [POOL | {"name": name, "threads": 64}])
    assert (advice.level, advice.kind) == ("advice", "oversubscription")
    assert f"{name} starts 64 threads, but 2 of 64 cores may be used" in advice.text
    assert advice.remedy.startswith(f"set {variable}")


@pytest.mark.parametrize("pool", [{}, {"threads": None}, {"threads": 1}])
def test_threads_that_fit_are_not_warned_of(pool: dict[str, Any]) -> None:
    assert list(machine_findings(HERE, [POOL | pool])) == []


def test_narrow_kernels_on_a_wide_processor_are_named() -> None:
    (advice,) = machine_findings(HERE, [POOL | {"kernels": "Haswell"}])
    assert "AVX2 kernels (Haswell) on a processor with AVX-512" in advice.text
    assert "OPENBLAS_CORETYPE=SkylakeX" in advice.remedy
    assert list(machine_findings(HERE | {"avx512": False}, [POOL | {"kernels": "Haswell"}])) == []


def test_the_blas_is_named_with_its_kernels_and_threads() -> None:
    pytest.importorskip("threadpoolctl", reason="says which kernels run")
    assert any(pool["kind"] == "blas" and pool["threads"] >= 1 for pool in thread_pools())


def test_without_threadpoolctl_the_blas_comes_from_the_build_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    built = {"Build Dependencies": {"blas": {"name": "scipy-openblas", "version": "0.3"}}}
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace(show_config=lambda mode: built))
    (pool,) = thread_pools()
    assert (pool["name"], pool["version"], pool["kernels"], pool["threads"]) == ("scipy-openblas", "0.3", None, None)
    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace())
    assert thread_pools() == []


def test_the_report_names_the_blas_and_gives_its_advice() -> None:
    pools = [POOL | {"kernels": "Haswell", "threads": 64}, POOL | {"name": "blis", "threads": None}]
    advice = [vars(finding) for finding in machine_findings(HERE, pools)]
    here = machine() | HERE | {"variables": {}, "pools": pools, "findings": advice}
    console = Console(width=80, record=True, file=io.StringIO())
    show({"xpgrad": "0.1.0", "contract": 1, "machine": here, "backends": []}, console)
    text = " ".join(console.export_text().split())
    assert "blas: openblas 0.3, kernels for Haswell, 64 threads" in text
    assert "blas: blis 0.3; pip install threadpoolctl" in text
    assert "advice openblas starts 64 threads" in text
    assert "-> set OPENBLAS_NUM_THREADS=2 in the environment" in text
