"""Tangents of the results of primitives: by a row, linearly, by their rules, or by transposition."""

import functools
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xpgrad.backend.kernels import OWNER
from xpgrad.config import switches
from xpgrad.errors import EscapedArray
from xpgrad.graph.definition import Definition, identity
from xpgrad.graph.general import plan_for
from xpgrad.graph.methods.cuts import ended_at, running, uncollected
from xpgrad.graph.pullback import rule_of
from xpgrad.transforms.dual.rules import ROWS, Row
from xpgrad.transforms.dual.transposition import transposed
from xpgrad.transforms.enclosing.backend import SCALARS
from xpgrad.types import Array, Dtype, Kernel

if TYPE_CHECKING:
    from xpgrad.transforms.dual.backend import DualBackend

NOT_HOLOMORPHIC = frozenset(("abs", "complex_sign"))
"""Elementwise functions of complex numbers whose rules are not products of the cotangent with a derivative."""
LATER = frozenset(("transposed_matmul",))
"""Functions whose result may not be needed beside its tangent: the gradient of a weight, in a Hessian's product."""
BY_BODY = frozenset(("normalized_backward", "normalized_gamma_backward"))
"""Gradients of which the default body, on dual arrays, takes less time than a transposition."""
SPREADING = frozenset(("add", "divide", "multiply", "subtract"))
"""Functions whose rules broadcast a tangent by their own arithmetic."""
Tangent = Callable[[Array, Sequence[Any], Sequence[Any], dict[str, Any]], Any]
"""``tangent(y, primals, tangents, parameters)`` returns the tangent of `y`, an array of the base or None."""


def derived(backend: "DualBackend", definition: Definition, kernel: Kernel | None) -> Callable[..., Any]:
    """Return a primitive as a function of dual arrays.

    Parameters
    ----------
    backend : DualBackend
    definition : Definition
    kernel : callable, optional
        Computes it on arrays of the base; by default the base's kernel.
    """
    if definition.kernel.name in BY_BODY:
        body: Callable[..., Any] = backend.xp.body(definition.kernel.name)
        return body
    base = backend.base
    kernel = base.follow(kernel or plan_for(definition, base.array_types[0], base).kernel)
    if definition.variadic:
        return functools.partial(_variadic, backend, definition, kernel)
    tangent, whole = tangent_rule(backend, definition, kernel), functools.partial(transposed, backend, definition)
    if base.carries_tangents:  # an outer level must not treat the functions of a rule as user functions
        tangent, whole = tangent and functools.partial(uncollected, tangent), functools.partial(uncollected, whole)
    return _with_tangent(backend, definition, kernel, tangent, whole)


def _with_tangent(
    backend: "DualBackend", definition: Definition, kernel: Kernel, tangent: Tangent | None, whole: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a primitive as a function of dual arrays; `whole` computes it where `tangent` does not."""
    kind, base = backend.kind, backend.base
    base_types, restore, plain = frozenset(base.array_types), base.restore, not definition.parameters
    differentiable, later = bool(definition.rules), definition.kernel.name in LATER
    bind = definition.bind if definition.reduction else None  # its tangent is computed over the same axis

    def called(*operands: Any, **parameters: Any) -> Any:
        level: Any = None
        given = False
        primals: list[Any] = []
        tangents: list[Any] = []
        if bind is not None:
            operands, parameters = bind(operands, parameters)
        for x in operands:
            if type(x) is kind:
                own = x.level
                if own is not level:
                    if level is not None or not own.live:
                        raise_escaped(own, level)
                    level = own
                primals.append(x.primal)
                t = x.tangent
                tangents.append(t)
                if t is not None:
                    given = True
            else:
                primals.append(x)
                tangents.append(None)
        if not plain:
            levels = [] if level is None else [level]
            parameters = {
                name: value if type(value) in SCALARS else backend.opened(value, levels)
                for name, value in parameters.items()
            }
            level = level or (levels[-1] if levels else None)
        if level is None:
            level = backend.level()
        if given and differentiable and not switches().constant:
            if tangent is None:
                return kind(level, *whole(primals, tangents, parameters))
            if later and primals[0].dtype == primals[1].dtype:
                t = tangent(primals[0], primals, tangents, parameters)  # it only needs the dtype of the result
                return kind.with_later(level, lambda: restore(kernel(*primals)), t)
            y = kernel(*primals, **parameters)
            if type(y) not in base_types:
                y = restore(y)
            t = tangent(y, primals, tangents, parameters)
            if t is None and running() and not base.is_kind(y.dtype, ("real floating", "complex floating")):
                ended_at(level, definition.name, True)
            if t is NotImplemented:
                return kind(level, *whole(primals, tangents, parameters))
            return kind(level, y, t)
        y = kernel(*primals, **parameters)
        if given and running() and not base.is_kind(y.dtype, "bool"):
            ended_at(level, definition.name, not differentiable)
        return kind(level, y if type(y) in base_types else restore(y), None)

    return called


def _variadic(backend: "DualBackend", definition: Definition, kernel: Kernel, arrays: Any, **parameters: Any) -> Any:
    """Return the result for a sequence of arrays; zeros replace the tangents that are missing."""
    levels: list[Any] = []
    kind, xp = backend.kind, backend.base.xp
    arrays = list(arrays)
    primals, parameters = backend.opened(arrays, levels), backend.opened(parameters, levels)
    tangents = [x.tangent if type(x) is kind else None for x in arrays]
    level = levels[-1] if levels else backend.level()
    given = any(t is not None for t in tangents)
    if given and switches().constant:
        ended_at(level, definition.name, False)
    if switches().constant or not given:
        return kind(level, backend.base.restore(kernel(primals, **parameters)), None)
    if not definition.linear:
        return kind(level, *transposed(backend, definition, primals, tangents, parameters))
    filled = [xp.zeros_like(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]
    y, t = (backend.base.restore(kernel(each, **parameters)) for each in (primals, filled))
    return kind(level, y, t)


def gradient_kernel(backend: "DualBackend", row: Row, kernel: Kernel, /, *operands: Any) -> Any:
    """Return the gradient that a kernel of the base computes, with its tangent by a row."""
    levels: list[Any] = []
    primals, base = backend.opened(operands, levels), backend.base
    y = kernel(*primals)
    if y is NotImplemented:
        return y
    tangents = [x.tangent if type(x) is backend.kind else None for x in operands]
    moved = any(t is not None for t in tangents) and not switches().constant
    y = base.restore(y)
    return backend.kind(levels[-1], y, row(base, kernel, y, primals, tangents, {}) if moved else None)


def raise_escaped(own: Any, level: Any) -> None:
    """Raise for an array of a level that has ended, or that is not `level`."""
    own.check()
    raise EscapedArray(
        f"{own.title}: arrays of two calls of a transformation were mixed, one of {level!r}; pass it as an argument"
    )


def tangent_rule(backend: "DualBackend", definition: Definition, kernel: Kernel) -> Tangent | None:
    """Return the function from the result to its tangent; None if transposition computes both together.

    It may return `NotImplemented`, which leaves the operands to the transposition. It runs on the device of its arrays,
    because rules use operators.
    """
    rule = _rule_of(backend, definition, kernel)
    return None if rule is None else backend.base.follow(rule)


def _rule_of(backend: "DualBackend", definition: Definition, kernel: Kernel) -> Tangent | None:
    name, own = definition.kernel.name, OWNER not in definition.kernel.name
    if own and name in ROWS:
        return functools.partial(ROWS[name], backend.base, kernel)
    if definition.linear:
        return _linear(backend, definition, kernel)
    if definition.elementwise:
        return _elementwise(backend, definition, any_complex=own and name not in NOT_HOLOMORPHIC)
    if definition.symmetric:
        return _symmetric(backend, definition)
    return _reduction(backend, definition) if definition.reduction else None


def _linear(backend: "DualBackend", definition: Definition, kernel: Kernel) -> Tangent:
    """Return the sum of the kernel's results with the tangent of one input at a time in its place."""
    base, inputs = backend.base, definition.inputs
    places = [inputs.index(x) for x in definition.linear]
    others = [inputs.index(x) for x in definition.rules if x not in definition.linear]
    add, restore = base.xp.add, base.restore

    def tangent(y: Array, primals: Sequence[Any], tangents: Sequence[Any], parameters: dict[str, Any]) -> Any:
        if others and any(tangents[i] is not None for i in others):
            return NotImplemented
        if not base.is_kind(y.dtype, ("real floating", "complex floating")):
            return None
        total = None
        for i in places:
            t = tangents[i]
            if t is not None:
                part = restore(kernel(*primals[:i], t, *primals[i + 1 :], **parameters))
                total = part if total is None else restore(add(total, part))
        return total

    return tangent


def _elementwise(backend: "DualBackend", definition: Definition, any_complex: bool) -> Tangent:
    """Return the sum of the rules' results for the tangents in place of the cotangent.

    The derivative of an elementwise function is a factor for each element, and a rule multiplies the cotangent by this
    factor. For functions of complex numbers this holds if they are holomorphic, as `any_complex` indicates.
    """
    base = backend.base
    xp, is_kind, restore = base.xp, base.is_kind, base.restore
    rows = [_pulled(backend, definition, x) for x in definition.rules]
    is_product, spreads = definition.kernel.name == "multiply", definition.kernel.name in SPREADING

    def tangent(y: Array, primals: Sequence[Any], tangents: Sequence[Any], parameters: dict[str, Any]) -> Any:
        shape, dtype = y.shape, y.dtype
        if is_product and tangents[0] is tangents[1] and primals[0] is primals[1] and tangents[0].dtype == dtype:
            return restore(xp.multiply(tangents[0], xp.add(primals[0], primals[0])))  # of a square: one product
        t1, t2 = tangents if is_product else (None, None)
        if t1 is not None and t2 is not None and t1.shape != shape != t2.shape:
            outer = _of_outer(base, dtype, primals, tangents)
            if outer is not None:
                return outer
        total, owned = None, False
        for i, rule, getters in rows:
            t = tangents[i]
            if t is None:
                continue
            if t.dtype != dtype:
                if is_kind(t.dtype, "complex floating"):
                    return NotImplemented  # the result is real
                if not is_kind(dtype, ("real floating", "complex floating")):
                    return None
                t = xp.astype(t, dtype)
            if not any_complex and is_kind(dtype, "complex floating"):
                return NotImplemented
            if not spreads and t.shape != shape:
                t = xp.broadcast_to(t, shape=shape)
            if rule is not identity:
                t = rule(xp, t, *[get(y, primals, parameters) for get in getters])
            if total is None:
                total, owned = t, rule is not identity and not any(t is each for each in (y, *primals, *tangents))
            else:
                total = (xp.accumulate if owned and not base.is_view(total) else xp.add)(total, t)
        if total is not None:
            total = restore(total)
            if total.dtype != dtype:
                total = xp.astype(total, dtype)
            if total.shape != shape:
                total = xp.broadcast_to(total, shape=shape)
        return total

    return tangent


def _of_outer(base: Any, dtype: Dtype, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the tangent of a column times a row, a sum of two such products, as one product of matrices; else None."""
    (x, v), (tx, tv), xp = primals, tangents, base.xp
    if not tx.dtype == tv.dtype == dtype or not base.is_kind(dtype, "real floating"):
        return None
    if v.shape[-1] == 1:
        x, v, tx, tv = v, x, tv, tx
    if len(x.shape) < 2 or x.shape[-1] != 1 or (len(v.shape) > 1 and v.shape[-2] != 1):
        return None
    if len(v.shape) == 1:
        v, tv = (xp.reshape(each, shape=(1, *each.shape)) for each in (v, tv))
    return base.restore(xp.matmul(xp.concat([tx, x], axis=-1), xp.concat([v, tv], axis=-2)))


def _symmetric(backend: "DualBackend", definition: Definition) -> Tangent:
    """Return the sum of the rules' results for the tangents in place of the cotangent: the Jacobians are symmetric."""
    base, rows = backend.base, [_pulled(backend, definition, x) for x in definition.symmetric]
    places = [definition.inputs.index(x) for x in definition.rules]

    def tangent(y: Array, primals: Sequence[Any], tangents: Sequence[Any], parameters: dict[str, Any]) -> Any:
        moving = [i for i in places if tangents[i] is not None]
        if not base.is_kind(y.dtype, "real floating") or any(tangents[i].dtype != y.dtype for i in moving):
            return NotImplemented
        total = None
        for i, rule, getters in rows:
            if i in moving:
                moving.remove(i)
                part = rule(base.xp, tangents[i], *[get(y, primals, parameters) for get in getters])
                total = part if total is None else base.xp.add(total, part)
        return NotImplemented if moving else None if total is None else base.restore(total)

    return tangent


def _reduction(backend: "DualBackend", definition: Definition) -> Tangent:
    """Return the sum of the products of the tangent with the gradient from ones, which has the whole Jacobian."""
    base = backend.base
    xp = base.xp
    i, rule, getters = _pulled(backend, definition, definition.inputs[0])

    def tangent(y: Array, primals: Sequence[Any], tangents: Sequence[Any], parameters: dict[str, Any]) -> Any:
        t = tangents[i]
        if t is None:
            return None
        if t.dtype != y.dtype or not base.is_kind(y.dtype, "real floating"):
            return NotImplemented
        slopes = rule(xp, xp.ones_like(y), *[get(y, primals, parameters) for get in getters])
        wide = base.wide(y.dtype)
        axis = parameters["axis"] if definition.reduction is True else definition.reduction
        total = xp.sum(xp.multiply(slopes, t), axis=axis, keepdims=len(y.shape) == len(t.shape), dtype=wide)
        return base.restore(total if wide == y.dtype else xp.astype(total, y.dtype))

    return tangent


def _pulled(backend: "DualBackend", definition: Definition, x: str) -> tuple[int, Any, list[Callable[..., Any]]]:
    """Return the position of an input, its rule on arrays of the base, and getters of the rule's arguments."""
    getters = [_getter(backend, definition, name) for name in definition.asks[x]]
    return definition.inputs.index(x), rule_of(definition, backend.base, x), getters


def _getter(backend: "DualBackend", definition: Definition, name: str) -> Callable[..., Any]:
    """Return a getter of a value that a rule requires."""
    if name == "y":
        return lambda y, primals, parameters: y
    if name in definition.inputs:
        place = itemgetter(definition.inputs.index(name))
        return lambda y, primals, parameters: place(primals)
    if name in definition.parameters:
        return lambda y, primals, parameters: parameters[name]
    place = itemgetter(definition.inputs.index(name.removesuffix("_spec")))
    return lambda y, primals, parameters: backend.base.spec(place(primals))
