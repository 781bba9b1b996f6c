"""PyTorch's autograd graph: tensors with a graph are rejected, and results have no graph."""

import numpy as np
import pytest
import torch

import xpgrad
import xpgrad.array_api as A
from xpgrad import FunctionNode, Variable
from xpgrad.errors import UnknownArray

TAPED = {
    "leaf": torch.ones(3, requires_grad=True),
    "computed": torch.ones(3, requires_grad=True) * 2,
    "parameter": torch.nn.Parameter(torch.ones(3)),
    "frozen parameter": torch.nn.Parameter(torch.ones(3), requires_grad=False),
}


@pytest.fixture(params=TAPED)
def taped(request):
    """A tensor that belongs to PyTorch's autograd."""
    return TAPED[request.param]


def test_a_tensor_with_a_tape_makes_no_variable(taped):
    with pytest.raises(UnknownArray, match=r"carries PyTorch's own tape; give xpgrad its values with detach\(\)"):
        Variable(taped)
    assert Variable(taped.detach()).array.tolist() == taped.tolist()


def test_a_tensor_with_a_tape_is_no_operand(taped):
    x = Variable(torch.ones(3))
    calls = {
        "right": lambda: x * taped,
        "function": lambda: A.add(x, taped),
        "left": lambda: A.add(taped, x),
        "three": lambda: A.where(x > 0, x, taped),
        "joined": lambda: A.concat([x, taped]),
        "product": lambda: x @ taped,
        "reduced": lambda: A.sum(taped),
    }
    for name, call in calls.items():
        with pytest.raises(UnknownArray, match=r"detach\(\)"):
            pytest.fail(f"{name} gave {call()}")


def test_a_tensor_with_a_tape_is_no_gradient_and_no_data(taped):
    x = Variable(torch.ones(3))
    with pytest.raises(UnknownArray, match="detach"):
        x.grad = taped
    with pytest.raises(UnknownArray, match="detach"):
        x.array = taped


def test_a_function_that_returns_a_tape_is_refused():
    weight = torch.ones(3, requires_grad=True)

    class Weighted(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * weight,)

    with pytest.raises(UnknownArray, match=r"Weighted: forward output: .*detach\(\)"):
        Weighted().apply((Variable(torch.ones(3)),))


def test_nothing_that_comes_out_has_a_tape_whatever_mode_is_on():
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            x = Variable(torch.tensor([0.5, -1.0, 2.0]))
            y = A.sum(A.tanh(x * 2 + 1) ** 2 / x)
            y.backward(enable_double_backprop=True)
            gx = x.grad_var
            x.cleargrad()
            A.sum(gx * gx).backward()
        for array in (y.array, gx.array, x.grad):
            assert not array.requires_grad
            assert array.grad_fn is None


def test_graphs_of_one_mode_are_swept_in_another():
    expected = None
    for forward in (torch.enable_grad, torch.inference_mode):
        for backward in (torch.inference_mode, torch.enable_grad):
            with forward():
                x = Variable(torch.arange(70000.0))  # large enough for totals to be added to in place
                y = A.sum(x * x + A.sin(x) * x + x[1:].sum())
            with backward():
                y.backward()
            expected = x.grad if expected is None else expected
            assert torch.equal(x.grad, expected)


def test_the_gradient_of_an_inference_tensor_is_memory_of_its_own():
    with torch.inference_mode():
        x = Variable(torch.ones(2, 3))
        y = A.permute_dims(x, (1, 0))
        y.grad = gy = torch.ones(3, 2)
        y.backward()
        gy[:] = 5.0
        assert x.grad.tolist() == [[1.0] * 3] * 2


def test_values_leave_with_a_tape_only_where_pytorch_is_asked_for_one():
    x = Variable(torch.ones(3))
    w = x.array.clone().requires_grad_()
    (w * w).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0]
    assert not x.array.requires_grad


def test_debug_mode_finds_a_held_tensor_that_got_a_tape():
    x = Variable(torch.ones(3))
    x.array.requires_grad_()
    with xpgrad.using_config("debug", True), pytest.raises(UnknownArray, match="detach"):
        x * 2


@pytest.mark.parametrize(
    ("tensor", "advice"),
    [
        (torch.eye(2).to_sparse(), r"got layout sparse_coo; convert it with to_dense\(\)"),
        (torch.eye(2, device="meta"), "a tensor on the device meta is refused"),
    ],
    ids=["sparse", "meta"],
)
def test_tensors_without_values_in_memory_are_refused(tensor, advice):
    with pytest.raises(UnknownArray, match=advice):
        Variable(tensor)


def test_other_subclasses_are_refused():
    class Tagged(torch.Tensor):
        pass

    with pytest.raises(UnknownArray, match=r"is a subclass of torch\.Tensor that no backend lists"):
        Variable(torch.ones(3).as_subclass(Tagged))


def test_the_host_gets_the_values_of_a_tensor_with_a_tape(taped):
    assert np.array_equal(xpgrad.get_device("@numpy").send(taped), taped.detach().numpy())
