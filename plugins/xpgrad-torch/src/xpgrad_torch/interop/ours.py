"""`function`: functions of ours in PyTorch's autograd."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

import xpgrad
from xpgrad import Variable
from xpgrad.interop.foreign import place_of
from xpgrad.interop.ours import Recorded
from xpgrad.transforms.trees import flatten
from xpgrad_torch.interop.calls import Backward, Call, Forward, Place, Tangents, Tensors, is_floating


def function(f: Callable[..., Any], *, device: Any = None) -> Callable[..., Any]:
    """Return a function of ours as a function of torch tensors that takes part in PyTorch's differentiation.

    Parameters
    ----------
    f : callable
        It gets Variables, in trees of arguments, and returns a tree of Variables, arrays and other objects.
    device : as `get_device` takes it, or None
        Where `f` computes, such as ``"@numpy"``; by default on the tensors themselves. Arrays share the memory of the
        tensors where both libraries can use it.

    Returns
    -------
    callable
        Takes trees with tensors and other objects, and returns a tree with tensors on the device of the arguments.

    Notes
    -----
    - It is a `torch.autograd.Function`: `backward`, double backward to any order, ``torch.func.grad``, ``vjp``,
      ``jvp``, ``jacrev``, ``jacfwd``, ``hessian`` and ``vmap``, which calls `f` once for each member of a batch, nested
      in any order. ``torch.func.linearize`` accepts it only without `device`; ``vectorize=True`` of
      ``torch.autograd.functional`` raises an error.
    - Variables that `f` captures, and that require a gradient, get theirs in their `grad`, to which it is added, in
      every backward pass of PyTorch that reaches the call and is not itself recorded (``create_graph=True``, and all
      transforms of ``torch.func``).
    - `torch.compile` breaks the graph at the call, and compiles the code before and after it.

    Raises
    ------
    TypeError
        `f` is not callable.
    """
    if not callable(f):
        raise TypeError(f"interop.torch.function: expected a function, got {type(f).__name__}")
    target = None if device is None else xpgrad.get_device(device)

    @functools.wraps(f, updated=())
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        for leaf, path in zip(leaves, structure.paths(), strict=True):
            if isinstance(leaf, Variable):
                raise TypeError(
                    f"{title}: {place_of(path)}: expected a tensor, got a Variable; pass its array, or call the "
                    "function itself"
                )
        tensors = [leaves[i] for i in places]
        for i in places:
            leaves[i] = None  # the call keeps no tensor
        call = Forward(f, leaves, structure, places, Place(title, target))
        return call.build(applied(call, tensors))

    title = f"interop.torch.function({getattr(f, '__name__', type(f).__name__)})"
    disabled: Any = torch._disable_dynamo  # type: ignore[attr-defined]  # the public one imports the compiler
    found: Callable[..., Any] = disabled(wrapped)
    return found


def applied(call: Call, tensors: Tensors, outside: Sequence[bool] | None = None) -> Any:
    """Return the outputs of a call, in the graph of PyTorch.

    `outside` marks the tensors that an enclosing transformation differentiates by.

    PyTorch requests gradients if a tensor requires one. One additional tensor requires a gradient, so that captured
    Variables get theirs even if no input does.
    """
    call.place.check(tensors)
    transformed = list(map(is_transformed, tensors))
    enabled = torch.is_grad_enabled()
    pairs = zip(tensors, transformed, strict=True)
    call.needed = [is_floating(x) and (t or (enabled and x.requires_grad) or has_tangent(x)) for x, t in pairs]
    if outside is not None:
        call.needed = [a or b for a, b in zip(call.needed, outside, strict=True)]
    call.recording = enabled or any(call.needed)
    plain = outside is None and not any(transformed)
    anchor = torch.zeros((), requires_grad=True) if enabled and plain else None
    apply: Any = _Ours.apply  # PyTorch has no type there
    return apply(call, anchor, *tensors)


def is_transformed(x: torch.Tensor) -> bool:
    """Return whether `x` belongs to a transformation of ``torch.func``."""
    functorch: Any = torch._C._functorch  # pyright: ignore[reportAttributeAccessIssue]  # there is no public one
    return bool(functorch.is_functorch_wrapped_tensor(x))


def has_tangent(x: torch.Tensor) -> bool:
    """Return whether `x` has a tangent of PyTorch's forward mode."""
    unpack: Any = torch.autograd.forward_ad.unpack_dual
    return unpack(x).tangent is not None


class _Ours(torch.autograd.Function):
    """The node of PyTorch's graph for a call of ours."""

    @staticmethod
    def forward(call: Call, anchor: Any, *tensors: torch.Tensor) -> Any:
        """Return the outputs."""
        return call.run(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep our graph, and the tensors and outputs, in whose memory it is, so that PyTorch notices changes.

        The graph is an attribute of an empty tensor, so that PyTorch drops it after the pass, like its saved tensors.
        """
        call, _, *tensors = inputs
        kept: Any = torch.empty(0)
        kept.recorded = call.recorded
        ctx.call = call.again()
        ctx.call.learn(call)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(y for y, live in zip(output, call.live, strict=True) if not live))
        ctx.count = len(tensors)
        ctx.save_for_backward(kept, *tensors, *output)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *gys: Any) -> Any:
        """Return the gradients of the inputs; PyTorch records their computation on request."""
        kept, *tensors = ctx.saved_tensors[: 1 + ctx.count]
        call, needed = ctx.call, [i for i, n in enumerate(ctx.needs_input_grad[2:]) if n]
        recorded: Recorded | None = getattr(kept, "recorded", None)
        given = [g for g in gys if g is not None]
        found: Any = [None] * len(needed)
        if torch.is_grad_enabled() or any(map(is_transformed, given)):
            if needed and given:
                derived = Backward(call, len(tensors), [g is not None for g in gys], needed, recorded)
                found = applied(derived, [*tensors, *given])
        else:
            if recorded is None:  # a saved-tensor hook has made other tensors
                again = call.again()
                again.needed = [is_floating(x) for x in tensors]
                again.record(call.place.entered(tensors))
                recorded = again.recorded
                assert recorded is not None
            entered = iter(call.place.entered(given))
            cotangents = [None if g is None else next(entered) for g in gys]
            pulled = recorded.pull(cotangents, needed, accumulate=True)
            found = call.place.left(pulled, [tensors[i] for i in needed])
        gradients = dict(zip(needed, found, strict=True))
        return None, None, *(gradients.get(i) for i in range(len(tensors)))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Return the tangents of the outputs."""
        tensors = ctx.saved_tensors
        given = {i: t for i, t in enumerate(tangents[2:]) if t is not None}
        found = iter(applied(Tangents(ctx.call, len(tensors), list(given)), [*tensors, *given.values()]))
        return tuple(next(found) if live else None for live in ctx.call.live)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        """Return the outputs for a batch, by one call for each batch element."""
        call, _, *tensors = inputs
        if not info.batch_size:
            raise ValueError(f"{call.place.title}: expected a batch with members for torch.vmap, got an empty one")
        rows = []
        for b in range(info.batch_size):
            each = call.again()
            members = [x if d is None else x.select(d, b) for x, d in zip(tensors, in_dims[2:], strict=True)]
            rows.append(applied(each, members, call.needed))
            call.learn(each)
        return tuple(torch.stack(column) for column in zip(*rows, strict=True)), (0,) * len(rows[0])
