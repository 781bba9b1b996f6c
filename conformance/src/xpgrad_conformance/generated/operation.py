"""One function of the standard or one kernel, with its generated samples."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

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
    make : callable
        ``make(draw)`` yields the samples, cheap and simple ones first.
    dtypes : tuple of str
        The dtypes in which it runs; the quick profile uses the dtypes in `quick`.
    quick : tuple of str
    needs : tuple of str
        Facts, dtypes or functions without which it is skipped; by default the function of its name.
    """

    name: str
    make: Callable[[Draw], Iterator[Sample]]
    dtypes: tuple[str, ...] = FLOATS
    quick: tuple[str, ...] = FLOATS
    needs: tuple[str, ...] | None = None

    def samples(self, draw: Draw) -> Iterator[Sample]:
        """Yield the samples, which have its name unless they have their own."""
        return (sample if sample.name else replace(sample, name=self.name) for sample in self.make(draw))

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts without which it is skipped."""
        return (self.name,) if self.needs is None else self.needs

    def __repr__(self) -> str:
        return self.name


def operation(
    name: str, dtypes: tuple[str, ...] = FLOATS, quick: tuple[str, ...] = FLOATS, needs: tuple[str, ...] | None = None
) -> Callable[[Callable[[Draw], Iterator[Sample]]], Operation]:
    """Return a decorator that makes an `Operation` of the function that yields its samples."""
    return lambda make: Operation(name, make, dtypes, quick, needs)


def operations(
    dtypes: tuple[str, ...] = FLOATS,
    quick: tuple[str, ...] = FLOATS,
    needs: tuple[str, ...] | None = None,
    area: str = "",
) -> Callable[[Callable[..., Iterator[Sample]]], Callable[..., Operation]]:
    """Return a decorator that makes ``make(name, ...)``, which returns an operation, of ``make(draw, name, ...)``.

    Parameters
    ----------
    area : str
        What precedes the name in the operation's name: ``fft.``.
    """

    def decorate(make: Callable[..., Iterator[Sample]]) -> Callable[..., Operation]:
        def of(name: str, *args: Any, **options: Any) -> Operation:
            return Operation(f"{area}{name}", lambda draw: make(draw, name, *args, **options), dtypes, quick, needs)

        return of

    return decorate
