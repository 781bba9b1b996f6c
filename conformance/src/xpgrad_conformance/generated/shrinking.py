"""From a sample that fails to the smallest one that still does, and to a program of a few lines."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated.sample import Argument, Sample

Failing = Callable[[Sample], bool]
MOST = 200
"""Trials."""
SHOWN = 6
"""Elements of an array that a program shows as they are."""


def shrunk(sample: Sample, failing: Failing) -> Sample:
    """Return a smaller sample for which `failing` is true: simpler layouts, shorter axes, simpler values."""
    left = [MOST]

    def tried(candidate: Sample) -> bool:
        left[0] -= 1
        try:
            return left[0] >= 0 and failing(candidate)
        except Exception:  # what fails in another way is another error
            return False

    for step in (_simpler_layouts, _shorter_axes, _simpler_values):
        found = True
        while found and left[0] > 0:
            candidate = next((each for each in step(sample) if tried(each)), None)
            found = candidate is not None
            sample = sample if candidate is None else candidate
    return sample


def _with(sample: Sample, arguments: list[Argument]) -> Sample:
    return replace(sample, arguments=tuple(arguments))


def _simpler_layouts(sample: Sample) -> Iterator[Sample]:
    for i, argument in enumerate(sample.arguments):
        if argument.layout != "contiguous":
            changed = list(sample.arguments)
            changed[i] = replace(argument, layout="contiguous")
            yield _with(sample, changed)


def _shorter_axes(sample: Sample) -> Iterator[Sample]:
    names = {name for a in sample.arguments for name in a.axes if name}
    for name in sorted(names):
        n = next(a.host.shape[a.axes.index(name)] for a in sample.arguments if name in a.axes)
        for part in sorted({n // 2, n - n // 4, n - n // 16, n - 1} - {n}):
            if part > 0:
                for last in (False, True):
                    yield _with(sample, [_cut(a, name, n, part, last) for a in sample.arguments])


def _cut(argument: Argument, name: str, n: int, part: int, last: bool) -> Argument:
    host = argument.host
    for axis, other in enumerate(argument.axes):
        if other == name:
            host = np.take(host, range(n - part, n) if last else range(part), axis)
    return replace(argument, host=host)


def _simpler_values(sample: Sample) -> Iterator[Sample]:
    for i, argument in enumerate(sample.arguments):
        host = argument.host
        if not argument.axes or host.size == 0:
            continue
        simple = np.ones_like(host)
        for some in _parts(host.size):
            changed = host.copy()
            changed.reshape(-1)[some] = simple.reshape(-1)[some]
            if changed.tobytes() != host.tobytes():
                given = list(sample.arguments)
                given[i] = replace(argument, host=changed)
                yield _with(sample, given)


def _parts(count: int) -> Iterator[slice]:
    """Yield slices from all elements to small parts of them."""
    length = count
    while length >= max(1, count // 16):
        for start in range(0, count, length):
            yield slice(start, start + length)
        length //= 2


def program_of(sample: Sample, device: str, wrong: str) -> str:
    """Return a program of a few lines that shows what is wrong."""
    lines = ["import numpy as np", "import xpgrad", "import xpgrad.array_api as xp", ""]
    for i, argument in enumerate(sample.arguments):
        lines += _lines_of(f"x{i}", argument, device)
    return "\n".join([*lines, f"print({sample.written})", f"# {wrong}"])


def _lines_of(name: str, argument: Argument, device: str) -> list[str]:
    host, lines = argument.host, list[str]()
    if host.size <= SHOWN:
        made = f"np.asarray({_plain(host.tolist())}, {host.dtype.name!r})"
        made += f".reshape{host.shape}" if host.size == 0 else ""
    else:
        common, others = _common(host)
        made = f"np.full({host.shape}, {_plain(common)}, {host.dtype.name!r})"
        if len(others) > SHOWN:
            made = f"np.random.default_rng(0).uniform(-2, 2, {host.shape}).astype({host.dtype.name!r})  # for example"
            others = []
        lines += [f"{name}[{', '.join(map(str, at))}] = {_plain(host[at].item())}" for at in others]
    lines = [f"{name} = {made}", *lines]
    sent = {
        "contiguous": "{0}",
        "transposed": "xp.permute_dims({0}, {1})",
        "reversed": "xp.flip({0})",
        "strided": "{0}[{2}]",
        "offset": "{0}[{2}]",
        "broadcast": "xp.broadcast_to({0}, {3})",
    }[argument.layout]
    source = {
        "transposed": f"{name}.T",
        "reversed": f"np.flip({name})",
        "strided": f"np.repeat({name}, 2, axis=-1)",
        "offset": f"np.concatenate([{name}[..., :1], {name}], axis=-1)",
        "broadcast": f"{name}[:1]",
    }.get(argument.layout, name)
    moved = f'xpgrad.Variable({source}).to_device("{device}")'
    inside = "..., ::2" if argument.layout == "strided" else "..., 1:"
    order = tuple(range(host.ndim))[::-1]
    return [*lines, f"{name} = " + sent.format(moved, order, inside, host.shape)]


def _common(host: Any) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the most frequent element, and the places of all others."""
    found, counts = np.unique(host, return_counts=True)
    common = found[np.argmax(counts)]
    others = [tuple(int(i) for i in at) for at in np.argwhere((host != common) & ~(np.isnan(host) & np.isnan(common)))]
    return common.item(), others


def _plain(value: Any) -> str:
    return repr(value).replace("nan", "np.nan").replace("inf", "np.inf")
