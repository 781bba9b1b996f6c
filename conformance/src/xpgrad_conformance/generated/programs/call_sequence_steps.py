"""The steps of call sequences: calls, and arrays that are created, written to, moved, pickled and deleted."""

import re
from typing import Any, NamedTuple

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.programs.drawn import Has
from xpgrad_conformance.generated.programs.program import VALUE
from xpgrad_conformance.generated.programs.steps import GAP, Maker, Values, step

LARGE: tuple[Shape, ...] = (9001,), (97, 103), (130, 129), (3, 4099)
"""Shapes of arrays of 64 KiB and more, which libraries may allocate differently from small arrays."""
FRESH: tuple[Shape, ...] = (3, 4), (5,), (4, 2), (300,), *LARGE
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
"""A number in Python."""
NEAR = 1e-6
"""Relative difference between numbers that a library may treat as equal."""
REFUSED = (
    "xp.matmul({x}, {x}[:1, ...][:, :1])",
    "xp.reshape({x}, (7, 11, 13))",
    "xp.sum({x}, axis=9)",
    "xp.concat([{x}, {x}[None, ...]])",
    "xp.linalg.inv({zeros})",
    "xp.linalg.solve({zeros}, {zeros})",
    "xp.linalg.cholesky({zeros} - 1.0)",
    "xp.linalg.eigvalsh({x}[..., :1, None] * {zeros}[None, :1, :])",
    "xp.permute_dims({x}, (0, 0))",
    "xp.sort({x}, axis=8)",
    "xp.broadcast_to({x}, (2, 11, 13))",
)
"""Calls that libraries reject; a library that accepts one of these passes."""


class Event(NamedTuple):
    """One step of a call sequence.

    Attributes
    ----------
    text : str
        Lines of Python over ``xp`` and Variables ``v0``, ``v1``, and ``w0`` on another device.
    model : str
        The same over NumPy's arrays.
    makes : str
        The name of the value that the step computes, if any.
    shares : bool
        Whether that value may be a view of its operands.
    needs : tuple of str
        Facts of the backend.
    writes, drops : str
        The name of the value that it writes to, and of that which it deletes.
    """

    text: str
    model: str
    makes: str = ""
    shares: bool = False
    needs: tuple[str, ...] = ()
    writes: str = ""
    drops: str = ""

    @property
    def operands(self) -> set[str]:
        """The names of the Variables that it takes."""
        return {f"v{n}" for n in VALUE.findall(self.text)} - {self.makes}


class Groups:
    """Values of a call sequence that may share memory."""

    def __init__(self) -> None:
        self._group: dict[str, str] = {}
        self._views: set[str] = set()

    def note(self, event: Event) -> None:
        """Take a step that has been made."""
        if event.makes:
            self._group[event.makes] = event.makes
            old = {self._group[each] for each in event.operands} if event.shares else set()
            self._group = {name: event.makes if group in old else group for name, group in self._group.items()}
            self._views |= {event.makes} if event.shares else set()
        self._group.pop(event.drops, None)

    def is_alone(self, name: str) -> bool:
        """Return whether a value is not a view, and shares memory with no other value."""
        return name not in self._views and list(self._group.values()).count(self._group[name]) == 1


class Scene(Values):
    """The values of a call sequence so far, including values on another device, and pairs that may share memory.

    Attributes
    ----------
    away : dict from name to host array
    changed : int or None
        The number of the value that was written to last.
    past : list of Event
        Calls that can be repeated.
    groups : Groups
    dtype : str
        Dtype of most arrays.
    kinds : list of str
        Dtypes of integers and booleans.
    complex : bool
        Whether there are complex numbers of that width.
    here : str
    there : str
        The names of the device, and of the other device if it exists.
    """

    def __init__(self, rng: np.random.Generator, dtype: str, has: Has, here: str, there: str) -> None:
        super().__init__(rng)
        self.kinds = [name for name in ("int64", "int32", "bool") if has(name)]
        self.complex = has("complex64" if dtype == "float32" else "complex128")
        self.away: dict[str, Any] = {}
        self.groups = Groups()
        self.dtype, self.here, self.there = dtype, here, there
        self.count = 0
        self.past: list[Event] = []
        self.changed: int | None = None

    def any_of(self, kinds: str, ndim: int = 0, most: int = 9) -> int | None:
        """Return the number of a value as `Values` does; often of a value that was written to."""
        x = None if self.changed is None else self.wide.get(self.changed)
        if x is not None and x.dtype.kind in kinds and ndim <= x.ndim <= most and self.rng.integers(2):
            return self.changed
        return super().any_of(kinds, ndim, most)

    def new(self, letter: str = "v") -> str:
        """Return a name that no value has had."""
        self.count += 1
        return f"{letter}{self.count - 1}"

    def own(self, least: int = 1) -> int | None:
        """Return the number of a floating-point value with axes that shares memory with no other value, or None."""
        found = [
            n
            for n, x in self.wide.items()
            if x.dtype.kind == "f" and x.ndim >= least and x.size and self.groups.is_alone(f"v{n}")
        ]
        chosen: int | None = self.pick(found[-5:] if self.rng.integers(2) else found)
        return chosen


def _key(scene: Scene, shape: Shape) -> str:
    """Return a key of slices and integers in Python."""
    parts = []
    for n in shape:
        i = int(scene.rng.integers(n))
        parts.append(str(scene.pick([":", ":", f"{i}:", f":{i + 1}", f"{i}:{i + 1}", "::2", str(i), str(i - n)])))
    if scene.rng.integers(3) == 0:
        return "..."
    parts = parts[: int(scene.rng.integers(1, len(parts) + 1))]
    return ", ".join([*parts, "..."] if len(parts) < len(shape) else parts)


@step(7)
def written(scene: Scene) -> Event | None:
    """Write a number, or values of another array, to a part of an array."""
    n = scene.own()
    if n is None:
        return None
    key, x = _key(scene, scene.wide[n].shape), f"v{n}"
    taken = eval(f"x[{key}]", {"x": scene.wide[n]}).shape
    others = [m for m, y in scene.wide.items() if m != n and y.dtype.kind == "f" and _fits(y.shape, taken)]
    number = float(scene.pick([0.5, -1.5, 2.0, 0.0, 1.25]))
    m = scene.pick(others[-5:]) if others and scene.rng.integers(3) else None
    value, given = (str(number), str(number)) if m is None else (f"v{m}.array", f"v{m}")
    needs = ("in_place_update", "index_assignment")
    return Event(f"{x}.array[{key}] = {value}", f"{x}[{key}] = {given}", needs=needs, writes=x)


def _fits(shape: Shape, target: Shape) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


@step(3)
def fresh(scene: Scene) -> Event:
    """Make an array of one number."""
    name, shape = scene.new(), scene.pick(FRESH)
    number = float(scene.pick([0.0, 1.0, 0.25, -2.0]))
    maker = {0.0: "xp.zeros({s}", 1.0: "xp.ones({s}"}.get(number, f"xp.full({{s}}, {number}").format(s=shape)
    text = f"{name} = {maker}, dtype=xp.{scene.dtype})"
    return Event(text, text, name)


@step(3)
def hosted(scene: Scene) -> Event:
    """Take an array of the host, which is written to afterwards."""
    name, shape = scene.new(), scene.pick(FRESH)
    seed, order = int(scene.rng.integers(1000)), scene.pick(["", "", ".T.copy().T", "[::-1]"])
    host = f"np.random.default_rng({seed}).uniform(-2, 2, {shape}).astype('{scene.dtype}'){order}"
    model = f"{name} = {host}.copy()"
    text = f"h = {host}\n{name} = as_variable(placed(h, get_device({scene.here!r})))\n"
    return Event(f"{text}if {name}.array is not h:\n    h[...] = 7.0", model, name)


@step(1)
def counted(scene: Scene) -> Event:
    """Make an array of integers or booleans."""
    name, shape = scene.new(), scene.pick(((7,), (3, 4), (17,), (300,), (2, 40)))
    seed, dtype = int(scene.rng.integers(1000)), scene.pick(scene.kinds)
    values = f"np.random.default_rng({seed}).integers(0, {2 if dtype == 'bool' else 3}, {shape})"
    text = f"{name} = as_variable(placed({values}.astype('{dtype}'), get_device({scene.here!r})))"
    return Event(text, f"{name} = {values}.astype('{dtype}')", name)


@step(5, "fib", 1)
def found(scene: Scene, n: int) -> Event | None:
    """Look elements up, count them, or put them in order."""
    x, name, wide = f"v{n}", scene.new(), scene.wide[n]
    lines = [f"xp.flip({x})", f"xp.concat([{x}, {x}], axis=0)"]
    if wide.dtype.kind in "bi":
        lines += [f"xp.count_nonzero({x})", f"xp.astype({x}, xp.bool)"]
    if wide.dtype.kind == "i" or (wide.dtype.kind == "f" and scene.apart(wide)):
        lines += [
            f"xp.sort(xp.unique_values({x}))",
            f"xp.argsort({x}, axis=-1, stable=True)",
            f"xp.sort({x}, axis=0)",
        ] * 2
        lines += [f"xp.sort(xp.unique_counts({x}).counts)", f"xp.searchsorted(xp.sort(xp.reshape({x}, (-1,))), {x})"]
    if wide.dtype.kind == "i":
        lines += [f"xp.isin({x}, {x}[:1, ...])", f"xp.any({x} > 1)", f"xp.all({x} > -1, axis=-1)", f"xp.sign({x})"]
    if wide.dtype.kind == "f":
        lines += [f"xp.diff({x}, axis=-1)", f"xp.less({x}, {x})"]
        if scene.complex:
            lines += [f"xp.fft.irfftn(xp.fft.rfftn({x}), s={wide.shape}, axes={tuple(range(wide.ndim))})"]
            lines += [f"xp.abs(xp.fft.{way}({x} + 0.0j))" for way in ("fft", "ifft")]
        lines += [f"(xp.abs({x}) + 0.5) ** {number}" for number in (1.3, 0.7)]
        if all(scene.beyond((wide - at) % 0.25) for at in (0.0, GAP)):
            lines += [f"xp.round({x} * 2)", f"xp.floor({x})", f"xp.remainder({x}, 1.5)", f"xp.any({x} > 1)"]
    text = f"{name} = {scene.pick(lines)}"
    return Event(text, text, name, shares="flip" in text)


@step(1)
def recycled(scene: Scene) -> Event:
    """Keep a view of an array that is deleted, and create arrays of the same size."""
    name, shape = scene.new(), scene.pick(FRESH)
    makers = [f"xp.{make}({shape}, dtype=xp.{scene.dtype})" for make in ("zeros", "ones")]
    makers += [f"xp.full({shape}, 0.5, dtype=xp.{scene.dtype})", f"{makers[0]} + 1.0", f"xp.exp({makers[0]})"]
    view = scene.pick(["t[1:, ...]", "t[::2, ...]", "xp.reshape(t, (-1,))", "t[..., 1]", "xp.flip(t)"])
    one, other, number = scene.pick(makers), scene.pick(makers), float(scene.pick([2.5, -3.0]))
    model = f"t = {one}\nt[...] = {number}\n{name} = {view}.copy()"
    text = f"t = {one}\nt.array[...] = {number}\n{name} = {view}\ndel t\nt = {other}\nt.array[...] = 9.0\ndel t"
    return Event(text, model, name, shares=True, needs=("in_place_update", "index_assignment"))


@step(2, "f")
def moved(scene: Scene, n: int) -> Event | None:
    """Move an array to another device."""
    if not scene.there:
        return None
    name = scene.new("w")
    return Event(f"{name} = as_variable(get_device({scene.there!r}).send(v{n}.array))", f"{name} = v{n}.copy()", name)


@step(3)
def away(scene: Scene) -> Event | None:
    """Write to an array on another device, or move it back."""
    w = scene.pick(list(scene.away))
    if w is None:
        return None
    if scene.rng.integers(2) and scene.away[w].ndim and scene.away[w].size:
        text = f"with using_device({scene.there!r}):\n    {w}.array[0, ...] = 3.0"
        return Event(text, f"{w}[0, ...] = 3.0", needs=("in_place_update", "index_assignment"))
    name = scene.new()
    return Event(f"{name} = as_variable(get_device({scene.here!r}).send({w}.array))", f"{name} = {w}.copy()", name)


@step(3, "fib")
def copied(scene: Scene, n: int) -> Event | None:
    """Pickle and unpickle an array, or copy it."""
    name = scene.new()
    how, needs = scene.pick(
        [
            ("pickle.loads(pickle.dumps(v{n}))", ("pickle",)),
            ("copy.deepcopy(v{n})", ()),
            ("xp.asarray(v{n}, copy=True)", ()),
            ("xp.astype(v{n}, v{n}.dtype)", ()),
        ]
    )
    return Event(f"{name} = {how.format(n=n)}", f"{name} = v{n}.copy()", name, needs=needs)


@step(3, "f", 2, 2)
def refused(scene: Scene, n: int) -> Event | None:
    """Make an invalid call."""
    call = scene.pick(REFUSED).format(x=f"v{n}", zeros=f"xp.zeros((3, 3), dtype=v{n}.dtype)")
    return Event(f"try:\n    {call}\nexcept Exception:\n    pass", "pass")


@step(4)
def dropped(scene: Scene) -> Event | None:
    """Let go of an array, whose memory may be another one's from then on."""
    if len(scene.wide) < 6:
        return None
    n = scene.pick(list(scene.wide))
    return Event(f"del v{n}", f"del v{n}", drops=f"v{n}")


@step(1, "f", 1)
def differentiated(scene: Scene, n: int) -> Event | None:
    """Compute a gradient."""
    name = scene.new()
    text = f"t = Variable(v{n}.array)\n{name} = as_variable(grad([xp.sum(xp.tanh(t) * t)], [t])[0].array)"
    return Event(text, f"{name} = xp.tanh(v{n}) + v{n} * (1 - xp.tanh(v{n}) ** 2)", name)


@step(6)
def again(scene: Scene) -> Event | None:
    """Repeat an earlier call, with the same arrays or with a different array of the same shape."""
    found = [event for event in scene.past[-12:] if event.makes and all(_lives(scene, x) for x in event.operands)]
    event = scene.pick([event for event in found if f"v{scene.changed}" in event.operands] or found)
    if event is None or not event.operands:
        return None
    text, name = event.text, scene.new()
    if scene.rng.integers(4) == 0:
        text = NUMBER.sub(lambda found: f"{float(found.group()) * (1 + NEAR):.9f}", text)
    old = scene.pick(sorted(event.operands))
    same = scene.wide[int(old[1:])]
    others = [m for m, x in scene.wide.items() if (x.shape, x.dtype) == (same.shape, same.dtype)]
    new = f"v{scene.pick(others)}" if scene.rng.integers(2) else old
    text = VALUE.sub(lambda found: {event.makes: name, old: new}.get(found.group(), found.group()), text)
    return Event(text, text, name, event.shares)


def _lives(scene: Scene, name: str) -> bool:
    return int(name[1:]) in scene.wide


MAKERS = tuple(each for each in list(globals().values()) if isinstance(each, Maker))
"""Makers of steps that programs do not have."""
