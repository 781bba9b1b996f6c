"""Seeded faults of levels, keys, journal and node: the tests must fail for each, and pass without faults."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.core.transforms.trace.compiled_cases import assert_same
from tests.core.transforms.trace.test_drawing import calls, recomputed
from tests.fuzz.compiled import compiled as random_program

import xpgrad
from xpgrad import Parameter, Variable, config
from xpgrad import array_api as xp
from xpgrad.backend import levels, random
from xpgrad.errors import CompileWarning, EscapedArray
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trace import agreement, entry, kinds, runner, tracing
from xpgrad.transforms.trace import compiled as compiling
from xpgrad.transforms.trace.backend import TraceBackend
from xpgrad.transforms.trace.level import InputSource, TraceLevel
from xpgrad.transforms.trace.node import Half
from xpgrad.transforms.trace.state import OuterState

pytestmark = pytest.mark.exhaustive(1)

Plant = Callable[[pytest.MonkeyPatch], None]
Probe = Callable[[], None]


@pytest.fixture(autouse=True)
def _compiled() -> Iterator[None]:
    with xpgrad.using_config("detect_mutation", False):
        yield


# Tests of faults


def programs() -> None:
    """Random programs, until one differs."""
    device = xpgrad.get_device("@numpy")
    for seed in range(150):
        assert random_program(np.random.default_rng(seed), device) is None


def same_as_eager(f: Callable[..., Any], *arguments: tuple[Any, ...]) -> None:
    """Each call of a compiled function equals the eager call."""
    made = xpgrad.compile(f, exact=True)
    for args in arguments:
        assert_same(made(*args), f(*args), "the result")


def raising() -> None:
    """An exception does not change captured Variables, and leaves no level behind."""
    w = Parameter(np.ones(3))

    def step(x: Variable) -> Variable:
        w.array = w.array * 2
        raise ValueError(str(x.shape))

    made = xpgrad.compile(step)
    for _ in range(3):
        with pytest.raises(ValueError, match=r"\(3,\)"):
            made(Variable(np.ones(3)))
    assert_same(w.array, np.ones(3), "the Parameter")
    assert not levels.live
    assert type((w * 2).array) is np.ndarray


def numbers_from_outside() -> None:
    """A number from a closure that changes gives another program."""
    factor = 2.0

    def scaled(x: Variable) -> Variable:
        return x * factor

    made = xpgrad.compile(scaled)
    for factor in (2.0, 2.0, 2.0, 3.0):
        assert_same(made(Variable(np.ones(2), requires_grad=False)).array, np.ones(2) * factor, "the result")


def one_object_twice() -> None:
    """A gradient for an argument that was given twice differs from gradients of two arguments."""

    def gradient(x: Variable, y: Variable) -> Any:
        (g,) = xpgrad.grad([xp.sum(x * y)], [x])
        return g

    x, y = Variable(np.arange(3.0)), Variable(np.ones(3))
    same_as_eager(gradient, *[(x, x)] * 3, *[(x, y)] * 3)
    same_as_eager(gradient, *[(x, y)] * 3, *[(x, x)] * 3)


def escaping() -> None:
    """An array that is kept beyond a recorded call is refused."""
    kept: list[Variable] = []

    def keeping(x: Variable) -> Variable:
        kept.append(x + 1)
        return x * 2

    tracing.Trace(keeping, (Variable(np.ones(3)),), {}, False, OuterState())  # `compile` would undo the changes
    with pytest.raises(EscapedArray):
        kept[0] + 1


def memory() -> None:
    """Results of each call have separate memory."""
    made = xpgrad.compile(lambda x: (x[:2], x, x * 1))
    for _ in range(4):
        x = np.arange(3.0)
        for y in made(x):
            y[...] = 9
        assert_same(x, np.arange(3.0), "the argument")


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
    assert_same(found, [np.ones(2) * i for i in range(5)], "the results")


def cotangents() -> None:
    """Each result gets its own gradient."""
    made = xpgrad.compile(lambda x, y: (x * 2, y * 3))
    for _ in range(4):
        x, y = Variable(np.ones(2)), Variable(np.ones(2))
        a, b = made(x, y)
        found = xpgrad.grad([a, b], [x, y], [Variable(np.full(2, 5.0)), Variable(np.full(2, 7.0))])
        assert_same(found, [Variable(np.full(2, 10.0)), Variable(np.full(2, 21.0))], "the gradients")


def graphs_that_live() -> None:
    """The graph of one call exists after the next call."""
    made = xpgrad.compile(lambda x: xp.exp(xp.sin(x)) * x, exact=True)
    xs = [Variable(np.arange(1.0, 4.0) + i) for i in range(5)]
    ys = [made(x) for x in xs]
    for x, y in zip(xs, ys, strict=True):
        z = xp.exp(xp.sin(x)) * x
        seed = Variable(np.ones(3))
        assert_same(xpgrad.grad([y], [x], [seed]), xpgrad.grad([z], [x], [seed]), "the gradient")


def second_derivatives_of_draws() -> None:
    """A call that is made again for second derivatives draws the same numbers."""
    assert_same(calls(xpgrad.compile(recomputed, exact=True), True), calls(recomputed, True), "the derivatives")


PROBES: tuple[Probe, ...] = (
    programs, raising, numbers_from_outside, one_object_twice, escaping, memory, another_each_time, cotangents,
    graphs_that_live, second_derivatives_of_draws,
)  # fmt: skip


@pytest.mark.parametrize("probe", PROBES)
def test_probes_pass_without_a_fault(probe: Probe) -> None:
    probe()


# The faults


class Fault(NamedTuple):
    """A possible error of compilation, and the test that must find it."""

    id: str
    plant: Plant
    probe: Probe


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


FAULTS = (
    Fault("captured arrays are read at the trace only", patched(TraceLevel, "capture", _arrays_read_once), programs),
    Fault("gradients are not journaled", patched(tracing.Trace, "_note_writes", _not_journaled("gradient")), programs),
    Fault("arrays are not journaled", patched(tracing.Trace, "_note_writes", _not_journaled("array")), programs),
    Fault("the journal is applied after an exception", patched(TraceLevel, "run", _stored_after_an_exception), raising),
    Fault("a level is left after an exception", patched(TraceLevel, "run", _left_on_the_stack), raising),
    Fault("numbers are not guarded", patched(kinds, "entry_of", lambda f: _without_guards), numbers_from_outside),
    Fault("identity is ignored", patched(entry, "_check_identity", lambda f: nothing), one_object_twice),
    Fault("the configuration is not in the key", patched(entry, "_check_surroundings", lambda f: nothing), programs),
    Fault("requires_grad is not in the key", patched(entry, "_check_variable", lambda f: nothing), programs),
    Fault("equal draws are merged", patched(TraceBackend, "drawn", _drawn_once), programs),
    Fault("draws are constants", _constant_draws, programs),
    Fault("repeated draws are new", patched(random, "is_replaying", lambda f: lambda: False), programs),
    Fault(
        "calls made again draw other numbers",
        patched(Surroundings, "drawing", lambda f: lambda self, states: self),
        second_derivatives_of_draws,
    ),
    Fault("escaped arrays are accepted", patched(levels.Level, "check", lambda f: nothing), escaping),
    Fault("results share memory with arguments", patched(tracing.Trace, "outputs", _not_copied), memory),
    Fault("residuals are used again", patched(runner, "connect", _residuals_used_again), graphs_that_live),
    Fault("cotangents are swapped", patched(Half, "run", _cotangents_swapped), cotangents),
    Fault("the second run is not compared", patched(compiling, "difference", lambda f: nothing), another_each_time),
    Fault(
        "objects are not compared", patched(agreement, "_same", lambda f: lambda a, b, pairs: True), another_each_time
    ),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_fault_is_found(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.plant(monkeypatch)
    try:
        with pytest.raises((Exception, pytest.fail.Exception)):
            fault.probe()
    finally:
        levels.live.clear()
