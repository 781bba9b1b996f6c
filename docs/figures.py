"""Numbers in the text of the documentation, each with a function that computes it; `generate` writes them."""

import inspect
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import xpgrad

ROOT = Path(__file__).parent.parent
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
UFUNCS = re.compile(r"(?<=\| ufuncs of scipy\.special \| why \|\n\|---\|---\|\n)(?:\|.*\|\n)+")
"""The rows of the table of unsupported ufuncs in interop.md."""


class Figure(NamedTuple):
    """A number in a page.

    Attributes
    ----------
    page : str
        The file, from the root.
    text : str
        The surrounding text, with ``{}`` in place of the number.
    compute : callable
        Function that returns the number.
    """

    page: str
    text: str
    compute: Callable[[], str]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Pattern that matches the text with any number, in which blanks also match line breaks."""
        before, after = (
            re.sub(r"(\\ )+", r"\\s+", re.escape(part)).replace("\n", r"\s+") for part in self.text.split("{}")
        )
        return re.compile(rf"({before})([\w.,]*\w)({after})")


def page_text(name: str) -> str:
    """Return the text of a page."""
    return (ROOT / name).read_text(encoding="utf-8")


def consumed() -> str:
    """Return the number of differentiable calls into other libraries in the table that examples/consumers.py writes."""
    table = (
        page_text("docs/interop.md").partition("| calls that differentiate to second order |")[2].partition("\n\n")[0]
    )
    return str(len(re.findall(r"`[^`]+`", table)))


def ufuncs() -> set[str]:
    """Return the names of the ufuncs of scipy.special."""
    import scipy.special  # an optional library

    return {name for name in dir(scipy.special) if isinstance(getattr(scipy.special, name), np.ufunc)}


def supported() -> set[str]:
    """Return the names of the ufuncs that xpgrad provides."""
    from xpgrad.interop.numpy.ufuncs import UFUNCS

    return ufuncs() & {*xpgrad.special.__all__, *UFUNCS}


def digits() -> tuple[int, int]:
    """Return the numbers of training and test scans of digits."""
    train, test = xpgrad.datasets.get_digits()
    return len(train), len(test)


def python() -> str:
    """Return the lowest version of Python."""
    project = tomllib.loads(page_text("pyproject.toml"))["project"]
    return str(project["requires-python"]).removeprefix(">=")


def standard() -> str:
    """Return the version of the Array API standard."""
    from xpgrad.graph.methods.convertible import API_VERSIONS

    return API_VERSIONS[-1]


def programs(folder: str, *without: str) -> str:
    """Return the number of programs in a directory as a word."""
    return WORDS[len({path.stem for path in (ROOT / folder).glob("*.py")} - set(without))]


def scans() -> str:
    """Return the number of scans of digits."""
    return f"{sum(digits()):,}"


def cached_programs() -> str:
    """Return the number of programs that a compiled function keeps."""
    return str(inspect.signature(xpgrad.compile).parameters["cache_size"].default)


def bytes_of_c() -> str:
    """Return the size of the cache of compiled C in units of 2**20 bytes."""
    from xpgrad_c.process import MAX_BYTES

    return str(MAX_BYTES // 2**20)


def in_place_from() -> str:
    """Return from how many elements on the sweep adds to NumPy's arrays in place."""
    return f"{xpgrad.get_device('@numpy').backend.in_place_from:,}"


def release() -> str:
    """Return the minor version."""
    return ".".join(xpgrad.__version__.split(".")[:2])


FIGURES = (
    Figure("README.md", "needs Python {} or newer", python),
    Figure("README.md", "whole Array API standard ({})", standard),
    Figure("README.md", "Version {}: the graph", release),
    Figure("README.md", "Variables: {} calls into SciPy", consumed),
    Figure("README.md", "and {} of SciPy's", lambda: str(len(supported()))),
    Figure("README.md", "of SciPy's {} special functions", lambda: str(len(ufuncs()))),
    Figure("README.md", "learns {} scans of handwritten digits", lambda: f"{digits()[0]:,}"),
    Figure("README.md", "has {} programs on real data", lambda: programs("examples", "consumers", "out_of_core")),
    Figure(
        "README.md", "introductory examples, and {} more nets",
        lambda: programs("examples/chainer", "common", "data_parallel"),
    ),
    Figure("docs/index.md", "needs Python {} or newer", python),
    Figure("docs/versions.md", "runs on Python {} or newer", python),
    Figure("docs/chx.md", "whole Array API standard ({}", standard),
    Figure("docs/interop.md", "xpgrad has {} of the", lambda: str(len(supported()))),
    Figure("docs/interop.md", "of the {} ufuncs of `scipy.special`", lambda: str(len(ufuncs()))),
    Figure("docs/chainer.md", "xpgrad downloads no data: {} scans", scans),
    Figure("examples/chainer/README.md", "are the {} scans that scikit-learn carries", scans),
    Figure("examples/chainer/README.md", "(CC BY 4.0), {} of them held out", lambda: str(digits()[1])),
    Figure("core/xpgrad/cli/demo.py", "Train a perceptron on {} scans", lambda: f"{digits()[0]:,}"),
    Figure("core/xpgrad/cli/demo.py", "and test it on {} held-out", lambda: str(digits()[1])),
    Figure("core/xpgrad/datasets/members.py", "Return {} scans of handwritten digits", lambda: f"{digits()[0]:,}"),
    Figure("docs/compile.md", "of the {} kinds that were used last", cached_programs),
    Figure("docs/compile.md", "Beyond {} MB the least", bytes_of_c),
    Figure("docs/design/sweep.md", "be added to in place (from {} elements on", in_place_from),
)  # fmt: skip


def pages() -> list[str]:
    """Return the pages that have figures."""
    return list(dict.fromkeys(figure.page for figure in FIGURES))


def written(page: str, text: str) -> str:
    """Return the text of a page with its current figures.

    Raises
    ------
    ValueError
        The page does not have the text of a figure once.
    """
    for figure in FIGURES:
        if figure.page == page:
            text, count = figure.pattern.subn(rf"\g<1>{figure.compute()}\g<3>", text)
            if count != 1:
                raise ValueError(f"{page}: expected {figure.text!r} once, got it {count} times")
    return _without_supported(text) if page == "docs/interop.md" else text


def _without_supported(text: str) -> str:
    """Return interop.md after removing supported functions from the table of unsupported functions."""
    have, rows = supported(), ""
    for names, why in _rows(text):
        left = [f"`{name}`" for name in names if name not in have]
        rows += f"| {' '.join(left)} | {why}\n" if left else ""
    return UFUNCS.sub(lambda _: rows, text)


def lacking(text: str) -> set[str]:
    """Return the names in the table of unsupported ufuncs in interop.md."""
    return {name for names, _ in _rows(text) for name in names}


def _rows(text: str) -> list[tuple[list[str], str]]:
    """Return the names in each row of the table of unsupported ufuncs, and the remainder of the row."""
    table = UFUNCS.search(text)
    if table is None:
        raise ValueError("docs/interop.md: expected the table of the ufuncs of scipy.special that xpgrad lacks")
    parts = (line.partition(" | ")[::2] for line in table[0].splitlines())
    return [(re.findall(r"`(\w+)`", names), why) for names, why in parts]


def prose(page: str) -> str:
    """Return the text of a page without the tables that the benchmarks write."""
    return re.sub(r"<!-- measured: .*?<!-- end -->", "", page_text(page), flags=re.DOTALL)


def overheads() -> list[float]:
    """Return the overhead over NumPy in microseconds, for each row of benchmarks.md with a chain of operations."""
    rows = re.findall(r"^\| (?:\*\*)?P[128]\b.*?\| ([\d.]+) µs/op \| ([\d.]+) ", page_text("docs/benchmarks.md"), re.M)
    return [float(h) * (float(ratio) - 1) for h, ratio in rows]


def plugin_lines() -> int:
    """Return the number of lines of the plugin in backends.md, without comments and blank lines."""
    block = (
        page_text("docs/backends.md").partition("```python file=src/xpgrad_boxed/plugin.py\n")[2].partition("```")[0]
    )
    return sum(bool(line.strip()) and not line.lstrip().startswith(("#", '"""')) for line in block.splitlines())
