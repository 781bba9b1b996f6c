"""Conversion of docstrings to reStructuredText: names in single backticks become links or code."""

import inspect
import re
from typing import Any

from _site.public import by_short_name, paths

QUOTED = re.compile(r"(?<![`:\w\\])`([^`\n]+)`(?![`_])")
LITERAL = re.compile(r"(``.+?``|:py:\w+:`[^`]*`)", re.DOTALL)
MARKUP = re.compile(r"(?<!\\)\||(?<![\n\\* ])\*|(?<=\S )\*(?! )")
"""Bars and stars are absolute values, products and shapes, not markup."""


def linked(text: str, module: str, owner: Any = None, own: frozenset[str] = frozenset()) -> str:
    """Return a docstring as reStructuredText, with public names in backticks as links and other names as code.

    Parameters
    ----------
    text : str
    module : str
        Module in which names are looked up first.
    owner : function or class, optional
        Function or class whose parameters and attributes are not linked.
    own : frozenset of str
        Further names that are not linked.
    """
    words = own | parameters(owner)

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        home = None if name.rstrip("()") in words else resolved(name.rstrip("()"), module)
        return f":py:obj:`{name} <{home}>`" if home else f"``{name}``"

    parts = LITERAL.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = QUOTED.sub(replaced, parts[i])
    text = "".join(parts)
    parts = LITERAL.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = MARKUP.sub(r"\\\g<0>", parts[i])
    return "".join(parts)


def parameters(owner: Any) -> frozenset[str]:
    """Return the names of the parameters and attributes that a docstring mentions in backticks."""
    found: set[str] = set()
    if owner is None:
        return frozenset()
    if inspect.isclass(owner):
        found |= {name for name in dir(owner) if not name.startswith("_")}
    try:
        found |= set(inspect.signature(owner).parameters)
    except (TypeError, ValueError):
        pass
    return frozenset(found)


def resolved(name: str, module: str) -> str | None:
    """Return the home of a name that a docstring of a module mentions, or None."""
    known = paths()
    if name in known:
        return known[name]
    if len(name) < 3 or not re.fullmatch(r"[A-Za-z_][\w.]*", name):
        return None
    first, _, rest = name.partition(".")
    if f"{module}.{first}" in known:
        home = known[f"{module}.{first}"]
    elif found := by_short_name().get(first):
        home = found[0]
    else:
        return None
    return f"{home}.{rest}" if rest else home
