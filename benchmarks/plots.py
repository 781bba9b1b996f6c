"""Plots of docs/benchmarks.md: cost and memory against the size of arrays and the depth of graphs."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import sizes

STYLES = {
    "xpgrad": ("xpgrad eager", "#c0392b", "-"),
    "xpgrad compiled c": ("xpgrad compiled, c", "#1f4e9c", "-"),
    "xpgrad compiled c, two cores": ("xpgrad compiled, c, two cores", "#1f4e9c", ":"),
    "xpgrad compiled python": ("xpgrad compiled, python", "#2e86de", "-"),
    "xpgrad compiled python, two cores": ("xpgrad compiled, python, two cores", "#2e86de", ":"),
    "h": ("NumPy by hand", "#000000", "--"),
    "t": ("torch eager", "#e67e22", "--"),
    "torch.compile": ("torch.compile", "#e67e22", "-."),
    "jax": ("jax.jit", "#27ae60", "--"),
    "autograd": ("autograd", "#8e44ad", "--"),
    "advect": ("advect", "#7f8c8d", "--"),
    "advect stage": ("advect stage", "#7f8c8d", "-."),
}
"""Name in the legend, colour and line of each contestant: solid for xpgrad, broken for peers."""

Points = Mapping[str, Sequence[Mapping[str, float]]]


def draw(curves: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw all plots into a directory, as SVG, and return their files."""
    plt = importlib.import_module("matplotlib.pyplot")  # so that workloads run without it

    folder.mkdir(parents=True, exist_ok=True)
    on_two = {f"{name}, two cores": points for name, points in curves.get("sizes_on_two_cores", {}).items()}
    by_size, by_depth = {**curves["sizes"], **on_two}, curves["depths"]
    settings = {"svg.hashsalt": "xpgrad", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    files = []
    with plt.rc_context(settings):
        figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
        _lines(axes, by_size, "seconds", 1e6 / sizes.OPERATIONS)
        axes.set(xlabel="elements of the array", ylabel="forward + backward, µs an operation", yscale="log")
        files.append(_saved(figure, folder / "size.svg"))

        figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
        _lines(axes, by_depth, "seconds", 1e6)
        axes.set(xlabel="operations in a chain", ylabel="forward + backward + free, µs an operation", yscale="log")
        files.append(_saved(figure, folder / "depth.svg"))

        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
        _lines(left, curves["sizes"], "peak", 1)
        left.set(xlabel="elements of the array", ylabel="peak memory, in sizes of the input", ylim=(0, None))
        _lines(right, by_depth, "bytes", 1)
        right.set(xlabel="operations in a chain", ylabel="bytes an operation of the graph", ylim=(0, None))
        files.append(_saved(figure, folder / "memory.svg"))
        plt.close("all")
    return files


def _lines(axes: Any, curves: Points, key: str, scale: float) -> None:
    for name, (label, colour, line) in STYLES.items():
        points = [(point["size"], point[key] * scale) for point in curves.get(name, ()) if key in point]
        if points and not (key == "bytes" and name == "h"):  # code by hand keeps no arrays
            axes.plot(*zip(*points, strict=True), label=label, color=colour, linestyle=line, marker=".", markersize=4)
    axes.set_xscale("log")
    axes.legend(fontsize=7, frameon=False)


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, metadata={"Date": None})  # the same data gives the same file
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
    return path
