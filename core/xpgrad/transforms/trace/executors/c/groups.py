"""`CompiledGroups`: the fused groups of one program, computed by C as soon as that is compiled."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.transforms.trace.executors.c.background import background
from xpgrad.transforms.trace.executors.c.compiler import Compiler
from xpgrad.transforms.trace.executors.c.generator import Source, generate
from xpgrad.transforms.trace.executors.c.layout import Layout, layout_of
from xpgrad.transforms.trace.executors.c.library import Function, Library
from xpgrad.transforms.trace.executors.c.process import Closing
from xpgrad.transforms.trace.executors.c.text import library_text
from xpgrad.transforms.trace.executors.c.toolchain import Toolchain, disabled, toolchain
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.types import Array

MOST_GROUPS, MOST_TEXT = 64, 100_000
"""Groups, and characters of source, of one library: more of them are compiled one library after the other."""


class Group:
    """One group, to call: by C if that is there, else by what was given instead.

    Attributes
    ----------
    current : callable
        What computes it now.
    state : str
        ``"C"``, or why it is not.
    """

    __slots__ = ("current", "fallback", "fused", "places", "state")

    def __init__(self, fused: Fused, fallback: Function) -> None:
        self.fused, self.fallback = fused, fallback
        self.current, self.state = fallback, "not begun"
        self.places: list[tuple[dict[str, Any], str]] = []

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return new arrays, those of the group's outputs."""
        if background.stalled:
            background.resume()
        return self.current(*arrays)

    def become(self, function: Function) -> None:
        """Be computed by another function from now on, which generated sources call without this object."""
        self.current, self.state = function, "C"
        for objects, name in self.places:
            objects[name] = function
        self.places = []


class CompiledGroups:
    """The groups of a program; called, it is the factory of what calls one.

    Parameters
    ----------
    backend : Backend
        Of their arrays.

    Attributes
    ----------
    groups : list of Group
    """

    def __init__(self, backend: Backend) -> None:
        self.groups: list[Group] = []
        self._backend = backend
        self._layout: Layout | None = None

    def __call__(self, fused: Fused, fallback: Callable[..., Any]) -> Group:
        """Return what computes a group: `fallback`, until it is compiled."""
        group = Group(fused, fallback)
        self.groups.append(group)
        return group

    def bind(self, objects: dict[str, Any]) -> None:
        """Put the compiled functions in the places of the groups in a source's globals, once they are there."""
        for name, item in objects.items():
            if isinstance(item, Group):
                item.places.append((objects, name))

    def start(self) -> None:
        """Load what was compiled before, and compile the others in the background."""
        try:
            why = disabled() or self._begin(toolchain())
        except Exception as error:  # a fault of the generator, or no memory: the program runs without C
            why = f"{type(error).__name__}: {error}"
        for group in self._others():
            group.state = why or group.state

    def _begin(self, tools: Toolchain) -> str | None:
        """Load what was compiled before, and submit the others; return why there is nothing of both."""
        if not self.groups or tools.off is not None:
            return tools.off
        found = self.groups[0].fused.outputs[0].spec
        spec = self._backend.spec_for((), found.dtype, found.device)
        if not self._backend.address(self._backend.empty(spec)):
            return f"arrays of {self._backend.name} have no addresses in host memory"
        self._layout = layout_of(self._backend, spec)
        compiler = tools.known_compiler()
        if compiler is None or not self._compute(compiler, tools.loaded):
            for group in self._others():
                group.state = "is being compiled"
            background.submit(lambda: self._compile(tools))
        return None

    def _others(self) -> Iterator[Group]:
        return (group for group in self.groups if group.state != "C")

    def _compile(self, tools: Toolchain) -> None:
        """Compile the groups, in the background."""
        why = ""
        try:
            compiler = tools.compiler()
            if compiler is not None:
                self._compute(compiler, tools.made)
            why = tools.off or (tools.failures[-1] if tools.failures else "")
        except Closing:
            why = "the interpreter ends"
        except Exception as error:  # a fault of the generator, or no memory: the program runs without C
            why = f"{type(error).__name__}: {error}"
            tools.failures.append(why)
        for group in self._others():
            group.state = why or group.state

    def _compute(self, compiler: Compiler, get: Callable[[Compiler, str], Library | None]) -> bool:
        """Let the groups be computed by the libraries that `get` returns; return whether there are all."""
        done = True
        for text, members in self._libraries(compiler):
            library = get(compiler, text)
            if library is None:
                done = False
                continue
            for group, number, source in members:
                made = library.function(
                    f"group_{number}", source, group.fused, group.fallback, self._backend, self._layout
                )
                group.become(made)
        return done

    def _libraries(self, compiler: Compiler) -> Iterator[tuple[str, list[tuple[Group, int, Source]]]]:
        """Yield the text of each library, and the groups that it has, with their numbers in it."""
        numbers: dict[Source, int] = {}
        members: list[tuple[Group, int, Source]] = []
        for group in list(self._others()):
            source = generate(group.fused, "GROUP", vector_math=compiler.vector_math)
            if source is None:
                group.state = "C has no row for one of its functions"
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
