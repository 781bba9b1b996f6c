"""The case table by `c`: the results of each group of the cases and their derivatives that C computes.

`python -m tests.backends.c_executor.table` runs the whole table.
"""

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from tests.core.transforms.trace.compiled_cases import EAGER, differentiated, moved
from tests.core.transforms.trace.executors.near import assert_near, assert_ulps

import xpgrad
from xpgrad import Variable, random
from xpgrad.transforms.trace.executors.choice import EXECUTORS
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trees import flatten
from xpgrad_c.executor import wait
from xpgrad_c.functions import has_row
from xpgrad_c.generator import generate
from xpgrad_c.groups import CompiledGroups
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.table.table import NARROW, variants_for
from xpgrad_conformance.table.variants import PLAIN
from xpgrad_fusion import symbols
from xpgrad_fusion.by_calls import ByCalls
from xpgrad_fusion.fuse import fuse
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import REDUCTIONS

DEVICE = xpgrad.get_device("@numpy")
RUNS = 3
"""The first two calls record; the third runs the program."""
LEAST = 0.1
"""Size of a number, computed of inputs of a size around 1, whose rounding may be left of a difference."""
LEAVES = "load", "element", "constant", "copy"

Group = tuple[Fused, list[Any]]


class Collector:
    """An executor that computes groups by their calls, and keeps them with the arrays that they get.

    Attributes
    ----------
    groups : list
        Each with the arrays of one run.
    """

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self._known: set[Fused] = set()

    def __call__(self, program: Program) -> Callable[..., Any]:
        """Return the function of a program whose groups are collected when it runs."""
        found = fuse(program, has_row, lambda fused: True)
        calls = (
            call.replaced(function=self._keeping(call.function)) if isinstance(call.function, Fused) else call
            for call in found.calls
        )
        return python_executor(found.replaced(calls=tuple(calls)))

    def _keeping(self, fused: Fused) -> Callable[..., Any]:
        function = ByCalls(fused)

        def run(*arrays: Any) -> Sequence[Any]:
            if fused not in self._known:
                self._known.add(fused)
                self.groups.append((fused, [copied(array) for array in arrays]))
            return function(*arrays)

        return run


def copied(array: Any) -> Any:
    """Return a copy of an array, also in its order in memory, or with gaps."""
    if not array.ndim or array.flags.c_contiguous or array.flags.f_contiguous:
        return np.array(array, order="K", copy=True)
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def results_of(case: Case, dtypes: Iterable[str], name: str, *, every: bool = True) -> int:
    """Run a case in some dtypes by an executor, compare with the eager results, and return the number of programs.

    Raises
    ------
    AssertionError
        A result, or a gradient inside of the compiled function or through it, is not near the eager result.
    """
    number = 0
    for dtype in dtypes:
        for variant in variants_for("value", case, dtype) if every else (PLAIN,):
            scenarios = [Scenario(case, DEVICE, dtype, variant, seed=seed) for seed in range(RUNS)]
            twice = case.order > 1 and dtype not in NARROW and variant.name in (PLAIN.name, "0-d")
            eager = differentiated(scenarios[0], twice)
            with warnings.catch_warnings(), xpgrad.using_config("detect_mutation", False):
                warnings.simplefilter("ignore")
                compiled = xpgrad.compile(eager, executor=name)
                for i, scenario in enumerate(scenarios):
                    moved(scenario, i)
                    try:
                        _compare(eager, compiled, scenario)
                    except Exception as error:
                        error.add_note(f"{case.name} in {dtype} by {name}, {variant.name}, run {i}")
                        raise
            number += 1
    return number


def _compare(eager: Callable[..., Any], compiled: Callable[..., Any], scenario: Scenario) -> None:
    ys = scenario.call(scenario.arrays())
    cotangents = scenario.cotangents(ys) if all(hasattr(y, "dtype") for y in ys) else []
    seeds = [scenario.placed(gy) for gy in cotangents]

    def called(function: Callable[..., Any]) -> tuple[Any, Any]:
        """Return the results, and the gradients through the call."""
        xs = scenario.variables(scenario.arrays())
        gys = [Variable(gy, requires_grad=False) for gy in seeds]
        random.seed(3, DEVICE)
        result = function(xs, gys)
        places = scenario.differentiable(result[0])
        if not result[1]:
            return result, []
        inputs = [xs[i] for i in scenario.floating]
        through = xpgrad.grad([result[0][i] for i in places], inputs, [gys[i] for i in places])
        return result, through

    (found, through), (expected, wanted) = called(compiled), called(eager)
    for a, b in zip(flatten((found, through))[0], flatten((expected, wanted))[0], strict=True):
        assert_near(a, b, least=LEAST)


def collected(cases: Iterable[tuple[Case, Sequence[str]]], *, every: bool = True) -> list[Group]:
    """Return the groups of C in the programs of cases in some dtypes, equal ones next to each other."""
    collector = Collector()
    EXECUTORS["collector"] = collector
    try:
        for case, dtypes in cases:
            results_of(case, dtypes, "collector", every=every)
    finally:
        del EXECUTORS["collector"]
    return collector.groups


def compare_with_c(groups: Iterable[Group], most: int | None = None) -> dict[str, int]:
    """Compute groups by C and by their calls, and return how often each operation was among their statements.

    Parameters
    ----------
    groups : iterable of tuple
    most : int, optional
        Number of groups of different source, chosen so that all operations are among them; by default all.

    Raises
    ------
    AssertionError
        The results differ by more than rounding; or C has changed an argument, or returns it.
    """
    texts: dict[str, list[Group]] = {}
    for fused, arrays in groups:
        source = generate(fused, "GROUP")
        assert source is not None, f"no source for {fused.statements}"
        texts.setdefault(source.text, []).append((fused, arrays))
    used: dict[str, int] = {}
    made = CompiledGroups(DEVICE.backend)
    chosen = [item for members in share(texts, most) for item in members]
    calls = [made(fused, refuse) for fused, _ in chosen]
    made.start()
    assert wait(3600)
    wrong = []
    for call, (fused, arrays) in zip(calls, chosen, strict=True):
        assert call.state == "C", call.state
        try:
            compare_group(fused, arrays, call.current)
        except AssertionError as error:
            wrong.append("\n".join([f"{error}, {fused.rows} x {fused.columns}", *map(repr, fused.statements)]))
        for item in fused.statements:
            used[item.op] = used.get(item.op, 0) + 1
    assert not wrong, f"{len(wrong)} groups of {len(chosen)}: " + "\n\n".join(wrong[:4])
    return used


def share(texts: dict[str, list[Group]], most: int | None) -> Iterator[list[Group]]:
    """Yield all groups, or the groups with an operation that no other group has, and some more."""
    seen: set[tuple[str, str]] = set()
    left, number = [], 0
    for text in sorted(texts, key=lambda text: zlib.crc32(text.encode())):
        new = {(item.op, item.dtype) for item in texts[text][0][0].statements} - seen
        if most is None or new:
            seen |= new
            number += 1
            yield texts[text]
        else:
            left.append(texts[text])
    if most is not None:
        yield from left[: max(0, most - number)]


def refuse(*arrays: Any) -> Any:
    """Replace the fallback of a group that C must compute."""
    raise AssertionError(f"C did not take arrays of {[(array.dtype, array.shape, array.strides) for array in arrays]}")


def compare_group(fused: Fused, arrays: Sequence[Any], by_c: Callable[..., Any]) -> None:
    """Raise AssertionError unless the results of C are near the results of the calls.

    Results of one elementwise function are within a few units in the last place. Results of several functions may
    differ by rounding, and by a multiple of the effect of rounding the arguments.
    """
    if any(array.size > fused.rows * fused.columns and not array.flags.c_contiguous for array in arrays):
        return  # only some elements of it are used, so that it is not copied
    before = [array.tobytes() for array in arrays]
    found = by_c(*arrays)
    assert [array.tobytes() for array in arrays] == before, "an argument has changed"
    for i, y in enumerate(found):
        assert not any(np.shares_memory(y, other) for other in (*arrays, *found[:i])), "results share memory"
    with np.errstate(all="ignore"):
        expected = fused(*arrays)
        others = [fused(*(rounded(array, sign) for array in arrays)) for sign in (-1, 1)]
    computed = [item for item in fused.statements if item.op not in LEAVES]
    alone = len(computed) == 1 and computed[0].op not in REDUCTIONS
    for y, wanted, *rest in zip(found, expected, *others, strict=True):
        if alone:
            assert_ulps(y, wanted)
        else:
            assert_near(y, wanted, rest)


def rounded(array: Any, sign: int) -> Any:
    """Return an array whose real numbers differ by one unit in the last place, up or down in turns."""
    if array.dtype.kind != "f":
        return array
    signs = sign * (1 - 2 * (np.arange(array.size) % 3 % 2)).reshape(array.shape).astype(array.dtype)
    return np.where(np.isfinite(array), array + signs * np.spacing(np.abs(array)), array)


def chosen_cases(share: int, of: int) -> list[Case]:
    """Return a part of the cases, selected by a hash of their names."""
    return [case for case in CASES if zlib.crc32(case.name.encode()) % of == share and case.name not in EAGER]


def real(case: Case) -> list[str]:
    """Return the dtypes of a case that C supports."""
    return [dtype for dtype in dtypes_of(case) if dtype.startswith("float")]


def cut_small(patch: Callable[[object, str, int], object]) -> None:
    """Let groups contain sums of small arrays; `patch` sets an attribute."""
    patch(symbols, "SMALL", 1)  # a sum of all elements is one, a sum of a row is not


def main() -> int:
    """Run the whole table, and print differences."""
    cut_small(setattr)
    wrong = 0

    def tried(title: str, check: Callable[[], Any]) -> Any:
        nonlocal wrong
        try:
            return check()
        except Exception as error:
            wrong += 1
            notes = " ".join(getattr(error, "__notes__", [""]))
            print(f"{title}: {type(error).__name__}: {str(error)[:1500]} {notes}"[:6000], flush=True)

    cases = chosen_cases(0, 1)
    groups = []
    for case in cases:
        groups += tried(case.name, lambda case=case: collected([(case, real(case))])) or []
    print(f"c: {len(groups)} groups", flush=True)
    used: dict[str, int] = {}
    for first in range(0, len(groups), 500):
        found = tried("c", lambda first=first: compare_with_c(groups[first : first + 500]))
        for op, number in (found or {}).items():
            used[op] = used.get(op, 0) + number
    print(f"operations: {used}")
    print(f"{wrong} differ")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
