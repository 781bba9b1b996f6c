"""Calls of functions of ours with torch tensors: a call itself, its gradients, and its tangents."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import BatchError, GraphError
from xpgrad.interop.framework import peer, shared
from xpgrad.interop.ours import Recorded, values
from xpgrad.plugin import Device
from xpgrad.transforms import jvp, vjp
from xpgrad.transforms.leaves import as_leaf, is_array
from xpgrad.transforms.trees import flatten, where
from xpgrad_torch import exchange

Tensors = Sequence[Any]
"""Of tensors, with None for some."""


class Place(NamedTuple):
    """Where a function computes; `title` is its name in messages."""

    title: str
    device: Device | None

    def entered(self, tensors: Tensors) -> list[Any]:
        """Return tensors as arrays there."""
        self.check(tensors)
        if self.device is not None and self.device.backend.name != "torch" and _proxied():
            raise GraphError(
                f"{self.title}: PyTorch traces operations on tensors, as in torch.func.linearize, and would take what "
                f"is computed on {self.device} for constants; use torch.func.jvp, or leave device= away"
            )
        plain = [exchange.plain(x.detach()) for x in tensors]
        return plain if self.device is None else [shared(x, self.device) for x in plain]

    def check(self, tensors: Tensors) -> None:
        """Raise `BatchError` for tensors of PyTorch's older vmap, which has no rules for functions."""
        functorch: Any = torch._C._functorch  # pyright: ignore[reportAttributeAccessIssue]  # there is no public one
        if any(map(functorch.is_legacy_batchedtensor, tensors)):
            raise BatchError(
                f"{self.title}: PyTorch's older vmap, of vectorize=True and is_grads_batched=True, cannot batch calls "
                "of functions; use torch.func.jacrev, jacfwd, hessian or vmap"
            )

    def left(self, arrays: Sequence[Any], homes: Sequence[Any]) -> list[Any]:
        """Return arrays as tensors, each on the device of the tensor in `homes`."""
        backend = xpgrad.get_device("@torch").backend
        pairs = zip(arrays, homes, strict=True)
        return [None if y is None else shared(y, peer(y if x is None else x, backend)) for y, x in pairs]


def _proxied() -> bool:
    """Return whether PyTorch traces operations on tensors; only then is its module of the trace imported."""
    tracing: Any = sys.modules.get("torch.fx.experimental.proxy_tensor")
    return tracing is not None and tracing.get_proxy_mode() is not None


class Call:
    """A call of a function with tensors.

    Attributes
    ----------
    place : Place
    needed : list of bool
        By which tensors it is differentiated.
    recording : bool
        Whether to record it.
    live : list of bool
        Which outputs have a gradient; known after `run`.
    recorded : Recorded or None
        What was recorded.
    """

    place: Place

    def __init__(self) -> None:
        self.needed: list[bool] = []
        self.recording = True
        self.live: list[bool] = []
        self.recorded: Recorded | None = None

    def again(self) -> Any:
        """Return a copy of the call before its run, for other tensors."""
        raise NotImplementedError

    def learn(self, other: Any) -> None:
        """Copy the metadata of outputs from another run of the same call."""
        self.live = other.live

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the outputs as Variables, differentiable to any order."""
        raise NotImplementedError

    def run(self, tensors: Tensors) -> tuple[Any, ...]:
        """Return the outputs as tensors."""
        arrays = self.place.entered(tensors)
        if self.recording:
            self.record(arrays)
            assert self.recorded is not None
            outputs: Sequence[Any] = self.recorded.outputs
            self.live = self.recorded.live
        else:
            outputs = values(self.place.title, self.listed, arrays)
            self.live = [False] * len(outputs)
        return tuple(apart(self.place.left(outputs, self.homes(tensors, len(outputs))), tensors))

    def record(self, arrays: Sequence[Any]) -> None:
        """Run the function and keep the recorded graph."""
        active = [i for i, needed in enumerate(self.needed) if needed]
        self.recorded = Recorded(self.place.title, self.listed, arrays, active)

    def homes(self, tensors: Tensors, count: int) -> Tensors:
        """Return, for each output, a tensor on the device where it goes; None leaves it in its memory."""
        return [tensors[0] if tensors else None] * count


class Forward(Call):
    """A call of a function of ours."""

    def __init__(
        self, f: Callable[..., Any], leaves: list[Any], structure: Any, places: list[int], place: Place
    ) -> None:
        super().__init__()
        self.f, self.leaves, self.structure, self.places, self.place = f, leaves, structure, places, place
        self.result: Any = None

    def again(self) -> "Forward":
        """Return a copy of the call before its run."""
        return Forward(self.f, self.leaves, self.structure, self.places, self.place)

    def learn(self, other: "Forward") -> None:
        """Copy the metadata of outputs from another run of the same call."""
        super().learn(other)
        self.result = other.result

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the Variables that the function returns, and store their tree structure."""
        given = dict(zip(self.places, inputs, strict=True))
        args, kwargs = self.structure.build([given.get(i, leaf) for i, leaf in enumerate(self.leaves)])
        leaves, structure = flatten(self.f(*args, **kwargs))
        which = [is_array(leaf) for leaf in leaves]
        paths = [where(path) for path in structure.paths()]
        made = [as_leaf(y, f"{self.place.title}: output{p}") for y, n, p in zip(leaves, which, paths, strict=True) if n]
        self.result = structure, which, [None if n else leaf for leaf, n in zip(leaves, which, strict=True)]
        return made

    def build(self, outputs: Tensors) -> Any:
        """Return the function's result with tensors in place of Variables."""
        structure, which, rest = self.result
        remaining = iter(outputs)
        return structure.build([next(remaining) if n else leaf for leaf, n in zip(rest, which, strict=True)])


class Derived(Call):
    """The gradients or tangents of a call, as a call of its tensors and of the cotangents or tangents that exist.

    Parameters
    ----------
    call : Call
    count : int
        Number of tensors of the call.
    """

    def __init__(self, call: Call, count: int) -> None:
        super().__init__()
        self.call, self.count, self.place = call, count, call.place

    def chosen(self, targets: Sequence[int], inputs: list[Variable]) -> tuple[Callable[..., Any], list[Variable]]:
        """Return the call as a function of its inputs `targets`, to its live outputs, and these inputs."""
        primals = inputs[: self.count]

        def function(*values: Variable) -> list[Variable]:
            given = dict(zip(targets, values, strict=True))
            outputs = self.call.listed([given.get(i, x) for i, x in enumerate(primals)])
            return [y for y, live in zip(outputs, self.call.live, strict=True) if live]

        return function, [primals[i] for i in targets]


class Backward(Derived):
    """The gradients of a call by its inputs `targets`; `given` marks the outputs with a cotangent."""

    def __init__(
        self, call: Call, count: int, given: Sequence[bool], targets: Sequence[int], first: Recorded | None = None
    ) -> None:
        super().__init__(call, count)
        self.given, self.targets, self.first = list(given), list(targets), first

    def again(self) -> "Backward":
        """Return a copy of the call before its run; the recorded graph belongs to the old tensors only."""
        return Backward(self.call, self.count, self.given, self.targets)

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the gradients as Variables."""
        function, primals = self.chosen(self.targets, inputs)
        remaining = iter(inputs[self.count :])
        gys = [next(remaining) if g else None for g in self.given]
        outputs, pullback = vjp(function, *primals, allow_constant=True)
        given = [g for g, live in zip(gys, self.call.live, strict=True) if live]
        seeds = [xp.zeros_like(y) if g is None else g for y, g in zip(outputs, given, strict=True)]
        return list(pullback(seeds))

    def record(self, arrays: Sequence[Any]) -> None:
        """Pull the cotangents through the recorded graph, if one exists, and keep the graph of that step."""
        if self.first is None:
            super().record(arrays)
            return
        remaining = iter(arrays[self.count :])
        self.recorded = self.first.pulled([next(remaining) if g else None for g in self.given], self.targets)

    def run(self, tensors: Tensors) -> tuple[Any, ...]:
        """Return the gradients as tensors, zeros for missing gradients."""
        found = super().run(tensors)
        pairs = zip(found, self.targets, strict=True)
        return tuple(torch.zeros_like(tensors[i]) if g is None else g for g, i in pairs)

    def homes(self, tensors: Tensors, count: int) -> Tensors:
        """Return the tensors that the gradients belong to."""
        return [tensors[i] for i in self.targets]


class Tangents(Derived):
    """The tangents of the live outputs of a call, for tangents of its inputs `targets`."""

    def __init__(self, call: Call, count: int, targets: Sequence[int]) -> None:
        super().__init__(call, count)
        self.targets = list(targets)

    def again(self) -> "Tangents":
        """Return a copy of the call before its run."""
        return Tangents(self.call, self.count, self.targets)

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the tangents as Variables."""
        function, primals = self.chosen(self.targets, inputs)
        found: list[Variable] = jvp(function, tuple(primals), tuple(inputs[self.count :]), allow_constant=True)[1]
        return found


def apart(outputs: Tensors, tensors: Tensors) -> list[Any]:
    """Return `outputs` as new tensors that PyTorch can add its graph to.

    They have the memory of our arrays, but a copy where that is the memory of `tensors`, which PyTorch takes for views.
    """
    memory = {x.untyped_storage().data_ptr() for x in tensors}
    shares = [y is not None and y.untyped_storage().data_ptr() in memory for y in outputs]
    return [None if y is None else y.clone() if s else y.detach() for y, s in zip(outputs, shares, strict=True)]


def is_floating(x: torch.Tensor) -> bool:
    """Return whether the elements of `x` are real or complex floating-point numbers."""
    return x.is_floating_point() or x.is_complex()
