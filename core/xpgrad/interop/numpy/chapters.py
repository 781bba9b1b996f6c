"""NumPy's `linalg` and `fft`, with its argument names, for Variables.

The standard's functions are looked up when they are called.
"""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

from typing import Any

from xpgrad import array_api as xp
from xpgrad.array_api.data_types import to_floating
from xpgrad.graph.variable import as_variable
from xpgrad.interop.numpy.arguments import (
    REFUSED,
    Function,
    delegated,
    given,
    numpy_function,
    numpy_functions,
    standard,
)
from xpgrad.types import WHOLE, integers


@numpy_function("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = to_floating(x)
    if ord is None and axis is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else integers(axis, "norm")
    if len(axes) == 1 or ord is None or ord == "fro":
        return xp.linalg.vector_norm(x, axis=axes, ord=2 if ord in (None, "fro") else ord, keepdims=keepdims)
    y = xp.linalg.matrix_norm(xp.moveaxis(x, axes, (-2, -1)), ord=ord)
    if not keepdims:
        return y
    return xp.expand_dims(y, axis=tuple(i % x.ndim for i in axes))


for _name in (
    "det", "eig", "eigvals", "inv", "matrix_norm", "matrix_power", "qr", "slogdet", "svdvals", "vector_norm",
):  # fmt: skip
    delegated(f"linalg.{_name}")
delegated("linalg.solve", inputs=2)


def _line(name: str) -> Function:
    return lambda a, n=None, axis=-1, norm=None, out=REFUSED: standard(f"fft.{name}")(
        to_floating(a), n=n, axis=axis, norm=norm or "backward"
    )


def _axes(name: str, default: Any = None) -> Function:
    def transformed(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = REFUSED) -> Any:
        for argument, value in (("s", s), ("axes", axes)):
            if isinstance(value, WHOLE):
                raise TypeError(f"numpy.fft.{name}: {argument}: expected a tuple of int, got {value}")
        return standard(f"fft.{name}".replace("2", "n"))(to_floating(a), s=s, axes=axes, norm=norm or "backward")

    return transformed


ROWS: dict[str, Function] = {
    "linalg.eigh": lambda a, UPLO=REFUSED: standard("linalg.eigh")(as_variable(a)),
    "linalg.eigvalsh": lambda a, UPLO=REFUSED: standard("linalg.eigvalsh")(as_variable(a)),
    "linalg.cholesky": lambda a, /, *, upper=False: standard("linalg.cholesky")(a, upper=upper),
    "linalg.svd": lambda a, full_matrices=True, compute_uv=True, hermitian=REFUSED: (
        standard("linalg.svd")(a, full_matrices=full_matrices) if compute_uv else standard("linalg.svdvals")(a)
    ),
    "linalg.pinv": lambda a, rcond=None, hermitian=REFUSED, *, rtol=None: standard("linalg.pinv")(
        a, rtol=rcond if given(rtol) is None else rtol
    ),
    "linalg.matrix_rank": lambda A, tol=REFUSED, hermitian=REFUSED, *, rtol=None: standard("linalg.matrix_rank")(
        A, rtol=rtol
    ),
    "fft.fftshift": lambda x, axes=None: standard("fft.fftshift")(x, axes=axes),
    "fft.ifftshift": lambda x, axes=None: standard("fft.ifftshift")(x, axes=axes),
    "fft.hfft": _line("hfft"),
    "fft.ihfft": _line("ihfft"),
}
for _name in ("fft", "ifft", "rfft", "irfft"):
    ROWS |= {
        f"fft.{_name}": _line(_name),
        f"fft.{_name}n": _axes(f"{_name}n"),
        f"fft.{_name}2": _axes(f"{_name}2", (-2, -1)),
    }
numpy_functions(ROWS)
