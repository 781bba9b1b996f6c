"""Write the generated parts of the documentation: `python docs/generate.py`. A test compares them with the code."""

import ast
import importlib
import inspect
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import figures

from xpgrad.backend.capabilities import FACTS
from xpgrad.backend.kernels import Declaration, table
from xpgrad.backend.standard import FUNCTIONS
from xpgrad.cli.catalogue import load

DOCS = Path(__file__).parent
CERTIFICATES = DOCS / "conformance"
WHERE_KERNELS_ARE = "xpgrad.array_api", "xpgrad.special", "xpgrad.ops", "xpgrad.functions"
CHAPTERS = "The standard's functions", "xpgrad's own", "Extension linalg", "Extension fft", "Extension special"
"""Chapters of the page on kernels; the kernels that most backends replace come first."""
HEADER = """# Kernels

Arguments, results and default implementations of every kernel of this version. A backend may replace any kernel (see
the rules in [backends.md](backends.md#kernels)); otherwise xpgrad uses the default, with the functions of the backend's
namespace. Arrays are passed by position and parameters by name; every argument is always passed. The last column lists
the kernels for gradients: `f.x(gy, ...)` is the gradient of `f` for its input `x`, computed from the cotangent `gy` and
the arguments of the rule of `f`; `f.together(gy, ...)` returns the gradients for all inputs that have one, where all
are needed. Their default is the formula of the rule, which a recorded sweep always uses. `x_spec` is shape, dtype and
device of `x`; `y` is the output.

This page is written by `python docs/generate.py`.
"""
COMPATIBILITY = """# Compatibility

The versions that each distribution allows, and the versions of its certificate. `make check-oldest` tests the lowest
versions of xpgrad's dependencies.

This page is written by `python docs/generate.py`, from the files pyproject.toml and the reports in conformance/.

| distribution | Python | needs | certified with |
|---|---|---|---|
"""
COLUMNS = "| kernel | returns | default | gradients |\n|---|---|---|---|"


def kernels() -> str:
    """Return the page on kernels."""
    for module in WHERE_KERNELS_ARE:
        importlib.import_module(module)
    for module in dict.fromkeys(table.late.values()):
        importlib.import_module(module)
    pullbacks: dict[str, list[Declaration]] = {}
    for name, declaration in table.declared.items():
        if declaration.optional:
            pullbacks.setdefault(name.rpartition(".")[0], []).append(declaration)
    chapters: dict[str, list[str]] = {}
    for name, declaration in sorted(table.declared.items()):
        if not declaration.optional:
            chapters.setdefault(_chapter(name), []).append(_row(declaration, pullbacks.get(name, [])))
    text = HEADER
    for chapter, rows in sorted(chapters.items(), key=lambda pair: (CHAPTERS.index(pair[0]), pair)):
        text += (
            f"\n## {chapter}\n\n| kernel | returns | default | gradients |\n|---|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
    return text


def _chapter(name: str) -> str:
    extension, _, function = name.rpartition(".")
    if extension:
        return f"Extension {extension}"
    return CHAPTERS[0] if function in FUNCTIONS else CHAPTERS[1]


def _row(declaration: Declaration, pullbacks: list[Declaration]) -> str:
    name = declaration.name
    if declaration.body is None:
        call = "scatter_add(spec, [(index, value), ...])"
        return f"| `{call}` | zeros of `spec` with all values added at their index | none: a backend must have it | |"
    arrays = list(inspect.signature(declaration.body).parameters)[1 : declaration.arrays + 1]
    call = f"{name}({', '.join([*arrays, *(f'{p}=' for p in declaration.parameters)])})"
    says = (declaration.body.__doc__ or "").partition("\n\n")[0].replace("\n", " ").strip().rstrip(".")
    says = re.sub(r"\s+", " ", says.removeprefix("Return ")).replace("|", "\\|")
    default = "library function" if name in FUNCTIONS else "standard calls"
    gradients = ", ".join(f"`.{p.name.rpartition('.')[2]}({', '.join(_asked(p))})`" for p in pullbacks)
    return f"| `{call}` | {says} | {default} | {gradients} |"


def _asked(pullback: Declaration) -> tuple[str, ...]:
    """Return the parameters of the rule of a gradient, without the namespace."""
    assert pullback.rule is not None
    code = pullback.rule.__code__
    return code.co_varnames[1 : code.co_argcount]


def certified() -> str:
    """Return the table of certified backends, from the reports."""
    rows = [
        "| backend | library | suite | level | passed of planned | skipped | report |",
        "|---|---|---|---|---|---|---|",
    ]
    for file in sorted(CERTIFICATES.glob("*/conformance.json")):
        report = json.loads(file.read_text(encoding="utf-8"))
        counts = {
            key: sum(row[key] for row in report["families"]) for key in ("planned", "passed", "skipped", "expected")
        }
        level = "none" if report["level"] is None else str(report["level"])
        level += ", thin" if report["profile"] == "thin" else ""
        known = f", {counts['expected']} declared failures" if counts["expected"] else ""
        page = f"conformance/{file.parent.name}/conformance.md"
        rows.append(
            f"| `{report['backend']}` | {report['versions']['library']} | {report['suite']} | {level}{known} | "
            f"{counts['passed']:,} of {counts['planned']:,} | {counts['skipped']:,} | [page]({page}) |"
        )
    return "\n".join(rows)


def facts() -> str:
    """Return the table of capabilities."""
    return "\n".join(["| fact | meaning |", "|---|---|", *(f"| `{fact}` | {text} |" for fact, text in FACTS.items())])


def certification(text: str) -> str:
    """Return the page on certification with its generated tables."""
    return _filled(text, facts=facts(), certified=certified())


def chainer(text: str) -> str:
    """Return the page on Chainer with the tables of its catalogue."""
    same, others = ["| module | the same |", "|---|---|"], dict.fromkeys(("better", "renamed", "gone"), "")
    counts = dict.fromkeys(("same", *others), 0)
    catalogue = load()
    for module, entries in catalogue.modules.items():
        names = [_plain(name) for name, entry in entries.items() if entry.state == "same"]
        if names:
            same.append(f"| {module} | {' '.join(names)} |")
        for entry in entries.values():
            counts[entry.state] += 1
            if entry.state in others:
                here = f"`{entry.here}`" + ": " * bool(entry.text) if entry.state == "renamed" else ""
                others[entry.state] += f"\n| {_plain(entry.path)} | {here}{entry.text} |"
    for module, why in catalogue.elsewhere.items():
        others["gone"] += f"\n| {_plain(module)} (whole module) | {why} |"
    total = ", ".join(f"{count} {state}" for state, count in counts.items())
    heads = {state: f"| in Chainer | {state} |\n|---|---|{rows}" for state, rows in others.items()}
    return _filled(text, counts=f"{sum(counts.values())} names: {total}.", same="\n".join(same), **heads)


def scipy(text: str) -> str:
    """Return the page on SciPy's functions with the table of what the tests check of each, by their case table."""
    sys.path.insert(0, str(DOCS.parent))
    from tests.core.scipy.test_differentiated import CASES  # needs pytest

    by: dict[tuple[str, str], str] = {}
    for chapter, names, arguments in re.findall(r"^\| `([\w.]+)` \| (.+) \| (.+) \|$", text, re.MULTILINE):
        by |= {(chapter, name): arguments for name in re.findall(r"`(\w+)`", names)}
    rows = [
        "| function | by | orders of derivatives | batches | libraries |",
        "|---|---|---|---|---|",
    ]
    cases: dict[str, list[Any]] = {}
    for case in CASES:
        cases.setdefault(re.split(r"[:,]", case.name)[0], []).append(case)
    for name, found in sorted(cases.items()):
        chapter, _, function = name.rpartition(".")
        orders, batched = max(case.orders for case in found), any(case.batched for case in found)
        libraries = "all" if any(case.libraries for case in found) else "NumPy"
        arguments = by.get((chapter, function)) or next(x for (c, _), x in by.items() if c == chapter.partition(".")[0])
        rows.append(f"| `{name}` | {arguments} | {orders} | {'yes' if batched else 'no'} | {libraries} |")
    return _filled(text, cases="\n".join(rows))


def _plain(name: str) -> str:
    return name.replace("_", "\\_")


def _filled(text: str, **tables: str) -> str:
    for mark, table_ in tables.items():
        begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table_}\n{end}{rest.partition(end)[2]}"
    return text


def design(text: str) -> str:
    """Return the page on the design with its generated table."""
    return _filled(text, layers=layers())


def layer_names() -> list[list[str]]:
    """Return the modules of each layer of the core, highest first, from import-linter's contract."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (found,) = (contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [layer.split(" | ") for layer in found]


def layers() -> str:
    """Return the table of the core's layers, with the first lines of their docstrings."""
    rows, found = [], layer_names()
    for number, layer in zip(range(len(found), 0, -1), found, strict=True):
        for name in filter("__main__".__ne__, layer):
            package = DOCS.parent / "core" / "xpgrad" / name
            path = package / "__init__.py" if package.is_dir() else package.with_suffix(".py")
            summary = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
            rows.append(f"| {number} | `{name}` | {summary.replace('``', '`').replace('|', chr(92) + '|')} |")
    return "\n".join(["| layer | module | contents |", "|---|---|---|", *rows])


def compatibility() -> str:
    """Return the page on libraries: versions allowed by pyproject.toml, and versions of the certificates."""
    root = DOCS.parent
    text = COMPATIBILITY
    for file in [
        root / "pyproject.toml",
        root / "conformance" / "pyproject.toml",
        *sorted(root.glob("plugins/*/pyproject.toml")),
    ]:
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        needs = ", ".join(f"`{one}`" for one in project["dependencies"] if not one.startswith("xpgrad"))
        text += f"| `{project['name']}` | `{project['requires-python']}` | {needs} | {_tested(project['name'])} |\n"
    return text


def _tested(name: str) -> str:
    """Return the versions in the certificate of a distribution; the suite and xpgrad use the certificate of NumPy."""
    backend = "numpy" if name in ("xpgrad", "xpgrad-conformance") else name.removeprefix("xpgrad-")
    file = CERTIFICATES / backend / "conformance.json"
    if not file.exists():
        return "not certified"
    report = json.loads(file.read_text(encoding="utf-8"))
    versions = report["versions"]
    return f"{versions['library']}, Python {versions['python']}, {versions['platform']}, suite {report['suite']}"


def main() -> None:
    """Write the pages."""
    (DOCS / "kernels.md").write_text(kernels(), encoding="utf-8")
    (DOCS / "compatibility.md").write_text(compatibility(), encoding="utf-8")
    page = DOCS / "certification.md"
    page.write_text(certification(page.read_text(encoding="utf-8")), encoding="utf-8")
    page = DOCS / "chainer.md"
    page.write_text(chainer(page.read_text(encoding="utf-8")), encoding="utf-8")
    page = DOCS / "scipy.md"
    page.write_text(scipy(page.read_text(encoding="utf-8")), encoding="utf-8")
    page = DOCS / "design.md"
    page.write_text(design(page.read_text(encoding="utf-8")), encoding="utf-8")
    for name in figures.pages():
        (DOCS.parent / name).write_text(figures.written(name, figures.page_text(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
