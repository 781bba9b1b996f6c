"""`compile`: a function as programs, one for each kind of arguments, which run without the graph's cost."""

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from xpgrad.backend.levels import around
from xpgrad.backend.random import Snapshot, held_states, restore
from xpgrad.config import WATCHED, switches
from xpgrad.errors import CompileWarning, StaleProgramWarning, TraceError
from xpgrad.locks import shared_lock
from xpgrad.transforms.callers import depth
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace import kinds
from xpgrad.transforms.trace.agreement import difference
from xpgrad.transforms.trace.eager import call_eagerly
from xpgrad.transforms.trace.entry import entry
from xpgrad.transforms.trace.executors import Options, checked_executor
from xpgrad.transforms.trace.guards.guard import ABSENT, Guard
from xpgrad.transforms.trace.guards.objects import ARRAY, OTHER, SIMPLE, TRACED, kind_of
from xpgrad.transforms.trace.kinds import CacheInfo, Kind, Verify
from xpgrad.transforms.trace.level import Unrecordable
from xpgrad.transforms.trace.numbers import with_numbers
from xpgrad.transforms.trace.passes import PASSES
from xpgrad.transforms.trace.pickles import global_name
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.runner import Runner
from xpgrad.transforms.trace.state import KEY, OuterState, without_state
from xpgrad.transforms.trace.tracing import Trace
from xpgrad.transforms.trees import flatten, where
from xpgrad.types import as_list
from xpgrad.utils.pictures import drawer
from xpgrad.utils.threads import InTurn

P = ParamSpec("P")
R = TypeVar("R")
MAX_VALUES = 4
"""How many values of a number have a program each before a warning names it."""
MAX_TEXTS, NUMBERS = 16, (int, float, complex)
"""How many texts and other constants have a program each before a warning names them."""
MAX_UNUSED = 32
"""How many kinds of calls are recorded in a row that have no second call, before others run once without a program."""
MAX_ITEMS, MAX_SHOWN = 100, 20
"""How many items of a container are compared with their earlier values, and how many are shown of a stale program."""


class Compiled(Generic[P, R]):
    """A compiled function; `compile` makes it.

    Several threads may call it: one thread records while the other threads wait, and programs run in parallel, unless
    they store values in outer Variables, which they do in turn. The attribute `function` is the original function.
    """

    def __init__(self, f: Callable[P, R], verify: Verify, size: int, options: Options, instead: Any = None) -> None:
        functools.update_wrapper(self, f)
        self.function = f
        self._verify: Verify = verify
        self._strict, self._cache_size, self._options = options.strict, size, options
        self._kinds: list[Kind] = []  # the most recently used first
        self._lock = shared_lock()
        self._recording = InTurn()
        self._writes = False  # whether a recorded run has stored something in Variables from outside
        self._state = OuterState()
        self._hits = self._misses = self._changes = self._unused = 0
        self._said: set[str] = set()
        self._values: dict[Any, set[Any]] = {}  # of numbers among the arguments that were constants of programs
        self.instead: Callable[..., Any] = f if instead is None else instead
        """What is called where there is no program."""

    def __repr__(self) -> str:
        return f"<compiled {getattr(self.function, '__qualname__', self.function)!s}: {len(self._kinds)} programs>"

    _repr_html_ = drawer.html("programs")

    def __reduce__(self) -> Any:
        given = self.function, self._verify, self._cache_size, self._options, self.instead
        return global_name(self) or (Compiled, given)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, through a compiled program if available.

        It takes arrays where the function takes Variables, and then returns arrays.
        """
        if self._writes and not self._recording.lock._is_owned():
            with self._recording.lock:
                return self(*args, **kwargs)
        if self._state.places:
            kwargs = self._state.given(kwargs)
        for kind in self._kinds:
            ready = kind.ready
            if ready is None:
                continue
            found = ready[0](args, kwargs)
            if found is None:
                continue
            if around() is not None:
                break
            if self._kinds[0] is not kind:
                self._use(kind)
            self._hits += 1
            kind.runs += 1
            if kind.runs == kind.due:
                with self._recording.lock:
                    return self._confirmed(kind, args, kwargs)
            return ready[1].run(*found)
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function if no program exists yet, or none is possible."""
        if around() is not None:
            return self.function(*args, **without_state(kwargs))  # a part of the program of another function
        if switches().mode & WATCHED:
            self._warn("debug mode or function hooks are active, so it is not compiled", once=True)
            return self._eager(args, kwargs)
        self._misses += 1
        kind = self._found(args, kwargs)
        if kind is None or kind.eager is None:
            with self._recording.lock:
                if self._state.places and KEY not in kwargs:
                    return self(*args, **kwargs)  # another thread has found the state meanwhile
                kind = self._found(args, kwargs)  # another thread may have recorded it meanwhile
                if kind is None:
                    if self._unused < MAX_UNUSED or self._strict:
                        return self._traced(args, kwargs)
                    kind = self._put_off(args, kwargs)  # other threads need not wait for the call
                elif kind.eager is None and kind.ready is None:
                    return self._confirmed(kind, args, kwargs)
        return self._eager(args, kwargs) if kind.ready is None else self(*args, **without_state(kwargs))

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kind | None:
        """Return the kind of a call, which is the most recently used then."""
        kind = next((kind for kind in self._kinds if kind.entry(args, kwargs) is not None), None)
        if kind is not None:
            self._use(kind)
        return kind

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        held = held_states()
        trace = self._recorded(args, kwargs)
        if isinstance(trace, Unrecordable):
            return self._without_trace(trace, held, args, kwargs)
        self._changes = self._changes + 1 if trace.facts.changed or trace.facts.effects else 0
        if 0 < self._changes < MAX_VALUES and trace.failure is None:  # perhaps it was made at this call, and stays
            return Runner(trace, self._options).first()
        failure = kinds.failure_of(trace)
        if failure is not None or not self._merged(trace, args, kwargs):
            kind = Kind(kinds.entry_of(trace, first=True), trace)
            if failure is not None:
                self._give_up(kind, failure, args, kwargs)
            elif trace.facts.numbers:
                kind.loose = kinds.entry_of(trace, trace.facts.numbers.leaves)
            self._count_values(trace)
            self._unused += 1
            self._keep(kind)
        return Runner(trace, self._options).first()

    def _put_off(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kind:
        """Return the kind of a call that runs without a program; a second call with such arguments is recorded."""
        kind = Kind(entry(*flatten((args, kwargs)), (), ()), None)
        self._keep(kind)
        what = f"the last {self._unused} kinds of calls have come once each, and recording takes longer"
        self._warn(f"{what} than running: further ones run without a program until they come again", once=True)
        return kind

    def _keep(self, kind: Kind, instead: Kind | None = None) -> None:
        """Keep a kind as the most recently used one, `instead` of another one."""
        with self._lock:
            others = (other for other in self._kinds if other is not kind and other is not instead)
            self._kinds = [kind, *others][: self._cache_size]

    def _merged(self, trace: Trace, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Merge a run with an earlier kind if they differ only in floats among their arguments."""
        for other in self._kinds:
            if other.trace is None or other.loose is None or other.loose(args, kwargs) is None:
                continue
            first, second = with_numbers(other.trace, trace)
            if difference(first, second) is not None:
                other.loose = None
                continue
            made = Kind(kinds.entry_of(second, second.loosened), second)
            runner = Runner(second, self._options)
            runner.prepare()
            made.ready, made.loose = (made.entry, runner), other.loose
            made.runs = max(other.runs, kinds.RECORDED)
            made.due = kinds.next_of(made.runs, self._verify)
            self._keep(made, instead=other)
            return True
        return False

    def _count_values(self, trace: Trace) -> None:
        """Warn about numbers, functions, and arrays from outside that are others at each call, and need programs."""
        paths = zip(trace.leaves, trace.arguments.paths(), strict=True)
        found: list[tuple[Any, Any, Any]] = [(x, p, p) for x, p in paths if not is_array(x)]
        for place, guard in trace.facts.guards.items():
            items = guard.value[:MAX_ITEMS] if guard.kind == "contents" else (guard.value,)
            found += [(x, (place, i), guard) for i, x in enumerate(items)]
        for x, place, source in found:
            advice = "pass it as an array if it is computed with, or round it to few values if it decides a shape"
            if kind_of(x) in (ARRAY, TRACED):
                advice = "pass it as an argument, or keep it in a Variable and assign x.array"
            elif isinstance(x, (types.FunctionType, functools.partial)):
                advice = "define it once"
            elif kind_of(x) is OTHER and x is not ABSENT:
                advice = "keep one object, and set its attributes"
            elif kind_of(x) is not SIMPLE:
                continue
            code = getattr(getattr(x, "func", x), "__code__", None) if advice == "define it once" else None
            known = self._values.setdefault((place, code), set())
            plain = kind_of(x) is SIMPLE and type(x) not in NUMBERS
            known.add(repr(x)[:MAX_ITEMS] if plain else x if type(x) in NUMBERS else id(x))
            if len(known) == (MAX_TEXTS if plain else MAX_VALUES):
                outside = isinstance(source, Guard)
                what = f"from outside, {source.title}," if outside else f"argument{where(source[1:])}"
                self._warn(f"{len(known)} values of the {type(x).__name__} {what} have needed a program each: {advice}")

    def _without_trace(self, error: Unrecordable, held: Snapshot, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Repeat a call without a level if its first run cannot be recorded, after undoing the effects of that run."""
        text = str(error)
        error.facts.undo()
        state, undone = self._state.grown(error.places), error.level.watch.undo()
        if state is not None and undone:
            restore(held)
            error.level.forget()
            self._state, self._writes, self._kinds = state, True, []
            return self(*args, **without_state(kwargs))
        if self._strict or not undone:
            error.level.forget()
            raise TraceError(f"compile: {self._name}: {text}") from None
        restore(held)
        self._changes += error.again
        if error.again and self._changes < MAX_VALUES:
            error.level.forget()
            return self._eager(args, kwargs)
        leaves, structure = flatten((args, kwargs))
        made = Kind(entry(leaves, structure, error.level.sources, error.facts.guards.values()), None)
        error.level.forget()
        self._give_up(made, text, args, kwargs)
        self._keep(made)
        return self._eager(args, kwargs)

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trace | Unrecordable:
        """Return a recorded call, or why it cannot be recorded, which is then no context of errors in an eager call."""
        try:
            trace = Trace(self.function, args, kwargs, self._strict, self._state)
        except Unrecordable as error:
            return error.with_traceback(None)
        self._writes |= bool(trace.writes)
        failure = kinds.failure_of(trace)
        if failure is not None and self._strict:
            raise TraceError(f"compile: {self._name}: {failure}")
        return trace

    def _confirmed(self, kind: Kind, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Trace a kind of calls again, and make its program if the function computes the same."""
        first, held = kind.trace, held_states()
        trace = self._recorded(args, kwargs)
        if isinstance(trace, Unrecordable):
            return self._without_trace(trace, held, args, kwargs)
        other = trace.failure = kinds.failure_of(trace)
        if other is None and first is not None and trace.distinct == first.distinct:
            other = difference(*with_numbers(first, trace))
        stale = kind.ready is not None and other is not None
        if stale:
            self._warn_stale(kind, str(other), first)
        if trace.failure is None and (first is None or (other is not None and (stale or kind.tries == 0))):
            kind.trace, kind.ready, kind.loose, kind.tries = trace, None, None, 1
            kind.entry = kinds.entry_of(trace, first=True)
            return Runner(trace, self._options).first()
        if other is not None:
            if trace.failure is None:
                other += (
                    "; a program computes the same at each run: pass what changes as an argument, as an array or in a "
                    "Variable, and draw random numbers by xpgrad.random"
                )
                if self._strict:
                    raise TraceError(f"compile: {self._name}: {other}")
            self._give_up(kind, other, args, kwargs)
            return Runner(trace, self._options).first()
        found = kinds.entry_of(trace) if kind.ready is None else None  # before the arguments are forgotten
        runner = Runner(trace, self._options)
        result = runner.first()
        if found is not None:
            runner.prepare()
            for text in filter(None, (*trace.facts.warnings, kinds.repeated_body(trace.program))):
                self._warn(text, once=True)
            kind.trace, self._unused = trace, 0
            kind.entry, kind.ready = found, (found, runner)
            kind.runs = max(kind.runs, kinds.RECORDED)
        kind.due = kinds.next_of(kind.runs, self._verify)
        return result

    def _warn_stale(self, kind: Kind, what: str, first: Trace | None) -> None:
        """Warn that a program has missed a change, and list the values that it had read."""
        guards = [] if first is None else [str(guard) for guard in first.facts.guards.values()]
        shown = "; ".join(guards[:MAX_SHOWN]) + ("; ..." if len(guards) > MAX_SHOWN else "")
        self._warn(
            f"call {kind.runs} was compared with its program, which is stale: {what}. Results of earlier calls may be "
            f"wrong, this one is right. The program had read: {shown or 'nothing'}. Please report what it missed",
            StaleProgramWarning,
        )

    def _give_up(self, kind: Kind, why: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        kind.eager, kind.trace, kind.ready, kind.loose = why, None, None, entry(*flatten((args, kwargs)), (), ())
        same = (k.loose for k in self._kinds if k.eager == why and k is not kind and k.loose is not None)
        if sum(loose(args, kwargs) is not None for loose in same) > 2:
            kind.entry = kind.loose  # what it reads changes at each call
        self._warn(f"{why}. Calls with such arguments run without a program", once=True)

    def _warn(self, text: str, category: type[Warning] = CompileWarning, *, once: bool = False) -> None:
        if not (once and text in self._said):
            self._said.add(text)
            warnings.warn(f"compile: {self._name}: {text}", category, stacklevel=depth())

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    def _use(self, kind: Kind) -> None:
        with self._lock:
            known = kind in self._kinds
        if known:  # else it was forgotten meanwhile
            self._keep(kind)

    def _eager(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_eagerly(self.instead, args, without_state(kwargs))

    def __xpgrad_transformed__(
        self, transform: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> "Compiled[Any, Any]":
        """Return the function transformed by `transform`, compiled as a whole with the same options.

        ``xpgrad.scipy`` finds this by its name.
        """
        return Compiled(transform(self.function), self._verify, self._cache_size, self._options)

    # Reading

    def cache_info(self) -> CacheInfo:
        """Return the numbers of calls that found a program, and of programs."""
        return CacheInfo(self._hits, self._misses, len(self._kinds), self._cache_size)

    def clear_cache(self) -> None:
        """Forget all programs."""
        with self._lock:
            self._kinds = []

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """Return the program for these arguments; without a program, the function is called to record one.

        Raises
        ------
        TraceError
            No program exists for such arguments; the text gives the reason.
        """
        return self._trace_of(args, kwargs)[1].program

    def guards(self, *args: Any, **kwargs: Any) -> str:
        """Return what `program` has read from outside, one value per line: the conditions under which it runs."""
        return "\n".join(map(str, self._trace_of(args, kwargs)[0].facts.guards.values()))

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the generated Python source of the program for these arguments."""
        return self.program(*args, **kwargs).source()

    def _trace_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Trace, Runner]:
        for _ in range(3):
            given = self._state.given(kwargs) if self._state.places else kwargs
            for kind in self._kinds:
                if kind.entry(args, given) is None:
                    continue
                if kind.eager is not None:
                    raise TraceError(f"compile: {self._name} has no program for these arguments: {kind.eager}")
                if kind.trace is not None:
                    return kind.trace, Runner(kind.trace, self._options) if kind.ready is None else kind.ready[1]
            self(*args, **kwargs)
        raise TraceError(f"compile: {self._name} has no program for these arguments: each call changes what it reads")


@overload
def compile(
    f: Callable[P, R], *, exact: bool = ..., executor: str | None = ..., strict: bool = ..., verify: Verify = ...,
    cache_size: int = ..., without: frozenset[str] | set[str] = ...,
) -> Compiled[P, R]: ...  # fmt: skip
@overload
def compile(
    *, exact: bool = ..., executor: str | None = ..., strict: bool = ..., verify: Verify = ...,
    cache_size: int = ..., without: frozenset[str] | set[str] = ...,
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...  # fmt: skip
def compile(
    f: Any = None, *, exact: bool = False, executor: str | None = None, strict: bool = False, verify: Verify = True,
    cache_size: int = 32, without: frozenset[str] | set[str] = frozenset(),
) -> Any:  # fmt: skip
    """Return `f` as a function that is traced once for each kind of arguments, and then runs as a program.

    Parameters
    ----------
    f : callable
        Takes and returns trees of Variables, arrays and other objects. It may compute gradients inside, and store
        arrays and gradients in Variables. Without it a decorator is returned: ``@compile(strict=True)``.
    exact : bool
        Whether programs give the results of `f` to the bit: the executor ``python`` runs them, and no pass changes the
        order of sums and products. Without it results are equal to rounding.
    executor : str, optional
        Executor of the programs: ``c``, ``host`` or ``python``, or the name of a plugin's executor; by default the
        fastest executor available for the library. If it rejects a program, another executor runs it, with a
        `CompileWarning`.
    strict : bool
        Raise `TraceError` for calls that cannot be in a program, instead of running such calls without a program, and
        if `executor` rejects a program.
    verify : bool, int or "always"
        Of each kind of calls, the second call is recorded as well and compared with the first, and then, by default,
        calls number 5, 10, 20, 40, ... are recorded again and compared with the program: if the program has missed a
        change, the results of these calls are right, and a `StaleProgramWarning` is issued. False disables this; a
        number n compares after every n runs; "always" at each, to find a mistake.
    cache_size : int
        How many kinds of arguments to keep programs for; the least recently used is forgotten.
    without : set of str
        Names of passes to leave out; see `xpgrad.transforms.trace.passes`.

    Returns
    -------
    Compiled
        Takes the arguments of `f`. Arrays are passed as Variables. A Variable returned by `f` becomes an array if all
        arguments are arrays and it is not connected to a Variable that requires a gradient.

    Raises
    ------
    ValueError
        `executor` or `without` has an unknown name, or `exact` needs another executor.
    TypeError
        `f` is not a function, or is a generator or coroutine function; or, at a call, an argument is neither an array
        nor hashable.
    TraceError
        At a call, with `strict`.

    Notes
    -----
    While a call is recorded, the instructions of all running functions are followed, except for functions of this
    library, of array libraries, and of some modules of Python: a program runs only if everything that these have read
    from outside is unchanged, and the arguments, the configuration and the current device are of the same kind. A
    function that sets what no program can set, or reads what is not seen, runs without a program, with a warning that
    gives the reason.
    """
    if f is None:
        given: dict[str, Any] = {"exact": exact, "executor": executor, "strict": strict, "verify": verify}
        return functools.partial(compile, **given, cache_size=cache_size, without=without)
    if not callable(f):
        raise TypeError(f"compile: expected a function, got {type(f).__name__}")
    plain = f.function if isinstance(f, Compiled) else f
    called = plain if inspect.isroutine(plain) or isinstance(plain, functools.partial) else type(plain).__call__
    checks = inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction
    if any(check(called) for check in checks):
        raise TypeError(
            f"compile: {getattr(f, '__name__', f)} is a generator or a coroutine, which runs in parts; compile the "
            "function that it calls for each part"
        )
    if unknown := set(as_list(without, "names of passes")) - PASSES.keys():
        raise ValueError(f"compile: without names no pass: {sorted(unknown)}; the passes are {', '.join(PASSES)}")
    if cache_size < 1 or (type(verify) is int and verify < 1) or (isinstance(verify, str) and verify != "always"):
        raise ValueError(
            f"compile: expected a cache_size of at least 1, and verify=True, False, a number of calls or 'always', got "
            f"{cache_size} and {verify!r}"
        )
    options = Options(frozenset(without), exact, checked_executor(executor, exact), strict)
    return Compiled(plain, verify, cache_size, options)
