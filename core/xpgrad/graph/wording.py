"""Errors of kernels, reworded to name the operation that was called and its operands."""

import re
from itertools import zip_longest
from typing import Any, NoReturn

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import missing_name
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import missing_on
from xpgrad.boundary import described, reworded
from xpgrad.errors import AxisError, DtypeError, MissingFunction, ShapeError, SingularMatrix, XpgradError
from xpgrad.graph.definition import Definition
from xpgrad.types import Shape

# Expressions are compiled when they are first used, which takes 1 ms in all.
_ABOUT_SHAPES = (
    r"(?i)shape|dimension|ndim|\bdims?\b|axis|axes|broadcast|\bsizes?\b|align|square|length|elements|\brank\b|mismatch|"
    r"stack|same number|at least one array|zero-size|empty|chunk|reshape|concatenat|split"
)
_ABOUT_AXES = r"(?i)^(?!.*(?<!tuple )\b(an )?index (-?\d+ )?(is )?out of).*\b(axis|axes|tuple index)\b"
_NO_SUCH_AXIS = r"(?i)\b(axis|dimension)\b.* out of (bounds|range)|but tensor has no dimensions"
_ABOUT_DTYPES = (
    r"(?i)dtype|data type|array type|\bcast|input types|loop of ufunc|numeric|floating|complex|integer or boolean|"
    r"type promotion|promote|signed|bitwise|\b(bool|int|uint|float|complex)\d*\b.*\barray|not supported (for|between)"
)
_ABOUT_ARGUMENTS = (ValueError, TypeError, IndexError, AttributeError, RuntimeError, ZeroDivisionError)
"""What libraries raise for wrong arguments: also an AttributeError of scalars, a ZeroDivisionError of empty arrays."""
_INDEX_OF_PYTHON = r"^(tuple|list)( assignment)? index out of range$"
"""What Python says if `axis`, or each default, is not an axis of the array."""
_NEGATIVE_POWER = r"(?i)negative (integer )?power"
_GUFUNC = (
    r"Input operand \d+ (?:has a mismatch in its core dimension \d+|does not have enough dimensions).*?"
    r"\((?:size (\d+) is different from (\d+)|has (\d+), .* requires (\d+))\)"
)
"""What NumPy says of shapes, which names its signature of the function."""
_INTEGERS = frozenset(("axis", "axes", "axis1", "axis2", "offset", "shift", "ndim", "shape", "repeats", "repetitions"))
"""Parameters that are integers, or tuples of them, wherever they occur."""


def raise_explained(
    error: Exception, definition: Definition, arrays: list[Any], parameters: dict[str, Any], backend: Backend
) -> NoReturn:
    """Raise the error of a kernel, reworded if it is about the arguments."""
    refusal = None
    if not isinstance(error, XpgradError) and isinstance(error, (ArithmeticError, MemoryError, RecursionError)):
        function = definition.paths.get("public", definition.body)
        found = reworded(error, called(definition.title), function, tuple(arrays), parameters)
        try:
            raise found from (None if found is error else error)
        finally:
            del found, error  # see `bounded`
    if isinstance(error, XpgradError) or not isinstance(error, _ABOUT_ARGUMENTS):
        raise error
    if isinstance(error, RuntimeError):
        refusal = backend.refusal(error)
        plain = type(error) in (RuntimeError, NotImplementedError) and str(error)  # raised in place of ValueError
        if refusal is None and not plain and not is_numerical(error):
            raise error
    raise explained(error, definition, arrays, parameters, backend, refusal) from error


def explained(
    error: Exception, definition: Definition, arrays: list[Any], parameters: dict[str, Any], backend: Backend,
    refusal: type[XpgradError] | None = None,
) -> Exception:  # fmt: skip
    """Return the exception to raise in place of `error`, with the operation and its arguments in the message.

    A ValueError of the library becomes a `ShapeError` if it is about shapes, an IndexError an `AxisError` if it is
    about axes, a TypeError a `DtypeError` if it is about dtypes; other errors keep their class.

    Parameters
    ----------
    error : Exception
    definition : Definition
        Of the primitive; the error names the public function that calls it.
    arrays : list
        Its inputs.
    parameters : dict
        Its parameters by name.
    backend : Backend
    refusal : type, optional
        The class that the backend gave such an error.
    """
    if (missing := missing_name(error, backend.namespace)) is not None:
        return MissingFunction(backend.name, missing)
    dtype, arrays_given = parameters.get("dtype"), [a for a in arrays if type(a) in plugins.by_type]
    if dtype is not None and arrays_given:
        lacking = missing_on(definition.title, dtype, backend, backend.handle_of(arrays_given[0]))
        if lacking is not None:
            return lacking
    name = called(definition.title)
    operands = [x for each in arrays for x in (each if isinstance(each, (list, tuple)) else (each,))]
    got = ", ".join(map(_described, operands))
    if definition.elementwise and not _broadcast([a.shape for a in arrays if type(a) in plugins.by_type]):
        return ShapeError(f"{name}: shapes do not broadcast; got {got}")
    shapes = [tuple(a.shape) for a in operands if type(a) in plugins.by_type]
    if definition.name == "matmul" and len(shapes) == 2 and (why := _why_no_product(*shapes)):
        dtypes = " and ".join(dict.fromkeys(backend.dtype_name(a.dtype) for a in arrays))
        return ShapeError(f"{name}: {why}; got a {shapes[0]}, b {shapes[1]}, {dtypes} on {backend.name}")
    said = re.sub(_GUFUNC, _without_signature, str(error)).rstrip(". ")
    said = said.removeprefix(f"{definition.name}: ").removeprefix(f"{definition.title}: ")
    if (axis := next((p for p in ("axis", "axes") if p in parameters), None)) and re.search(_INDEX_OF_PYTHON, said):
        return AxisError(f"{name}: no such axis: {axis}={parameters[axis]!r}; got {got} on {backend.name}")
    if re.search(_NEGATIVE_POWER, said):
        return ValueError(
            f"{name}: negative powers of integers are no integers, got {got} on {backend.name}; cast the base to a "
            "floating-point dtype first"
        )
    text = f"{name}: {said}; got {got} on {backend.name}"
    if refusal is not None:
        return refusal(text)
    if is_numerical(error):
        return SingularMatrix(text)
    if isinstance(error, (IndexError, ValueError)) and re.search(_NO_SUCH_AXIS, said):
        return AxisError(text)
    if isinstance(error, IndexError):
        return (AxisError if re.search(_ABOUT_AXES, said) else IndexError)(text)
    if isinstance(error, ValueError):
        return (ShapeError if re.search(_ABOUT_SHAPES, said) else ValueError)(text)
    if isinstance(error, RuntimeError):
        return type(error)(text)
    for parameter, value in parameters.items():
        if parameter in _INTEGERS and not _integral(value):
            return TypeError(f"{name}: {parameter} must be an integer or a tuple of integers, got {value!r}")
    return (DtypeError if re.search(_ABOUT_DTYPES, said) else TypeError)(text)


def _described(operand: Any) -> str:
    backend = plugins.by_type.get(type(operand))
    try:
        return described(operand) if backend is None else repr(backend.spec(operand))
    except TypeError:  # its dtype is not numeric
        return described(operand)


def _why_no_product(a: Shape, b: Shape) -> str | None:
    """Return the reason why arrays of these shapes have no matrix product, or None if they have one."""
    if not a or not b:
        return f"{'b' if a else 'a'} has no axes, but vectors, matrices or stacks of matrices are needed"
    columns, rows = a[-1], b[-1 if len(b) == 1 else -2]
    if columns != rows:
        first, second = "columns" if len(a) > 1 else "elements", "rows" if len(b) > 1 else "elements"
        return f"a has {columns} {first} but b has {rows} {second}"
    return None if _broadcast([a[:-2], b[:-2]]) else "the stacks of matrices do not broadcast"


def _without_signature(found: re.Match[str]) -> str:
    size, other, given, wanted = found.groups()
    return f"axes of lengths {other} and {size} should match" if size else f"expected {wanted} dimensions, got {given}"


def is_numerical(error: Exception) -> bool:
    """Return whether `error` is a LinAlgError of its library, as for a singular matrix; they have no common class."""
    return type(error).__name__.endswith("LinAlgError")


def _integral(value: Any) -> bool:
    """Return whether `value` is None, an integer, or nested tuples of None and integers."""
    if isinstance(value, (tuple, list)):
        return all(map(_integral, value))
    return value is None or hasattr(value, "__index__")


def _broadcast(shapes: list[tuple[int, ...]]) -> bool:
    lengths = zip_longest(*map(reversed, shapes), fillvalue=1)
    return all(len(set(each) - {1}) < 2 for each in lengths)
