"""Failing samples are shrunk, and shown as executable programs."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xpgrad_conformance.generated.layouts import LAYOUTS
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.shrinking import program_of, shrunk


def _sample(shape: tuple[int, ...], layout: str = "contiguous", *, kept: bool = False) -> Sample:
    host = np.random.default_rng(0).uniform(-2, 2, shape).astype("float32")
    axes = ("n", "m")[: len(shape)]
    return Sample((Argument(host, axes, layout, kept=kept),), np.exp, name="exp")


def test_a_fault_of_a_size_is_shrunk_to_that_size() -> None:
    least = shrunk(_sample((4097, 3)), lambda each: each.hosts[0].shape[0] >= 33)
    assert least.hosts[0].shape == (33, 0)


def test_a_fault_of_a_value_is_shrunk_to_one_element() -> None:
    sample = _sample((300,))
    sample.hosts[0][123] = np.nan
    least = shrunk(sample, lambda each: bool(np.any(np.isnan(each.hosts[0]))))
    assert least.hosts[0].shape == (1,)
    assert np.isnan(least.hosts[0][0])


def test_other_elements_become_ones() -> None:
    sample = _sample((40,))
    sample.hosts[0][39] = np.inf
    least = shrunk(sample, lambda each: each.hosts[0].shape == (40,) and bool(np.isinf(each.hosts[0][39])))
    assert np.count_nonzero(least.hosts[0] != 1) <= 2  # elements are replaced in groups


def test_axes_of_one_name_are_shortened_together() -> None:
    host = np.ones((200, 3))
    sample = Sample((Argument(host, ("n", "k")), Argument(host.T, ("k", "n"))), np.matmul, name="matmul")
    least = shrunk(sample, lambda each: each.hosts[0].shape[0] >= 17)
    assert [x.shape for x in least.hosts] == [(17, 0), (0, 17)]


def test_a_layout_that_does_not_matter_is_dropped() -> None:
    assert shrunk(_sample((3,), "reversed"), lambda each: True).arguments[0].layout == "contiguous"
    least = shrunk(_sample((3,), "reversed"), lambda each: each.arguments[0].layout == "reversed")
    assert least.arguments[0].layout == "reversed"


def test_kept_values_remain_unchanged() -> None:
    sample = _sample((5,), kept=True)
    least = shrunk(sample, lambda each: each.hosts[0].size == 5)
    assert np.array_equal(least.hosts[0], sample.hosts[0])


def test_shrinking_keeps_the_kind_of_error() -> None:
    def failing(sample: Sample) -> bool:
        if sample.hosts[0].size < 64:
            raise ValueError("too small")
        return True

    assert shrunk(_sample((100,)), failing).hosts[0].size == 64


def _shown(sample: Sample) -> Any:
    """Return the array that the program of a sample prints."""
    text = program_of(sample, "@numpy", "it is wrong")
    # Through memory: NumPy asks buffered files for their position, which a pipe does not have.
    exact = text.replace("print(", "import io, sys; file = io.BytesIO(); np.save(file, xpgrad.as_array(").replace(
        f"{sample.written})", f"{sample.written})); sys.stdout.buffer.write(file.getvalue())"
    )
    done = subprocess.run([sys.executable, "-c", exact], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert text.endswith("\n# it is wrong")
    return _loaded(done.stdout)


def _loaded(data: bytes) -> Any:
    header = data.index(b"\n") + 1
    assert b"'<f4'" in data[:header]
    return np.frombuffer(data[header:], "float32")


@pytest.mark.parametrize("layout", ["contiguous", "strided", "broadcast"])
def test_programs_run_and_show_the_call(layout: str) -> None:
    host = np.asarray([[0.5, np.inf], [np.nan, -0.0]], "float32")
    host = host[:1].repeat(2, axis=0) if layout == "broadcast" else host
    sample = replace(_sample((2, 2)), arguments=(Argument(host, ("n", "m"), layout),))
    assert np.array_equal(_shown(sample), np.exp(host).reshape(-1), equal_nan=True)


def test_programs_of_every_layout_are_python() -> None:
    for layout in LAYOUTS:
        compile(program_of(_sample((3, 5), layout), "@numpy", "wrong"), layout, "exec")


def test_a_long_array_with_few_other_elements_is_shown_whole() -> None:
    host = np.ones(4097, "float32")
    host[4000] = np.nan
    text = program_of(replace(_sample((1,)), arguments=(Argument(host, ("n",)),)), "@numpy", "wrong")
    assert "x0 = np.full((4097,), 1.0, 'float32')\nx0[4000] = np.nan" in text
