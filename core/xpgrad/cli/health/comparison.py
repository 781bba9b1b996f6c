"""Kernels of plugins, compared on samples with the default bodies and gradient rules that they replace."""

import cmath
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.kernels import Declaration, KernelNamespace, difference
from xpgrad.backend.naming import text_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.scattering import scatter_add_by_sorting
from xpgrad.backend.transfer import transfer
from xpgrad.cli.health.arguments import OWN, Call, calls
from xpgrad.cli.health.samples import Samples
from xpgrad.graph.lazy import dense
from xpgrad.types import Array, Kernel

TOLERANCE, FLOOR = 1e-3, 1e-5
"""Difference relative to an element, and to the largest element of a result."""
MAX_SECONDS = 20  # for all kernels of a device; a lazy library takes a second for each
MAX_SHOWN = 6  # elements of a result in a message
MAX_DEVIATION, MAX_CORRELATION = 3.0, 6.0
"""Limits of statistics times the root of the number of random numbers: right numbers exceed one in 10**7 cases."""


def foreign_kernels(device: Device) -> dict[str, Any]:
    """Return which kernels that plugins give for a backend differ from the kernels of xpgrad.

    Returns
    -------
    dict
        `compared`, the number of kernels compared; `faults`, the differences by kernel and plugin; and `uncompared`,
        the reasons why other kernels were not compared.
    """
    usual = KernelNamespace(device.backend)  # without kernels of plugins
    samples = Samples(device, usual)
    end = time.monotonic() + MAX_SECONDS
    found: dict[str, Any] = {"compared": 0, "faults": {}, "uncompared": {}}
    for provider, declaration, given in device.backend.xp.foreign():
        name = f"{declaration.name} of {provider}"
        comparison = KernelComparison(device, declaration, given, _reference(usual, declaration))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # samples reach beyond the domains of functions
            comparison.run(samples, end)
        found["compared"] += comparison.compared
        if comparison.fault is not None:
            found["faults"][name] = comparison.fault
        elif not comparison.compared:
            found["uncompared"][name] = comparison.reason
    return found


def _reference(xp: KernelNamespace, declaration: Declaration) -> Kernel | None:
    return scatter_add_by_sorting if declaration.name == "scatter_add" else xp.reference(declaration)


class KernelComparison:
    """The comparison of one kernel with its default body, or with the gradient rule that it replaces.

    Unless a kernel has samples of its own, an exception is a fault only if no call succeeds: a default body may accept
    parameters, such as an integer axis, that the function of its kernel never passes.

    Attributes
    ----------
    compared : bool
    fault : str or None
        How the kernel differs.
    reason : str
        Why it was not compared.
    """

    def __init__(self, device: Device, declaration: Declaration, given: Kernel, reference: Kernel | None) -> None:
        self.device, self.name, self.declaration = device, declaration.name, declaration
        self.given, self.reference = given, reference
        self.compared, self.declined, self.reason = False, False, "xpgrad has no samples of its arguments"
        self.fault: str | None = None

    def run(self, samples: Samples, end: float) -> None:
        """Compare the kernel on its samples, until it differs, or until the time `end`."""
        if self.reference is None:
            self.reason = "xpgrad has no default body"
        elif time.monotonic() > end:
            self.reason = f"the comparison of others took {MAX_SECONDS} s"
        else:
            try:
                self._compare(calls(samples, self.declaration), end)
                if self.declined and not self.compared:  # some kernels accept only large arrays
                    self._compare(calls(samples.enlarged(), self.declaration), end)
            except Exception as error:  # of the library
                self.reason = f"its samples cannot be made: {text_of(error)}"
            if self.declined:
                self.reason = "it declines every sample"

    def _compare(self, arguments: Iterable[Call], end: float) -> None:
        failure, reference = None, self.reference
        assert reference is not None  # `run` looks at it
        for arrays, parameters in list(arguments):
            if self.compared and time.monotonic() > end:
                break
            try:
                expected = _arrays_of(reference(*arrays, **parameters))
            except Exception as error:  # it needs other arrays or parameters
                self.reason = f"the default body fails: {text_of(error)}"
                continue
            if not any(b == b for y in expected if hasattr(y, "shape") for b in self._values(y)):
                self.reason = "the default body returns no number for any sample"
                continue
            try:
                result = self.given(*arrays, **parameters)
                if result is NotImplemented:
                    self.declined = True
                    continue
                self.fault = self._differences(_arrays_of(result), expected, (arrays, parameters))
            except Exception as error:  # third-party code
                failure = failure or text_of(error) + _said(parameters)
                continue
            self.compared = True
            if self.fault is not None:
                self.fault += _said(parameters)
                return
        if not self.compared or self.name in OWN:
            self.fault, self.compared = failure, self.compared or failure is not None

    def _differences(self, found: Sequence[Any], wanted: Sequence[Any], call: Call) -> str | None:
        """Return how a kernel's results differ from the expected results, or None."""
        if len(found) != len(wanted):
            return f"{len(found)} results, expected {len(wanted)}"
        for result, expected in zip(found, wanted, strict=True):
            if text := difference(self._restored(result), self._restored(expected)):
                return text
            if expected is None is not result:
                return f"{type(result).__name__}, expected None"
        if self.name in DISTRIBUTIONS:
            return self._statistics(self._values(found[0]), call)
        if self.name in PROPERTIES:
            (x,), _ = call
            of_found, of_wanted = [self._properties(x, results) for results in (found, wanted)]
        else:
            of_found, of_wanted = [dict(enumerate(results)) for results in (found, wanted)]
        for title, expected in of_wanted.items():
            if expected is not None and (text := _unequal(self._values(of_found[title]), self._values(expected))):
                return f"{title} {text}" if isinstance(title, str) else text
        return None

    def _properties(self, x: Array, results: Sequence[Array]) -> Mapping[Any, Array]:
        host = plugins.host
        x, *moved = (transfer(self._restored(y), host.default_device) for y in (x, *results))
        return PROPERTIES[self.name](host.namespace, x, *moved)

    def _restored(self, result: Any) -> Any:
        return None if result is None else self.device.backend.restore(result)

    def _values(self, array: Array) -> list[Any]:
        moved = transfer(self._restored(array), plugins.host.default_device)
        values: list[Any] = moved.reshape(-1).tolist()
        return values

    def _statistics(self, drawn: list[Any], call: Call) -> str | None:
        """Return how random numbers, in the order of drawing, differ from independent ones of their distribution."""
        shares = list(map(DISTRIBUTIONS[self.name], drawn))
        count, root = len(shares), math.sqrt(len(shares))
        if not all(0 <= share < 1 for share in shares):
            return f"numbers from {min(drawn)} to {max(drawn)}, beyond the range"
        deviation = max(max(share - i / count, (i + 1) / count - share) for i, share in enumerate(sorted(shares)))
        if deviation * root > MAX_DEVIATION:
            mean = sum(drawn) / count
            return f"numbers with the mean {mean:.3f} whose distribution function is wrong by {deviation:.2f}"
        correlation = 12 * sum((a - 0.5) * (b - 0.5) for a, b in pairwise(shares)) / count
        if abs(correlation) * root > MAX_CORRELATION:
            return f"numbers with a correlation of {correlation:.2f} to the next"
        again = self.given(**call[1])
        return "the same numbers in the next call" if self._values(again) == drawn else None


def _said(parameters: Mapping[str, Any]) -> str:
    texts = [f"{key}={_described(value)}" for key, value in parameters.items()]
    return f" with {', '.join(texts)}" if texts else ""


def _described(value: Any) -> str:
    is_array = hasattr(value, "shape") and hasattr(value, "dtype") and value.shape
    return f"{value.dtype} {tuple(value.shape)}" if is_array else repr(value)


def _arrays_of(result: Any) -> tuple[Any, ...]:
    """Return the results of a kernel, cotangents that a sweep adds later as arrays."""
    return tuple(dense(y, False) for y in (result if isinstance(result, (tuple, list)) else (result,)))


def _unequal(got: list[Any], wanted: list[Any]) -> str | None:
    """Return how numbers differ, or None; where NaN is expected, as in an undefined place, everything is right."""
    floor = FLOOR * max((abs(b) for b in wanted if cmath.isfinite(b)), default=0.0)
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if not (a == b or b != b or cmath.isclose(a, b, rel_tol=TOLERANCE, abs_tol=floor)):
            return f"{got}, expected {wanted}" if len(got) <= MAX_SHOWN else f"{a} as element {i}, expected {b}"
    return None


def _adjoint(xp: Any, x: Array) -> Array:
    return xp.conj(xp.matrix_transpose(x))


def _eig(xp: Any, x: Array, w: Array, v: Array) -> dict[str, Array]:
    residual = xp.matmul(xp.astype(x, v.dtype), v) - v * w[..., None, :]
    return {
        "eigenvalues whose powers have the sums": xp.stack([xp.sum(w**k, axis=-1) for k in (1, 2, 3)]),
        "eigenvectors of the lengths": xp.sqrt(xp.sum(xp.abs(v) ** 2, axis=-2)),
        "for 1 + x v - v w:": 1 + residual,
    }


def _eigh(xp: Any, x: Array, w: Array, v: Array) -> dict[str, Array]:
    adjoint = _adjoint(xp, v)
    return {
        "eigenvalues": w, "for v w v^H:": xp.matmul(v * w[..., None, :], adjoint), "for v^H v:": xp.matmul(adjoint, v)
    }  # fmt: skip


def _qr(xp: Any, x: Array, q: Array, r: Array) -> dict[str, Array]:
    return {"for q triu(r):": xp.matmul(q, xp.triu(r)), "for q^H q:": xp.matmul(_adjoint(xp, q), q)}


def _svd(xp: Any, x: Array, u: Array, s: Array, vh: Array) -> dict[str, Array]:
    k = s.shape[-1]
    return {
        "singular values": s,
        "for u s vh:": xp.matmul(u[..., :k] * s[..., None, :], vh[..., :k, :]),
        "for u^H u:": xp.matmul(_adjoint(xp, u), u),
        "for vh vh^H:": xp.matmul(vh, _adjoint(xp, vh)),
    }


PROPERTIES: Mapping[str, Callable[..., Mapping[Any, Array]]] = {
    "linalg.eig": _eig, "linalg.eigh": _eigh, "linalg.qr": _qr, "linalg.svd": _svd,
}  # fmt: skip
"""Numbers that do not depend on the order, the signs and the phases of vectors, which a library may choose."""
DISTRIBUTIONS: Mapping[str, Callable[[float], float]] = {
    "random_normal": lambda x: 0.5 * math.erfc(-x / math.sqrt(2)) if math.isfinite(x) else math.nan,
    "random_uniform": lambda x: x,
}
"""Distribution functions of random numbers."""
