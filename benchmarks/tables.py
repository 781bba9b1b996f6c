"""Measured parts of the documentation, as Markdown computed from the results of a run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks import costs, sizes
from benchmarks.curves import Curve, number, sentence, slope
from benchmarks.peers import DISTRIBUTIONS

Result = Mapping[str, Any]

COLUMNS = {
    "h": "h",
    "xpgrad": "xpgrad",
    "xpgrad compiled c": "`c`",
    "xpgrad compiled python": "`python`",
    "t": "torch",
    "torch.compile": "torch.compile",
    "jax": "jax.jit",
    "autograd": "autograd",
    "advect": "advect",
    "advect stage": "advect stage",
}
"""The contestants of the tables, in order, and their headings; a column without a value is left out."""
NAMES = COLUMNS | {
    "h": "NumPy by hand",
    "xpgrad compiled c": "compiled by `c`",
    "xpgrad compiled python": "compiled by `python`",
    "t": "torch eager",
}
"""What the contestants are called in sentences."""
ABSOLUTE = "x.nbytes", "MB", "B/op", "ratio"
"""Units of what is not given as a ratio to `h`."""
WORKLOADS = *(f"P{i}" for i in range(1, 14)), "P6263", "CHECKPOINT", "SCAN", "EPOCH", "OPTIMIZERS"
DERIVATIVES = {"JACOBIAN": "jax", "HESSIAN": "jax", "EXAMPLES": "t", "JVP": "plain"}
"""Workloads beyond a gradient, and the contestant that the ratios of each are to."""
BASES = {"t": "`torch.func`", "jax": "`jax.jit`", "plain": "plain call"}
"""What these contestants are called there."""
COMPARED = (
    ("xpgrad", "t"),
    ("xpgrad", "autograd"),
    ("xpgrad", "h"),
    ("xpgrad compiled python", "xpgrad"),
    ("xpgrad compiled c", "xpgrad"),
    ("xpgrad compiled c", "xpgrad compiled python"),
    ("xpgrad compiled c", "t"),
    ("xpgrad compiled c", "torch.compile"),
    ("xpgrad compiled c", "jax"),
    ("xpgrad", "jax"),
)
"""Pairs whose crossings are named."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table without columns that are empty in all rows."""
    kept = [i for i in range(len(head)) if i == 0 or any(row[i] for row in rows)]
    lines = [[head[i] for i in kept], ["---"] * len(kept), *([row[i] for i in kept] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def environment(result: Result) -> str:
    """Return the versions, the processor and the date of the run."""
    about = result["environment"]
    versions = [
        f"{name} {each}"
        for name in DISTRIBUTIONS.values()
        if name != "xpgrad" and (each := about["versions"].get(name))
    ]
    missing = [name for name in DISTRIBUTIONS.values() if about["versions"].get(name) is None]
    text: str = (
        f"This run: Python {about['python']}, {', '.join(versions)}; {about['cpus']} cores, {about['processor']}; "
    )
    text += about["date"][:10]
    return text + (f". Not installed: {', '.join(missing)}." if missing else ".")


def ratio(value: float) -> str:
    """Return a ratio with two significant digits."""
    return f"{value:.3g}" if value >= 10 else f"{value:.2f}" if value >= 0.095 else f"{value:.1g}"


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    own = row["per_h"] is None or row["contestant"] == "h" or row["unit"] in ABSOLUTE
    value = _quantity(row["minimum"], row["unit"]) if own else ratio(row["per_h"])
    texts = []
    for limit, kept in row["verdicts"].items():
        shown = f"{ratio(row['ratios'][limit])}{limit[-1]}" if limit[-1] in "tk" else value
        bound = limit.rstrip("h")
        texts.append(f"{shown} ≤ {bound}" if kept else f"**{shown} > {bound}**")
    return "; ".join(texts) or value


def _quantity(value: float, unit: str) -> str:
    digits = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{digits} {unit}".strip() if unit not in ("ratio", "x.nbytes") else digits


def _cases(
    reports: Mapping[str, Any], names: Iterable[str], wanted: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a workload, the title of one of its cases, and the row of each contestant."""
    for name in names:
        report, titled = reports.get(name), False
        if report is None:
            continue
        cases: dict[str, dict[str, Any]] = {}
        for row in report["rows"]:
            cases.setdefault(row["case"], {})[row["contestant"]] = row
        for case, found in cases.items():
            if wanted(case):
                title = name if titled else f"**{name}** {report['title']}"
                yield name, f"{title}: {case}".removesuffix(": "), found
                titled = True


def _workload_rows(reports: Mapping[str, Any], wanted: Callable[[str], bool]) -> list[list[str]]:
    cases = _cases(reports, WORKLOADS, wanted)
    return [[title, *(_cell(found.get(each)) for each in COLUMNS)] for _, title, found in cases]


def _in_process(case: str) -> bool:
    return case.endswith(("alone", "peak"))


def one_core(result: Result) -> str:
    """Return the table of times on one core."""
    rows = _workload_rows(result["workloads"], lambda case: not _in_process(case) or case == "100,000, alone")
    return table(["forward + backward (+ free)", *COLUMNS.values()], rows)


def two_cores(result: Result) -> str:
    """Return the table of times on two cores."""
    return table(
        ["forward + backward (+ free)", *COLUMNS.values()], _workload_rows(result["two_cores"], lambda _: True)
    )


def alone(result: Result) -> str:
    """Return the table of times and peaks in separate processes."""
    reports = {name: report for name, report in result["workloads"].items() if name != "P8"}
    return table(["in a separate process", *COLUMNS.values()], _workload_rows(reports, _in_process))


def derivatives(result: Result) -> str:
    """Return the table of Jacobians, Hessians, gradients for each example and tangents."""
    rows = []
    for name, title, found in _cases(result["workloads"], DERIVATIVES):
        base = found.get(DERIVATIVES[name])
        if base is not None:
            shown = f"{BASES[DERIVATIVES[name]]} {_quantity(base['minimum'], base['unit'])}"
            rows.append([title, shown, *(_relative(found.get(each), base) for each in COLUMNS)])
    return table(["", "base", *COLUMNS.values()], rows)


def _relative(row: Mapping[str, Any] | None, base: Mapping[str, Any]) -> str:
    if row is None or row is base:
        return ""
    shown = ratio(row["minimum"] / base["minimum"])
    verdicts = row["verdicts"].items()
    texts = [f"{shown} ≤ {limit[:-1]}" if kept else f"**{shown} > {limit[:-1]}**" for limit, kept in verdicts]
    return "; ".join(texts) or shown


def compile_time(result: Result) -> str:
    """Return the table of the costs of programs, and the lines for measurements without a workload."""
    cells: dict[str, dict[str, str]] = {}
    lines = []
    for row in result["workloads"]["COMPILE"]["rows"]:
        name, colon, what = row["case"].partition(": ")
        ((limit, kept),) = row["verdicts"].items()
        unit = "" if row["unit"] == "ratio" else f" {row['unit']}"
        value = f"{row['minimum']:.2g}{unit}" if kept else f"**{row['minimum']:.2g}{unit} > {limit}**"
        if colon:
            cells.setdefault(name, {})[f"{what} (≤ {limit}{unit})"] = value
        else:
            lines.append(
                f"- {name}: {_quantity(row['minimum'], row['unit'])} {'≤' if kept else '**>**'} {float(limit):,.5g}"
            )
    heads = list(dict.fromkeys(head for found in cells.values() for head in found))
    rows = [[name, *(found.get(head, "") for head in heads)] for name, found in cells.items()]
    return table(["", *heads], rows) + "\n\n" + "\n".join(lines)


def curve(points: Sequence[Mapping[str, float]], key: str = "seconds") -> dict[float, float]:
    """Return one quantity of points against their size."""
    return {point["size"]: point[key] for point in points if point.get(key)}


def crossovers(result: Result) -> str:
    """Return a line for each two contestants that are compared: which is faster at which sizes."""
    found = result["curves"]["sizes"]
    lines = [
        sentence(NAMES[one], NAMES[other], curve(found[one]), curve(found[other]))
        for one, other in COMPARED
        if one in found and other in found
    ]
    for name, points in result["curves"].get("sizes_on_two_cores", {}).items():
        if name in found:
            title = f"{NAMES[name]} on two cores"
            lines.append(sentence(title, "on one", curve(points), curve(found[name])))
    return "\n".join(f"- {line[0].upper() if line.startswith('c') else line[0]}{line[1:]}" for line in lines if line)


def _sizes(measured: Curve) -> list[int]:
    return [size for size in sizes.SIZES[::2] if size in measured]


def regimes(result: Result) -> str:
    """Return the nanoseconds of an operation, for each element, against the size of the array."""
    found = {name: curve(points) for name, points in result["curves"]["sizes"].items()}
    names = [name for name in COLUMNS if name in found]
    rows = []
    for size in _sizes(found["xpgrad"]):
        each = [found[name].get(size) for name in names]
        rows.append(
            [number(size), *("" if s is None else _quantity(s / size / sizes.OPERATIONS * 1e9, "") for s in each)]
        )
    return table(["elements", *(COLUMNS[name] for name in names)], rows)


def pays(result: Result) -> str:
    """Return the number of calls after which compiling saves time, compared with eager xpgrad."""
    found = result["curves"]["sizes"]
    eager = curve(found["xpgrad"])
    names = [name for name in COLUMNS if name in found and curve(found[name], "making") and name in MADE]
    rows = []
    for size in _sizes(eager):
        cells = []
        for name in names:
            spent, making = curve(found[name]).get(size), curve(found[name], "making").get(size)
            if spent is None or making is None or size not in eager:
                cells.append("")
            else:
                cells.append(number(making / (eager[size] - spent) + 1) if spent < eager[size] else "never")
        rows.append([number(size), *cells])
    return table(["elements", *(COLUMNS[name] for name in names)], rows)


MADE = "xpgrad compiled c", "xpgrad compiled python", "torch.compile", "jax", "advect stage"


def depths(result: Result) -> str:
    """Return microseconds an operation of a chain against its length, and the bytes of its graph."""
    found = result["curves"]["depths"]
    parts = {"recording": "recording, µs/op", "sweep": "sweep, µs/op", "freeing": "freeing, µs/op"}
    rows = []
    for depth in sorted(curve(found["xpgrad"])):
        cells = [_at(found["xpgrad"], key, depth, 1e6) for key in parts] + [_at(found["xpgrad"], "bytes", depth, 1)]
        cells += [_at(found[name], "seconds", depth, 1e6) for name in found if name != "xpgrad"]
        rows.append([number(depth), *cells])
    others = [f"{NAMES[name]}, µs/op" for name in found if name != "xpgrad"]
    return table(["operations", *parts.values(), "bytes/op", *others], rows)


def _at(points: Sequence[Mapping[str, float]], key: str, size: float, scale: float) -> str:
    value = curve(points, key).get(size)
    return "" if value is None else f"{value * scale:.3g}"


def single_costs(result: Result) -> str:
    """Return how single costs grow, with the exponent of the power law that fits each."""
    rows = []
    for name, points in result["curves"]["costs"].items():
        cost, measured = costs.COSTS[name], dict(points)
        values = ", ".join(f"{number(n)}: {value:.3g}" for n, value in measured.items())
        rows.append([cost.title, cost.unit, f"{cost.against}: {values}", _exponent(measured)])
    for key in ("recording", "sweep", "freeing", "bytes"):
        measured = curve(result["curves"]["depths"]["xpgrad"], key)
        scale, unit = (1, "B/op") if key == "bytes" else (1e6, "µs/op")
        values = ", ".join(f"{number(n)}: {value * scale:.3g}" for n, value in measured.items() if n >= 1000)
        title = {"recording": "recording of a node", "sweep": "backward through a node", "freeing": "freeing a node"}
        large: Curve = {n: value for n, value in measured.items() if n >= 1000}
        rows.append([title.get(key, "memory of a node"), unit, f"operations: {values}", _exponent(large)])
    return table(["cost", "unit", "measured", "exponent"], rows)


def _exponent(curve: Curve) -> str:
    return f"{slope(curve):+.2f}" if len(curve) > 1 else ""


def threads(result: Result) -> str:
    """Return the speed-up of two cores over one, against the size of the array."""
    one, two = result["curves"]["sizes"], result["curves"].get("sizes_on_two_cores", {})
    names = [name for name in two if name in one]
    if not names:
        return "Not measured: no executor of this version uses threads."
    rows = []
    for size in _sizes(curve(one[names[0]])):
        pairs = [(curve(one[name]).get(size), curve(two[name]).get(size)) for name in names]
        rows.append([number(size), *("" if a is None or b is None else ratio(a / b) for a, b in pairs)])
    return table(["elements", *(COLUMNS[name] for name in names)], rows)
