"""Unchanged third-party Array API code, differentiated by passing Variables instead of arrays.

Run ``python examples/consumers.py``, with ``--markdown`` for the tables of docs/interop.md, or with the names of some
libraries. The calls are in `consumed`. For every call the program compares the value with the value for NumPy arrays,
the gradient with finite differences of the value, and the second derivative with finite differences of the gradient.
Calls that cannot be differentiated must fail as stated in their row.
"""

import ast
import importlib
import os
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it once, at its import

import numpy as np
from consumed import INPUTS, LIBRARIES, Library

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp

STEP = 2e-4
TOLERANCE = 1e-6
ROW = re.compile(r"(?P<call>.*?)(?:  # (?P<what>[\w.-]+): (?P<why>.*))?$")


class Unlike(Exception):
    """Different behaviour of a library for Variables than for arrays, named by the word of its row."""


@dataclass(frozen=True)
class Row:
    """A call with its known result: ``ok``, or a word explained in docs/interop.md with the reason."""

    library: Library
    call: str
    what: str
    why: str
    tolerance: float

    @property
    def code(self) -> types.CodeType:
        return compile(self.call, self.call, "eval")


def rows(library: Library) -> Iterator[Row]:
    """Yield the rows of a library; a number instead of a word replaces the default tolerance."""
    for line in filter(None, map(str.strip, library.calls.splitlines())):
        match = ROW.match(line)
        assert match
        what, why = match["what"] or "ok", match["why"] or ""
        is_number = what[0].isdigit()
        yield Row(library, match["call"], "ok" if is_number else what, why, float(what) if is_number else TOLERANCE)


def names_in(code: types.CodeType) -> set[str]:
    """Return the names that an expression uses, including names in its lambdas."""
    nested = (names_in(each) for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*nested)


def numbers(result: Any) -> list[Any]:
    """Return the floating-point arrays in a result; integers and other objects have no derivative."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in numbers(each)]
    if isinstance(result, Variable):
        return [result] if result.array.dtype.kind in "fc" else []
    found = np.asarray(result)
    return [found] if found.dtype.kind in "fc" else []


def weights(shape: tuple[int, ...], is_complex: bool) -> Any:
    rng = np.random.default_rng(3)
    real = rng.uniform(0.5, 1.5, shape)
    return real + 1j * rng.uniform(0.5, 1.5, shape) if is_complex else real


class Call:
    """A row with its inputs, ready to be called with arrays and with Variables."""

    def __init__(self, row: Row, library: dict[str, Any]) -> None:
        self.row, self.library = row, library
        self.codes = {name: compile(source, name, "eval") for name, source in row.library.short.items()}
        asked = names_in(row.code)
        for name in self.codes.keys() & asked:
            asked |= names_in(self.codes[name])
        self.inputs = {name: value for name, value in INPUTS.items() if name in asked}
        self.free = [name for name, value in self.inputs.items() if value.dtype.kind in "fc"]

    def result(self, values: dict[str, Any]) -> Any:
        names = {**self.library, **values, "np": np, "xp": next(iter(values.values())).__array_namespace__()}
        names |= {name: eval(code, names) for name, code in self.codes.items() if name in names_in(self.row.code)}
        return eval(self.row.code, names)

    def of_arrays(self, arrays: dict[str, Any]) -> float:
        found = numbers(self.result(arrays))
        return float(sum(np.sum(np.real(weights(y.shape, y.dtype.kind == "c") * y)) for y in found))

    def of_variables(self, arrays: dict[str, Any]) -> tuple[dict[str, Variable], Variable]:
        xs = {name: Variable(value.copy(), requires_grad=name in self.free) for name, value in arrays.items()}
        total = Variable(np.zeros(()), requires_grad=False)
        for y in numbers(self.result(xs)):
            if not isinstance(y, Variable):
                raise Unlike("number")  # the graph ends at a Python or NumPy number, or an array
            total = total + xp.sum(xp.real(weights(y.shape, y.array.dtype.kind == "c") * y))
        return xs, total

    def gradients(self, arrays: dict[str, Any], recorded: bool = False) -> tuple[dict[str, Variable], list[Any], float]:
        xs, y = self.of_variables(arrays)
        wanted = [xs[name] for name in self.free]
        if not y.requires_grad:
            return xs, [None] * len(wanted), float(y)
        return xs, xpgrad.grad([y], wanted, enable_double_backprop=recorded), float(y.array)


def directions(call: Call, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield a direction for each input, which is symmetric for symmetric matrices."""
    rng = np.random.default_rng(seed)
    for name in call.free:
        x = call.inputs[name]
        d = rng.choice([-1.0, 1.0], x.shape) * rng.uniform(0.5, 1, x.shape)
        if x.dtype.kind == "c":
            d = d + 1j * rng.uniform(-1, 1, x.shape)
        yield name, d + d.T if name in call.row.library.symmetric else d


def slope(f: Callable[[dict[str, Any]], float], arrays: dict[str, Any], name: str, d: Any) -> float:
    """Return the derivative of `f` along `d`, from differences of fourth order."""

    def at(steps: int) -> float:
        return f({**arrays, name: np.asarray(arrays[name] + steps * STEP * d)})

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * STEP)


def along(gradient: Any, d: Any) -> float:
    return 0.0 if gradient is None else float(np.sum(np.real(np.conj(gradient.array) * d)))


def worst(pairs: list[tuple[float, float]]) -> float:
    """Return the largest relative error, or NaN if an error is NaN."""
    return float(np.max([abs(a - b) / max(1, abs(b)) for a, b in pairs]))


def measure(call: Call) -> tuple[float, float]:
    """Return the errors of the first and the second derivative.

    Raises
    ------
    Unlike
        If the result is a number, the value differs from the value for arrays, a gradient is NaN, or all gradients are
        zero or missing.
    """
    value = call.of_arrays(call.inputs)
    xs, gradients, again = call.gradients(call.inputs, recorded=True)
    if not abs(value - again) <= 1e-9 * max(1, abs(value)):
        raise Unlike("differs")
    if any(g is not None and np.isnan(g.array).any() for g in gradients):
        raise Unlike("nan")
    slopes = [slope(call.of_arrays, call.inputs, name, d) for name, d in directions(call, 1)]
    if not any(g is not None and g.array.any() for g in gradients):
        if not np.max(np.abs(slopes)) < TOLERANCE:
            raise Unlike("detached")
        raise Unlike("constant")
    first = worst([(along(g, d), s) for g, s, (_, d) in zip(gradients, slopes, directions(call, 1), strict=True)])
    if not first < call.row.tolerance:
        return first, 0.0
    return first, second(call, xs, gradients)


def second(call: Call, xs: dict[str, Variable], gradients: list[Any]) -> float:
    """Return the error of the derivative of the gradient's products with fixed directions."""
    fixed = [d for _, d in directions(call, 2)]

    def product(arrays: dict[str, Any]) -> float:
        return sum(along(g, d) for g, d in zip(call.gradients(arrays)[1], fixed, strict=True))

    total: Any = Variable(np.zeros(()), requires_grad=False)
    for g, d in zip(gradients, fixed, strict=True):
        if g is not None and g.requires_grad:
            total = total + xp.sum(xp.real(g * np.conj(d)))
    wanted = [xs[name] for name in call.free]
    curvatures = xpgrad.grad([total], wanted) if total.requires_grad else [None] * len(wanted)
    moves = directions(call, 4)
    return worst(
        [(along(c, d), slope(product, call.inputs, name, d)) for c, (name, d) in zip(curvatures, moves, strict=True)]
    )


def library_names(library: Library) -> dict[str, Any]:
    """Import a library, and return the names that its calls use; ModuleNotFoundError if it is not installed."""
    names: dict[str, Any] = {}
    for module in library.modules:
        found = importlib.import_module(module)
        names |= {name: getattr(found, name) for name in dir(found) if not name.startswith("_")}
    if library.prepare is not None:
        library.prepare(names)
    return {name: value for name, value in names.items() if name not in INPUTS}


def judge(row: Row, names: dict[str, Any]) -> tuple[str, str]:
    """Return the word for the result of a call, and the errors or the exception as text."""
    call = Call(row, names)
    try:
        call.of_arrays(call.inputs)
    except Exception as error:  # third-party code may raise any exception
        return "broken", f"{type(error).__name__}: {error}".splitlines()[0]
    try:
        first, curved = measure(call)
    except Unlike as error:
        return str(error), ""
    except Exception as error:  # as above
        what = "converts" if "not converted silently" in str(error) else "raises"
        return what, f"{type(error).__name__}: {error}".splitlines()[0]
    figures = f"{first:.0e} {curved:.0e}"
    return ("ok" if first < row.tolerance and curved < row.tolerance else "wrong"), figures


def run(libraries: list[Library]) -> list[str]:
    """Print a line for each call, and return the deviations from the rows."""
    surprises = []
    for library in libraries:
        try:
            names = library_names(library)
        except ModuleNotFoundError as error:
            print(f"{library.name:<28} skipped: no {error.name} here")
            continue
        for row in rows(library):
            what, figures = judge(row, names)
            line = f"{library.name:<28} {row.call:<64} {what:<9} {figures}"
            print(line[:200])
            if what != row.what:
                surprises.append(f"expected {row.what!r}, got {line}")
    return surprises


def named(row: Row) -> str:
    """Return a call as shown in the tables: only the functions, or the whole call if its arguments matter."""
    return f"`{row.call if row.library.whole else functions(ast.parse(row.call, mode='eval').body)}`"


def functions(call: ast.expr) -> str:
    """Return an expression without the arguments in it."""
    match call:
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return functions(inner)
        case ast.Attribute(value=inner, attr=name):
            return f"{functions(inner)}.{name}"
    return ast.unparse(call)


def markdown() -> Iterator[str]:
    """Yield the lines of the tables in docs/interop.md, which `run` verifies."""
    yield "| library | calls that differentiate to second order |"
    yield "|---|---|"
    for library in LIBRARIES:
        working = dict.fromkeys(named(row) for row in rows(library) if row.what == "ok")
        yield f"| {library.name} | {', '.join(working) or 'none'} |"
    yield ""
    yield "| library | call | what happens | why |"
    yield "|---|---|---|---|"
    for library in LIBRARIES:
        for row in rows(library):
            if row.what != "ok" or row.why:
                word = f"error up to {row.tolerance:.0e}" if row.what == "ok" else row.what
                yield f"| {library.name} | `{row.call}` | {word} | {row.why} |"


def main(arguments: list[str]) -> int:
    """Run all libraries, or the named libraries; with ``--markdown`` print the tables instead."""
    if arguments == ["--markdown"]:
        print("\n".join(markdown()))
        return 0
    warnings.simplefilter("ignore")  # of the libraries, about small samples and convergence
    unknown = set(arguments) - {library.name for library in LIBRARIES}
    if unknown:
        raise SystemExit(f"consumers: expected names of libraries, got {sorted(unknown)}")
    surprises = run([each for each in LIBRARIES if not arguments or each.name in arguments])
    print("\n".join(["", *surprises]) if surprises else "\nall as their rows say")
    return bool(surprises)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
