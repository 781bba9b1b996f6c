"""Seeded faults of levels, keys, journal and node: for each, the named test must fail."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.trace import test_compiled, test_drawing, test_outside, test_state
from tests.core.transforms.trace.compiled_cases import assert_same
from tests.fuzz.compiled import compiled as random_program

import xpgrad
from xpgrad import Variable, config
from xpgrad.backend import levels, random
from xpgrad.errors import CompileWarning
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trace import agreement, entry, kinds, runner, tracing
from xpgrad.transforms.trace import compiled as compiling
from xpgrad.transforms.trace.backend import TraceBackend
from xpgrad.transforms.trace.level import InputSource, TraceLevel
from xpgrad.transforms.trace.node import Half

pytestmark = pytest.mark.exhaustive(1)

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def _compiled() -> Iterator[None]:
    with xpgrad.using_config("detect_mutation", False):
        yield


def programs() -> None:
    """Random programs, until one differs."""
    device = xpgrad.get_device("@numpy")
    for seed in range(150):
        assert random_program(np.random.default_rng(seed), device) is None


def one_object_twice() -> None:
    """A gradient for an argument that was given twice differs from gradients of two arguments."""

    def gradient(x: Variable, y: Variable) -> Any:
        return xpgrad.grad([xpgrad.array_api.sum(x * y)], [x])

    x, y = Variable(np.arange(3.0)), Variable(np.ones(3))
    for pairs in ([(x, x)] * 3 + [(x, y)] * 3, [(x, y)] * 3 + [(x, x)] * 3):
        made = xpgrad.compile(gradient, exact=True)
        for pair in pairs:
            assert_same(made(*pair), gradient(*pair), "the gradient")


def another_each_time() -> None:
    """A function that uses other numbers in its second call, unknown to any guard, is not compiled."""
    number = 0

    def counting(x: Variable) -> Variable:
        return x * number

    made, found = xpgrad.compile(counting), []
    with pytest.MonkeyPatch.context() as patch, pytest.warns(CompileWarning):  # noqa: PT031 - at any of the calls
        patch.setattr(kinds, "entry_of", _without_guards)
        for number in range(5):  # noqa: B007 - the function reads it
            found.append(made(Variable(np.ones(2), requires_grad=False)).array)
    np.testing.assert_array_equal(found, [np.ones(2) * i for i in range(5)])


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


def _stored_after_an_exception(original: Any) -> Any:
    def run(self: TraceLevel, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except Exception:
            for each in self.captured.values():
                each.outside._array = each.inside._array.values
            raise

    return run


def _left_on_the_stack(original: Any) -> Any:
    def run(self: TraceLevel, function: Any, *args: Any, **kwargs: Any) -> Any:
        def leaking(*given: Any) -> Any:
            try:
                return function(*given)
            except Exception:
                leaks.append(config.at_level(self))
                raise

        leaks: list[Any] = []
        try:
            return original(self, leaking, *args, **kwargs)
        finally:
            if leaks:
                self.live = True
                levels.live.add(self)

    return run


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


def _residuals_used_again(original: Any) -> Any:
    last: list[Any] = []

    def connect(half: Any, outputs: Any, residuals: Any, *rest: Any) -> None:
        for array in last:
            array[...] = 0
        last[:] = [array.copy() for array in residuals]
        original(half, outputs, last[:], *rest)

    return connect


def _not_copied(original: Any) -> Any:
    return lambda self: [x.values for x in self._arrays]


def _without_guards(trace: tracing.Trace, *, first: bool = False) -> Any:
    return entry.entry(trace.leaves, trace.arguments, trace.sources, ())


RAISING = test_compiled.test_an_exception_leaves_the_state_unchanged
FAULTS: dict[str, tuple[Plant, Callable[[], None]]] = {
    "captured arrays are read at the trace only": (patched(TraceLevel, "capture", _arrays_read_once), programs),
    "gradients are not journaled": (patched(tracing.Trace, "_note_writes", _not_journaled("gradient")), programs),
    "arrays are not journaled": (patched(tracing.Trace, "_note_writes", _not_journaled("array")), programs),
    "the journal is applied after an exception": (patched(TraceLevel, "run", _stored_after_an_exception), RAISING),
    "a level is left after an exception": (patched(TraceLevel, "run", _left_on_the_stack), RAISING),
    "numbers are not guarded": (
        patched(kinds, "entry_of", lambda f: _without_guards),
        partial(test_outside.test_a_change_outside_is_noticed, 0),
    ),
    "identity is ignored": (patched(entry, "_check_identity", lambda f: nothing), one_object_twice),
    "the configuration is not in the key": (patched(entry, "_check_surroundings", lambda f: nothing), programs),
    "requires_grad is not in the key": (patched(entry, "_check_variable", lambda f: nothing), programs),
    "equal draws are merged": (patched(TraceBackend, "drawn", _drawn_once), programs),
    "draws are constants": (_constant_draws, programs),
    "repeated draws are new": (patched(random, "is_replaying", lambda f: lambda: False), programs),
    "calls made again draw other numbers": (
        patched(Surroundings, "drawing", lambda f: lambda self, states: self),
        partial(test_drawing.test_draws_and_repeated_draws_agree_with_eager_calls, test_drawing.recomputed, True),
    ),
    "escaped arrays are accepted": (
        patched(levels.Level, "check", lambda f: nothing),
        partial(test_compiled.test_an_array_that_escapes_raises_where_it_is_used_and_can_be_printed, "variable"),
    ),
    "results share memory with arguments": (
        patched(tracing.Trace, "outputs", _not_copied),
        partial(
            test_compiled.test_results_share_no_memory_with_inputs_captured_arrays_and_each_other,
            test_compiled.RESULTS["a view"],
        ),
    ),
    "residuals are used again": (
        patched(runner, "connect", _residuals_used_again),
        partial(test_state.test_a_state_and_its_gradients_are_those_of_an_eager_run, test_state.Recurrent, Variable),
    ),
    "cotangents are swapped": (patched(Half, "run", _cotangents_swapped), programs),
    "the second run is not compared": (patched(compiling, "difference", lambda f: nothing), another_each_time),
    "objects are not compared": (patched(agreement, "_same", lambda f: lambda a, b, pairs: True), another_each_time),
}  # fmt: skip
"""How each fault is planted, and the test that must find it."""


@pytest.mark.parametrize("title", FAULTS)
def test_fault_is_found(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, probe = FAULTS[title]
    plant(monkeypatch)
    try:
        with pytest.raises((Exception, pytest.fail.Exception)):
            probe()
    finally:
        levels.live.clear()


def test_named_tests_pass_without_a_fault() -> None:
    for probe in dict.fromkeys(probe for _, probe in FAULTS.values()):
        probe()
