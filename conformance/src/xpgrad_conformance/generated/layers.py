"""Samples of functions beyond the standard, with expected values from the reference engine."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import xpgrad.functions
import xpgrad.ops
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.reference import referred
from xpgrad_conformance.generated.sample import PARAMETERS, Argument, Sample

MODULES = {"F": xpgrad.functions, "ops": xpgrad.ops}
IMPORTS = ("import xpgrad.functions as F", "import xpgrad.ops as ops")


def lengths(draw: Draw, most: int, least: int = 1) -> list[int]:
    """Return lengths of an axis, around the thresholds of all kernels; in the quick profile a part of those above 20.

    A function that calls several kernels is tested at the thresholds of each kernel.
    """
    given = {n for found in draw.s.backend.thresholds.values() for n in found}
    own = {n + k for n in given for k in (-1, 0, 1)}
    found = draw.lengths(most=most, least=least)
    if draw.quick and not draw.few:
        found = [n for n in found if n <= 20 or draw.rng.integers(3) == 0]
    return sorted({*found, *(n for n in own if least <= n <= most)})


def layer(
    name: str,
    *arguments: Argument,
    units: float = 0.0,
    scale: Any = None,
    smooth: bool = True,
    dtype: str = "",
    **parameters: Any,
) -> Sample:
    """Return a sample of a function of `xpgrad.functions` or `xpgrad.ops`.

    Parameters
    ----------
    name : str
        The function's module and name: ``F.softmax``.
    arguments : Argument
    units : float
        As of `Sample`.
    scale : float or callable, optional
        A magnitude for all elements, or ``scale(*hosts, **parameters)``; by default the magnitude of each element.
    parameters : object
        Keyword arguments of the function.
    """
    module, _, function = name.partition(".")
    given = ", ".join(f"x{i}" for i in range(len(arguments)))
    return written(
        lambda xp, *xs, **rest: getattr(MODULES[module], function)(*xs, **rest),
        f"{name}({given}{PARAMETERS})",
        *arguments,
        units=units,
        scale=scale,
        smooth=smooth,
        dtype=dtype,
        parameters=parameters,
    )


def written(
    call: Callable[..., Any],
    text: str,
    *arguments: Argument,
    units: float = 0.0,
    scale: Any = None,
    smooth: bool = True,
    dtype: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> Sample:
    """Return a sample of a call ``call(xp, *arrays, **parameters)``, which is written `text` in Python."""
    magnitude = scale if scale is None or callable(scale) else lambda *hosts, **rest: np.asarray(scale)
    return Sample(
        arguments,
        referred(call),
        parameters or {},
        units=units,
        scale=magnitude,
        dtype=dtype,
        precise=False,
        smooth=smooth,
        call=call,
        text=text,
        imports=tuple(line for line in IMPORTS if f"{line.split()[-1]}." in text),
    )
