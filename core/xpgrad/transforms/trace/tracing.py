"""`Trace`: one recorded run of a function, with its result, its program and its writes to Variables."""

import operator
import types
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.checks import same_place
from xpgrad.backend.current import current_device
from xpgrad.backend.plugins import plugins
from xpgrad.config import called_with, global_config, switches
from xpgrad.errors import EscapedArray, TraceError
from xpgrad.graph.backward import grad as sweep
from xpgrad.graph.methods.copies import attributes_of
from xpgrad.graph.methods.cuts import GraphEnds
from xpgrad.graph.methods.ending import UserLine
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.leaves import backend_among, is_array
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trace.array import TracedArray
from xpgrad.transforms.trace.guards.events import following
from xpgrad.transforms.trace.guards.guard import same, weaken
from xpgrad.transforms.trace.guards.numbers import Numbers
from xpgrad.transforms.trace.guards.objects import is_small, random_states
from xpgrad.transforms.trace.guards.observer import Observer
from xpgrad.transforms.trace.level import Captured, InputSource, TraceLevel, Unrecordable
from xpgrad.transforms.trace.program import Program, Value, values_in
from xpgrad.transforms.trace.state import OuterState, is_place, without_state
from xpgrad.transforms.trees import Structure, flatten, opened, where
from xpgrad.types import Array


class Write(NamedTuple):
    """A value that a function has stored in an outer Variable, which `source` gives, as its "array" or "gradient".

    It is the output number `output` of the program, or None.
    """

    source: InputSource
    kind: str
    output: int | None


class OutputLeaf(NamedTuple):
    """One leaf of the result of a function.

    Attributes
    ----------
    kind : str
        "variable" or "array": the output number `content` of the program; "argument": the argument's leaf number
        `content` itself; "object": `content` itself.
    content : object
    connected, kept : bool
        Whether it requires a gradient, and whether it is an outer assignment, not a returned leaf.
    """

    kind: str
    content: Any
    connected: bool = False
    kept: bool = False


class Trace:
    """One recorded run of ``f(*args, **kwargs)``.

    Parameters
    ----------
    f, strict : callable, bool
    args, kwargs : tuple, dict
        The user's arguments. Arrays are passed as Variables.
    state : OuterState
        Arrays that the function reads and replaces outside, which are among `kwargs`.

    Attributes
    ----------
    leaves, arguments, variables : list, Structure, bool
        The leaves of ``(args, kwargs)``, their structure, and whether there are Variables among them.
    program, sources, results, structure : Program, list of InputSource, list of OutputLeaf, Structure
        The program, where each of its inputs comes from, and the result, together with outer assignments.
    connected, wanted : tuple of int, tuple of InputSource
        The outputs of the program that require a gradient, and the outer Variables through which they do.
    pullback : Program or None
        It maps the `kept` values of the program, and cotangents, to these gradients. None if they require values.
    ends : mapping
        The lines at which the graph of the arguments ended, if no output requires a gradient.
    surroundings, facts, residuals : Surroundings, Observer, list of array
        State at the start, values read and set outside, and the arrays that `pullback` needs.
    statics : dict from int to object
        The leaves that are neither arrays nor Variables, by their numbers.
    name, distinct, shared : str, int, set of int
        The function's name, how many arrays and Variables the leaves are, and which are used from outside as well.
    numbers, loosened : dict from int to float, frozenset of int
        The floats among the leaves, and the numbers of those that are inputs of the program.
    writes, failure : list of Write, str or None
        What it stores in outer Variables, and why the program is not the whole computation.
    """

    def __init__(
        self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], strict: bool, state: OuterState
    ) -> None:
        self.function, self.state, self.name = f, state, getattr(f, "__name__", type(f).__name__)
        self.leaves, self.arguments = flatten((args, kwargs))
        self.variables = any(isinstance(leaf, Variable) for leaf in flatten((args, without_state(kwargs)))[0])
        check_static(self.leaves, self.arguments)
        self.level = TraceLevel("compile", strict)
        self.program: Program
        self.sources = self.level.sources
        self.results: list[OutputLeaf] = []
        self.structure: Structure
        self.writes: list[Write] = []
        self.connected: tuple[int, ...] = ()
        self.wanted: tuple[InputSource, ...] = ()
        self.pullback: Program | None = None
        self.ends: Mapping[Any, tuple[UserLine, str]] = {}
        self._arrays: list[Array] = []
        self._connected: list[Variable] = []
        self.residuals: list[Array] = []
        self.surroundings = Surroundings(())
        self.facts = self.level.facts = Observer(f, self._met)
        self.facts.numbers = Numbers(self.leaves)
        self.numbers = {i: self.leaves[i] for i in self.facts.numbers.leaves}
        self.loosened: frozenset[int] = frozenset()
        self.statics = {i: x for i, x in enumerate(self.leaves) if not is_array(x)}
        self.distinct = len({id(x) for x in self.leaves if is_array(x)})
        try:
            self.level.run(self._run, f, (args, kwargs))
        except Unrecordable as error:  # the level keeps the text for the handler
            error.facts = self.facts
            raise
        except BaseException as error:
            if strict or not _is_of_level(error):
                self.forget()
                raise
            again = Unrecordable(self.level, f"{error}".removeprefix("compile: "))
            again.facts = self.facts
            raise again from error
        self.failure, self.shared = self.level.recording.failure, self.level.shared

    @property
    def kept(self) -> tuple[Value, ...]:
        """The values of the program that `pullback` takes."""
        return () if self.pullback is None else self.pullback.inputs[: -len(self.connected)]

    def _run(self, f: Callable[..., Any], given: Any) -> None:
        level = self.level
        entered = list(self._entered())
        args, kwargs = self.arguments.build(entered)
        cuts = GraphEnds(None, lambda given: True)
        self.facts.copied((args, kwargs), given)
        try:
            for place, value in self.state.entering(kwargs):
                self.facts.enter(place, value)
            drawn, settings = random_states(), _settings()
            with following(self.facts):
                returned = called_with(cuts.entered(), f, *args, **without_state(kwargs))
        except BaseException:
            self.facts.leave(level.escapes_in)
            raise
        finally:
            self.facts.end()
        for name, state in random_states().items():
            if drawn[name] != state:
                self.facts.refuse(f"it draws random numbers of {name}, whose state is not seen; use xpgrad.random")
        if _settings() != settings:
            self.facts.refuse("it sets the configuration or the current device")
        self._check_arguments((args, kwargs), entered)
        level.watch.check()
        if level.watch.written:
            level.recording.fail(
                "an array from outside was written to by its library, which no program repeats",
                "keep it in a Variable x, and assign x.array = x.array + ...",
                here=False,
            )
        self.facts.returned(returned)
        self._guard_numbers([x.values for x in level.all_entered()])
        self.facts.settle()
        weaken(self.facts.guards)
        self._check_effects()
        self._check_state()
        self._note_results(returned)
        self.ends = {} if self._connected else cuts.found
        self._drop_inputs()

    def _note_results(self, returned: Any) -> None:
        """Make the program of the calls, with all that the function returned or stored as its outputs."""
        level = self.level
        sets = [each.value if each.arrays else None for each in self.facts.sets]
        leaves, self.structure = flatten((returned, sets))
        count = len(leaves) - len(flatten(sets)[0])
        outputs: list[Any] = []
        for i, leaf in enumerate(leaves):
            self.results.append(self._result(leaf, outputs, kept=i >= count))
        for captured in level.all_captured():
            self._note_writes(captured, outputs)
        inputs, calls = tuple(level.inputs), tuple(level.recording.calls)
        self.program = Program(self.name, inputs, tuple(v for v, _ in outputs), calls)
        self._arrays = [array for _, array in outputs]
        libraries = {value.spec.backend.name for value in self.program.values() if value not in level.read}
        if len(libraries) > 1:
            what = f"it computes with arrays of {' and '.join(sorted(libraries))}, and a program has one library"
            level.recording.fail(what, "compile a function for each", here=False)
        if self._connected:
            wanted = [c for c in level.all_captured() if c.first._node.requires_grad]
            self.connected = self._connected_outputs()
            self.wanted = tuple(c.source for c in wanted)
            failure, level.recording.failure = level.recording.failure, None
            self._pull_back(self.name, wanted)
            if level.recording.failure is not None:  # the gradients may depend on the values of cotangents
                self.pullback, self.residuals = None, []
            level.recording.failure = failure or level.recording.failure

    def _drop_inputs(self) -> None:
        """Leave out the unused gradients of outer Variables, mostly of parameters, and arrays that are guarded."""
        program, read = self.program, self.level.read
        if not (read or any(source.kind.startswith("gradient") for source in self.sources)):
            return
        used = {value for call in program.calls for value in call.operands()}.union(values_in(program.outputs))
        used.update(self.kept)
        pairs = zip(program.inputs, self.sources, strict=True)
        kept = [(v, s) for v, s in pairs if v in used or not (s.kind.startswith("gradient") or v in read)]
        self.program, self.sources = program.replaced(inputs=tuple(v for v, _ in kept)), [s for _, s in kept]

    def _guard_numbers(self, inputs: Sequence[Array]) -> None:
        """Note the values of arrays from outside that functions have got, and that are no inputs: an axis, a width."""
        for x in list(self.facts.passed.values()):
            backend: Any = plugins.by_type.get(type(x))
            if backend is None:
                self.facts.array(x)
                continue
            like = [y for y in inputs if type(y) is type(x) and y.dtype == x.dtype]  # arrays of text have no specs
            same = [y for y in like if same_place(backend.spec(x), backend.spec(y))]
            known = any(x is y or (backend.is_view(x) and backend.same_values(x, y)) for y in same)  # of x[:2], a copy
            if not known and (is_small(x) or backend.is_kind(x.dtype, ("bool", "integral"))):
                self.facts.array(x)

    def _check_effects(self) -> None:
        """Raise if an array of this run was stored outside, where it cannot be used after the run."""
        if any(made() is not None for made in self.level.made.values()):
            raise Unrecordable(self.level, "a Parameter that it has made is kept outside", again=True)
        for effect in self.facts.effects.values():
            if self.level.escapes_in(effect.now()) or (any(map(effect.is_at, self.facts.changed)) and is_place(effect)):
                text = f"it stored an array in {effect.title}; return it, or assign x.array of a Variable x"
                raise Unrecordable(self.level, f"{text} from outside", filter(is_place, self.facts.effects.values()))

    def _check_state(self) -> None:
        """Raise if the next backward computation would go on in the graph of this run, which has had one."""
        for each in self.facts.sets if self.level.swept else ():
            if self.facts.is_read(each.effect) or any(each.effect.is_at(place) for place in self.state.places):
                found = [x for x in flatten(each.value)[0] if isinstance(x, Variable) and x._node.requires_grad]
                if any(x._node.creator_node is not None and x._node not in self.level.swept for x in found):
                    what = f"{each.effect.title} stays connected to a call that has computed its gradients"
                    raise Unrecordable(self.level, f"{what}: unchain it, or keep x.detach()")

    def _met(self, x: Any) -> None:
        """Note a Variable or an array from outside that the function uses."""
        if isinstance(x, Variable):
            self.level.enter_variable(x)
        else:
            self.level.watch.add(x)

    def _entered(self) -> Iterator[Any]:
        """Yield the leaves of the arguments as the function gets them."""
        level = self.level
        seen: dict[int, Any] = {}
        for i, leaf in enumerate(self.leaves):
            if isinstance(leaf, Variable):
                found = level.captured.get(id(leaf))
                if found is None:
                    found = level.capture(leaf, i)
                yield found.inside
            elif is_array(leaf):
                if id(leaf) not in seen:
                    seen[id(leaf)] = constant_variable(level.input(leaf, InputSource("argument", i)))
                yield seen[id(leaf)]
            elif (backend := backend_among(self.leaves, leaf)) is not None:
                yield constant_variable(level.input(backend.restore(leaf), InputSource("argument", i)))
            else:
                yield leaf

    def _check_arguments(self, arguments: Any, entered: Sequence[Any]) -> None:
        """Raise if the function has changed a list or a dictionary of its arguments: it gets copies."""
        if _fits(self.arguments, arguments) and all(map(operator.is_, flatten(arguments)[0], entered)):
            return
        raise TraceError(
            f"compile: {self.name} changed a list, dictionary or object that is an argument, which a program does not; "
            "return the changed object, or change a copy"
        )

    def _result(self, leaf: Any, outputs: list[Any], *, kept: bool) -> OutputLeaf:
        """Return how to rebuild one leaf of the result, or of a `kept` value; add its value to the outputs."""
        level = self.level
        if isinstance(leaf, Variable):
            captured = level.captured.get(id(leaf))
            if captured is not None:
                own = captured.number is None
                return OutputLeaf("object", captured.outside) if own else OutputLeaf("argument", captured.number)
            array = leaf._array
            if array is None or not level.holds(array):
                return OutputLeaf("object", leaf)
            node = leaf._node
            connected = node.requires_grad and node not in level.swept
            if kept:
                connected = connected and node.creator_node is not None and not level.swept
            if connected:
                known = next((i for i, y in enumerate(self._connected) if y is leaf), None)
                if known is not None:  # returned, and kept outside as well
                    return OutputLeaf("variable", self._connected_outputs()[known], True, kept)
                self._connected.append(leaf)
            outputs.append((array.value, array))
            return OutputLeaf("variable", len(outputs) - 1, connected, kept)
        if type(leaf) in plugins.by_type:
            array = level.entered(leaf)
            outputs.append((array.value, array))
            return OutputLeaf("array", len(outputs) - 1)
        returned = f"compile: {self.name} returned {type(leaf).__name__}"
        if isinstance(leaf, (Iterator, Awaitable)):
            remedy = "return a list, or compile the function that is called for each part"
            if isinstance(leaf, types.CoroutineType):
                leaf.close()  # the repeated call returns another one
            level.refuse(f"it returned a {type(leaf).__name__}, which runs later and in parts; {remedy}")
        if level.escapes_in(leaf):
            remedy = "return dictionaries, lists, tuples or dataclasses"
            raise TraceError(f"{returned}, which holds an array that cannot be returned in it; {remedy}")
        return OutputLeaf("object", leaf)

    def _connected_outputs(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(leaf.content for leaf in self.results if leaf.connected))

    def _note_writes(self, captured: Captured, outputs: list[Any]) -> None:
        source, inside = captured.source, captured.inside
        for kind, before, now in ("array", captured.array, inside._array), ("gradient", captured.grad, inside._grad):
            if now is before:
                continue
            now = now._array if isinstance(now, Variable) else now
            self.writes.append(Write(source, kind, None if now is None else len(outputs)))
            if now is not None:
                array = self.level.entered(now)
                outputs.append((array.value, array))

    def _pull_back(self, name: str, wanted: Sequence[Captured]) -> None:
        """Record the gradients of the connected results."""
        level = self.level
        mark, before = len(level.recording.calls), len(level.inputs)
        cotangents: list[Variable] = []
        for y in self._connected:
            spec = y._array.value.spec
            array = spec.backend.ones(spec)
            cotangents.append(constant_variable(level.input(array, InputSource("cotangent", len(cotangents)))))
        inside = [c.first for c in wanted]
        held: dict[Value, Array] = {}
        level.recording.held = held
        hooks = [(extra, extra.hooks) for c in wanted if (extra := c.first._node.extra) is not None]
        for extra, _ in hooks:
            extra.hooks = {}  # they are called when the sweep continues outside
        try:
            gradients = sweep(self._connected, inside, cotangents) if inside else []
        finally:
            for extra, own in hooks:
                extra.hooks = own
        calls = tuple(level.recording.calls[mark:])
        made = {value for call in calls for value in call.results}
        starts = tuple(level.inputs[before : before + len(cotangents)])
        del level.inputs[before : before + len(cotangents)], level.sources[before : before + len(cotangents)]
        ends, sources = [], []
        for source, g in zip(self.wanted, gradients, strict=True):
            if g is not None:
                level.recording.hold(g._array)
                ends.append(g._array.value)
                sources.append(source)
        self.wanted = tuple(sources)
        needed: dict[Value, None] = {}
        for call in calls:
            needed.update(dict.fromkeys(value for value in call.operands() if value not in made))
        needed.update(dict.fromkeys(value for value in ends if value not in made))
        kept = tuple(value for value in needed if value not in starts)
        self.residuals = [held[value] for value in kept]
        self.pullback = Program(f"vjp of {name}", (*kept, *starts), tuple(ends), calls)
        self.program = self.program.replaced(inputs=tuple(level.inputs))

    # The result of this run

    def forget(self) -> None:
        """Drop all arrays of this run, also from the copies of `with_numbers`."""
        for held in (self._arrays, self._connected, self.residuals, self.leaves):
            held.clear()
        for i, (effect, value, arrays) in enumerate(sets := self.facts.sets):  # runs set other arrays
            items = (None,) * len(value) if effect.kind == "contents" else None
            sets[i] = type(sets[i])(effect._replace(value=None), items if arrays else value, arrays)
        self.level.forget()

    def outputs(self) -> list[Array]:
        """Return the arrays of the outputs, which share no memory with each other or with the inputs."""
        own: list[Array] = []
        seen = {id(x.values) for x in self.level.all_entered()}
        for x in self._arrays:
            backend, array = x.backend.base, x.values
            if id(array) in seen or backend.is_view(array):
                array = backend.copy(array)
            seen.add(id(array))
            own.append(array)
        return own


def _fits(structure: Structure, x: Any) -> bool:
    """Return whether a tree has the keys, labels and static fields of a structure."""
    kind, keys, items = opened(x) or (None, (), ())
    if kind is not structure.kind or keys != structure.keys or not all(map(_fits, structure.children, items)):
        return False
    container = None if kind is None else container_of(kind)
    if container is not None:
        return container.same(x, structure.empty)
    first, now = (attributes_of(y, *keys) for y in (structure.empty, x))
    return kind is None or (first.keys() == now.keys() and all(same(y, now[name]) for name, y in first.items()))


def _is_of_level(error: BaseException) -> bool:
    """Return whether an error is due to the arrays of a level, and would not be raised without it."""
    of_level = isinstance(error, (TraceError, EscapedArray)) or TracedArray.__name__ in str(error)
    return of_level and "a call that has ended" not in str(error)


def _settings() -> Any:
    now = switches()
    return global_config.__dict__ | now.overlay, now.hooks, current_device()


def check_static(leaves: Sequence[Any], structure: Structure) -> None:
    """Raise TypeError for a leaf that is neither an array nor hashable: programs are found by their values."""
    for leaf, path in zip(leaves, structure.paths(), strict=True):
        if is_array(leaf):
            continue
        try:
            hash(leaf)
        except TypeError:
            raise TypeError(
                f"compile: the argument{where(path)} is {type(leaf).__name__}, neither an array nor hashable; pass "
                "arrays, numbers, strings, or nested dicts, lists and tuples of these"
            ) from None
