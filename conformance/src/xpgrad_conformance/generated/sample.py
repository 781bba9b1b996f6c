"""One call of a function on generated arrays, and its expected result."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xpgrad import as_array
from xpgrad.errors import MissingFunction
from xpgrad.testing.arrays import on_host
from xpgrad.types import Array
from xpgrad_conformance import calling
from xpgrad_conformance.generated.accuracy import error_of, widened
from xpgrad_conformance.generated.layouts import constant_along, laid_out
from xpgrad_conformance.generated.writing import overwrite
from xpgrad_conformance.oracle import named
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

RAISES = "raises "
"""Beginning of a message about an exception."""
MARK = 99
"""Value that is written to results."""
PARAMETERS = "{parameters}"
"""Where the text of a call has them."""


@functools.cache
def name_of(dtype: Any) -> str:
    """Return the name of a host dtype, which NumPy makes anew each time."""
    return str(dtype.name)


@dataclass(frozen=True, eq=False)
class Argument:
    """One array that a function is given.

    Attributes
    ----------
    host : host array
    axes : tuple of str
        Names of its axes; axes of one name, in all arguments of a call, have one length and can be shortened together.
        Empty if the array cannot be changed.
    layout : str
        One of `LAYOUTS`.
    text : str
        The line of Python that creates the array, if known (see `formula`).
    kept : bool
        Whether its values must be kept: positions, a sorted table, a regular matrix.
    """

    host: Any
    axes: tuple[str, ...] = ()
    layout: str = "contiguous"
    text: str = ""
    kept: bool = False


def laid(host: Any, axes: Sequence[str] = (), layout: str = "contiguous", *, kept: bool = False) -> Argument:
    """Return an argument in a layout; in "broadcast", the elements are equal along one axis."""
    return Argument(constant_along(host) if layout == "broadcast" else host, tuple(axes), layout, kept=kept)


@dataclass(frozen=True, eq=False)
class Sample:
    """One call of a function on generated arrays, and its expected result.

    Attributes
    ----------
    arguments : tuple of Argument
    reference : callable
        ``reference(*hosts, **parameters)`` returns the result, or a tuple of results, from host arrays in a wider
        dtype.
    parameters : mapping
        Keyword arguments of the function and of the reference.
    units : float
        The allowed error in units in the last place; 0 for equality.
    scale : callable or None
        ``scale(*hosts, **parameters)`` returns magnitudes to which the allowed error is proportional, or a tuple with
        the magnitudes for each result; by default the magnitudes of the expected elements.
    dtype : str or tuple of str
        Dtype of the results, or dtypes of each result; by default the dtype of the first argument. "int": any dtype of
        integers. "any": not compared.
    signs : bool
        Whether zeros must have the right sign.
    precise : bool
        Whether the reference computes float64 in longdouble.
    smooth : bool
        Whether the function has derivatives at these values, so that its gradients can be compared.
    derived : callable or None
        ``derived(hosts, results)`` returns values to compare with the reference instead of the results; it takes and
        returns host arrays. For results that are not unique: the product of factors instead of the factors.
    call : callable or None
        ``call(xp, *arrays, **parameters)``; by default it calls the function of this name.
    text : str
        Python text of the call, with arrays ``x0``, ``x1``; by default generated from name and parameters. The
        parameters replace ``{parameters}``, if the text contains it.
    imports : tuple of str
        Import lines for the names in `text`, in addition to ``np``, ``xpgrad`` and ``xp``.
    summed : int
        Of how many terms an element of a gradient is a sum, where the shapes do not tell.
    far : bool
        Whether its values are far from ordinary ones, so that derivatives there are compared in any case.
    rewritten : bool
        Whether it is called again after its results were written to.
    name : str
        The function's name in the standard: ``linalg.det``; by default the name of its operation.
    """

    arguments: tuple[Argument, ...]
    reference: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    units: float = 0.0
    scale: Callable[..., Any] | None = None
    dtype: str | tuple[str, ...] = ""
    signs: bool = False
    precise: bool = True
    smooth: bool = False
    derived: Callable[[list[Any], list[Any]], Any] | None = None
    call: Callable[..., Any] | None = None
    text: str = ""
    imports: tuple[str, ...] = ()
    summed: int = 0
    far: bool = False
    rewritten: bool = False
    name: str = ""

    @property
    def written(self) -> str:
        """The call in Python."""
        parameters = [f"{k}={v!r}" for k, v in self.parameters.items()]
        if self.text:
            return self.text.replace(PARAMETERS, "".join(f", {each}" for each in parameters))
        given = [f"x{i}" for i in range(len(self.arguments))]
        return f"xp.{self.name}({', '.join([*given, *parameters])})"

    @property
    def takes_parameters(self) -> bool:
        """Whether the call may have other parameters: results that are derived, or texts without, know them."""
        return self.derived is None and (not self.text or PARAMETERS in self.text)

    @property
    def hosts(self) -> list[Any]:
        """The arguments' host arrays."""
        return [argument.host for argument in self.arguments]

    def arrays(self, s: Subject) -> list[Array]:
        """Return the arguments as arrays of the backend."""
        return [laid_out(s, argument.host, argument.layout) for argument in self.arguments]

    def applied(self, xp: Any, *arrays: Any) -> Any:
        """Return the result of the function of a namespace."""
        calling.note(self._described)
        if self.call is not None:
            return self.call(xp, *arrays, **self.parameters)
        return named(xp, self.name)(*arrays, **self.parameters)

    @functools.cached_property
    def _described(self) -> bytes:
        """The call with dtypes, shapes and layouts, for the message about a call that crashes."""
        given = (f"x{i} {name_of(a.host.dtype)} {a.host.shape} {a.layout}" for i, a in enumerate(self.arguments))
        return f"{self.written} with {', '.join(given)}".encode()[: calling.SIZE - 1]

    @functools.cached_property
    def expected(self) -> tuple[Any, ...]:
        """The exact results as host arrays."""
        with np.errstate(all="ignore"):
            found = self.reference(*(widened(host, self.precise) for host in self.hosts), **self.parameters)
        return tuple(np.asarray(each) for each in as_list(found))

    @property
    def is_defined(self) -> bool:
        """Whether the reference has a result for the arguments: other parameters may ask for other lengths."""
        try:
            return bool(self.expected)
        except Exception:
            return False

    def error(self, s: Subject) -> str | None:
        """Return the error of the function's results on the backend as text, or None."""
        arrays = self.arrays(s)
        got, wrong = self._called(s, arrays)
        if wrong is None and self.rewritten and _written(s, got, arrays):
            _, again = self._called(s, arrays)
            wrong = None if again is None else f"called again after its results were written to, {again}"
        if wrong is not None:
            return wrong
        for i, (array, host) in enumerate(zip(arrays, self.hosts, strict=True)):
            if on_host(array).tobytes() != host.tobytes():
                return f"it has written to x{i}"
        return None

    def _called(self, s: Subject, arrays: list[Array]) -> tuple[Any, str | None]:
        """Return the results of a call on the backend, and the error as text, or None."""
        expected = self.expected
        try:
            got = self.applied(s.xp, *arrays)
        except MissingFunction:
            raise
        except Exception as error:
            return None, raised(error)
        return got, self.difference(s, got, expected)

    def difference(self, s: Subject, got: Any, expected: tuple[Any, ...]) -> str | None:
        """Return the error in results on the backend as text, or None."""
        wrong = self.misplaced(s, got, len(expected))
        if wrong is not None:
            return wrong
        hosts = [on_host(each) for each in as_list(got)]
        if self.derived is not None:
            hosts = self._derived(hosts)
        scales = self._scales(len(hosts))
        for i, (one, other, scale) in enumerate(zip(hosts, expected, scales, strict=True)):
            units = self.units * s.widened(name_of(one.dtype))
            wrong = error_of(
                one, other, units=units, scale=scale, signs=self.signs, subnormal=s.has("subnormal_numbers")
            )
            if wrong is not None:
                return _numbered(wrong, i, hosts)
        return None

    def misplaced(self, s: Subject, got: Any, count: int) -> str | None:
        """Return the error in the number (expected: `count`), devices or dtypes of results as text, or None."""
        results = as_list(got)
        if self.derived is None and len(results) != count:
            return f"it gives {len(results)} arrays, expected {count}"
        for i, each in enumerate(results):
            wrong = self._misplaced(s, each, i)
            if wrong is not None:
                return _numbered(wrong, i, results)
        return None

    def _misplaced(self, s: Subject, got: Any, number: int) -> str | None:
        """Return the error in a result's device or dtype as text, or None."""
        array = getattr(got, "array", got)
        assert_place(s.device, array, "the result")
        dtype = s.backend.dtype_name(array.dtype)
        wanted = self.dtype if isinstance(self.dtype, str) else self.dtype[number]
        wanted = wanted or name_of(self.arguments[0].host.dtype)
        if wanted == "int" and not dtype.removeprefix("u").startswith("int"):
            return f"it has dtype {dtype}, expected integers"
        if wanted not in ("int", "any", dtype):
            return f"it has dtype {dtype}, expected {wanted}"
        return None

    def _derived(self, results: list[Any]) -> list[Any]:
        """Return the values to compare instead of results, in a dtype of the first argument's precision."""
        assert self.derived is not None
        single = name_of(self.hosts[0].dtype) in ("float32", "complex64")
        with np.errstate(all="ignore"):
            found = self.derived([widened(h, False) for h in self.hosts], [widened(h, False) for h in results])
        found = [np.asarray(each) for each in as_list(found)]
        return [
            x.astype(np.float32 if x.dtype.kind == "f" else np.complex64) if single and x.dtype.kind in "fc" else x
            for x in found
        ]

    def _scales(self, count: int) -> list[Any]:
        """Return the magnitudes to which the allowed error of each result is proportional."""
        if self.scale is None:
            return [None] * count
        with np.errstate(all="ignore"):
            found = self.scale(*(widened(host, self.precise) for host in self.hosts), **self.parameters)
        return list(found) if isinstance(found, (tuple, list)) else [found] * count


def as_list(got: Any) -> list[Any]:
    """Return the results of a call as a list."""
    return list(got) if isinstance(got, (tuple, list)) else [got]


def _written(s: Subject, got: Any, arrays: list[Array]) -> bool:
    """Write to the results of a call; return whether they have separate memory and are all writable."""
    results, given = [as_array(each) for each in as_list(got)], {id(s.backend.owner(x)[0]) for x in arrays}
    if any(s.backend.is_view(y) or id(s.backend.owner(y)[0]) in given for y in results):
        return False
    return all(overwrite(each, MARK) for each in results)


def _numbered(wrong: str, number: int, results: list[Any]) -> str:
    return f"result {number}: {wrong}" if len(results) > 1 else wrong


def raised(error: Exception) -> str:
    """Return the error text of a call that raises an exception."""
    return f"{RAISES}{type(error).__name__}: {error}"


def kind_of(wrong: str) -> str:
    """Return which exception a call raises, or an empty text if its results are wrong."""
    return wrong.partition(":")[0] if wrong.startswith(RAISES) else ""


def first_error(s: Subject, samples: Iterator[Sample]) -> tuple[Sample, str] | None:
    """Return the first sample with wrong results, and the error as text; None if all are right."""
    for sample in samples:
        try:
            wrong = sample.error(s)
        except AssertionError as error:
            wrong = str(error)
        if wrong is not None:
            return sample, wrong
    return None
