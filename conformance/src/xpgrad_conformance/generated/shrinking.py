"""From a sample that fails to the smallest one that still does, and to a program of a few lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated.formulas import FORMULAS, formula
from xpgrad_conformance.generated.layouts import constant_axis, surrounding
from xpgrad_conformance.generated.sample import MARK, Argument, Sample

Failing = Callable[[Sample], bool]
MOST = 200
"""Trials."""
SHOWN = 6
"""Elements of an array that a program shows as they are, or that differ from all others."""
LISTED = 40
"""Elements that it shows if no formula makes them."""


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
    if sample.rewritten:
        yield replace(sample, rewritten=False)
    for i, argument in enumerate(sample.arguments):
        if argument.layout != "contiguous":
            changed = list(sample.arguments)
            changed[i] = replace(argument, layout="contiguous")
            yield _with(sample, changed)


def _shorter_axes(sample: Sample) -> Iterator[Sample]:
    names = {name for a in sample.arguments for name in a.axes if name}
    for name in sorted(names):
        n = next(a.host.shape[a.axes.index(name)] for a in sample.arguments if name in a.axes)
        for part in sorted({0, 1, n // 2, n - n // 4, n - n // 16, n - 1} - {n}):
            if 0 <= part < n:
                for last in (False, True) if part else (False,):
                    yield _with(sample, [_cut(a, name, n, part, last) for a in sample.arguments])


def _cut(argument: Argument, name: str, n: int, part: int, last: bool) -> Argument:
    host, cut = argument.host, False
    for axis, other in enumerate(argument.axes):
        if other == name:
            host, cut = np.take(host, range(n - part, n) if last else range(part), axis), True
    return replace(argument, host=host, text="") if cut else argument


def _simpler_values(sample: Sample) -> Iterator[Sample]:
    for i, argument in enumerate(sample.arguments):
        if not argument.axes or argument.kept or argument.host.size == 0:
            continue
        for simpler in (*_formulas(argument), *_with_ones(argument)):
            given = list(sample.arguments)
            given[i] = simpler
            yield _with(sample, given)


def _formulas(argument: Argument) -> Iterator[Argument]:
    """Yield arguments of the same shape that one line makes, simpler than this one."""
    host = argument.host
    if argument.text or host.dtype.kind not in "fc" or host.size <= SHOWN:
        return
    parts = np.concatenate([host.real.reshape(-1), host.imag.reshape(-1)]) if host.dtype.kind == "c" else host
    usual = parts[np.isfinite(parts) & (np.abs(parts) < 100)]
    low, high = (float(np.round(f(usual), 2)) for f in (np.min, np.max)) if usual.size else (-2.0, 2.0)
    for kind in FORMULAS:
        made, text = formula(kind, host.shape, host.dtype.name, low=low, high=high)
        yield replace(argument, host=made, text=text)


def _with_ones(argument: Argument) -> Iterator[Argument]:
    """Yield arguments in some of whose places are ones."""
    host = argument.host
    if argument.text and host.size > SHOWN:
        return
    for some in _parts(host.size):
        changed = host.copy()
        changed.reshape(-1)[some] = 1
        if changed.tobytes() != host.tobytes():
            yield replace(argument, host=changed, text="")


def _parts(count: int) -> Iterator[slice]:
    """Yield slices from all elements to small parts of them."""
    length = count
    while length >= max(1, count // 16):
        for start in range(0, count, length):
            yield slice(start, start + length)
        length //= 2


def program_of(sample: Sample, device: str, wrong: str) -> str:
    """Return a program of a few lines that shows what is wrong."""
    before = []
    if sample.rewritten:
        before = [
            f"y = {sample.written}",
            "for each in y if isinstance(y, (tuple, list)) else [y]:",
            f"    xpgrad.as_array(each)[...] = {MARK}",
        ]
    return "\n".join([*opening(sample, device), *before, f"print({sample.written})", commented(wrong)])


def opening(sample: Sample, device: str) -> list[str]:
    """Return the lines of a program up to the arguments of the sample, which are ``x0``, ``x1``."""
    given = [line for i, argument in enumerate(sample.arguments) for line in lines_of(f"x{i}", argument, device)]
    return [*header(device, sample.imports), *given]


def header(device: str, imports: Sequence[str] = ()) -> list[str]:
    """Return the first lines of a program that computes on a device."""
    lines = ["import numpy as np", "import xpgrad", "import xpgrad.array_api as xp", *imports, ""]
    return [*lines, f'xpgrad.use("{device}")']


def commented(text: str) -> str:
    """Return a text as a comment."""
    return "\n".join(f"# {line}" for line in text.splitlines())


def lines_of(name: str, argument: Argument, device: str) -> list[str]:
    """Return the lines that make an argument, as a Variable on a device, in its layout."""
    host, layout = argument.host, argument.layout
    if host.ndim == 0 or host.size == 0:
        layout = "contiguous"
    lines = _made(name, argument)
    if layout in ("strided", "offset"):
        shape, parts = surrounding(host.shape, layout)
        filler = "np.nan" if host.dtype.kind in "fc" else "1"
        inside = ", ".join("::2" if part.step else "1:" if part.start else ":" for part in parts)
        lines += [f"larger = np.full({shape}, {filler}, {host.dtype.name!r})", f"larger[{inside}] = {name}"]
        return [*lines, f"{name} = {_sent('larger', device)}[{inside}]"]
    order = tuple(range(host.ndim))[::-1]
    made = {
        "contiguous": _sent(name, device),
        "transposed": f"xp.permute_dims({_sent(f'np.ascontiguousarray({name}.T)', device)}, {order})",
        "reversed": f"xp.flip({_sent(f'np.flip({name}).copy()', device)})",
        "broadcast": f"xp.broadcast_to({_sent(f'np.take({name}, [0], {constant_axis(host)})', device)}, {host.shape})",
    }[layout]
    return [*lines, f"{name} = {made}"]


def _sent(source: str, device: str) -> str:
    return f'xpgrad.Variable({source}).to_device("{device}")'


def _made(name: str, argument: Argument) -> list[str]:
    """Return the lines that make the host array of an argument."""
    host = argument.host
    if argument.text:
        return [f"{name} = {argument.text}"]
    if host.size <= SHOWN or host.ndim == 0:
        made = f"np.asarray({_plain(host.tolist())}, {host.dtype.name!r})"
        return [f"{name} = {made}" + (f".reshape{host.shape}" if host.size == 0 else "")]
    common, others = _common(host)
    if len(others) <= SHOWN:
        made = f"np.full({host.shape}, {_plain(common)}, {host.dtype.name!r})"
        return [
            f"{name} = {made}",
            *(f"{name}[{', '.join(map(str, at))}] = {_plain(host[at].item())}" for at in others),
        ]
    if host.size <= LISTED:
        return [f"{name} = np.asarray({_plain(host.tolist())}, {host.dtype.name!r})"]
    kind = f"np.random.default_rng(0).uniform(-2, 2, {host.shape}).astype({host.dtype.name!r})"
    return [f"{name} = {kind}  # for example"]


def _common(host: Any) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the most frequent element, and the places of all others."""
    found, counts = np.unique(host, return_counts=True)
    common: Any = found[int(np.argmax(counts))]
    same = (host == common) | (np.isnan(host) & np.isnan(common)) if host.dtype.kind in "fc" else host == common
    if common == 0 and host.dtype.kind in "fc":
        same &= np.signbit(host.real) == np.signbit(common.real)
    return np.asarray(common).item(), [tuple(int(i) for i in at) for at in np.argwhere(~same)[: SHOWN + 1]]


def _plain(value: Any) -> str:
    """Return Python for a number or nested lists of them."""
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, complex) and not (np.isfinite(value.real) and np.isfinite(value.imag)):
        return f"complex({_plain(value.real)}, {_plain(value.imag)})"
    return repr(value).replace("nan", "np.nan").replace("inf", "np.inf")
