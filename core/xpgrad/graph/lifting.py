"""Lifting of function operands to the innermost active transformation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.levels import Level, innermost, lifted_spec
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import ONLY_LIFTED, Switches, call_entered
from xpgrad.graph.operands import NUMBERS, as_numbers
from xpgrad.graph.variable import Variable, inside

if TYPE_CHECKING:
    from xpgrad.graph.definition import Definition


def is_inside(now: Switches, plan: Any, array: Any) -> bool:
    """Return whether an array belongs to the innermost transformation and requires no other special treatment."""
    return now.mode in ONLY_LIFTED and plan.transformed and array.level is now.level


def call_lifted(definition: "Definition", operands: Sequence[Any], parameters: dict[str, Any], path: str) -> Any:
    """Call a primitive by one of its call paths, with operands lifted to the innermost transformation."""
    level = innermost()
    if level is not None:
        operands = [lifted(level, x) for x in operands]
        parameters = lifted_parameters(definition, level, parameters)
    return call_entered(definition.paths[path], *operands, **parameters)


def lifted_parameters(definition: "Definition", level: Level, parameters: dict[str, Any]) -> dict[str, Any]:
    """Lift the Variables and arrays among the parameters of a primitive; where numbers are expected, return these."""
    return {
        name: as_numbers(definition.title, name, x) if type(x) is not int and name in NUMBERS else lifted(level, x)
        for name, x in parameters.items()
    }


def entered(x: Any) -> Any:
    """Lift a Variable, an array or a spec to the innermost transformation, if any."""
    level = innermost()
    return x if level is None else lifted(level, x)


def lifted(level: Level, x: Any) -> Any:
    """Lift Variables, arrays and specs, also in lists and tuples, to `level`; return other objects unchanged."""
    if isinstance(x, Variable):
        return inside(x)
    if isinstance(x, (list, tuple)):
        items = [lifted(level, item) for item in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return getattr(x, "_make", type(x))(items)
    if type(x) in plugins.by_type:
        return x if level.holds(x) else level.enter(x)
    if type(x) is Spec:
        return lifted_spec(x)
    return x
