"""Call sequences: random calls of functions with writes, moves, copies, refusals and dropped arrays between them."""

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, as_variable, get_device, grad, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.errors import MissingFunction
from xpgrad.testing.arrays import on_host, placed
from xpgrad_conformance.generated.accuracy import first_wrong, summed
from xpgrad_conformance.generated.programs.call_sequence_steps import MAKERS, Event, Groups, Scene, fresh, hosted
from xpgrad_conformance.generated.programs.drawn import LARGEST, Has, allowed, step_of
from xpgrad_conformance.generated.programs.program import VALUE, Step, compiled
from xpgrad_conformance.generated.programs.steps import MAKERS as PURE
from xpgrad_conformance.generated.programs.steps import Maker
from xpgrad_conformance.generated.sample import kind_of, raised
from xpgrad_conformance.generated.shrinking import commented, header
from xpgrad_conformance.oracle import host as numpy_namespace
from xpgrad_conformance.subject import Subject

STEPS = 14, 30
"""Number of steps of a call sequence."""
OWN = 1.6
"""Relative frequency of steps that programs do not have."""
IMPORTS = (
    "import copy",
    "import pickle",
    "from xpgrad import Variable, as_variable, get_device, grad, using_device",
    "from xpgrad.testing.arrays import placed",
)
UNITS = 512.0
"""Allowed error in units in the last place of an element and of the largest element."""
CONDITION = 64.0
"""Allowed error relative to the effect of rounding to float32 in the model, in units of the dtype."""
MAX_ROUNDING = 1e-4
"""How far, relative to 1 and to an element, float32 may be from float64 in the model."""


CallSequence = tuple[Event, ...]
"""Steps in their order."""


class Model:
    """The values of a call sequence on the host in float64, and in float32 to estimate rounding errors."""

    def __init__(self) -> None:
        self.wide: dict[str, Any] = {"np": np, "xp": _Typed("float64")}
        self.single: dict[str, Any] = {"np": np, "xp": _Typed("float32")}
        self._most = 0

    def tell(self, event: Event) -> None:
        """Take one step."""
        with np.errstate(all="ignore"):
            for names in (self.wide, self.single):
                exec(compiled(event.model), names)
                if event.makes:
                    made = np.array(names[event.makes])
                    self._most = max(self._most, made.size)
                    names[event.makes] = made.astype(_narrowed(made.dtype)) if names is self.single else made

    def tame(self, name: str) -> bool:
        """Return whether a value is finite, not large, and the same in both dtypes but for rounding."""
        wide, single = self.wide[name], self.single[name]
        if wide.dtype.kind not in "fcib" or wide.shape != single.shape or wide.ndim > 5 or wide.size > 50_000:
            return False
        if wide.dtype.kind not in "fc":
            return np.array_equal(wide, single) and not np.any(np.abs(wide.astype(float)) > 1000)
        size = np.abs(wide)
        return bool(np.all(size <= LARGEST) and np.all(np.abs(wide - single) <= MAX_ROUNDING * (1 + size)))

    def error(self, name: str, got: Any) -> str | None:
        """Return the error of a value on the backend as text, or None."""
        wide = self.wide[name]
        if got.shape != wide.shape:
            return f"{name} has shape {got.shape}, expected {wide.shape}"
        if got.dtype.kind != wide.dtype.kind:
            return f"{name} has dtype {got.dtype}, expected one like {wide.dtype}"
        if got.dtype.kind in "fc":
            size, eps = np.abs(wide), float(np.finfo(got.dtype).eps)
            rounding = np.max(np.abs(self.single[name] - wide), initial=0.0) / float(np.finfo(np.float32).eps)
            largest = max(float(np.max(size, initial=0.0)), 1.0)
            near = UNITS * eps + summed(self._most)
            right = np.abs(got - wide) <= near * (size + largest) + CONDITION * eps * rounding
        else:
            right = got == wide
        return first_wrong(got, wide, right, name)


class _Typed:
    """NumPy's namespace in which each floating-point dtype that is named is one dtype."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(numpy_namespace, self._dtype if name in ("float32", "float64") else name)


def _narrowed(dtype: Any) -> Any:
    return {"f": np.float32, "c": np.complex64}.get(dtype.kind, dtype)


def drawn(rng: np.random.Generator, s: Subject, dtype: str, has: Has) -> CallSequence:
    """Return a random call sequence for arrays on a device; it moves some arrays if the backend has a second device."""
    others = [device for device in s.backend.devices() if device != s.device]
    scene = Scene(rng, dtype, has, s.device.name, others[0].name if others else "")
    model, events = Model(), list[Event]()
    makers = [*((each.make, OWN * each.weight) for each in MAKERS), *((_step(each), each.weight) for each in PURE)]
    weights = np.asarray([weight for _, weight in makers])
    wanted = int(rng.integers(*STEPS))
    chosen = rng.choice(len(makers), 6 * wanted, p=weights / weights.sum()).tolist()
    for make in (hosted.make, fresh.make, hosted.make, *(makers[k][0] for k in chosen)):
        event = make(scene)
        if event is None or not _allowed(event, has):
            continue
        if _added(scene, model, event, has):
            events.append(event)
            if event.text == event.model and event.operands:
                scene.past.append(event)
        if len(events) == wanted:
            break
    return tuple(events)


def _step(maker: Maker) -> Callable[[Scene], Event | None]:
    """Return the maker of a step of a program as one of an event."""

    def event(scene: Scene) -> Event | None:
        text = maker.make(scene)
        if text is None:
            return None
        name = scene.new()
        text = step_of(text, int(name[1:])).text
        return Event(text, text, name, maker.shares)

    return event


def _allowed(event: Event, has: Has) -> bool:
    return has(*event.needs) and allowed(Step(0, event.text), has)


def _added(scene: Scene, model: Model, event: Event, has: Has) -> bool:
    """Take a step in the model, and in the scene if its value is tame; return whether the value is tame."""
    try:
        model.tell(event)
    except Exception:  # shapes that do not fit
        return False
    name = event.makes
    if name and not (model.tame(name) and has(model.wide[name].dtype.name)):
        return False
    if name.startswith("w"):
        scene.away[name] = model.wide[name]
    elif name:
        scene.wide[int(name[1:])] = model.wide[name]
    if event.writes:
        scene.changed = int(event.writes[1:])
    if event.drops:
        del scene.wide[int(event.drops[1:])]
    scene.groups.note(event)
    return True


def sequence_error(s: Subject, sequence: CallSequence) -> str | None:
    """Return the error of a value or the exception of a call sequence on the backend as text, or None.

    Each value is compared after its computation; all values are compared after each write or deletion, and at the end.
    """
    names: dict[str, Any] = {
        "np": np, "xp": namespace(s.backend), "as_variable": as_variable, "Variable": Variable, "grad": grad,
        "get_device": get_device, "using_device": using_device, "placed": placed, "copy": copy, "pickle": pickle,
    }  # fmt: skip
    model = Model()
    with using_device(s.device), np.errstate(all="ignore"):
        for event in sequence:
            model.tell(event)
            try:
                exec(compiled(event.text), names)
            except MissingFunction:
                raise
            except Exception as error:
                return f"{raised(error)}\nin {event.text!r}"
            wrong = _first_error(names, model, [event.makes] if event.makes else _alive(names))
            if wrong is not None:
                return f"{wrong}, after {event.text!r}"
        return _first_error(names, model, _alive(names))


def _alive(names: dict[str, Any]) -> list[str]:
    return [name for name in names if name[0] in "vw" and name[1:].isdigit()]


def _first_error(names: dict[str, Any], model: Model, wanted: Sequence[str]) -> str | None:
    for name in wanted:
        value = names[name]
        wrong = model.error(name, on_host(value.array if isinstance(value, Variable) else value))
        if wrong is not None:
            return wrong
    return None


def smallest(s: Subject, sequence: CallSequence, wrong: str) -> tuple[CallSequence, str]:
    """Return a call sequence with fewer steps and the same error, and the error as text."""
    kind = kind_of(wrong)
    for part in (8, 4, 2, 1):
        place = 0
        while place < len(sequence):
            less = sequence[:place] + sequence[place + part :]
            again = _error_of(s, less)
            if again is not None and kind_of(again) == kind:
                sequence, wrong = less, again
            else:
                place += part
    return sequence, wrong


def _error_of(s: Subject, sequence: CallSequence) -> str | None:
    """Return the error of a call sequence as text, or None; also None if a required step is missing."""
    groups = Groups()
    try:
        for event in sequence:
            if event.writes and not groups.is_alone(event.writes):
                return None
            groups.note(event)
        return sequence_error(s, sequence)
    except Exception:
        return None


def sequence_text(s: Subject, sequence: CallSequence, wrong: str) -> str:
    """Return a call sequence as executable Python that shows the error."""
    lines = [*header(s.device.name, IMPORTS), *(line for event in sequence for line in event.text.splitlines())]
    shown = next((word for word in wrong.replace(",", " ").split() if VALUE.fullmatch(word)), "")
    return "\n".join([*lines, *([f"print({shown})"] if shown else []), commented(wrong)])
