"""Pages of the reference: a page for each public module with a table of its names, and a page for each name."""

import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, get_origin

from _site.docstrings import linked
from _site.public import MODULES, Name, constants, homes, is_object, listed, summary

NO_SIDEBAR = ":html_theme.sidebar_secondary.remove: true\n\n"
WARNING = ".. Written by docs/_site/reference.py when the site is built.\n\n"


def write(folder: Path, pages: dict[str, str]) -> None:
    """Write changed pages to a directory; Sphinx does not read unchanged files again."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for stem, text in pages.items():
        path = folder / f"{stem}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def pages_of(found: Sequence[Name]) -> Iterator[tuple[str, str]]:
    """Yield the names of files, without suffix, with their texts."""
    others: dict[str, list[str]] = defaultdict(list)
    for name in found:
        if not name.is_home:
            others[name.home].append(name.path)
    stems = file_names(found)
    yield "index", index()
    for path in MODULES:
        yield path, module_page(path, [name for name in found if name.module == path], stems)
    for name in found:
        if name.is_home:
            yield stems[name.path], name_page(name, others[name.path])


def index() -> str:
    """Return the page that lists the modules."""
    text = f"{NO_SIDEBAR}{WARNING}{heading('Reference', '=')}" + (
        "Every public name, from the docstrings of the code, with the types of its source. A name in more than one "
        "module has its page in the first; the other names link to it.\n\n.. list-table::\n   :class: names\n"
        "   :widths: 30 70\n\n"
    )
    for path, said in MODULES.items():
        text += f"   * - :py:mod:`{path}`\n     - {linked(said, path)}\n"
    return text + "\n.. toctree::\n   :hidden:\n\n" + "".join(f"   {path}\n" for path in MODULES)


def file_names(found: Sequence[Name]) -> dict[str, str]:
    """Return the file of each name at its home; files differ in more than the case of letters."""
    taken: set[str] = {path.lower() for path in MODULES}
    stems = {}
    for name in sorted((each for each in found if each.is_home), key=lambda each: inspect.isclass(each.value)):
        stem = name.path if name.path.lower() not in taken else f"{name.path}-class"
        taken.add(stem.lower())
        stems[name.path] = stem
    return stems


def module_page(path: str, found: Sequence[Name], stems: dict[str, str]) -> str:
    """Return the page of a module: its docstring, and its names with their summaries."""
    module = importlib.import_module(path)
    text = f"{WARNING}{heading(path, '=')}.. py:module:: {path}\n\n{linked(inspect.getdoc(module) or '', path)}\n\n"
    for title, group in groups(module, found) if found else ():
        if title:
            text += heading(title, "-")
        text += ".. list-table::\n   :class: names\n   :widths: 30 70\n\n"
        for name in group:
            text += f"   * - :py:obj:`{name.name} <{name.home}>`\n     - {cell(name)}\n"
        text += "\n"
    modules = {value.__name__ for each in listed(module) if (value := _module(module, each))} & {*MODULES}
    if modules and path != "xpgrad":
        text += heading("Modules", "-")
        text += "".join(f"- :py:mod:`{each}`: {linked(MODULES[each], path)}\n" for each in sorted(modules))
    home = [name for name in found if name.is_home]
    if home:
        text += "\n.. toctree::\n   :hidden:\n\n"
        text += "".join(f"   {name.name} <{stems[name.path]}>\n" for name in home)
    return text


def _module(module: ModuleType, name: str) -> ModuleType | None:
    try:
        value = getattr(module, name)
    except ImportError:
        return None
    return value if inspect.ismodule(value) else None


def groups(module: ModuleType, found: Sequence[Name]) -> Iterator[tuple[str, list[Name]]]:
    """Yield the names of a module by the files in which they are defined; few names are one group."""
    if len(found) <= 40:
        yield "", found
        return
    by_file: dict[str, list[Name]] = defaultdict(list)
    for name in found:
        by_file[_file(module, name)].append(name)
    small = [each for file in [key for key, value in by_file.items() if len(value) < 3] for each in by_file.pop(file)]
    yield from sorted(by_file.items())
    if small:
        yield "Others", sorted(small, key=lambda name: name.name)


def _file(module: ModuleType, name: Name) -> str:
    """Return the start of the docstring of the module that defines an object."""
    if not is_object(name.value):
        return "Constants and dtypes"
    if inspect.isclass(name.value) and issubclass(name.value, Exception):
        return "Errors and warnings"
    where = str(name.value.__module__)
    if where not in sys.modules:  # a function in a namespace, defined in another module
        where = str(inspect.unwrap(name.value).__module__)
    if where == module.__name__:
        return "Others"
    first = summary(importlib.import_module(where).__doc__).partition(": ")[0].partition(", ")[0].partition("; ")[0]
    return first.rstrip(".").partition(". ")[0].replace("`", "")


def cell(name: Name) -> str:
    """Return the first sentence of the description of a name."""
    said = inspect.getdoc(name.value) if is_object(name.value) else described(name)[1]
    return linked(summary(said), name.module, name.value)


def name_page(name: Name, others: list[str]) -> str:
    """Return the page of a name."""
    text = f"{NO_SIDEBAR}{WARNING}{heading(name.path, '=')}.. py:currentmodule:: {name.module}\n\n"
    if not is_object(name.value):
        text += data(name)
    elif inspect.isclass(name.value):
        text += f".. autoclass:: {name.path}\n   :members:\n   :show-inheritance:\n"
        text += f"   :inherited-members: {', '.join(public_bases(name.value))}\n"
    else:
        text += f".. autofunction:: {name.path}\n"
    if others:
        text += f"\n.. also-named:: {name.path} {' '.join(others)}\n"
    return text


def public_bases(cls: type) -> list[str]:
    """Return the bases whose members are not repeated: bases with a page, and bases from other libraries."""
    bases = [base for base in cls.__mro__[1:] if id(base) in homes() or not base.__module__.startswith("xpgrad")]
    return [base.__name__ for base in bases]


def shown_bases(bases: Iterable[Any]) -> Iterator[Any]:
    """Yield public bases, replacing private bases by their bases; omit `object` and `Generic`."""
    for base in bases:
        cls = get_origin(base) or base
        if id(cls) in homes() or not cls.__module__.startswith("xpgrad"):
            if cls not in (object, Generic):
                yield base
        else:
            yield from shown_bases(cls.__bases__)


def data(name: Name) -> str:
    """Return the description of a value that is neither a function nor a class."""
    value, said = described(name)
    lines = [f".. py:data:: {name.name}"]
    if value:
        lines.append(f"   :value: {value}")
    text = "\n".join(lines) + "\n\n"
    said = linked(said, name.module)
    return text + "".join(f"   {line}\n" if line else "\n" for line in said.splitlines()) + "\n"


def described(name: Name) -> tuple[str, str]:
    """Return the expression and the description of a constant."""
    module = importlib.import_module(name.module)
    for where in (module, *_imported_from(module, name)):
        found = constants(where)
        if name.name in found:
            expression, said = found[name.name]
            short = expression if len(expression) <= 80 else ""
            return short, said or type_text(name)
    return "", type_text(name)


def _imported_from(module: ModuleType, name: Name) -> Iterator[ModuleType]:
    """Yield the modules that a name may be imported from, which contain the same object under this name."""
    for path, other in sorted(sys.modules.items()):
        if path.startswith("xpgrad") and vars(other).get(name.name) is name.value and other is not module:
            yield other


def type_text(name: Name) -> str:
    """Return the description of a dtype or a number, or the docstring of the object's type."""
    if inspect.isclass(name.value):
        return f"The dtype {name.name} of the standard."
    if isinstance(name.value, float) or name.value is None:
        return f"The standard's constant ``{name.name}``, ``{name.value!r}``."
    return inspect.getdoc(type(name.value)) if is_object(type(name.value)) else ""


def heading(text: str, under: str) -> str:
    """Return a heading."""
    return f"{text}\n{under * len(text)}\n\n"
