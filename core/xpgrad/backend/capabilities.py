"""Features that an array library does not support, from a closed list, each with a reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

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


@dataclass(frozen=True)
class Capabilities:
    """What a library does not support, and where its results are less accurate than the suite expects.

    Attributes
    ----------
    missing : mapping from fact to reason
        Facts are the keys of `FACTS`, the standard's dtypes (``complex128``) and its functions (``linalg.det``,
        ``take_along_axis``). All others are supported, and tested.
    missing_on : mapping from a device's index to such a mapping
        What one device does not support in addition: ``{"no_float64": {"float64": "..."}}``.
    tolerances : mapping from name to (factor, reason)
        Factors by which the tolerances of a case or of a dtype are multiplied, with the reasons. The report lists all
        of them.
    expected : mapping from pattern to reason
        Expected failures, by ``fnmatch`` patterns of their identifiers. One that passes is reported as a failure.

    Raises
    ------
    PluginError
        An unknown fact, an empty reason, or a factor that is not larger than 1.
    """

    missing: Mapping[str, str] = field(default_factory=dict)
    missing_on: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tolerances: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for facts in (self.missing, *self.missing_on.values()):
            for fact, reason in facts.items():
                if fact not in KNOWN:
                    raise PluginError(f"Capabilities: unknown fact {fact!r}; {_closest(fact)}")
                _check_reason(fact, reason)
        for name, (factor, reason) in self.tolerances.items():
            if not factor > 1:
                raise PluginError(f"Capabilities: the tolerance of {name!r} must grow; got the factor {factor!r}")
            _check_reason(name, reason)
        for pattern, reason in self.expected.items():
            _check_reason(pattern, reason)
        for name in ("missing", "missing_on", "tolerances", "expected"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def lacking(self, facts: Iterable[str], index: str | None = None) -> str | None:
        """Return ``fact: reason`` for the first of `facts` that is missing, on the device with this index; or None."""
        on_device = self.missing_on.get(index or "", {})
        for fact in facts:
            for name in (fact, fact.partition(".")[0]):  # without linalg there is no linalg.det
                reason = self.missing.get(name) or on_device.get(name)
                if reason is not None:
                    return f"{name}: {reason}"
        return None


KNOWN = frozenset((*FACTS, *DTYPES, *FUNCTIONS))


def _check_reason(name: str, reason: object) -> None:
    if not isinstance(reason, str) or not reason.strip():
        raise PluginError(f"Capabilities: {name!r} needs a reason in words, got {reason!r}")


def _closest(fact: object) -> str:
    import difflib  # only for a message

    close = difflib.get_close_matches(str(fact), KNOWN)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else f"known facts are {', '.join(FACTS)}"
