"""Classes of tests for each of several sets of parameters."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from xpgrad_chainer.testing.bundle import make_decorator

MAX_LENGTH = 100
"""Of a parameter in the name of a class; the rest is left out."""


def parameterize(*parameters: Mapping[str, Any]) -> Any:
    """Return a decorator that makes a class of tests for each set of parameters, which become its attributes."""

    def generate(cls: type) -> Iterator[tuple[str, dict[str, Any], Any]]:
        for i, values in enumerate(parameters):
            members = {
                name: staticmethod(value) if isinstance(value, FunctionType) else value
                for name, value in values.items()
            }
            yield _name(cls, i, values), members, None

    return make_decorator(generate)


def _name(cls: type, number: int, values: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={_text(value)}" for name, value in sorted(values.items()))
    return f"{cls.__name__}_param_{number}_{{{text}}}"


def _text(value: Any) -> str:
    text = value.__name__ if isinstance(value, type) else re.sub(" at 0x[0-9a-f]+", "", repr(value))
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 3]}..."


def product(parameter: Any) -> list[Any]:
    """Return all combinations of values in a dictionary of lists, or of dictionaries in several lists.

    A key of a dictionary may be several names, separated by commas.
    """
    if isinstance(parameter, Mapping):
        return product_dict(*(from_pytest_parameterize(*each) for each in sorted(parameter.items())))
    if isinstance(parameter, list) and all(isinstance(each, list) for each in parameter):
        return product_dict(*parameter)
    raise TypeError(f"product: expected a dictionary of lists or a list of lists, got {type(parameter).__name__}")


def product_dict(*parameters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the union of one dictionary of each sequence, in all combinations."""
    found = []
    for dictionaries in itertools.product(*parameters):
        union: dict[str, Any] = {}
        for each in dictionaries:
            union |= each
        found.append(union)
    return found


def from_pytest_parameterize(names: str | Sequence[str], values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the dictionaries of parameters given as for ``pytest.mark.parametrize``."""
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    if len(listed) == 1:
        return [{listed[0]: value} for value in values]
    return [dict(zip(listed, each, strict=True)) for each in values]


def parameterize_pytest(names: str | Sequence[str], values: Iterable[Any]) -> Any:
    """Return the decorator `parameterize` with parameters given as for ``pytest.mark.parametrize``."""
    return parameterize(*from_pytest_parameterize(names, values))
