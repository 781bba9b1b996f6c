"""One run of the suite against a backend: from its name to a report."""

import itertools
import math
import platform
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xpgrad
from xpgrad import Device
from xpgrad.backend.plugins import plugins
from xpgrad.errors import SpecifierError
from xpgrad.plugin import Backend, Capabilities
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.declaration import declaration, repeated
from xpgrad_conformance.earlier import failed_in, unknown_note
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.journal import Journal, subject_of
from xpgrad_conformance.order import Batch, batches
from xpgrad_conformance.outcome import Outcome, outcome
from xpgrad_conformance.plan import PROFILES, Item, letter_of, plan
from xpgrad_conformance.probes import mismatches
from xpgrad_conformance.report import SUITE_VERSION, Report
from xpgrad_conformance.transformed import device_named, known, within
from xpgrad_conformance.workers import Order, outcomes

MAX_SEEDS = 10_000
Progress = Callable[[Outcome, int], None]
TIMEOUT = 120.0


def devices_of(name: str) -> tuple[Device, ...]:
    """Return the devices of a backend, or the only device of a specifier.

    Raises
    ------
    BackendUnavailable, SpecifierError
        The backend or device does not exist or cannot be used here.
    """
    if plugins.knows(known(name)):
        devices = tuple(plugins.backend(name).devices())
        if not devices:
            raise SpecifierError(f"conform: {name} has no device here")
        return devices
    return (device_named(name),)


def conform(
    name: str,
    *,
    families: Iterable[str] | None = None,
    cases: Iterable[str] | None = None,
    operations: Iterable[str] | None = None,
    share: tuple[int, int] | None = None,
    profile: str = "full",
    seed: int | None = 0,
    jobs: int = 0,
    timeout: float = TIMEOUT,
    minutes: float = 10.0,
    seconds: float | None = None,
    since: Path | None = None,
    resume: Path | None = None,
    accept: bool = False,
    capabilities: Capabilities | None = None,
    begin: Callable[[Sequence[Item]], None] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Return the report of the suite on a backend.

    Parameters
    ----------
    name : str
        A backend, which is run on all its devices, or one device: ``npu``, ``@npu:1``.
    families : iterable of str, optional
        Letters or names of families; by default all. A selection gives no level.
    cases : iterable of str, optional
        Names of cases of the table; by default all, or none if `operations` are given. A selection gives no level.
    operations : iterable of str, optional
        Names of operations with generated inputs; by default all, or none if `cases` are given. A selection gives no
        level.
    share : tuple of int, optional
        One of n parts of about the same length: ``(3, 16)`` for the third of sixteen. It gives no level.
    profile : str
        "quick" runs the more important half of the checks, on few inputs, and gives no level; "full" runs all, on all
        inputs; "thin" runs all checks on as few inputs as "quick", for libraries that would take hours, and its verdict
        reports this; "soak" repeats the full profile with other random numbers for `minutes`.
    seed : int or None
        Seed of all random numbers; None draws a new seed for each run, for the checks with generated inputs.
    jobs : int
        Number of worker processes; 0 runs in this process, where a crash of the backend ends the run. Backends that
        are registered by the program itself require 0.
    timeout : float
        Seconds after which a check in a worker process counts as hung.
    minutes : float
        Duration of the profile "soak".
    seconds : float, optional
        Stop after this time; the checks that find most errors run first. A run that is stopped gives no level.
    since : Path, optional
        The report of an earlier run, as a directory or its `conformance.json`; its failures run first.
    resume : Path, optional
        Directory of the journal of the run: items that passed in an earlier run of the same plan with this directory do
        not run again. In this way several interrupted runs can be combined to reach a level.
    accept : bool
        Certify even where more than five entries of the capabilities have the same reason.
    capabilities : Capabilities, optional
        By default the capabilities of the backend.
    begin : callable, optional
        ``begin(items)`` is called with the plan before the first check.
    progress : callable, optional
        ``progress(outcome, planned)`` is called after each check with the number of planned checks.

    Raises
    ------
    BackendUnavailable, SpecifierError
        The backend or device does not exist.
    ValueError
        An unknown profile, family, case or operation; a share such as the third of two; an unreadable report; the
        journal of another run.
    """
    if profile not in PROFILES:
        raise ValueError(f"conform: expected a profile among {', '.join(PROFILES)}, got {profile!r}")
    if profile == "soak" and resume is not None:
        raise ValueError("conform: the profile soak has no journal; expected quick, thin or full")
    chosen = _chosen(families, cases, operations, share)
    devices = devices_of(name)
    backend, started = devices[0].backend, time.monotonic()
    given = backend.capabilities if capabilities is None else capabilities
    order = Order(tuple(device.name for device in devices), chosen_seed=seed or 0, **chosen)
    order = replace(order, quick=profile == "quick", thin=profile == "thin")
    seed = random.randrange(MAX_SEEDS) if seed is None else seed
    journal = None
    if resume is not None:
        about = {"suite": SUITE_VERSION, **versions(backend), "profile": profile, "seed": order.chosen_seed, **chosen}
        journal = Journal(resume, subject_of(backend, given, about | {"devices": order.devices}), seed)
        seed = journal.seed
    order = replace(order, seed=seed)
    items = order.plan(given)
    before = [] if since is None else failed_in(since, backend.name)
    until = math.inf if seconds is None else started + seconds
    found: list[Outcome] = []
    wrong = within(backend, mismatches, devices, given)
    ran = {each.id for each in journal.earlier} if journal else set()
    numbers = batches(items, first=before, by_value=seconds is not None, without=ran)
    if begin is not None:
        begin(items)
    for each in journal.earlier if journal else ():
        found.append(each)
        if progress is not None:
            progress(each, len(items))
    while True:
        for each in _outcomes(order, items, numbers, given, jobs, timeout, until):
            found.append(each)
            if journal is not None:
                journal.add(each)
            if progress is not None:
                progress(each, len(items))
        now = time.monotonic()
        if profile != "soak" or now - started > 60 * minutes or now > until or _failed(found):
            break
        order = replace(order, seed=order.seed + 1, chosen_seed=order.chosen_seed + 1)
    whole = order.whole and len(devices) == len(tuple(backend.devices()))
    unclear = [] if accept or not whole or profile == "quick" else repeated(given)
    notes = unknown_note(before, [item.id for item in items]), journal.note(len(items)) if journal else ""
    return Report(
        backend=backend.name,
        versions=versions(backend),
        devices=order.devices,
        profile=profile,
        whole=whole,
        seed=seed,
        seconds=round(time.monotonic() - started, 1),
        capabilities=given,
        mismatches=tuple(map(str, wrong)),
        outcomes=tuple(sorted(found, key=_in_order(items))),
        declaration=declaration(wrong, given, order.devices),
        reasons=tuple(unclear),
        left=_left(items, found),
        notes=tuple(filter(None, notes)),
    )


def _chosen(
    families: Iterable[str] | None,
    cases: Iterable[str] | None,
    operations: Iterable[str] | None,
    share: tuple[int, int] | None,
) -> dict[str, Any]:
    """Return the requested part of the suite, as arguments of `Order`; raise ValueError for an invalid request."""
    letters = None if families is None else tuple(map(letter_of, families))
    chosen = None if cases is None else tuple(cases)
    if unknown := set(chosen or ()) - {case.name for case in CASES}:
        raise ValueError(f"conform: unknown case {', '.join(sorted(unknown))}; choose cases of the case table")
    named = None if operations is None else tuple(operations)
    if unknown := set(named or ()) - {operation.name for operation in OPERATIONS}:
        raise ValueError(
            f"conform: unknown operation {', '.join(sorted(unknown))}; choose operations with generated inputs"
        )
    if chosen is None and named is not None:
        chosen = ()
    elif named is None and chosen is not None:
        named = ()
    if share is not None and not 1 <= share[0] <= share[1]:
        raise ValueError(f"conform: expected a share such as 1/4 or 4/4, got {share[0]}/{share[1]}")
    return {"families": letters, "cases": chosen, "operations": named, "share": share}


def _left(items: Sequence[Item], found: Sequence[Outcome]) -> dict[tuple[str, str], int]:
    """Return the number of items that never ran, by family and device."""
    ran = {each.id for each in found}
    return dict(Counter((item.check.family.letter, item.device.name) for item in items if item.id not in ran))


def _failed(found: Sequence[Outcome]) -> bool:
    return any(each.state == "failed" for each in found)


def _in_order(items: Sequence[Item]) -> Callable[[Outcome], tuple[int, int]]:
    places = {item.id: place for place, item in enumerate(items)}
    return lambda each: (each.seed, places[each.id])


def _outcomes(
    order: Order,
    items: Sequence[Item],
    numbers: Sequence[Batch],
    capabilities: Capabilities,
    jobs: int,
    timeout: float,
    until: float,
) -> Iterator[Outcome]:
    if jobs > 0:
        yield from outcomes(order, items, numbers, capabilities, jobs, timeout, until)
        return
    for number in itertools.chain.from_iterable(numbers):
        if time.monotonic() >= until:
            return
        yield outcome(items[number], capabilities, seed=order.seed_of(items[number]))


def versions(backend: Backend) -> dict[str, str]:
    """Return the versions of xpgrad, Python, the library and the plugins, by name."""
    entries = plugins.installed.backends.get(backend.name, ())
    return {
        "xpgrad": xpgrad.__version__,
        "plugin": ", ".join(sorted({entry.origin for entry in entries})) or "registered by the program",
        "library": f"{backend.name} {backend.version}",
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def reproduce(id: str, *, seed: int = 0, quick: bool = False, thin: bool = False) -> None:
    """Run one check again, as a report names it: ``K01[sum-axis,float32,@npu:0]``; propagate its exception.

    Parameters
    ----------
    id : str
        The identifier of an outcome.
    seed : int
        The seed of the run.
    quick, thin : bool
        Run on few inputs, as in the profile of this name.

    Raises
    ------
    ValueError
        No such check exists.
    AssertionError
        The check fails.
    """
    check, _, inside = id.partition("[")
    device = device_named(inside.removesuffix("]").rpartition(",")[2])
    item = next((each for each in plan([device], families=check[:1], quick=quick, thin=thin) if each.id == id), None)
    if item is None:
        raise ValueError(f"reproduce: unknown check {id!r} in this version of the suite")
    subject = item.subject(device.backend.capabilities, seed)
    within(device.backend, item.check.function, subject, number=item.number)
