"""Decisive elements: each line along a long axis has one decisive element near its end."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sizes import POWERS

LONG = 1025, 2049, 4097, 8193
"""Lengths with a short last block; the quick profile uses 4097 and one of these lengths."""
FORMS = ("n", "m"), ("m", "n"), ("k", "n", "m")
"""The long axis first, last, in the middle."""
OTHERS = {"m": 3, "k": 2}
"""The lengths of the other axes."""


def lengths(draw: Draw) -> list[int]:
    """Return lengths of an axis: a little above powers of 2."""
    chosen = (4097, draw.pick(LONG)) if draw.quick else (*LONG, *draw.thresholds, draw.pick((16_385, 65_537)))
    return sorted({n + draw.pick((0, 1, int(draw.rng.integers(60)))) for n in chosen if n > 8})


def late_positions(draw: Draw, n: int, count: int) -> Any:
    """Return positions in an axis of length `n`: in its last block, at its end, and just after a power of 2."""
    block = max(power for power in (1, *POWERS) if power < n)
    powers = [power for power in POWERS if 512 <= power < n] or [n - 1]
    chosen = [n - 1, int(draw.rng.integers(block, n)), draw.pick(powers)]
    return np.asarray([chosen[i % 3] for i in range(count)])


def with_decisive_element(draw: Draw, n: int, form: Sequence[str], value: Any, others: Any) -> Any:
    """Return a host array with a value at a late position of each line along its long axis.

    Parameters
    ----------
    form : sequence of str
        The names of its axes, including "n" for the long axis.
    others : object or callable
        All other elements, or ``others(shape)``.
    """
    shape = tuple(OTHERS.get(name, n) for name in form)
    host: Any = others(shape) if callable(others) else np.full(shape, others, draw.dtype)
    lines = np.moveaxis(host, form.index("n"), -1)
    positions = late_positions(draw, n, lines[..., 0].size).reshape(lines.shape[:-1])
    np.put_along_axis(lines, positions[..., None], value, -1)
    return host


def decisive_elements(
    draw: Draw,
    reference: Callable[..., Any],
    pairs: Sequence[tuple[Any, Any]],
    *,
    parameters: Callable[[int], dict[str, Any]] = lambda axis: {"axis": axis},
    **what: Any,
) -> Iterator[Sample]:
    """Yield samples of a function along the long axis of arrays with decisive elements.

    Parameters
    ----------
    pairs : sequence
        The decisive element, and the value of the remaining elements, as for `with_decisive_element`.
    parameters : callable
        ``parameters(axis)`` returns the parameters of the function; the axis is counted from either end.
    what : object
        Fields of the samples.
    """
    for value, others in pairs:
        for n in lengths(draw):
            for form in FORMS:
                x = Argument(with_decisive_element(draw, n, form, value, others), form, _layout(draw))
                axis = form.index("n") - draw.pick((0, len(form)))
                yield Sample((x,), reference, parameters(axis), **what)


def _layout(draw: Draw) -> str:
    """Return a random layout, usually contiguous."""
    layouts = draw.layouts(broadcast=False)
    return str(draw.pick(("contiguous", "contiguous", draw.pick(layouts))))
