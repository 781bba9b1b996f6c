"""`entry` and `leaving`: generated functions that collect the inputs of a program, and build the result of a call."""

import dataclasses
import keyword
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from xpgrad.backend.checks import same_place
from xpgrad.backend.current import current_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import global_config, switches
from xpgrad.graph.methods.copies import attributes_of
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.leaves import backend_among, is_array
from xpgrad.transforms.trace.guards.guard import ABSENT, READ, SOURCE, Guard, contents, same, same_tree
from xpgrad.transforms.trace.guards.numbers import source_of
from xpgrad.transforms.trace.guards.objects import SIMPLE, kind_of, values
from xpgrad.transforms.trace.level import InputSource
from xpgrad.transforms.trace.tracing import OutputLeaf
from xpgrad.transforms.trees import Structure

Entry = Callable[[tuple[Any, ...], dict[str, Any]], "tuple[list[Any], tuple[Any, ...]] | None"]
EXACT = (dict, list, tuple)
CAUGHT = "(ArithmeticError, AttributeError, LookupError, ReferenceError, TypeError, ValueError)"
NAMES = {
    "same": same, "same_place": same_place, "contents": contents, "is_": operator.is_, "switches": switches,
    "current_device": current_device, "config": global_config.__dict__, "Variable": Variable,
    "variable": constant_variable,
}  # fmt: skip
"""Names that all sources have."""


class EntryWriter:
    """Source of a function under construction: its `lines`, and the objects that it `names`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {**NAMES}
        self._count = 0

    def add(self, line: str) -> None:
        """Add a line of the function's body."""
        self.lines.append(f"        {line}")

    def fail_if(self, condition: str) -> None:
        """Add a check: where `condition` is true, the call does not fit."""
        self.add(f"if {condition}: return None")

    def name(self, obj: Any, prefix: str = "k") -> str:
        """Return a name for an object."""
        made = f"{prefix}{self._count}"
        self._count += 1
        self.names[made] = obj
        return made

    def local(self) -> str:
        """Return a new name for a local variable."""
        self._count += 1
        return f"x{self._count}"

    def made(self, head: str, *lines: str) -> Callable[..., Any]:
        """Return the function with these lines."""
        source = "\n".join([head, *lines])
        exec(compile(source, "<generated for a program>", "exec"), self.names)  # noqa: S102 - a source generated here
        made: Callable[..., Any] = self.names.pop(head[4 : head.index("(")])  # else it would be a cycle
        return made


def entry(
    leaves: Sequence[Any], structure: Structure, sources: Iterable[InputSource], guards: Iterable[Guard], *,
    writes: bool = True, returns: bool = False, loosened: Collection[int] = (), shared: Collection[int] = (),
) -> Entry:  # fmt: skip
    """Return a function of ``(args, kwargs)``: the inputs' arrays and the leaves, or None for a call that does not fit.

    Parameters
    ----------
    leaves, structure : sequence, Structure
        Leaves of the traced arguments.
    sources : iterable of InputSource
        The inputs.
    guards : iterable of Guard
        Values that the call has read from outside.
    writes : bool
        Whether the program writes to arrays, so that it matters whether two arguments are one array.
    returns : bool
        Whether the leaves are needed after the program; else the function returns none of them.
    loosened, shared : collection of int
        The leaves that may be any float; the Variables that are used from outside as well, so that no others fit.
    """
    w = EntryWriter()
    sources = list(sources)
    graded = {s.holder if type(s.holder) is int else id(s.holder) for s in sources if s.kind.startswith("gradient")}
    _check_surroundings(w)
    places: list[str] = []
    _open(w, structure, "(args, kwargs)", places)
    _check_identity(w, leaves, places, writes)
    for i, (leaf, place) in enumerate(zip(leaves, places, strict=True)):
        if i in loosened:
            w.fail_if(f"type({place}) is not float or {place} - {place}")  # infinity and NaN are constants
        else:
            _check_leaf(w, leaf, place, backend_among(leaves, leaf) is not None, graded=i in graded)
    variables = dict.fromkeys(s.holder for s in sources if s.kind in ("array", "gradient"))
    captured = {x: w.name(x, "v") for x in variables}
    for i, (leaf, place) in enumerate(zip(leaves, places, strict=True)):
        if isinstance(leaf, Variable) and (captured or i in shared):
            known = w.name(leaf if i in shared else frozenset(map(id, captured)))
            w.fail_if(f"{place} is not {known}" if i in shared else f"id({place}) in {known}")
    for x, name in captured.items():
        _check_variable(w, x, name, graded=id(x) in graded)
    for guard in guards:
        _check_guard(w, guard)
    arrays = []
    for kind, holder in sources:
        if kind == "constant":
            arrays.append(w.name(holder))
            if not (backend := plugins.backend_of(holder)).immutable:  # else its shape can be set
                w.fail_if(_differs(w, backend.spec(holder), arrays[-1]))
            continue
        if kind == "number":
            arrays.append(f"{w.name(holder.array)}({source_of(holder.expression, places)})")
            continue
        place = captured[holder] if isinstance(holder, Variable) else places[holder]
        if kind.startswith("gradient"):
            arrays.append(f"(g if type(g := {place}._grad) is not Variable else g._array)")
        else:
            arrays.append(_array(w, holder if isinstance(holder, Variable) else leaves[holder], place))
    w.add(f"return [{', '.join(arrays)}], ({''.join(f'{place}, ' for place in places) if returns else ''})")
    caught = f"    except {CAUGHT}:"  # means that the call does not fit
    return w.made("def enter(args, kwargs):", "    try:", *w.lines, caught, "        return None")


def _child(w: EntryWriter, structure: Structure, place: str, key: Any) -> str:
    """Return the expression of a child of a container."""
    if structure.kind is None or not issubclass(structure.kind, (dict, list, tuple)):
        container = None if structure.kind is None else container_of(structure.kind)
        return f"{place}.{key}" if container is None else f"{w.name(container.child)}({place}, {w.name(key)})"
    return f"{place}[{key!r}]" if type(key) in (str, int) else f"{place}[{w.name(key)}]"


def _array(w: EntryWriter, leaf: Any, place: str) -> str:
    """Return the source of the array of a leaf."""
    if isinstance(leaf, Variable):
        return f"{place}._array"
    backend = plugins.backend_of_scalar(leaf)
    return place if backend is None else f"{w.name(backend.restore)}({place})"


def _check_surroundings(w: EntryWriter) -> None:
    now = switches()
    w.names |= {"now": now, "entries": global_config.__dict__ | now.overlay, "device": current_device()}
    w.add("s = switches()")
    w.fail_if("(s is not now or config != entries) and (s.mode != now.mode or config | s.overlay != entries)")
    w.fail_if("current_device() != device")


def _open(w: EntryWriter, structure: Structure, place: str, places: list[str]) -> None:
    """Add the lines that take a tree apart, and note the names of its leaves."""
    if structure.kind is None:
        places.append(place)
        return
    if structure.kind is type(None):
        w.fail_if(f"{place} is not None")
        return
    if place == "(args, kwargs)":
        for child, name in zip(structure.children, ("args", "kwargs"), strict=True):
            _open(w, child, name, places)
        return
    size = f" or len({place}) != {len(structure.keys)}" if issubclass(structure.kind, EXACT) else ""
    w.fail_if(f"type({place}) is not {w.name(structure.kind)}{size}")
    names = [(child, w.local()) for child in structure.children]
    if structure.kind in (list, tuple) and names:  # faster than one after the other
        w.add(f"{', '.join(name for _, name in names)}, = {place}")
    for key, (_, name) in zip(() if structure.kind in (list, tuple) else structure.keys, names, strict=False):
        w.add(f"{name} = {_child(w, structure, place, key)}")
    if not issubclass(structure.kind, EXACT):
        _check_rest(w, structure, place)
    for child, name in names:
        _open(w, child, name, places)


def _check_rest(w: EntryWriter, structure: Structure, place: str) -> None:
    """Add a check of the fields of a dataclass that belong to its structure."""
    container = None if structure.kind is None else container_of(structure.kind)
    if container is not None:
        w.fail_if(f"not {w.name(container.same)}({place}, {w.name(structure.empty)})")
        return
    for f in dataclasses.fields(structure.empty):
        if not hasattr(structure.empty, f.name):  # it was deleted
            w.fail_if(f"hasattr({place}, {f.name!r})")
    for name, value in attributes_of(structure.empty, *structure.keys).items():
        known = w.name(value)
        w.fail_if(f"not same({place}.{name}, {known}) and {place}.{name} != {known}")


def _check_identity(w: EntryWriter, leaves: Sequence[Any], places: list[str], writes: bool) -> None:
    """Add a check that the same leaves are identical objects."""
    first: dict[int, str] = {}
    distinct: list[str] = []
    for leaf, place in zip(leaves, places, strict=True):
        if not is_array(leaf):
            continue
        if id(leaf) in first:
            w.fail_if(f"{place} is not {first[id(leaf)]}")
        else:
            first[id(leaf)] = place
            if writes or isinstance(leaf, Variable):
                distinct.append(place)
    if len(distinct) == 2:
        w.fail_if(f"{distinct[0]} is {distinct[1]}")
    elif len(distinct) > 2:
        w.fail_if(f"len({{{', '.join(f'id({place})' for place in distinct)}}}) != {len(distinct)}")


def _check_leaf(w: EntryWriter, leaf: Any, place: str, is_scalar: bool, *, graded: bool) -> None:
    if isinstance(leaf, Variable):
        w.fail_if(f"type({place}) is not {w.name(type(leaf))}")
        _check_variable(w, leaf, place, graded=graded)
    elif is_array(leaf):
        _check_array(w, plugins.backend_of(leaf).spec(leaf), type(leaf), place)
    elif is_scalar:
        w.fail_if(f"type({place}) is not {w.name(type(leaf))}")
    elif type(leaf) in (str, int, bool):
        w.fail_if(f"type({place}) is not {w.name(type(leaf))} or {place} != {leaf!r}")
    else:
        known = w.name(leaf)
        equal = f" and not (type({place}) is type({known}) and {place} == {known})"
        w.fail_if(f"not same({place}, {known}){'' if type(leaf) in (float, complex) else equal}")


def _differs(w: EntryWriter, spec: Spec, place: str) -> str:
    specs = f"{place}.shape != {w.name(spec.shape)} or {place}.dtype is not {(dtype := w.name(spec.dtype))}"
    return f"{specs} and {place}.dtype != {dtype}"


def _check_array(w: EntryWriter, spec: Spec, kind: type, place: str) -> None:
    w.fail_if(f"type({place}) is not {w.name(kind)} or {_differs(w, spec, place)}")
    if len(spec.backend.devices()) > 1:
        w.fail_if(f"{w.name(spec.backend.handle_of)}({place}) != {w.name(spec.device)}")


def _check_variable(w: EntryWriter, x: Variable, place: str, *, graded: bool) -> None:
    """Add the checks of a Variable: its spec, whether it requires a gradient and has one, and its hooks.

    `graded` is whether its gradient is an input of the program. The array has the shape of the spec: `ChangedArray`.
    """
    node, spec, words = x._node, x._node.spec, ("is not", "is")  # these are checked at each call: every operator counts
    hooks = () if node.extra is None else tuple(node.extra.hooks.values())
    failures = [f"{'not ' * node.requires_grad}(n := {place}._node).requires_grad"]
    if node.requires_grad:
        failures.append(f"n.creator_node {words[node.creator_node is not None]} None")
    failures.append(f"{place}._grad {words[x._grad is not None]} None")
    if spec is None:
        failures.append("n.spec is not None")
    else:
        known = w.name(spec)
        failures.append(f"n.spec is not {known} and not same_place(n.spec, {known})")
        hooked = f"tuple(n.extra.hooks.values()) != {w.name(hooks)}"
        failures.append(f"n.extra is None or {hooked}" if hooks else "n.extra is not None and n.extra.hooks")
    w.fail_if(" or ".join(failures))
    if spec is not None and graded and x._grad is not None:
        w.add(f"g = {place}._grad")
        w.fail_if(f"(g._array if type(g) is Variable else g).shape != {w.name(spec.shape)}")


def _check_guard(w: EntryWriter, guard: Guard) -> None:
    """Add the check of one thing that was read from outside."""
    kind, key, value, of = guard.kind, guard.key, guard.value, type(guard.owner)
    owner, known = w.name(guard.owner), w.name(value)
    kind = "plain item" if kind == "item" and of in (list, dict) else kind
    named = type(key) is str and key.isidentifier() and not keyword.iskeyword(key)
    if kind in ("own", "global") and value is ABSENT:
        w.fail_if(f"{key!r} in {owner}{'.__dict__' * (kind == 'own')}")
    elif kind == "inherited" and value is ABSENT and type(of) is type and not hasattr(of, key):  # faster than its bases
        w.fail_if(f"hasattr(type({owner}), {key!r})")
    elif kind == "length" and value == 0 and of in (list, dict):
        w.fail_if(owner)
    elif kind == "contents" and of in (list, dict):
        _check_items(w, guard, owner)
    elif kind == "tree":
        w.fail_if(f"not {w.name(same_tree)}({owner}, {known})")
    elif kind == "values":
        w.fail_if(f"{w.name(values)}({owner}) != {known}")
    elif (text := SOURCE.get(kind)) and value is not ABSENT and (named or "{n}" not in text):
        name = repr(key) if type(key) in (str, int) else w.name(key)
        _compare(w, text.format(o=owner, k=name, n=key), known)
    else:
        _compare(w, f"{w.name(READ[guard.kind])}({owner}, {w.name(key)})", known)


def _compare(w: EntryWriter, now: str, known: str) -> None:
    equals = kind_of(w.names[known]) is SIMPLE or isinstance(w.names[known], (tuple, frozenset))
    w.fail_if(f"(c := {now}) is not {known} and not same(c, {known})" if equals else f"{now} is not {known}")


def _check_items(w: EntryWriter, guard: Guard, owner: str) -> None:
    count = len(guard.owner)
    pairs = f"all(map(is_, {owner}, {w.name(guard.value)}))"
    if isinstance(guard.owner, dict):
        pairs += f" and all(map(is_, {owner}.values(), {w.name(guard.value[count:])}))"
    w.fail_if(f"len({owner}) != {count} or not ({pairs}) and not same(contents({owner}), {w.name(guard.value)})")


def leaving(results: Sequence[OutputLeaf], structure: Structure, *, variables: bool) -> Callable[..., Any]:
    """Return a function of the outputs and the leaves of the arguments, which returns the result.

    Results that were Variables become Variables if `variables`; else the user gave arrays, and gets arrays.
    """
    w = EntryWriter()
    leaves = []
    for leaf in results:
        if leaf.kind == "object":
            leaves.append(w.name(leaf.content))
        elif leaf.kind == "argument":
            leaves.append(f"leaves[{leaf.content}]")
        elif leaf.kind == "variable" and not leaf.connected and (variables or leaf.kept):
            leaves.append(f"variable(outputs[{leaf.content}])")
        else:
            leaves.append(f"outputs[{leaf.content}]")  # if connected, it is a Variable already
    return w.made("def leave(outputs, leaves):", f"    return {_built(w, structure, iter(leaves))}")


def _built(w: EntryWriter, structure: Structure, leaves: Any) -> str:
    kind = structure.kind
    if kind is None:
        return str(next(leaves))
    if kind is type(None):
        return "None"
    children = [_built(w, child, leaves) for child in structure.children]
    if kind is dict:
        items = zip(map(w.name, structure.keys), children, strict=True)
        return f"{{{', '.join(f'{key}: {child}' for key, child in items)}}}"
    if kind is tuple:
        return f"({''.join(f'{child}, ' for child in children)})"
    if kind is list:
        return f"[{', '.join(children)}]"
    flat = Structure(kind, structure.keys, tuple(Structure() for _ in children), structure.empty)
    return f"{w.name(flat)}.build([{', '.join(children)}])"
