"""The outcome of one check: passed, failed, expected to fail, or skipped."""

import fnmatch
import time
import traceback
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from xpgrad import using_device
from xpgrad.plugin import Capabilities
from xpgrad_conformance.plan import Item
from xpgrad_conformance.transformed import within

STATES = "passed", "failed", "expected", "skipped"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one item of the plan.

    Attributes
    ----------
    id : str
        The id of the item: ``K01[sum-axis,float32,@npu:0]``.
    check, device : str
    state : str
        One of `STATES`.
    reason : str
        The reason why it was skipped, was expected to fail, or failed.
    declared : bool
        Whether a skipped item was skipped because a capability is declared missing.
    trace : str
        The traceback of a failed item.
    seconds : float
    seed : int
    quick : bool
        Whether it ran on fewer variants of its case.
    wrong : bool
        Whether the item was skipped because it needs a function that is declared wrong.
    thin : bool
        Whether it ran as in the profile thin.
    """

    id: str
    check: str
    device: str
    state: str
    reason: str = ""
    declared: bool = False
    trace: str = ""
    seconds: float = 0.0
    seed: int = 0
    quick: bool = False
    wrong: bool = False
    thin: bool = False


class Skip(Exception):
    """Raised by a check that cannot run for a reason other than a declared capability."""


def outcome(item: Item, capabilities: Capabilities, *, seed: int = 0) -> Outcome:
    """Run one item of the plan and return its outcome; any exception of the backend is a failure."""
    subject = item.subject(capabilities, seed)

    def made(state: str, reason: str = "", declared: bool = False, trace: str = "") -> Outcome:
        seconds = time.perf_counter() - started
        name, device = item.check.id, item.device.name
        made = Outcome(item.id, name, device, state, reason, declared, trace, round(seconds, 4), seed)
        return replace(made, quick=item.quick, thin=item.thin)

    started = time.perf_counter()
    lacking = capabilities.lacking(item.needs, subject.index, subject.dtype, wrong=False)
    lacking = lacking or capabilities.lacking_in(subject.dtype, item.functions, subject.index)
    if lacking is not None:
        return made("skipped", lacking, True)
    wrong = capabilities.wrong_in(subject.dtype, (*item.check.needs, *item.functions))
    if wrong is not None:
        return replace(made("skipped", wrong, True), wrong=True)
    known = expected_reason(item, capabilities)
    try:
        with warnings.catch_warnings(), _current(item):
            warnings.simplefilter("ignore")  # libraries warn of the special values that checks are about
            within(item.device.backend, item.check.function, subject, number=item.number)
    except Skip as skip:
        return made("skipped", str(skip))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # of a backend: SystemExit is a failure too
        missing = subject.missing(error)
        declared = None if missing is None else capabilities.lacking((missing,), subject.index, wrong=False)
        if declared is not None:
            return made("skipped", declared, True)
        if known is not None:
            return made("expected", known)
        text = f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error)
        return made("failed", text, trace="".join(traceback.format_exception(error)))
    if known is not None:
        return made("failed", f"it passes, but is declared to fail: {known}; remove it from `expected`")
    return made("passed")


def _current(item: Item) -> AbstractContextManager[Any]:
    """Return a scope that makes the item's device current, for a library that computes on its current device.

    On such a library a check needs this scope, as does all code that computes with raw arrays; the case table, which
    calls only xpgrad, and the families of loading and of devices show that xpgrad does not need it.
    """
    own = item.case is not None or item.check.family.letter in "LV" or not item.device.backend.has_current_device
    return nullcontext() if own else using_device(item.device)


def expected_reason(item: Item, capabilities: Capabilities) -> str | None:
    """Return the reason for which an item is declared to fail, crash or hang; None if it is not expected to fail."""
    return next((reason for pattern, reason in capabilities.expected.items() if matches(item.id, pattern)), None)


def matches(name: str, pattern: str) -> bool:
    """Return whether the id of an item fits a pattern of `Capabilities.expected`, where brackets are themselves."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))
