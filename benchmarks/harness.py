"""Measurement: contestants are verified against each other, then timed alternately, so that drift affects all equally.

A workload is data. Its cases give the inputs as NumPy arrays and, for each contestant, a builder that takes the library
and the inputs and returns a function without arguments. One call of it is forward, backward and the freeing of the
graph, and gives the gradients, which die inside the timed call.

On one core, times are CPU time; on more, wall-clock time. Python's garbage collector is on, as in users' programs, and
has just collected when a timed call starts. Its cost grows with the objects of a contestant that it tracks, and with
all other objects. Objects of modules are frozen, since no program has the modules of all contestants loaded.
"""

import gc
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from benchmarks import alone, peers, roofline

Data = Mapping[str, Any]
Run = Callable[[], Sequence[Any]]
Build = Callable[[Any, Data], Run]
Limits = Mapping[str, Sequence[str]]

BASES = {"h": "h", "t": "t", "k": "torch.compile", "j": "jax", "p": "plain"}
"""The contestant behind the last letter of a limit; "plain" is the call of the function itself, without derivatives."""
SCALES = {"ms": 1e3, "µs/op": 1e6, "µs": 1e6}
TURN_SECONDS = 0.02


@dataclass(frozen=True)
class Case:
    """One size of a workload.

    `contestants` maps a name to its builder, or to the reason why it does not take part; "xpgrad compiled" expands to a
    contestant for each executor. `limits` are upper limits for eager xpgrad, `compiled` for its programs in C, and
    `no_compiler` for the executor `python`: "3.6h" and "0.6t" are ratios to the contestant that `BASES` names, "450" is
    in the case's unit. `two_cores` are the limits of contestants on two cores. With `alone`, each contestant is also
    measured in a separate process; `peak` are limits on its memory, in sizes of the input `x`.
    """

    name: str
    inputs: Callable[[], Data]
    contestants: Mapping[str, Build | str]
    limits: tuple[str, ...] = ()
    unit: str = "ms"
    operations: int = 1
    rtol: float = 1e-9
    compiled: tuple[str, ...] = ()
    no_compiler: tuple[str, ...] = ()
    two_cores: Limits = field(default_factory=dict)
    alone: bool = False
    peak: Limits = field(default_factory=dict)

    def builders(self) -> dict[str, Build | str]:
        """Return the builder of each contestant, with one for each executor."""
        found: dict[str, Build | str] = {}
        for name, build in self.contestants.items():
            each = name == peers.COMPILED and not isinstance(build, str)
            found |= {f"{name} {executor}": build for executor in peers.EXECUTORS} if each else {name: build}
        return found

    def limits_on(self, cores: int) -> Limits:
        """Return the limits of each contestant on so many cores."""
        if cores > 1:
            return self.two_cores
        return {"xpgrad": self.limits, "xpgrad compiled c": self.compiled, "xpgrad compiled python": self.no_compiler}


@dataclass
class Row:
    """One measured quantity of one contestant; `ratios` and `verdicts` have the ratio and the outcome for each limit.

    `bound` is the least possible value, and `instructions` the number of instructions of Python, see `roofline`.
    """

    case: str
    contestant: str
    unit: str
    minimum: float
    median: float
    per_h: float | None = None
    per_t: float | None = None
    verdicts: dict[str, bool] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    bound: float | None = None
    instructions: int | None = None


@dataclass
class Report:
    """Results of a workload: rows for the table, and notes on missing contestants with the reasons."""

    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False


@dataclass(frozen=True)
class Workload:
    """A title, cases to time, and an optional last step that adds rows (memory, ratios between cases)."""

    title: str
    cases: tuple[Case, ...] = ()
    finish: Callable[[Report, bool], None] | None = None

    def run(self, name: str, quick: bool, cores: int = 1) -> Report:
        """Measure everything; about six seconds a case, one if `quick`.

        On more than one core only the alternate timings are measured; memory and times in separate processes are
        measured on one core.
        """
        report = Report(self.title)
        for number, case in enumerate(self.cases):
            _run_case(name, case, report, 1.0 if quick else 6.0 if cores == 1 else 4.0, cores)
            if case.alone and cores == 1:
                _add_alone(name, number, case, report, 0.2 if quick else 1.0)
        if self.finish is not None and cores == 1:
            self.finish(report, quick)
        roofline.add_notes(name, report)
        report.notes = list(dict.fromkeys(report.notes))
        return report


def judge(rows: Sequence[Row], limits: Limits) -> None:
    """Fill in the ratios of related rows, and the verdicts for rows with limits."""
    base = {row.contestant: row.minimum for row in rows}
    for row in rows:
        row.per_h = row.minimum / base["h"] if base.get("h") else None
        row.per_t = row.minimum / base["t"] if base.get("t") else None
        for limit in limits.get(row.contestant, ()):
            reference = BASES.get(limit[-1])
            if reference is None:
                row.verdicts[limit] = row.minimum <= float(limit)
            elif base.get(reference):
                row.ratios[limit] = row.minimum / base[reference]
                row.verdicts[limit] = row.ratios[limit] <= float(limit[:-1])


def warm(name: str, run: Run) -> None:
    """Call a contestant until its calls have reached a steady state."""
    for _ in range(3 if name.startswith(peers.COMPILED) else 1):  # a compiled function records twice first
        run()
    if name.startswith(peers.COMPILED):
        peers.settle()


def _run_case(name: str, case: Case, report: Report, seconds: float, cores: int) -> None:
    runs = _verified(case, report)
    scale = SCALES[case.unit] / case.operations
    clock = time.process_time if cores == 1 else time.perf_counter
    rows = [
        Row(case.name, contestant, case.unit, min(times) * scale, median(times) * scale)
        for contestant, times in _interleave(runs, seconds, clock).items()
    ]
    judge(rows, case.limits_on(cores))
    roofline.add_bounds(name, cores, runs, scale, rows)
    report.rows += rows


def _add_alone(name: str, number: int, case: Case, report: Report, seconds: float) -> None:
    found: dict[str, dict[str, float]] = {}
    for contestant, build in case.builders().items():
        if not isinstance(build, str):
            probed = alone.probed(
                "benchmarks.single", [name, str(number), contestant, str(seconds)], contestant, report
            )
            if probed:
                found[contestant] = probed[0]
    size = case.inputs()["x"].nbytes if case.peak else 1e6
    times = [
        Row(f"{case.name}, alone".strip(", "), name, "ms", 1e3 * each["seconds"], 1e3 * each["seconds"])
        for name, each in found.items()
    ]
    peaks = [
        Row(
            f"{case.name}, peak".strip(", "),
            name,
            "x.nbytes" if case.peak else "MB",
            each["peak"] / size,
            each["peak"] / size,
        )
        for name, each in found.items()
        if "peak" in each
    ]
    judge(times, {})
    judge(peaks, case.peak)
    report.rows += times + peaks


def _verified(case: Case, report: Report) -> dict[str, Run]:
    """Return the available contestants that agree with the first contestant."""
    data, runs, expected = case.inputs(), {}, None
    for name, build in case.builders().items():
        if isinstance(build, str):
            report.notes.append(f"{name} takes no part: {build}")
            continue
        try:
            lib = peers.load(name)
        except ImportError as error:
            report.notes.append(f"{name} skipped: {error}")
            report.failed |= name == "xpgrad"
            continue
        try:
            run = build(lib, data)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                warm(name, run)  # the next call is compared: gradients must not add up from call to call
            texts = [
                f"{case.name} {name}: {each.message}".strip() for each in caught if name.startswith(peers.COMPILED)
            ]
            report.notes += texts  # for example, that the executor does not accept the program
            got = [np.asarray(getattr(g, "array", g)) for g in run()]
            expected = expected or got
            _compare(expected[: len(got)] if name == "plain" else expected, got, case.rtol)
        except Exception as error:  # a contestant that fails must not stop the run
            message = " ".join(str(error).split())[:300]
            report.notes.append(f"{case.name} {name} FAILED: {type(error).__name__}: {message}".strip())
            report.failed = True
        else:
            runs[name] = run
    return runs


def _compare(expected: Sequence[Any], got: Sequence[Any], rtol: float) -> None:
    for want, have in zip(expected, got, strict=True):
        if want.shape != have.shape or want.dtype != have.dtype:
            raise AssertionError(f"gradient is {have.dtype} {have.shape}, expected {want.dtype} {want.shape}")
        np.testing.assert_allclose(have, want, rtol=rtol, atol=rtol * float(np.max(np.abs(want))))


def _interleave(
    runs: Mapping[str, Run], seconds: float, clock: Callable[[], float], rounds: int = 4
) -> dict[str, list[float]]:
    """Return the seconds of each call, timed alternately for at least `seconds` and `rounds`."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    calls = {name: max(1, round(TURN_SECONDS / min(timed(run, clock) for _ in range(3)))) for name, run in runs.items()}
    gc.collect()
    gc.freeze()  # excludes the modules of all contestants, which also makes collecting before each call cheap
    end, done = time.perf_counter() + seconds, 0
    while done < rounds or time.perf_counter() < end:
        for name, run in runs.items():
            times[name] += [timed(run, clock) for _ in range(calls[name])]
        done += 1
    gc.unfreeze()
    return times


def timed(run: Run, clock: Callable[[], float]) -> float:
    """Return the seconds of one call."""
    gc.collect()
    start = clock()
    run()
    return clock() - start
