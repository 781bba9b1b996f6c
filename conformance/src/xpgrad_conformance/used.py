"""The functions that a check calls: it is run on a correct library over the host's arrays that takes notes."""

import functools
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from xpgrad import Device
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import OPERATORS, Backend
from xpgrad_conformance.outcome import Outcome
from xpgrad_conformance.plan import Item, plan
from xpgrad_conformance.pretend import METHODS, PretendArray, PretendLibrary
from xpgrad_conformance.virtual import PretendBackend, registered

NAME = "host_with_notes"
LEFT_OUT = "LMP"
"""Families that start processes or threads, or measure: recording their calls is slow and gives little information."""
SECONDS = 10.0
"""After this time, no more checks are run: this is for a hint, not for a verdict."""
Key = tuple[str, str]


class NotingLibrary(PretendLibrary):
    """A pretend library that notes which of its functions and operators are called.

    Attributes
    ----------
    notes : set of str
    """

    def __init__(self, inner: Backend) -> None:
        super().__init__(inner, ("0", "1"))
        self.notes: set[str] = set()
        for name in (*METHODS, "getitem", "setitem"):
            method = f"__{name}__"
            setattr(self.Array, method, self.noted(_function_of(name), getattr(PretendArray, method)))

    def find(self, name: str) -> Any:
        """Return a name of the namespace; a call of a function is noted."""
        found = super().find(name)
        return self.noted(name, found) if callable(found) and not isinstance(found, type) else found

    def noted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose calls are noted by a name."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.notes.add(name)
            return function(*args, **kwargs)

        return call


class NotingBackend(PretendBackend):
    """The backend of a `NotingLibrary`, with the default kernels, and the host's for sums at positions."""

    def __init__(self, host: Backend) -> None:
        self.noting = NotingLibrary(host)
        super().__init__(NAME, self.noting, {})
        name = "scatter_add"
        self._overrides[name] = self.noting.noted(name, self.lifted(host.overrides()[name]))


def _function_of(operator: str) -> str:
    """Return the standard's function of an operator: ``subtract`` of ``rsub``."""
    return OPERATORS.get(operator) or OPERATORS.get(operator.removeprefix("r"), operator)


@functools.cache
def _device() -> Device:
    return registered(NotingBackend(plugins.host)).devices()[0]


@functools.cache
def _items(family: str, quick: bool) -> dict[Key, Item]:
    """Return one item of each check and case, in float64 if possible."""
    found: dict[Key, Item] = {}
    for item in plan([_device()], families=[family], quick=quick):
        about = item.case or item.operation
        key = item.check.id, "" if about is None else about.name
        if key not in found or item.dtype == "float64":
            found[key] = item
    return found


def functions_used(outcomes: Iterable[Outcome], seconds: float = SECONDS) -> dict[Key, frozenset[str]]:
    """Return the standard functions that checks call on a correct library, by the keys of the checks.

    Checks with unknown calls are omitted: some families, and checks that did not run in time.

    Parameters
    ----------
    outcomes : iterable of Outcome
        The first one of each key counts.
    seconds : float
        How long checks may be run, in seconds of the processor.
    """
    found: dict[Key, frozenset[str]] = {}
    until = time.process_time() + seconds
    for each in outcomes:
        key = key_of(each)
        if key in found or each.check[0] in LEFT_OUT:
            continue
        if time.process_time() > until:
            break
        item = _items(each.check[0], each.quick).get((each.check, case_of(each)))
        if item is not None:
            found[key] = _used(item, each.seed)
    return found


def key_of(outcome: Outcome) -> Key:
    """Return a key that is equal for outcomes of checks that call the same functions.

    The key is the id of the check; for checks of the case table, the case and whether they compute gradients.
    """
    case = case_of(outcome)
    return (("forward" if outcome.check[0] == "K" else "backward") if case else outcome.check), case


def case_of(outcome: Outcome) -> str:
    """Return the case of an outcome; empty if it has none."""
    words = outcome.id.partition("[")[2].split(",")
    return words[0] if len(words) == 3 else ""


def _used(item: Item, seed: int) -> frozenset[str]:
    backend = item.device.backend
    assert isinstance(backend, NotingBackend)
    backend.noting.notes.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            item.check.function(item.subject(backend.capabilities, seed))
    except Exception:  # noqa: S110 - the calls noted so far are valid
        pass
    return frozenset(backend.noting.notes)
