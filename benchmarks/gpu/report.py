"""The report of a run: what each step gave, the timings as ratios, and every failure with its traceback."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TAIL = 6000
"""Characters of the output of a failed step that the list of failures repeats."""


def write(folder: Path, facts: dict[str, str], done: Sequence[dict[str, Any]]) -> None:
    """Write the files of the report into a folder; those of earlier runs are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    wrong = failures(done)
    for name, text in {
        "report.json": json.dumps({"facts": facts, "steps": done, "timings": timings(done)}, indent=1),
        "report.md": markdown(facts, done),
        "failures.txt": "\n\n".join(f"== {title}\n{text}" for title, text in wrong.items()) or "none\n",
        "output.txt": "\n\n".join(f"== {each['name']}, exit code {each['code']}\n{each['output']}" for each in done),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")


def rows(step: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of JSON in the output of a step."""
    found = []
    for line in step["output"].splitlines():
        try:
            row = json.loads(line) if line.startswith("{") else None
        except ValueError:
            continue
        if isinstance(row, dict) and "name" in row:
            found.append(row)
    return found


def failures(done: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the failures by title: of programs and contestants their tracebacks, of other steps their last output."""
    found = {}
    for step in done:
        within = {
            " ".join(filter(None, (row["name"], row.get("contestant")))): row["failure"]
            for row in rows(step)
            if row.get("failure")
        }
        found |= within
        if step["code"] and not within:
            found[step["name"]] = step["output"][-TAIL:].strip() or f"no output, exit code {step['code']}"
    return found


def timings(done: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the measured rows, each with its ratio to the median of PyTorch and to that of the program by hand."""
    found = [row for step in done for row in rows(step) if "median" in row]
    for row in found:
        for base, key in (("torch", "of torch"), ("CuPy by hand", "of CuPy by hand")):
            medians = [each["median"] for each in found if (each["name"], each["contestant"]) == (row["name"], base)]
            if medians:
                row[key] = row["median"] / medians[0]
    return found


def markdown(facts: dict[str, str], done: Sequence[dict[str, Any]]) -> str:
    """Return the report as Markdown."""
    wrong = failures(done)
    lines = ["# xpgrad on a GPU" if facts["pretended"] == "False" else "# xpgrad on a pretended GPU", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [
        "",
        f"{len(done)} steps, {len(wrong)} failures.",
        "",
        "| step | exit code | seconds |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {each['name']} | {each['code']} | {each['seconds']:.0f} |" for each in done]
    head = "workload", "contestant", "median ms", "of torch", "of CuPy by hand", "peak MB", "error"
    lines += ["", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for row in timings(done):
        ratios = [f"{row[key]:.2f}" if key in row else "" for key in ("of torch", "of CuPy by hand")]
        peak = "" if row.get("peak") is None else f"{row['peak'] / 1e6:.0f}"
        cells = row["name"], row["contestant"], f"{row['median']:.3f}", *ratios, peak, f"{row['error']:.0e}"
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Failures",
        "",
        *(f"- {title}: `{text.strip().splitlines()[-1][:200]}`" for title, text in wrong.items()),
    ]
    return "\n".join(lines) + "\n"
