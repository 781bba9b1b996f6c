"""`interop.from_torch`: modules and functions of PyTorch in our graph."""

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from tests.within import OfAFramework

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.errors import (
    BackendMismatch,
    BatchError,
    GraphError,
    UnknownArray,
)
from xpgrad.transforms import checkpoint, grad, vmap
from xpgrad_torch.interop import from_torch

pytestmark = pytest.mark.exhaustive(1)


@pytest.fixture(autouse=True)
def _float64() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "torch": torch.tensor,
    "strict": lambda a: xpgrad.get_device("@strict").send(np.asarray(a)),
}
A = np.asarray([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])


def two_layers() -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def gradients(module: torch.nn.Module) -> list[Any]:
    found = [None if p.grad is None else p.grad.numpy().copy() for p in module.parameters()]
    module.zero_grad()
    return found


def equal(found: list[Any], expected: list[Any]) -> None:
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
def test_gradients_of_inputs_and_parameters_are_those_of_pytorch(library: str) -> None:
    module = two_layers()
    x = Variable(LIBRARIES[library](A))
    y = from_torch(module)(x)
    assert type(y.array) is type(x.array)
    xp.sum(y * y).backward()
    found = [xpgrad.get_device("@numpy").send(x.grad), *gradients(module)]
    t = torch.tensor(A, requires_grad=True)
    (module(t) ** 2).sum().backward()
    assert t.grad is not None
    equal(found, [t.grad.numpy(), *gradients(module)])


@pytest.mark.parametrize("library", LIBRARIES)
def test_gradients_of_gradients_reach_inputs_and_parameters(library: str) -> None:
    module = two_layers()
    x = Variable(LIBRARIES[library](A))
    (gx,) = xpgrad.grad([xp.sum(from_torch(module)(x) ** 2)], [x], enable_double_backprop=True)
    assert gx is not None
    assert gradients(module) == [None] * 4
    xp.sum(gx * gx).backward()
    found = [xpgrad.get_device("@numpy").send(x.grad), *gradients(module)]
    t = torch.tensor(A, requires_grad=True)
    (gt,) = torch.autograd.grad((module(t) ** 2).sum(), t, create_graph=True)
    (gt * gt).sum().backward()
    assert t.grad is not None
    equal(found, [t.grad.numpy(), *gradients(module)])


def test_no_memory_is_copied_on_the_way() -> None:
    x = Variable(np.ones(3))
    seen: list[torch.Tensor] = []
    y = from_torch(lambda t: seen.append(t) or t)(x)
    assert seen[0].data_ptr() == x.array.ctypes.data
    assert np.shares_memory(y.array, x.array)
    assert y.array.flags.writeable
    frozen = np.ones(3)
    frozen.flags.writeable = False
    for array in (frozen, np.arange(3.0)[::-1], np.broadcast_to(np.float64(2.0), (3,))):
        np.testing.assert_array_equal(from_torch(lambda t: t * 2)(Variable(array)).array, array * 2)


def test_tensors_of_pytorch_keep_their_tape() -> None:
    w = torch.ones(3, requires_grad=True)
    x = Variable(A)
    xp.sum(from_torch(lambda x, w: x * w.exp())(x, w)).backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), np.exp(1) * A.sum(0))


def test_gradients_accumulate_in_parameters_and_stop_where_pytorch_stops() -> None:
    module = torch.nn.Linear(3, 2)
    module.bias.requires_grad_(False)
    f = from_torch(module)
    for _ in range(2):
        xp.sum(f(A)).backward()
    assert module.weight.grad is not None
    np.testing.assert_allclose(module.weight.grad.numpy(), 2 * np.tile(A.sum(0), (2, 1)))
    assert module.bias.grad is None
    assert not any(y.requires_grad for y in from_torch(lambda t: (t.detach() * 2, torch.ones(2)))(Variable(A)))


def test_a_module_that_is_used_twice_and_one_whose_memory_changes() -> None:
    module = torch.nn.Linear(3, 3)
    f = from_torch(module)
    xp.sum(f(f(A))).backward()
    found = gradients(module)
    module(module(torch.tensor(A))).sum().backward()
    equal(found, gradients(module))
    module.weight.data = torch.ones(3, 3)
    xp.sum(f(f(A))).backward()
    found = gradients(module)
    module(module(torch.tensor(A))).sum().backward()
    equal(found, gradients(module))


def test_parameters_as_variables() -> None:
    module = two_layers()
    f = from_torch(module, parameters=True)
    parameters = f.parameters()
    assert list(parameters) == [name for name, _ in module.named_parameters()]
    xp.sum(f(parameters, Variable(torch.tensor(A))) ** 2).backward()
    found = [v.grad.numpy() for v in parameters.values()]
    assert gradients(module) == [None] * 4
    (module(torch.tensor(A)) ** 2).sum().backward()
    equal(found, gradients(module))
    with pytest.raises(ValueError, match=r"from_torch\(Sequential\): the module has no parameter 'w'; it has 0.weight"):
        f({"w": A}, A)
    with pytest.raises(TypeError, match="expected a dictionary of parameters as the first argument, got Tensor"):
        f(A)


def test_random_numbers_and_buffers_are_those_of_the_one_run() -> None:
    x = Variable(np.ones(20))
    y = from_torch(torch.nn.Dropout(0.5))(x)
    (gx,) = xpgrad.grad([xp.sum(y * y)], [x], enable_double_backprop=True)
    assert gx is not None
    np.testing.assert_allclose(gx.array, 2 * y.array * y.array)
    norm = torch.nn.BatchNorm1d(3)
    v = Variable(A)
    (gv,) = xpgrad.grad([xp.sum(from_torch(norm)(v) ** 3)], [v], enable_double_backprop=True)
    assert gv is not None
    xp.sum(gv * gv).backward()
    assert norm.num_batches_tracked is not None
    assert int(norm.num_batches_tracked) == 1


def test_a_checkpoint_runs_it_again() -> None:
    module = torch.nn.Linear(3, 2)
    f = from_torch(module)
    x = Variable(A)
    xp.sum(checkpoint(lambda x: f(x * 2))(x)).backward()
    np.testing.assert_allclose(x.grad, np.tile(2 * module.weight.detach().numpy().sum(0), (2, 1)))
    assert module.bias.grad is not None
    assert module.bias.grad.tolist() == [2.0, 2.0]


def test_memory_is_freed() -> None:
    f = from_torch(torch.nn.Linear(3, 2))
    x = Variable(A)
    loss = xp.sum(f(x) ** 2)
    node = weakref.ref(loss.creator_node)
    loss.backward()
    tape = weakref.ref(f(x).creator_node)
    gc.collect()
    assert tape() is None
    del loss
    gc.collect()
    assert node() is None
    y = f(x)
    xp.sum(y).backward(retain_graph=False)
    with pytest.raises(GraphError, match="swept with retain_graph=False"):
        xp.sum(y).backward()


@pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning")
def test_a_compiled_function_adds_to_the_gradients_of_parameters() -> None:
    module = torch.nn.Linear(3, 2)
    f = from_torch(module)
    w = Variable(np.ones(3))

    def train(x: Variable) -> Variable:
        w.cleargrad()
        loss = xp.sum(f(x * w) ** 2)
        loss.backward()
        return loss

    step = xpgrad.compile(train)
    t = torch.ones(3, requires_grad=True)
    (module(torch.tensor(A) * t) ** 2).sum().backward()
    assert t.grad is not None
    expected = [t.grad.numpy(), *gradients(module)]
    for _ in range(4):
        module.zero_grad()
        step(A)
        equal([w.grad, *gradients(module)], expected)


class TestWithin(OfAFramework):
    framework, convert = torch, staticmethod(from_torch)


def test_gradients_of_a_module_for_each_example() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    f = from_torch(module, parameters=True)
    parameters = {name: np.asarray(p.array) for name, p in f.parameters().items()}
    found = vmap(grad(lambda p, x: xp.sum(f(p, x) ** 2)), in_axes=(None, 0))(parameters, A)
    for i, x in enumerate(A):
        expected = torch.autograd.grad((module(torch.tensor(x)) ** 2).sum(), [*module.parameters()])
        for each, g in zip(found.values(), expected, strict=True):
            np.testing.assert_allclose(each[i], g, rtol=1e-12)
    with pytest.raises(BatchError, match="parameters that the function captures would have one gradient for a whole"):
        vmap(from_torch(module))(A)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no function": (lambda: from_torch(3), TypeError, "from_torch: expected a module or a function, got int"),
    "no module": (
        lambda: from_torch(torch.sin, parameters=True), TypeError, "parameters=True is for a torch.nn.Module, got",
    ),
    "another library's device": (
        lambda: from_torch(torch.sin, device="@numpy"), BackendMismatch, "expected a device of PyTorch.*got '@numpy'",
    ),
    "uninitialised": (
        lambda: from_torch(torch.sin)(Variable()), UnknownArray, r"from_torch\(sin\): argument 0: the Variable is un",
    ),
    "two devices": (
        lambda: from_torch(torch.add)(Variable(A), other=Variable(torch.ones(3))), BackendMismatch,
        r"from_torch\(add\): expected arrays of one device, got @numpy and, for argument 'other', @torch:cpu; move",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", WRONG)
def test_wrong_arguments_are_errors_that_say_where(title: str) -> None:
    call, kind, match = WRONG[title]
    with pytest.raises(kind, match=match):
        call()


def test_errors_of_pytorch_name_the_function_and_its_arguments() -> None:
    with pytest.raises(RuntimeError) as caught:
        from_torch(torch.nn.Linear(4, 2))(Variable(A))
    assert caught.value.__notes__ == ["in from_torch(Linear), called with float64 (2, 3)"]
