"""Write accuracy.md: worst errors of values and derivatives, compared with SciPy, PyTorch and JAX.

`python docs/accuracy.py` compares all libraries with the numbers that ``tests.core.special.references`` has computed.
"""

import functools
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.core.special import elementary  # noqa: E402  # of the root
from tests.core.special.test_accuracy import RANGES, function, references, scale  # noqa: E402

import xpgrad  # noqa: E402

PAGE = Path(__file__).with_name("accuracy.md")
HEADER = """# Accuracy of derivatives

The table gives the largest error of each elementary function and of its first and second derivative, compared with
mpmath. Arguments range from 1e-200 to 1e300 in float64 and from 1e-36 to 1e36 in float32, where the result is a normal
number. Errors are in units in the last place of the result, or, near zeros, of the largest term; "lost" is a result
without a correct digit. The columns of xpgrad were computed on NumPy. SciPy and NumPy have no derivatives. PyTorch uses
`torch.autograd.grad`, and JAX `jax.grad` in float32.

The tests limit errors of xpgrad's derivatives to 64 units, and 2 more for each unit of the logarithm of the result, on
NumPy, chx, PyTorch, JAX and array-api-strict. Special functions have the same bound for values and first derivatives,
unless their docstrings name a different bound.

`python docs/accuracy.py` writes this page.
"""
COLUMNS = ("value", "first", "second")
Results = Sequence[Any]


def of_xpgrad(name: str, columns: list[Any]) -> list[Results]:
    """Return xpgrad's value and both derivatives with respect to each argument."""
    xs = [xpgrad.Variable(column) for column in columns]
    ones = xpgrad.Variable(np.ones_like(columns[0]))
    y = function(name)(*xs)
    found = [y.array]
    for x, slope in zip(xs, xpgrad.grad([y], xs, grad_outputs=[ones], enable_double_backprop=True), strict=True):
        (second,) = xpgrad.grad([slope], [x], grad_outputs=[ones])
        found += [slope.array, np.zeros_like(columns[0]) if second is None else second.array]
    return found


def of_scipy(name: str, columns: list[Any]) -> list[Results] | None:
    """Return the value computed by NumPy or SciPy."""
    import scipy.special

    of_rows = ("softmax", "logsumexp", "log_softmax")
    f = None if name in of_rows else getattr(np, name, None) or getattr(scipy.special, name, None)
    return None if f is None else [f(*columns)]


def of_torch(name: str, columns: list[Any]) -> list[Results] | None:
    """Return PyTorch's value and both derivatives with respect to each argument."""
    import torch

    labels = torch.zeros(len(columns[0]), dtype=torch.int64)
    of_rows: dict[str, Callable[[Any], Any]] = {
        "logsumexp": lambda x: torch.logsumexp(x, 1),
        "softmax": lambda x: torch.softmax(x, 1)[:, 0],
        "log_softmax": lambda x: torch.log_softmax(x, 1)[:, 0],
        "softmax_cross_entropy": lambda x: torch.nn.functional.cross_entropy(x, labels, reduction="none"),
    }
    special = {"exp2": torch.exp2, "log_expit": torch.nn.functional.logsigmoid}
    f: Any = special.get(name)
    for module in (torch, torch.special, torch.nn.functional):
        f = f or getattr(module, name, None)
    if name in of_rows:
        f = lambda *xs: of_rows[name](torch.stack(xs, 1))  # noqa: E731  # a function of rows
    if f is None:
        return None
    xs = [torch.tensor(column, requires_grad=True) for column in columns]
    y = f(*xs)
    found = [y.detach().numpy()]
    for x, slope in zip(xs, torch.autograd.grad(y.sum(), xs, create_graph=True), strict=True):
        (second,) = (
            torch.autograd.grad(slope.sum(), x, retain_graph=True, allow_unused=True)
            if slope.requires_grad
            else (None,)
        )
        found += [slope.detach().numpy(), np.zeros(len(y)) if second is None else second.numpy()]
    return found


def of_jax(name: str, columns: list[Any]) -> list[Results] | None:
    """Return JAX's value and both derivatives with respect to each argument, in float32 only."""
    import jax

    if columns[0].dtype != np.float32:
        return None
    of_rows: dict[str, Callable[..., Any]] = {
        "logsumexp": lambda *xs: jax.nn.logsumexp(jax.numpy.stack(xs)),
        "softmax": lambda *xs: jax.nn.softmax(jax.numpy.stack(xs))[0],
        "log_softmax": lambda *xs: jax.nn.log_softmax(jax.numpy.stack(xs))[0],
        "softmax_cross_entropy": lambda *xs: -jax.nn.log_softmax(jax.numpy.stack(xs))[0],
        "log_expit": jax.nn.log_sigmoid,
        "rsqrt": jax.lax.rsqrt,
    }
    f: Any = of_rows.get(name)
    for module in (jax.numpy, jax.scipy.special, jax.nn):
        f = f or getattr(module, name, None)
    if f is None:
        return None
    found = [jax.vmap(f)(*columns)]
    for i in range(len(columns)):
        first = jax.grad(f, argnums=i)
        found += [jax.vmap(first)(*columns), jax.vmap(jax.grad(first, argnums=i))(*columns)]
    return [np.asarray(each) for each in found]


LIBRARIES: dict[str, Callable[[str, list[Any]], list[Results] | None]] = {
    "xpgrad": of_xpgrad, "NumPy, SciPy": of_scipy, "PyTorch": of_torch, "JAX": of_jax,
}  # fmt: skip


@functools.cache
def errors(name: str, library: str, dtype: str) -> list[float] | None:
    """Return the largest errors of value, first and second derivative, in units in the last place."""
    smallest, largest = RANGES[dtype]
    rows = [
        (args, row)
        for args, row in references(elementary.FILE)[name]
        if dtype == "float64" or all(not a or smallest < abs(a) < largest for a in args)
    ]
    columns = [np.asarray(column, dtype) for column in zip(*(args for args, _ in rows), strict=True)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = LIBRARIES[library](name, columns)
    if found is None:
        return None
    worst = [0.0] * min(len(found), 3)
    for i, (args, row) in enumerate(rows):
        for number, got in enumerate(found):
            place, order = divmod(number - 1, 2)
            k = 1 + place * 3 + order if number else 0
            if not smallest < abs(row[k]) < largest:
                continue
            error = abs(float(got[i]) - row[k]) / scale(name, args, row, k, 3) / float(np.finfo(dtype).eps)
            column = 1 + order if number else 0
            worst[column] = max(worst[column], error if math.isfinite(error) else math.inf)
    return worst


def table(dtype: str) -> str:
    """Return the table of a dtype."""
    libraries = [library for library in LIBRARIES if dtype == "float32" or library != "JAX"]
    heads = [
        f"{library}: {column}"
        for library in libraries
        for column in (COLUMNS[:1] if library == "NumPy, SciPy" else COLUMNS)
    ]
    lines = [f"| function | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for name in sorted(elementary.TABLE):
        cells = []
        for library in libraries:
            count = 1 if library == "NumPy, SciPy" else 3
            found = errors(name, library, dtype)
            cells += [""] * count if found is None else [_text(each, dtype) for each in found]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _text(error: float, dtype: str) -> str:
    if error * float(np.finfo(dtype).eps) > 0.1:
        return "lost"
    return f"{error:.0f}" if error < 1e4 else f"{error:.0e}"


def main() -> None:
    """Write the page."""
    text = HEADER + "".join(f"\n## {dtype}\n\n{table(dtype)}\n" for dtype in ("float64", "float32"))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
