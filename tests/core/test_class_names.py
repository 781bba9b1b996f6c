"""The names of classes in the core, the backends and the conformance suite: one name, one class."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLIC = {
    "Backend": "ChainerX's kind of memory, beside the interface of a library",
    "ChainerxDevice": "imported late by `xpgrad.backend`", "CpuDevice": "imported late by `xpgrad.backend`",
    "Device": "ChainerX's device", "DtypeError": "ChainerX's error", "GpuDevice": "imported late by `xpgrad.backend`",
    "GradientError": "ChainerX's error", "Normal": "an initializer and a distribution",
    "Parameter": "a Variable and a link", "TimerHook": "a hook of functions and one of links",
    "Uniform": "an initializer and a distribution",
}  # fmt: skip
"""Public names, under which Chainer has several classes, too."""


def several(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the classes that are defined more than once, with their files, from names and texts of files."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, text in sources:
        for defined in re.findall(r"^[ \t]*class (\w+)\b.*[:(]", text, re.MULTILINE):
            found[defined].append(name)
    return {name: files for name, files in found.items() if len(files) > 1}


def test_a_class_name_stands_for_one_class() -> None:
    paths = [path for part in ("core", "backends", "conformance/src") for path in (ROOT / part).rglob("*.py")]
    found = several((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths)
    assert {name: files for name, files in found.items() if name not in PUBLIC} == {}
    assert found.keys() == PUBLIC.keys()


@pytest.mark.parametrize("text", ["class A: ...", "def f():\n    class A: ..."])
def test_a_second_class_of_a_name_is_found(text: str) -> None:
    assert several([("a.py", "class A: ...\nclass B: ..."), ("b.py", text)]) == {"A": ["a.py", "b.py"]}
