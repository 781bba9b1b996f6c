"""Signatures with the annotations of the source, which use shorter names than evaluated annotations."""

import ast
import functools
import importlib
import inspect
import re
from itertools import zip_longest
from typing import Any

from sphinx.util.typing import stringify_annotation

from _site.public import by_short_name

DOTTED = re.compile(r"(?<![\w.'\"])(?:[A-Za-z_]\w*\.)+")
NAME = re.compile(r"(?<![\w.'\"~])[A-Za-z_]\w*(?![\w.'\"])")


@functools.cache
def tree(module: str) -> ast.Module | None:
    """Return the syntax tree of a module."""
    try:
        return ast.parse(inspect.getsource(importlib.import_module(module)))
    except (OSError, TypeError, ImportError):
        return None


def definition(module: str, qualname: str) -> ast.FunctionDef | None:
    """Return the last definition of a function in the source of its module."""
    found: Any = tree(module)
    for part in qualname.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        body = getattr(found, "body", [])
        found = next((each for each in reversed(body) if isinstance(each, kinds) and each.name == part), None)
    return found if isinstance(found, ast.FunctionDef) else None


def written(function: Any) -> ast.FunctionDef | None:
    """Return the definition of a function, as its author wrote it."""
    plain = inspect.unwrap(function)
    for each in (function, plain):
        module, name = getattr(each, "__module__", None), getattr(each, "__qualname__", None)
        if module and name and (found := definition(module, name)):
            return found
    return None


def is_primitive(node: ast.FunctionDef) -> bool:
    """Return whether the first parameter is the namespace, which a decorator passes."""
    first = [*node.args.posonlyargs, *node.args.args][:1]
    return bool(node.decorator_list) and bool(first) and first[0].arg == "xp"


def annotations(node: ast.FunctionDef) -> dict[str, str]:
    """Return the annotations in the source, by parameter name, with ``return`` for the result."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    found = {each.arg: ast.unparse(each.annotation) for each in every if each is not None and each.annotation}
    if is_primitive(node):
        found["return"] = "Variable"
    elif node.returns is not None:
        found["return"] = ast.unparse(node.returns)
    return {name: linked(text.strip("'\"")) for name, text in found.items()}


def of_function(function: Any, method: bool = False) -> tuple[str, str | None] | None:
    """Return the text of a signature and of its return annotation, or None if the function has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    node = written(function)
    known = annotations(node) if node is not None else {}
    parameters = list(signature.parameters.values())
    if method and parameters:
        parameters = parameters[1:]
    return _text(parameters, known), known.get("return") or _runtime(signature.return_annotation)


def of_class(cls: type) -> str | None:
    """Return the text of the signature of a class."""
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):
        return None
    node = None
    for base in cls.__mro__:
        if "__init__" in vars(base):
            node = definition(base.__module__, f"{base.__qualname__}.__init__")
            break
    return _text(list(signature.parameters.values()), annotations(node) if node is not None else {})


def _runtime(annotation: Any) -> str | None:
    return None if annotation is inspect.Parameter.empty else linked(DOTTED.sub("", stringify_annotation(annotation)))


def _text(parameters: list[inspect.Parameter], known: dict[str, str]) -> str:
    """Return parameters in parentheses, with the markers ``/`` and ``*``."""
    texts: list[str] = []
    kinds = inspect.Parameter
    starred = False
    for parameter, after in zip_longest(parameters, parameters[1:]):
        if parameter.kind is kinds.KEYWORD_ONLY and not starred:
            texts.append("*")
        starred |= parameter.kind in (kinds.VAR_POSITIONAL, kinds.KEYWORD_ONLY)
        stars = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        type_ = known.get(parameter.name) or _runtime(parameter.annotation)
        text = f"{stars}{parameter.name}" + (f": {type_}" if type_ else "")
        if parameter.default is not kinds.empty:
            text += (" = " if type_ else "=") + _default(parameter.default)
        texts.append(text)
        if parameter.kind is kinds.POSITIONAL_ONLY and (after is None or after.kind is not kinds.POSITIONAL_ONLY):
            texts.append("/")
    return f"({', '.join(texts)})"


def linked(annotation: str) -> str:
    """Return an annotation with qualified names of public classes and types, of which Sphinx shows the last part."""

    def replaced(match: re.Match[str]) -> str:
        found = by_short_name().get(match[0], ())
        return f"~{found[0]}" if found and match[0][0].isupper() else match[0]

    return NAME.sub(replaced, annotation)


def _default(value: Any) -> str:
    """Return a default value as source code."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(value.__qualname__)
    text = repr(value)
    return "..." if text.startswith("<") else text
