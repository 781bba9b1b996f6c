"""Bounds and constraints on trees of unknowns, as SciPy's on vectors."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse.linalg import LinearOperator

from xpgrad import array_api
from xpgrad.backend.plugins import plugins
from xpgrad.scipy.unknowns import Unknowns, compiled_if
from xpgrad.scipy.vectors import exact, hvp, jac, residuals
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.trees import flatten
from xpgrad.transforms.vectors import arrays_of
from xpgrad.types import Array

INFINITY = float("inf")
MAKE: Any = scipy.optimize  # checkers infer types from defaults
OPERATOR: Any = LinearOperator


def bounds_of(bounds: Any, unknowns: Unknowns, name: str) -> Bounds | None:
    """Return bounds on the vector of `unknowns`.

    Parameters
    ----------
    bounds : pair, scipy.optimize.Bounds, sequence of pairs, or None
        ``(lower, upper)``, each a tree like the unknowns, a number or None; or for one array with one axis SciPy's
        pair for each element.
    unknowns : Unknowns
    name : str
        The function that errors name.
    """
    if bounds is None:
        return None
    if isinstance(bounds, Bounds):
        sides = [_side(side, unknowns, f"{name}: bounds.{which}") for which, side in _sides(bounds)]
        return MAKE.Bounds(*sides, keep_feasible=bounds.keep_feasible)
    lower, upper = _pair(bounds, unknowns, name)
    return Bounds(
        unknowns.spread(lower, -INFINITY, f"{name}: lower bounds"),
        unknowns.spread(upper, INFINITY, f"{name}: upper bounds"),
    )


def _sides(bounds: Bounds) -> tuple[tuple[str, Any], ...]:
    return ("lb", bounds.lb), ("ub", bounds.ub)


def _side(side: Any, unknowns: Unknowns, what: str) -> Array:
    if side.size == unknowns.size and side.ndim == 1:
        return side
    return unknowns.spread(side.item() if side.size == 1 else side, INFINITY, what)


def _pair(bounds: Any, unknowns: Unknowns, name: str) -> tuple[Any, Any]:
    pairs = list(bounds) if isinstance(bounds, Sequence) or hasattr(bounds, "shape") else []
    if unknowns.structure.kind is None and len(pairs) == unknowns.size and _are_pairs(pairs):
        lower, upper = zip(*pairs, strict=True)
        asarray, float64 = plugins.host.asarray, plugins.host.namespace.float64
        return (
            asarray([-INFINITY if x is None else float(x) for x in lower], float64),
            asarray([INFINITY if x is None else float(x) for x in upper], float64),
        )
    if len(pairs) != 2:
        raise ValueError(
            f"{name}: bounds must be (lower, upper), each a number, None or a tree like x0, got {type(bounds).__name__}"
            + (f" of {len(pairs)}" if pairs else "")
        )
    return pairs[0], pairs[1]


def _are_pairs(pairs: Sequence[Any]) -> bool:
    return all(
        (isinstance(each, (tuple, list)) or getattr(each, "shape", None) == (2,)) and len(each) == 2 for each in pairs
    ) and not (len(pairs) == 2 and all(hasattr(each, "shape") for each in pairs))


def constraints_of(
    constraints: Any, unknowns: Unknowns, device: Any, compiled: bool, name: str, *, second: bool
) -> list[Any]:
    """Return constraints on the vector of `unknowns`, with exact derivatives.

    Parameters
    ----------
    constraints : dict, NonlinearConstraint, LinearConstraint, or a sequence of them
        Their functions take and return trees of Variables. A linear one is of the vector.
    unknowns : Unknowns
    device, compiled
        As for `minimize`.
    name : str
        The function that errors name.
    second : bool
        Whether the method uses second derivatives.
    """
    if isinstance(constraints, (dict, NonlinearConstraint, LinearConstraint)):
        constraints = [constraints]
    made = []
    for i, constraint in enumerate(constraints):
        what = f"{name}: constraints[{i}]"
        if isinstance(constraint, LinearConstraint):
            made.append(constraint)
        elif isinstance(constraint, NonlinearConstraint):
            made.append(_nonlinear(constraint, unknowns, device, compiled, second))
        elif isinstance(constraint, dict):
            checked = _checked(constraint, what)
            made.append(
                _nonlinear(_of_dict(checked), unknowns, device, compiled, second)
                if second
                else _with_jacobian(checked, unknowns, device, compiled)
            )
        else:
            raise TypeError(
                f"{what}: expected a dict, NonlinearConstraint or LinearConstraint, got {type(constraint).__name__}"
            )
    return made


def _checked(constraint: dict[str, Any], what: str) -> dict[str, Any]:
    if not callable(constraint.get("fun")):
        raise TypeError(f"{what}: expected a function as 'fun', got {type(constraint.get('fun')).__name__}")
    if "jac" in constraint:
        raise ValueError(f"{what}: the Jacobian is computed from 'fun'; leave 'jac' out")
    if str(constraint.get("type")).lower() not in ("eq", "ineq"):
        raise ValueError(f"{what}: expected 'eq' or 'ineq' as 'type', got {constraint.get('type')!r}")
    return constraint


def _with_jacobian(constraint: dict[str, Any], unknowns: Unknowns, device: Any, compiled: bool) -> dict[str, Any]:
    f = compiled_if(constraint["fun"], compiled)
    return {**constraint, "fun": _residuals(f, unknowns, device), "jac": _jac(f, unknowns, device)}


def _of_dict(constraint: dict[str, Any]) -> Any:
    """Return a `NonlinearConstraint` for a dictionary."""
    f, args = constraint["fun"], constraint.get("args", ())
    upper = 0.0 if constraint["type"].lower() == "eq" else INFINITY
    return NonlinearConstraint((lambda x: f(x, *args)) if args else f, 0.0, upper)


def _nonlinear(constraint: Any, unknowns: Unknowns, device: Any, compiled: bool, second: bool) -> Any:
    f = compiled_if(constraint.fun, compiled)
    along = exact("minimize", hvp(weighted(constraint.fun), unknowns.tree, device, allow_constant=True))

    def hessian(x: Array, multipliers: Array) -> LinearOperator:
        def product(p: Array) -> Array:
            return along(x, plugins.host.namespace.reshape(p, (-1,)), multipliers)

        return OPERATOR((len(x), len(x)), matvec=product, rmatvec=product, dtype=x.dtype)

    further = {"hess": hessian} if second else {}
    return MAKE.NonlinearConstraint(
        _residuals(f, unknowns, device), constraint.lb, constraint.ub, jac=_jac(f, unknowns, device),
        keep_feasible=constraint.keep_feasible, **further,
    )  # fmt: skip


def _residuals(f: Callable[..., Any], unknowns: Unknowns, device: Any) -> Callable[..., Array]:
    return residuals(f, unknowns.tree, device)


def _jac(f: Callable[..., Any], unknowns: Unknowns, device: Any) -> Callable[..., Array]:
    return exact("minimize", jac(f, unknowns.tree, device, allow_constant=True))


def weighted(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes the sum of the outputs of `f`, weighted by a vector on the host."""

    def total(tree: Any, weights: Array) -> Any:
        leaves = [as_leaf(y, "constraints: what the function returned") for y in flatten(f(tree))[0]]
        parts = arrays_of(weights, [(y._node.spec, y.device) for y in leaves])
        terms = [array_api.sum(y * w) for y, w in zip(leaves, parts, strict=True)]
        return functools.reduce(operator.add, terms)

    return total
