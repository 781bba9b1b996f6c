"""Faults planted in levels, keys, journal and node: random programs find each."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.fuzz.compiled import compiled as random_program

import xpgrad
from xpgrad import Variable
from xpgrad.backend import random
from xpgrad.transforms.trace import compiled as compiling
from xpgrad.transforms.trace import entry, tracing
from xpgrad.transforms.trace.backend import TraceBackend
from xpgrad.transforms.trace.level import InputSource, TraceLevel
from xpgrad.transforms.trace.node import Half

pytestmark = pytest.mark.exhaustive(1)

Plant = Callable[[pytest.MonkeyPatch], None]


def patched(owner: Any, name: str, make: Callable[[Any], Any]) -> Plant:
    """Replace an attribute by ``make(original)``."""
    return lambda patch: patch.setattr(owner, name, make(getattr(owner, name)))


def nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing."""


def _arrays_read_once(original: Any) -> Any:
    def capture(self: TraceLevel, x: Variable, number: int | None = None) -> Any:
        found = original(self, x, number)
        if number is None:
            self.sources = [
                InputSource("constant", x._array) if s == InputSource("array", x) else s for s in self.sources
            ]
        return found

    return capture


def _not_journaled(kind: str) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def note(self: tracing.Trace, *args: Any) -> None:
            original(self, *args)
            self.writes = [write for write in self.writes if write.kind != kind]

        return note

    return make


def _drawn_once(original: Any) -> Any:
    made = dict[Any, Any]()

    def draw(self: TraceBackend, name: str) -> Any:
        drawn = original(self, name)

        def again(**options: Any) -> Any:
            key = (self.recording(), options["shape"], str(options["dtype"]))
            if key not in made:
                made[key] = drawn(**options)
            return made[key]

        return again

    return draw


def _drawn_at_the_trace(original: Any) -> Any:
    def draw(self: TraceBackend, name: str) -> Any:
        def constant(*, shape: Any, dtype: Any, device: Any, generator: Any) -> Any:
            return self.constant(random.draw(name, shape, dtype, self.base.device_for(device)))

        return constant

    return draw


def _constant_draws(patch: pytest.MonkeyPatch) -> None:
    patched(TraceBackend, "drawn", _drawn_at_the_trace)(patch)
    patched(compiling, "difference", lambda f: nothing)(patch)  # which would find the difference and not compile


def _cotangents_swapped(original: Any) -> Any:
    def run(self: Half, residuals: Any, given: Any) -> Any:
        same = len({x.shape for x in given}) == 1
        return original(self, residuals, [*reversed(given)] if same else given)

    return run


FAULTS: dict[str, Plant] = {
    "captured arrays are read at the trace only": patched(TraceLevel, "capture", _arrays_read_once),
    "gradients are not journaled": patched(tracing.Trace, "_note_writes", _not_journaled("gradient")),
    "arrays are not journaled": patched(tracing.Trace, "_note_writes", _not_journaled("array")),
    "the configuration is not in the key": patched(entry, "_check_surroundings", lambda f: nothing),
    "requires_grad is not in the key": patched(entry, "_check_variable", lambda f: nothing),
    "equal draws are merged": patched(TraceBackend, "drawn", _drawn_once),
    "draws are constants": _constant_draws,
    "repeated draws are new": patched(random, "is_replaying", lambda f: lambda: False),
    "cotangents are swapped": patched(Half, "run", _cotangents_swapped),
}


@pytest.mark.parametrize("title", FAULTS)
def test_fault_is_found(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[title](monkeypatch)
    device = xpgrad.get_device("@numpy")
    assert any(random_program(np.random.default_rng(seed), device) for seed in range(150))
