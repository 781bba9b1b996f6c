"""The plan of a run: every check with the devices, dtypes and cases that it runs for, each with a permanent id."""

import itertools
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from xpgrad import Device
from xpgrad.plugin import Capabilities
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import BY_LETTER, Check
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.subject import NARROWER, Subject
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import dtypes_of, facts_within

PROFILES = "quick", "thin", "full", "soak"


class Item(NamedTuple):
    """One check for one device, dtype and case or operation.

    A quick item runs on fewer variants; a thin item on even fewer, in all dtypes of an operation except one.
    """

    check: Check
    device: Device
    dtype: str | None
    case: Case | None
    quick: bool
    operation: Operation | None = None
    thin: bool = False

    @property
    def id(self) -> str:
        """Its permanent id: ``K01[sum-axis,float32,@npu:0]``."""
        where = [each.name for each in (self.case, self.operation) if each is not None]
        where += [self.dtype] if self.dtype is not None else []
        return f"{self.check.id}[{','.join([*where, self.device.name])}]"

    @property
    def number(self) -> int:
        """A number that differs from item to item, and never changes."""
        return zlib.crc32(self.id.encode())

    @property
    def group(self) -> tuple[str, str]:
        """A key that is equal for items that run in one process: the checks of one case or operation on one device."""
        about = self.case or self.operation
        return (self.id if about is None else about.name, self.device.name)

    @property
    def about(self) -> tuple[str, str | None, str | None]:
        """The names of its device, case and operation."""
        case, operation = (None if each is None else each.name for each in (self.case, self.operation))
        return (self.device.name, case, operation)

    @property
    def needs(self) -> tuple[str, ...]:
        """The capabilities without which it is skipped."""
        dtypes = () if self.dtype is None else (self.dtype,)
        about = () if self.case is None else (*self.case.needs, *facts_within(self.case, self.dtype or ""))
        return (*self.check.needs, *dtypes, *about, *(() if self.operation is None else self.operation.facts))

    @property
    def functions(self) -> tuple[str, ...]:
        """The names that the function of its case or operation may have in the standard: ``fft.rfft`` for rfft."""
        if self.operation is not None:
            return (self.operation.name,)
        name = "" if self.case is None or self.case.area != "xp" else self.case.function
        return (name, f"fft.{name}") if name else ()

    def subject(self, capabilities: Capabilities, seed: int = 0) -> Subject:
        """Return the argument of the check; its dtype is the widest real one unless the item has a dtype."""
        made = Subject(
            self.device,
            capabilities,
            dtype=self.dtype or "float64",
            case=self.case,
            operation=self.operation,
            name=self.id,
            seed=seed,
            quick=self.quick,
            thin=self.thin,
        )
        if self.dtype is None:
            made.dtype = made.wide
        return made


def plan(
    devices: Sequence[Device],
    *,
    families: Iterable[str] | None = None,
    quick: bool = False,
    thin: bool = False,
    checks: Sequence[Check] = CHECKS,
    cases: Sequence[Case] = CASES,
    operations: Sequence[Operation] = OPERATIONS,
    share: tuple[int, int] | None = None,
    capabilities: Capabilities | None = None,
    chosen: bool = False,
) -> list[Item]:
    """Return the items to run on devices of one backend, in order of the families after those about first uses.

    Devices after the first run only the cases of the quick profile, because they share the library's code.

    Parameters
    ----------
    devices : sequence of Device
    families : iterable of str, optional
        Letters or names of families; by default all.
    quick : bool
        Only the checks of the quick profile.
    thin : bool
        All checks, on as few inputs as the quick profile takes. Checks of operations run only on the first device:
        sequences and threads in one dtype, the remaining families on a quarter of the inputs in all dtypes except one.
    share : tuple of int, optional
        Run one part of the plan only: ``(2, 3)`` is the second of three parts. The parts have about the same length
        and no common items.
    capabilities : Capabilities, optional
        By default the capabilities of the backend. A check that runs only in float64 runs in float32 where a device has
        no float64, and in complex64 where it has no complex128.
    chosen : bool
        Only checks of `cases` and `operations`.

    Raises
    ------
    ValueError
        An unknown family.
    """
    letters = set(BY_LETTER) if families is None else set(map(letter_of, families))
    wanted = [each for each in checks if each.family.letter in letters and (each.quick or not quick)]
    wanted = [each for each in wanted if not chosen or each.scope in ("case", "operation")]
    order = list(BY_LETTER)
    wanted.sort(key=lambda each: (not each.early, order.index(each.family.letter), each.id))
    items = [item for each in wanted for item in _items(each, devices, quick, thin, cases, operations)]
    items = list(_supported(items, capabilities))
    return items if share is None else _shared(items, *share)


def _shared(items: Sequence[Item], number: int, parts: int) -> list[Item]:
    """Return the items of one part, of each group one dtype; neighbours, which are often alike, are in other parts."""
    places: dict[tuple[str, ...], int] = {}
    keys = [(*item.group, item.dtype or "") for item in items]
    for key in keys:
        places.setdefault(key, len(places))
    return [item for item, key in zip(items, keys, strict=True) if places[key] % parts == number - 1]


def letter_of(family: str) -> str:
    """Return the letter of a family given by letter or name."""
    for each in BY_LETTER.values():
        if family.upper() == each.letter or family.lower() == each.name:
            return each.letter
    there = ", ".join(f"{each.letter} ({each.name})" for each in BY_LETTER.values())
    raise ValueError(f"unknown family {family!r}; choose one of {there}")


def _items(
    check: Check,
    devices: Sequence[Device],
    quick: bool,
    thin: bool,
    cases: Sequence[Case],
    operations: Sequence[Operation],
) -> Iterator[Item]:
    for device in devices[:1] if check.scope == "backend" else devices:
        if check.scope in ("backend", "device"):
            yield Item(check, device, None, None, quick or thin, None, thin)
        elif check.scope == "dtype":
            for dtype in check.dtypes:
                yield Item(check, device, dtype, None, quick or thin, None, thin)
        elif check.scope == "operation":
            less = quick or device != devices[0]
            for operation in operations if device == devices[0] or (check.quick and not thin) else ():
                few = quick and not check.every if device == devices[0] else True
                for dtype in operation.quick if few else operation.dtypes:
                    if check.applies is None or check.applies(operation, dtype, less or thin):
                        yield Item(check, device, dtype, None, less or thin, operation, thin)
        elif check.quick or device == devices[0]:
            assert check.applies is not None
            less = quick or device != devices[0]
            for case in cases if len(cases) < len(CASES) else cases[:: check.one_in]:
                for dtype in sorted(dtypes_of(case), key=_width):
                    if check.applies(case, dtype, less):
                        yield Item(check, device, dtype, case, less or thin, None, thin)


def _width(dtype: str) -> int:
    """Return the bytes of an element: the narrowest dtype runs first, so that wider dtypes see tables made in it."""
    return int(np.dtype(dtype).itemsize)


def _supported(items: Iterable[Item], capabilities: Capabilities | None) -> Iterator[Item]:
    """Yield items; replace a dtype that the device lacks by a narrower dtype, unless that item exists as well."""
    for (_, (device, _, _)), same in itertools.groupby(items, key=lambda item: (item.check.id, item.about)):
        group = list(same)
        given = group[0].device.backend.capabilities if capabilities is None else capabilities
        index, dtypes = device.partition(":")[2] or None, [item.dtype for item in group]
        for item in group:
            narrow = NARROWER.get(item.dtype or "")
            kept = narrow is None or narrow in dtypes or given.lacking((item.dtype or "",), index) is None
            yield item if kept else item._replace(dtype=narrow)
