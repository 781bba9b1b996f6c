"""Optimizers as HTML for notebooks."""

from typing import Any

from xpgrad.drawing.models import title
from xpgrad.drawing.page import facts, folded, table, titled, whole
from xpgrad.optimizers.optimizer import GradientMethod, Optimizer
from xpgrad.optimizers.update_rule import UpdateRule

MAX_ROWS = 100


def html(optimizer: Optimizer) -> str:
    """Return HTML with hyperparameters, steps, the model, and parameters with different hyperparameters."""
    common = optimizer.hyperparam.get_dict() if isinstance(optimizer, GradientMethod) else {}
    found = {name: text(value) for name, value in common.items()}
    found |= {"updates": f"{optimizer.t:,}", "epochs": f"{optimizer.epoch:,}"}
    hooks = [name for timing in optimizer._hooks.values() for name in timing]
    found["hooks"] = ", ".join(hooks) or "none"
    if optimizer.target is None:
        return whole(titled(type(optimizer).__name__), facts(found), "not set up: call setup(model)")
    found["model"] = title(optimizer.target)
    rows = list(own_rows(optimizer, common))
    shown = [*rows[:MAX_ROWS], *([(f"and {len(rows) - MAX_ROWS} more", "")] if len(rows) > MAX_ROWS else [])]
    own = folded("parameters with hyperparameters of their own", table(("parameter", ""), shown)) if rows else ""
    return whole(titled(type(optimizer).__name__), facts(found), own)


def own_rows(optimizer: Optimizer, common: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the paths of the parameters whose update rule differs, and how."""
    rows = []
    for path, parameter in optimizer.target.namedparams():
        rule = parameter.update_rule
        if not isinstance(rule, UpdateRule):
            continue
        own = {name: value for name, value in rule.hyperparam.get_dict().items() if common.get(name, rule) is not value}
        parts = [f"{name}={text(value)}" for name, value in own.items()] + ["disabled"] * (not rule.enabled)
        if parts:
            rows.append((path, ", ".join(parts)))
    return rows


def text(value: Any) -> str:
    """Return a hyperparameter: a number, or the name of a schedule."""
    return str(getattr(value, "__name__", None) or repr(value))[:80]
