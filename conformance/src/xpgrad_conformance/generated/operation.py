"""One function of the standard or one kernel, with its generated samples."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Sample

FLOATS = "float32", "float64"
COMPLEX = "complex64", "complex128"
INTEGERS = "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"


@dataclass(frozen=True, eq=False)
class Operation:
    """One function of the standard or one kernel, with its generated samples.

    Attributes
    ----------
    name : str
        Permanent name in the ids of checks: the name of the standard's function, such as ``linalg.det``, if there is a
        standard function.
    samples : callable
        ``samples(draw)`` yields the samples, cheap and simple ones first.
    dtypes : tuple of str
        The dtypes in which it runs; the quick profile uses the dtypes in `quick`.
    quick : tuple of str
    needs : tuple of str
        Facts, dtypes or functions without which it is skipped; by default the function of its name.
    """

    name: str
    samples: Callable[[Draw], Iterator[Sample]]
    dtypes: tuple[str, ...] = FLOATS
    quick: tuple[str, ...] = FLOATS
    needs: tuple[str, ...] | None = None

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts without which it is skipped."""
        return (self.name,) if self.needs is None else self.needs

    def __repr__(self) -> str:
        return self.name
