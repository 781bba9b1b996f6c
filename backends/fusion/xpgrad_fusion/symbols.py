"""`Symbol`: an array represented by its statement only. Functions of symbols add statements to a group."""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api import broadcast_shapes
from xpgrad.backend.kernels import EXTENSIONS, table
from xpgrad.plugin import BINARY_OPERATORS, OPERATORS, Backend, Spec
from xpgrad.types import Dtype, Shape
from xpgrad_fusion.space import Space, Unfusible
from xpgrad_fusion.statements import BINARY, COMPARISONS, REDUCTIONS, UNARY, Statement, level_of

DTYPES = frozenset(
    ["bool", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
)
"""Dtypes of statements."""
SMALL = 4096
"""Number of points up to which a sum over all of them may be used by the group itself: then it runs as one row."""
FLOATING = UNARY - {"abs", "negative", "square", "sign", "floor", "ceil", "trunc", "round"}
"""Functions that are computed on real floating-point numbers only (those of `PREDICATES` return others)."""
LOGICAL = frozenset(["logical_and", "logical_or", "logical_xor", "logical_not"])
PREDICATES = LOGICAL | {"isnan", "isinf", "isfinite", "signbit", *COMPARISONS}
MAX_STATEMENTS = 48
"""Number of statements above which the body of a kernel is left to the library."""
SPECIAL = frozenset(["special.expit", "special.log_expit"])
"""Functions of the extension ``special`` whose default bodies are as accurate as a library's own."""


class Symbol:
    """An array of a group.

    Attributes
    ----------
    builder, statement, spec : Builder, Statement, Spec
    ended, short : bool
        Whether it follows a reduction that ends the group, and whether its axes are the axes of the rows, without axes
        of length 1 for the columns.
    """

    __slots__ = ("builder", "ended", "short", "spec", "statement")
    __array_ufunc__ = None
    __hash__ = object.__hash__

    def __init__(
        self, builder: "Builder", statement: Statement, spec: Spec, ended: bool = False, short: bool = False
    ) -> None:
        self.builder, self.statement, self.spec, self.ended, self.short = builder, statement, spec, ended, short

    shape, dtype, ndim, size, device = (
        property(operator.attrgetter(f"spec.{name}")) for name in ("shape", "dtype", "ndim", "size", "device")
    )

    def __bool__(self) -> bool:
        raise Unfusible("a value is needed")

    __float__ = __int__ = __index__ = __iter__ = __getitem__ = __len__ = __bool__  # all raise


def _operators() -> None:
    for name, op in OPERATORS.items():
        if op in UNARY:
            setattr(Symbol, f"__{name}__", lambda x, op=op: x.builder.elementwise(op, x))
        elif op in BINARY:
            setattr(Symbol, f"__{name}__", lambda x, y, op=op: x.builder.elementwise(op, x, y))
            if name in BINARY_OPERATORS:
                setattr(Symbol, f"__r{name}__", lambda x, y, op=op: x.builder.elementwise(op, y, x))


_operators()


class Builder:
    """Collects the statements of a group, and is the namespace in which bodies of kernels compute with symbols.

    Attributes
    ----------
    backend : Backend
    space : Space
    statements : list of Statement
    boolean : dtype
        The library's dtype bool.
    """

    def __init__(self, backend: Backend, space: Space, accepts: Callable[[Statement], bool]) -> None:
        self.backend, self.space = backend, space
        self.statements: list[Statement] = []
        self.boolean = backend.asarray(True).dtype
        self._accepts = accepts
        self._known: dict[Any, Statement] = {}
        self._active: list[str] = []

    def marks(self) -> tuple[int, int | None]:
        """Return the current position, for `back`."""
        return len(self.statements), self.space.split

    def back(self, marks: tuple[int, int | None]) -> None:
        """Forget all later statements."""
        count, self.space.split = marks
        del self.statements[count:]
        for key in list(self._known)[count:]:
            del self._known[key]

    def add(self, op: str, operands: Sequence[Statement], dtype: str, level: str, value: Any = None) -> Statement:
        """Return a statement; an existing statement is not added again."""
        key = (op, tuple(map(id, operands)), dtype, level, repr(value) if op == "constant" else value)
        found = self._known.get(key)
        if found is not None:
            return found
        made = Statement(op, tuple(operands), dtype, level, value)
        if not self._accepts(made):
            raise Unfusible(f"{op} of {dtype} has no code")
        self._known[key] = made
        self.statements.append(made)
        return made

    def load(self, number: int, spec: Spec) -> Symbol:
        """Return the input of a number."""
        level = self.space.level(spec.shape)
        return Symbol(self, self.add("load", (), self.name(spec.dtype), level, number), spec)

    def element(self, number: int, place: int, spec: Spec) -> Symbol:
        """Return one element of the input of a number."""
        return Symbol(self, self.add("element", (), self.name(spec.dtype), "one", (number, place)), spec)

    def scattered(self, parts: Sequence[Symbol], places: Sequence[int], spec: Spec) -> Symbol:
        """Return zeros of `spec`, with single numbers added at places in C order."""
        name = self.name(spec.dtype)
        if self.space.size != 1 or any(part.size != 1 or part.statement.dtype != name for part in parts):
            raise Unfusible("blocks are scattered")
        operands = [part.statement for part in parts]
        if spec.size == 1:  # of one element it is a number, which other statements may use
            total = self.add("constant", (), name, "one", 0)
            for item in operands:
                total = self.add("add", (total, item), name, "one")
            return Symbol(self, total, spec)
        return Symbol(self, self.add("scatter", operands, name, "array", (spec.size, tuple(places))), spec, True)

    def full_like(self, x: Symbol, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None) -> Symbol:
        """Return a number in the shape of `x`."""
        spec = x.spec if dtype is None else self.spec(x.shape, self.backend.asarray(0, dtype).dtype, x)
        return Symbol(self, self.operand(fill_value, spec.dtype), spec, short=x.short)

    zeros_like = functools.partialmethod(full_like, fill_value=0)
    ones_like = functools.partialmethod(full_like, fill_value=1)

    def name(self, dtype: Dtype) -> str:
        """Return the name of a dtype, or raise `Unfusible` if it is not in `DTYPES`."""
        name = self.backend.dtype_name(dtype)
        if name not in DTYPES:
            raise Unfusible(f"dtype {name}")
        return name

    def isdtype(self, dtype: Dtype, kind: str) -> bool:
        """Return whether a dtype is of a kind of the standard."""
        return bool(self.backend.namespace.isdtype(dtype, kind))

    def spec(self, shape: Shape, dtype: Dtype, like: Symbol) -> Spec:
        """Return a spec on the device of `like`."""
        return self.backend.spec_for(shape, dtype, like.spec.device)

    # Elementwise functions

    def elementwise(self, op: str, *items: Any) -> Symbol:
        """Return an elementwise function of the standard, of symbols and Python numbers."""
        symbols = [item for item in items if isinstance(item, Symbol)]
        if not symbols:
            raise Unfusible("no array")
        dtype = self._common(op, items, symbols)
        operands = [self.operand(item, dtype) for item in items]
        result = dtype
        if op in PREDICATES:
            result = self.boolean
        elif op in FLOATING and not self.backend.is_kind(dtype, "real floating"):
            raise Unfusible(f"{op} of {self.backend.dtype_name(dtype)}")
        return self.made(op, operands, symbols, result)

    def made(self, op: str, operands: list[Statement], symbols: list[Symbol], dtype: Dtype) -> Symbol:
        """Return the symbol of an elementwise statement."""
        shape, level, short = self._placed(symbols)
        statement = self.add(op, operands, self.name(dtype), level)
        ended = any(item.ended for item in symbols)
        return Symbol(self, statement, self.spec(shape, dtype, symbols[0]), ended, short)

    def _placed(self, symbols: list[Symbol]) -> tuple[Shape, str, bool]:
        """Return shape and level of an elementwise function of symbols, and whether it is short."""
        level = level_of(item.statement for item in symbols)
        wide = [item for item in symbols if item.size != 1]
        short = any(item.short for item in wide)
        if short and not all(item.short for item in wide):
            raise Unfusible("rows without columns")
        if any(item.ended for item in symbols) and level in ("row", "point"):
            raise Unfusible("a sum over all rows ends a group")
        shapes = {item.shape for item in symbols}
        return shapes.pop() if len(shapes) == 1 else broadcast_shapes(*shapes), level, short

    def _common(self, op: str, items: Sequence[Any], symbols: list[Symbol]) -> Dtype:
        """Return the dtype in which a function computes."""
        dtypes = [item.dtype for item in symbols]
        dtype = dtypes[0]
        if any(other != dtype for other in dtypes):
            dtype = self.backend.namespace.result_type(*dtypes)
        for item in items:
            if not isinstance(item, Symbol):
                self._check_number(item, dtype)
        if op == "divide" and not self.backend.is_kind(dtype, "real floating"):
            raise Unfusible("division of integers")
        return dtype

    def _check_number(self, item: Any, dtype: Dtype) -> None:
        kind, integral = type(item), self.backend.is_kind(dtype, "integral")
        real = kind in (int, float) and self.backend.is_kind(dtype, "real floating")
        if not (real or kind is bool or (kind is int and integral)):
            raise Unfusible(f"operand {item!r:.40}")
        if kind is int and integral:
            info = self.backend.namespace.iinfo(dtype)
            if not info.min <= item <= info.max:
                raise Unfusible("a number out of range")

    def operand(self, item: Any, dtype: Dtype) -> Statement:
        """Return a symbol, cast, or a number as a statement of a dtype."""
        name = self.name(dtype)
        if not isinstance(item, Symbol):
            self._check_number(item, dtype)
            return self.add("constant", (), name, "one", number(item, name))
        if item.statement.dtype == name:
            return item.statement
        if self.backend.is_kind(item.dtype, "real floating") and not self.backend.is_kind(dtype, "real floating"):
            raise Unfusible("a cast of real numbers to integers")
        return self.add("cast", (item.statement,), name, item.statement.level)

    def where(self, condition: Any, x1: Any, x2: Any) -> Symbol:
        """Return `x1` where `condition`, else `x2`."""
        if not isinstance(condition, Symbol):
            raise Unfusible("a condition that is not an array")
        symbols = [item for item in (x1, x2) if isinstance(item, Symbol)]
        if not symbols:
            raise Unfusible("no array")
        dtype = self._common("where", (x1, x2), symbols)
        operands = [self.operand(condition, condition.dtype), self.operand(x1, dtype), self.operand(x2, dtype)]
        if operands[0].dtype != "bool":
            raise Unfusible("a condition that is not bool")
        return self.made("where", operands, [condition, *symbols], dtype)

    def astype(self, x: Symbol, dtype: Dtype, *, copy: bool = True) -> Symbol:
        """Return `x` cast."""
        dtype = self.backend.asarray(0, dtype).dtype
        return Symbol(self, self.operand(x, dtype), self.spec(x.shape, dtype, x), x.ended, x.short)

    def square(self, x: Symbol) -> Symbol:
        """Return the square."""
        return self.elementwise("multiply", x, x)

    def clip(self, x: Symbol, min: Any = None, max: Any = None) -> Symbol:
        """Return `x`, at least `min` and at most `max`."""
        x = x if min is None else self.elementwise("maximum", x, min)
        return x if max is None else self.elementwise("minimum", x, max)

    # Shapes

    def broadcast_to(self, x: Symbol, shape: Shape) -> Symbol:
        """Return `x` in another shape: it stays at its level."""
        shape = tuple(shape)
        if x.short and x.shape != shape:
            raise Unfusible("rows without columns")
        if not x.short:
            level = self.space.level(shape)
            if level_of([x.statement, Statement("load", (), "bool", level)]) != level:
                raise Unfusible("rows of columns")
            if x.ended and level in ("row", "point"):
                raise Unfusible("a sum over all rows ends a group")
        return Symbol(self, x.statement, self.spec(shape, x.dtype, x), x.ended, x.short)

    def reshape(self, x: Symbol, shape: Shape, copy: bool | None = None) -> Symbol:
        """Return `x` with other axes of length 1, or with only the axes of the columns or of the rows."""
        shape = tuple(shape)
        if math.prod(shape) != x.size or -1 in shape or without_ones(shape) != without_ones(x.shape):
            raise Unfusible("another shape")
        kept, short = self.space.kept(), x.short and shape == x.shape
        if shape != x.shape and x.size != 1:
            before, wide = padded(x.shape, len(kept)), padded(shape, len(kept))
            rows = x.short or (x.statement.level == "row" and before == kept)
            short = rows and wide != kept
            if shape != kept[: self.space.split] if short else not rows and wide != before:
                raise Unfusible("another shape")
        return Symbol(self, x.statement, self.spec(shape, x.dtype, x), x.ended, short)

    # Reductions

    def reduction(
        self, op: str, x: Symbol, axis: Any = None, keepdims: bool = False, dtype: Dtype | None = None
    ) -> Symbol:
        """Return a reduction over all axes, the columns, or the rows."""
        if dtype is not None:
            x = self.astype(x, dtype)
        elif op in ("sum", "prod") and not self.backend.is_kind(x.dtype, "real floating"):
            raise Unfusible("a sum of integers in the default dtype")
        ndim = x.ndim
        given = tuple(range(ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        axes = tuple(sorted(a % ndim for a in given)) if ndim else ()
        shape = x.shape
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        result = kept if keepdims else tuple(n for i, n in enumerate(shape) if i not in axes)
        if not any(shape[a] != 1 for a in axes):
            # A sum of negative zeros is 0.0.
            return self.reshape(self.elementwise("add", x, 0) if op == "sum" and axes else x, result)
        if x.ended or x.size == 0:
            raise Unfusible("a sum over all rows ends a group")
        if shape != self.space.shape or x.short:
            raise Unfusible("a sum of a part of the space")
        level, ended = self.space.level(kept), True
        if level == "one" and self.space.split in (None, 0) and self.space.size <= SMALL:
            self.space.cut(0)
            level = "row"
        if level == "row":
            ended = False
        of = x.statement
        if of.level != "point":
            of = self.add("copy", (of,), of.dtype, "point")
        statement = self.add(op, (of,), of.dtype, level)
        short = level == "row" and bool(self.space.split) and padded(result, ndim) != self.space.kept()
        return Symbol(self, statement, self.spec(result, x.dtype, x), ended, short)

    def mean(self, x: Symbol, axis: Any = None, keepdims: bool = False) -> Symbol:
        """Return the mean, as a sum divided by a count."""
        total = self.reduction("sum", x, axis, keepdims)
        return self.elementwise("divide", total, float(x.size // max(total.size, 1)))

    def var(self, x: Symbol, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Symbol:
        """Return the variance, in two passes."""
        centred = self.elementwise("subtract", x, self.mean(x, axis, True))
        total = self.reduction("sum", self.square(centred), axis, keepdims)
        return self.elementwise("divide", total, max(x.size // max(total.size, 1) - correction, 0.0))

    # As a namespace

    def spec_of(self, x: Symbol) -> Spec:
        """Return shape, dtype and device of a symbol."""
        return x.spec

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in UNARY or name in BINARY:
            return lambda *items: self.elementwise(name, *items)
        if name in REDUCTIONS:
            return lambda x, axis=None, keepdims=False, dtype=None: self.reduction(name, x, axis, keepdims, dtype)
        if name in EXTENSIONS:
            return SymbolExtension(self, name)
        return self.kernel(name)

    def kernel(self, name: str) -> Callable[..., Any]:
        """Return the default body of a kernel, or the formula of a gradient, as a function of symbols, or raise."""
        if name.startswith("special.") and name.removesuffix(".x") not in SPECIAL:
            raise Unfusible(f"no statements for {name}")
        declaration = table.find(name)
        body = None if declaration is None else declaration.body or declaration.rule
        if body is None or name in self._active:  # the body of `all` calls the library's `all`
            raise Unfusible(f"no statements for {name}")

        def call(*items: Any, **parameters: Any) -> Any:
            before = len(self.statements)
            self._active.append(name)
            try:
                result = body(self, *items, **parameters)
            except Unfusible:
                raise
            except Exception as error:  # including errors of a user's function, which needs more than symbols
                raise Unfusible(f"{name}: {error}") from error
            finally:
                self._active.pop()
            if len(self.statements) - before > MAX_STATEMENTS:
                raise Unfusible(f"{name} has {len(self.statements) - before} statements")
            return result

        return call


class SymbolExtension:
    """The functions of an extension, such as ``special``."""

    def __init__(self, builder: Builder, prefix: str) -> None:
        self._builder, self._prefix = builder, prefix

    def __getattr__(self, name: str) -> Any:
        return self._builder.kernel(f"{self._prefix}.{name}")


def padded(shape: Shape, ndim: int) -> Shape:
    """Return a shape with leading axes of length 1."""
    return (1,) * (ndim - len(shape)) + shape


def without_ones(shape: Shape) -> Shape:
    """Return the lengths other than 1."""
    return tuple(n for n in shape if n != 1)


def number(item: Any, dtype: str) -> bool | int | float:
    """Return a Python number of the kind of a dtype."""
    if dtype == "bool":
        return bool(item)
    return float(item) if dtype.startswith("float") else operator.index(item)
