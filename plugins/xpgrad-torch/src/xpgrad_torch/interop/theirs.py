"""`from_torch`: modules and functions of PyTorch in our graph, with gradients by PyTorch's autograd."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.weak import TensorWeakRef, WeakTensorKeyDictionary

import xpgrad
from xpgrad import Variable
from xpgrad.config import at_level, called_with
from xpgrad.errors import BackendMismatch
from xpgrad.interop.foreign import call
from xpgrad.interop.framework import Framework, Run, Tape
from xpgrad.plugin import Device
from xpgrad.transforms.trees import Path, flatten
from xpgrad.types import Array
from xpgrad_torch import exchange


def from_torch(f: Callable[..., Any], *, parameters: bool = False, device: Any = None) -> "TorchFunction":
    """Return a module or function of PyTorch as a function of Variables of any library.

    Parameters
    ----------
    f : torch.nn.Module or callable
        It gets tensors, in trees of arguments, and returns a tree of tensors and other objects. It must not write into
        its arguments, which may share the memory of the caller's arrays.
    parameters : bool
        The parameters of the module are also Variables: the first argument is a dictionary like
        `TorchFunction.parameters`. By default they remain PyTorch parameters.
    device : as `get_device` takes it, or None
        Where PyTorch computes; by default where the arguments are, without a copy if PyTorch can use their memory.

    Returns
    -------
    TorchFunction

    Notes
    -----
    - PyTorch computes gradients of any order from one run of `f`, with the random numbers and buffers of that run.
    - Tensors that `f` captures and that require a gradient, such as the module's parameters, accumulate theirs in
      their `grad` whenever a `backward` of xpgrad reaches them; `xpgrad.grad` and the transforms
      do not change it, as for Variables. So an optimizer of PyTorch trains them.
    - ``module.train()`` and ``module.eval()`` set whether the module trains; ``config.train`` has no effect on it.
    - `compile` runs a function that calls it without a program, and says so.

    Raises
    ------
    TypeError
        `f` is not callable, or `parameters` is given for something else than a module.
    """
    if not callable(f):
        raise TypeError(f"from_torch: expected a module or a function, got {type(f).__name__}")
    if parameters and not isinstance(f, torch.nn.Module):
        raise TypeError(f"from_torch: parameters=True is for a torch.nn.Module, got {type(f).__name__}")
    return TorchFunction(f, parameters, None if device is None else torch_device(device, "from_torch"))


class TorchFunction:
    """A module or function of PyTorch as a function of Variables; see `from_torch`.

    Attributes
    ----------
    function : torch.nn.Module or callable
    """

    def __init__(self, f: Callable[..., Any], functional: bool, device: Device | None) -> None:
        self.function, self.functional, self.device = f, functional, device
        self._framework = Torch()
        name = getattr(f, "__name__", type(f).__name__)
        self._title = f"from_torch({name})"

    def __repr__(self) -> str:
        return self._title

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's result with Variables in place of tensors."""
        f = self._with_parameters if self.functional else self.function
        return call(self._title, self._framework, self.device, f, args, kwargs)

    def parameters(self) -> dict[str, Variable]:
        """Return the module's parameters by name, as Variables over copies."""
        if not isinstance(self.function, torch.nn.Module):
            raise TypeError(f"{self._title}: expected a torch.nn.Module, got {type(self.function).__name__}")
        named = self.function.named_parameters()
        return {name: Variable(exchange.copied(p), requires_grad=p.requires_grad) for name, p in named}

    def _with_parameters(self, parameters: Any, *args: Any, **kwargs: Any) -> Any:
        module: Any = self.function
        if not isinstance(parameters, dict):
            raise TypeError(
                f"{self._title}: expected a dictionary of parameters as the first argument, got "
                f"{type(parameters).__name__}"
            )
        known = dict(module.named_parameters())
        if unknown := sorted(parameters.keys() - known.keys()):
            raise ValueError(f"{self._title}: the module has no parameter {unknown[0]!r}; it has {', '.join(known)}")
        return torch.func.functional_call(module, parameters, args, kwargs)


class Torch(Framework):
    """The framework adapter for PyTorch."""

    def __init__(self) -> None:
        super().__init__(xpgrad.get_device("@torch").backend.root)  # not of a transformation
        self._captured: Any = WeakTensorKeyDictionary()

    def flatten(self, tree: Any) -> tuple[list[Any], list[Path], Callable[[Sequence[Any]], Any]]:
        """Return the leaves of a tree, the path to each, and the function that builds such a tree."""
        leaves, structure = flatten(tree)
        return leaves, list(structure.paths()), structure.build

    def owns(self, leaf: Any) -> bool:
        """Return whether `leaf` is a tensor."""
        return isinstance(leaf, torch.Tensor)

    def leave(self, array: Array, device: Device, *, result: bool) -> Array:
        """Return a tensor as an array on `device`."""
        return super().leave(exchange.plain(array.detach()), device, result=result)

    def run(
        self, f: Callable[..., Any], call: Callable[[Sequence[Array]], Any], inputs: Sequence[Array],
        active: Sequence[int], recorded: bool,
    ) -> Run:  # fmt: skip
        """Return the results of a call, recorded by PyTorch on request."""
        tensors = [x.detach() for x in inputs]
        roots = [tensors[i].requires_grad_() for i in active]
        with torch.set_grad_enabled(recorded):
            result = call(tensors)
        leaves, structure = flatten(result)
        live = [i for i, y in enumerate(leaves) if recorded and isinstance(y, torch.Tensor) and y.requires_grad]
        if not live:
            return Run(leaves, structure.build, None, [None] * len(leaves))
        outputs = [leaves[i] for i in live]
        tensors = list(leaves_of(outputs, roots))
        tape = TorchTape([*roots, *tensors], outputs, [self.captured(x) for x in tensors])
        places = {i: place for place, i in enumerate(live)}
        return Run(leaves, structure.build, tape, [places.get(i) for i in range(len(leaves))])

    def mapped(self, f: Callable[[Any], Any], axis: int) -> Any:
        """Return `f` for each element along an axis."""
        return torch.func.vmap(f, in_dims=axis, out_dims=axis, randomness="different")

    def captured(self, tensor: torch.Tensor) -> "Captured":
        """Return the Variable that represents a tensor, the same object for all calls."""
        known: Captured | None = self._captured.get(tensor)
        if known is not None and known.represents(tensor):
            return known
        made: Captured = called_with(at_level(None), Captured, tensor)  # outside of `compile`
        self._captured[tensor] = made
        return made


class TorchTape(Tape):
    """What PyTorch recorded.

    Parameters
    ----------
    roots : list of Tensor
        The inputs, then the captured tensors.
    outputs : list of Tensor or None
    captured : list of Captured
    """

    outputs: Sequence[Any]

    def __init__(self, roots: Sequence[Any], outputs: Sequence[Any], captured: "Sequence[Captured]" = ()) -> None:
        self.roots, self.outputs, self.captured = roots, outputs, captured

    def pull(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> Sequence[Array | None]:
        """Return the gradients of the roots `targets`."""
        return self._gradients(cotangents, targets, recorded=False)

    def pulled(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> "TorchTape":
        """Return the tape of `pull`."""
        seeds = [None if g is None else g.detach().requires_grad_() for g in cotangents]
        gradients = self._gradients(seeds, targets, recorded=True)
        return TorchTape([*self.roots, *(g for g in seeds if g is not None)], gradients)

    def _gradients(self, cotangents: Sequence[Any], targets: Sequence[int], *, recorded: bool) -> Sequence[Any]:
        pairs = [(y, g) for y, g in zip(self.outputs, cotangents, strict=True) if g is not None and y.requires_grad]
        if not pairs or not targets:
            return [None] * len(targets)
        ys, gys = [y for y, _ in pairs], [g for _, g in pairs]
        roots = [self.roots[i] for i in targets]
        with torch.set_grad_enabled(recorded):
            return torch.autograd.grad(ys, roots, gys, retain_graph=True, create_graph=recorded, allow_unused=True)


class Captured(Variable):
    """A tensor that a function of PyTorch captures; gradients that arrive here are added to its `grad`."""

    __slots__ = ("reference",)

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(exchange.plain(tensor.detach()))
        self.reference: Any = TensorWeakRef(tensor)

    def represents(self, tensor: torch.Tensor) -> bool:
        """Return whether `tensor` still has the same memory, shape and dtype."""
        own, given = self._array, tensor.detach()
        same: bool = own.data_ptr() == given.data_ptr() and own.shape == given.shape and own.dtype is given.dtype
        return same and own.stride() == given.stride()

    def _gradient_arrived(self) -> None:
        given, self._grad = self._grad, None
        tensor = self.reference()
        if tensor is None:
            return
        g = given._array if isinstance(given, Variable) else given
        with torch.no_grad():
            if tensor.grad is None:
                tensor.grad = g
            else:
                tensor.grad += g


def leaves_of(outputs: Sequence[torch.Tensor], known: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Yield the tensors that require a gradient and from which `outputs` were computed, other than `known`."""
    seen: set[Any] = {id(x) for x in known}
    functions: set[Any] = set()
    waiting: list[Any] = []
    for y in outputs:
        if y.grad_fn is not None:
            waiting.append(y.grad_fn)
        elif id(y) not in seen:
            seen.add(id(y))
            yield y
    while waiting:
        function = waiting.pop()
        if function in functions:
            continue
        functions.add(function)
        tensor = getattr(function, "variable", None)
        if isinstance(tensor, torch.Tensor) and tensor.is_leaf and id(tensor) not in seen:
            seen.add(id(tensor))
            yield tensor
        waiting.extend(each for each, _ in function.next_functions if each is not None)


def torch_device(specifier: Any, title: str) -> Device:
    """Return a device of PyTorch, or raise an error for a device of another library."""
    device = xpgrad.get_device(specifier)
    if device.backend.name != "torch":
        raise BackendMismatch(f"{title}: expected a device of PyTorch, such as '@torch:cuda:0', got {device.name!r}")
    return device
