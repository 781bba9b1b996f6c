"""Features that an array library does not support, from a closed list, each with a reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from xpgrad.backend.standard import DTYPES, FUNCTIONS
from xpgrad.errors import PluginError

FACTS: dict[str, str] = {
    "several_devices": "there are two devices or more",
    "data_dependent_shapes": "results whose shapes depend on values: nonzero, unique_values, boolean masks",
    "index_arrays": "x[i] with an integer array",
    "index_arrays_with_slices": "x[i, :, j] with integer arrays and slices",
    "negative_index_arrays": "negative numbers in an integer array count from the end",
    "index_assignment": "x[key] = value with integers and slices",
    "index_assignment_arrays": "x[i] = value with an integer array",
    "negative_steps": "x[::-1]",
    "checked_index_arrays": "a number out of range in an integer array is an error",
    "in_place_update": "x[...] = value writes to the array's memory, also for arrays that share it",
    "subnormal_numbers": "numbers below the smallest normal one are kept, not flushed to zero",
    "empty_arrays": "arrays without elements",
    "dlpack_export": "other libraries can read an array by DLPack",
    "dlpack_import": "from_dlpack takes another library's array",
    "dlpack_shares_memory": "arrays exchanged by DLPack share memory",
    "asynchronous": "a call may return before its result has been computed",
    "pickle": "an array can be pickled",
    "pickle_keeps_device": "unpickling restores an array on its device",
    "threads": "several threads may compute at once",
    "linalg": "the extension for linear algebra",
    "fft": "the extension for Fourier transforms",
    "random_numbers_of_the_host": "random numbers are the host's, so one seed gives the same on every device",
    "memory_used": "the backend reports how many bytes its arrays use",
}
"""Facts that a library may lack, in addition to the standard's dtypes and functions."""
IMPLIED_BY: dict[str, tuple[str, ...]] = {
    "from_dlpack": ("dlpack_import",),
    "dlpack_shares_memory": ("dlpack_export", "dlpack_import"),
    "index_arrays_with_slices": ("index_arrays",),
    "negative_index_arrays": ("index_arrays",),
    "checked_index_arrays": ("index_arrays",),
    "pickle_keeps_device": ("pickle",),
}
"""Facts that are missing where one of these is."""


@dataclass(frozen=True)
class Capabilities:
    """Features that a library does not support, and functions whose results are less accurate than the suite expects.

    Attributes
    ----------
    missing : mapping from fact to reason
        Facts are the keys of `FACTS`, the standard's dtypes (``complex128``) and its functions (``linalg.det``,
        ``take_along_axis``), also in one dtype (``linalg.inv[complex64]``). All other features are supported, and
        tested.
    missing_on : mapping from a device's index to such a mapping
        Features that one device does not support in addition: ``{"no_float64": {"float64": "..."}}``.
    tolerances : mapping from name to (factor, reason)
        Factors by which the tolerances of a case or of a dtype are multiplied, with the reasons. The report lists all
        factors.
    expected : mapping from pattern to reason
        Expected failures, by ``fnmatch`` patterns of their identifiers, including checks that crash or hang. One that
        passes is reported as a failure.
    wrong : mapping from function to reason
        Functions of the standard that the library has, but that give wrong results or crash. They count as present
        where a declaration is compared with the library; the checks that need them are skipped, and count as expected
        failures.

    Raises
    ------
    PluginError
        An unknown fact, an empty reason, or a factor that is not larger than 1.
    """

    missing: Mapping[str, str] = field(default_factory=dict)
    missing_on: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tolerances: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for facts in (self.missing, *self.missing_on.values()):
            for fact, reason in facts.items():
                _check_fact(fact, KNOWN)
                _check_reason(fact, reason)
        for name, reason in self.wrong.items():
            _check_fact(name, frozenset(FUNCTIONS))
            _check_reason(name, reason)
        for name, (factor, reason) in self.tolerances.items():
            if not factor > 1:
                raise PluginError(
                    f"Capabilities: expected a factor above 1 for the tolerance of {name!r}, got {factor!r}"
                )
            _check_reason(name, reason)
        for pattern, reason in self.expected.items():
            _check_reason(pattern, reason)
        for name in NAMES:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def as_dict(self) -> dict[str, Any]:
        """Return the arguments that give equal capabilities, as plain data."""
        plain: dict[str, Any] = {name: dict(getattr(self, name)) for name in NAMES}
        return plain | {"missing_on": {index: dict(facts) for index, facts in self.missing_on.items()}}

    def lacking(
        self, facts: Iterable[str], index: str | None = None, dtype: str | None = None, *, wrong: bool = True
    ) -> str | None:
        """Return ``fact: reason`` for the first of `facts` that cannot be relied on, or None.

        Parameters
        ----------
        facts : iterable of str
        index : str, optional
            Index of a device, for features missing only on that device.
        dtype : str, optional
            Name of a dtype, for functions that are missing or wrong only in that dtype.
        wrong : bool
            Also report functions that return wrong results.
        """
        on_device = self.missing_on.get(index or "", {})
        declared = (self.missing, on_device, self.wrong) if wrong else (self.missing, on_device)
        for fact in facts:
            # without linalg there is no linalg.det
            names = fact, f"{fact}[{dtype}]", fact.partition(".")[0], *IMPLIED_BY.get(fact, ())
            if (found := _first(names, *declared)) is not None:
                return found
        return None

    def lacking_in(self, dtype: str, functions: Iterable[str], index: str | None = None) -> str | None:
        """Return ``fact: reason`` for the first of `functions` that is missing only in this dtype, or None."""
        return _first((f"{name}[{dtype}]" for name in functions), self.missing, self.missing_on.get(index or "", {}))

    def wrong_in(self, dtype: str, functions: Iterable[str]) -> str | None:
        """Return ``fact: reason`` for the first of `functions` that exists but is wrong in this dtype; or None."""
        return _first((fact for name in functions for fact in (name, f"{name}[{dtype}]")), self.wrong)


KNOWN = frozenset((*FACTS, *DTYPES, *FUNCTIONS))
NAMES = "missing", "missing_on", "tolerances", "expected", "wrong"


def _first(names: Iterable[str], *declared: Mapping[str, str]) -> str | None:
    return next((f"{name}: {reasons[name]}" for name in names for reasons in declared if name in reasons), None)


def _check_fact(fact: object, known: frozenset[str]) -> None:
    name, bracket, dtype = str(fact).partition("[")
    if name not in known or (bracket and (name not in FUNCTIONS or dtype.removesuffix("]") not in DTYPES)):
        raise PluginError(f"Capabilities: unknown fact {fact!r}; {_closest(fact, known)}")


def _check_reason(name: str, reason: object) -> None:
    if not isinstance(reason, str) or not reason.strip():
        raise PluginError(f"Capabilities: {name!r} needs a reason in words, got {reason!r}")


def _closest(fact: object, known: frozenset[str]) -> str:
    import difflib  # only for a message

    name, bracket, dtype = str(fact).partition("[")
    if bracket and name in FUNCTIONS:
        return f"expected a dtype of the standard in brackets, got {dtype.removesuffix(']')!r}"
    close = difflib.get_close_matches(name, known)
    facts = FACTS if known is KNOWN else sorted(known)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else f"known facts are {', '.join(facts)}"
