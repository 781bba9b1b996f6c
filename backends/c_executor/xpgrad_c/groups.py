"""`CompiledGroups`: the fused groups of one program, computed by C after compilation in the background."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xpgrad.locks import shared_lock
from xpgrad.plugin import Backend, programs_of
from xpgrad.types import Array
from xpgrad_c.background import background
from xpgrad_c.compiler import Compiler
from xpgrad_c.disabling import disabled
from xpgrad_c.generator import GroupSource, generate
from xpgrad_c.index import DiskPlace, Places, index_name, read_index, write_index
from xpgrad_c.layout import ArrayLayout, layout_of
from xpgrad_c.library import Function, SharedLibrary
from xpgrad_c.process import Closing
from xpgrad_c.structure import structure_of
from xpgrad_c.text import library_text
from xpgrad_c.toolchain import Toolchain, toolchain
from xpgrad_fusion.by_calls import ByCalls
from xpgrad_fusion.group import Fused

MOST_GROUPS, MOST_TEXT = 64, 100_000
"""Maximum number of groups and of source characters in one library; further groups form further libraries."""
_replacing = shared_lock()
NO_ROW = "C has no row for one of its functions"


class CompiledGroup:
    """A callable group: computed by C once compiled, by `fallback` before.

    Attributes
    ----------
    current : callable
        The function that computes the group at present.
    state : str
        ``"C"``, or the reason why C does not compute the group.
    """

    __slots__ = ("current", "fallback", "fused", "places", "state")

    def __init__(self, fused: Fused, fallback: Function) -> None:
        self.fused, self.fallback = fused, fallback
        self.current, self.state = fallback, "not begun"
        self.places: list[tuple[dict[str, Any], str]] = []

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return the outputs of the group as new arrays."""
        if background.stalled:
            background.resume()
        if isinstance(self.current, ByCalls):
            self._generate(self.current)
        return self.current(*arrays)

    def _generate(self, fallback: ByCalls) -> None:
        """Generate the source of the library's calls, and call it directly until C computes the group."""
        run = fallback.run
        with _replacing:
            if self.current is fallback:
                self.current = run

    def become(self, function: Function) -> None:
        """Replace the function of the group, also in generated sources, which then call the function directly."""
        with _replacing:
            self.current, self.state = function, "C"
        for objects, name in self.places:
            objects[name] = function
        self.places = []


class CompiledGroups:
    """The groups of a program; a call adds a group.

    Parameters
    ----------
    backend : Backend
        Of their arrays.

    Attributes
    ----------
    groups : list of CompiledGroup
    """

    def __init__(self, backend: Backend) -> None:
        self.groups: list[CompiledGroup] = []
        self._backend = backend
        self._layout: ArrayLayout | None = None
        self._structures: list[str] = []
        self._functions: dict[tuple[Any, ...], Function] = {}
        self._places: dict[CompiledGroup, DiskPlace | None] = {}

    def __call__(self, fused: Fused, fallback: Callable[..., Any]) -> CompiledGroup:
        """Return a callable for a group, which uses `fallback` until the group is compiled."""
        group = CompiledGroup(fused, fallback)
        self.groups.append(group)
        return group

    def bind(self, objects: dict[str, Any]) -> None:
        """Let compiled functions later replace the groups among the globals of a source."""
        for name, item in objects.items():
            if isinstance(item, CompiledGroup):
                item.places.append((objects, name))

    def start(self) -> None:
        """Load groups compiled earlier, and compile the remaining groups in the background."""
        try:
            why = disabled() or self._begin(toolchain())
        except Exception as error:  # a fault of the generator, or no memory: the program runs without C
            why = f"{type(error).__name__}: {error}"
        if why is not None:  # else another thread may be writing the states already
            for group in self._others():
                group.state = why

    def _begin(self, tools: Toolchain) -> str | None:
        """Load compiled groups or submit them for compilation; return the reason if neither is possible."""
        if not self.groups or tools.off is not None:
            return tools.off
        found = self.groups[0].fused.outputs[0].spec
        spec = self._backend.spec_for((), found.dtype, found.device)
        if not programs_of(self._backend).address(self._backend.empty(spec)):
            return f"arrays of {self._backend.name} have no addresses in host memory"
        self._layout = layout_of(self._backend, spec)
        self._structures = [structure_of(group.fused) for group in self.groups]
        compiler = tools.known_compiler()
        if compiler is None or not self._load(compiler, tools):
            for group in self._others():
                group.state = "is being compiled"
            waiting: weakref.ref[CompiledGroups] = weakref.ref(self)
            background.submit(lambda: _compile_if_alive(waiting, tools))
        return None

    def _others(self) -> Iterator[CompiledGroup]:
        return (group for group in self.groups if group.state != "C")

    def _compile(self, tools: Toolchain) -> None:
        """Compile the groups, in the background."""
        why = ""
        try:
            compiler = tools.compiler()
            if compiler is not None:
                self._compute(compiler, tools)
            why = tools.off or (tools.failures[-1] if tools.failures else "")
        except Closing:
            why = "the interpreter ends"
        except Exception as error:  # a fault of the generator, or no memory: the program runs without C
            why = f"{type(error).__name__}: {error}"
            tools.failures.append(why)
        for group in self._others():
            group.state = why or group.state

    def _load(self, compiler: Compiler, tools: Toolchain) -> bool:
        """Use libraries that the index of the program names; return whether all were found.

        Finding libraries by their source instead requires generating the source, which takes ten times as long.
        """
        name = index_name(compiler, self._structures)
        places: Places | None = None if name is None else read_index(tools.cache, name, len(self.groups))
        if places is None:
            return False
        libraries = {place.library: tools.stored(place.library) for place in places if place is not None}
        for group, place in zip(self.groups, places, strict=True):
            library = None if place is None else libraries[place.library]
            if place is None:
                group.state = NO_ROW
            elif library is None:
                return False
            else:
                self._become(group, library, place.number, place.source())
        return True

    def _compute(self, compiler: Compiler, tools: Toolchain) -> None:
        """Let the groups be computed by libraries that are found by their source, or compiled."""
        for text, members in self._libraries(compiler):
            library = tools.made(compiler, text)
            if library is None:
                continue
            key = compiler.key(text)
            for group, number, source in members:
                facts = source.chunks, source.scratch, source.partials, source.ends
                self._places[group] = DiskPlace(key, number, *facts)
                self._become(group, library, number, source)
        name = index_name(compiler, self._structures)
        if name is not None and len(self._places) == len(self.groups):
            write_index(tools.cache, name, [self._places[group] for group in self.groups])

    def _become(self, group: CompiledGroup, library: SharedLibrary, number: int, source: GroupSource) -> None:
        """Let C compute a group, by the function of an equal group of the program if there is one."""
        fused = group.fused
        key = library, number, *(id(value.spec) for value in (*fused.inputs, *fused.outputs))
        if key not in self._functions:
            given = f"group_{number}", source, fused, group.fallback, self._backend, self._layout
            self._functions[key] = library.function(*given)
        group.become(self._functions[key])

    def _libraries(self, compiler: Compiler) -> Iterator[tuple[str, list[tuple[CompiledGroup, int, GroupSource]]]]:
        """Yield the text of each library and its groups, with their numbers in the library."""
        numbers: dict[GroupSource, int] = {}
        members: list[tuple[CompiledGroup, int, GroupSource]] = []
        sources: dict[str, GroupSource | None] = {}
        for group, structure in zip(self.groups, self._structures, strict=True):
            if group.state == "C":
                continue
            if structure not in sources:
                sources[structure] = generate(group.fused, "GROUP", vector_math=compiler.vector_math)
            source = sources[structure]
            if source is None:
                group.state, self._places[group] = NO_ROW, None
                continue
            if source not in numbers:
                size = sum(len(other.text) for other in numbers)
                if numbers and (len(numbers) >= MOST_GROUPS or size + len(source.text) > MOST_TEXT):
                    yield library_text(list(numbers)), members
                    numbers, members = {}, []
                numbers[source] = len(numbers)
            members.append((group, numbers[source], source))
        if members:
            yield library_text(list(numbers)), members


def _compile_if_alive(waiting: "weakref.ref[CompiledGroups]", tools: Toolchain) -> None:
    """Compile the groups of a program, unless the program was deleted meanwhile."""
    if (groups := waiting()) is not None:
        groups._compile(tools)
