"""`interop.torch.function`: functions of ours in PyTorch's autograd."""

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.errors import BatchError, GraphError, UnknownArray
from xpgrad_torch.interop import function

pytestmark = pytest.mark.exhaustive(1)

PLACES = None, "@numpy", "@strict"


@pytest.fixture(autouse=True)
def _float64() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def numbers(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Size | tuple[int, ...], ...], torch.dtype]] = {
    "two inputs": (lambda x, y: xp.sum(xp.tanh(x * y) * x, axis=0), ((3, 2), (3, 2)), torch.float64),
    "two outputs": (lambda x: (xp.exp(x), xp.sum(x**3)), ((4,),), torch.float64),
    "linear": (lambda x: x * 3, ((2, 2),), torch.float64),
    "complex": (lambda x, y: xp.exp(x) * xp.conj(y) * x, ((3,), (3,)), torch.complex128),
    "complex to real": (lambda x: xp.abs(x) ** 3, ((3,),), torch.complex128),
    "the input itself": (lambda x: x, ((2,),), torch.float64),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("title", CASES)
def test_first_and_second_derivatives_and_tangents(title: str, place: str | None) -> None:
    f, shapes, dtype = CASES[title]
    inputs = tuple(numbers(*shape, dtype=dtype) for shape in shapes)
    wrapped = function(f, device=place)
    assert gradcheck(wrapped, inputs, check_forward_ad=True)
    assert gradgradcheck(wrapped, inputs)


@pytest.mark.parametrize("place", PLACES)
def test_complex_gradients_are_those_of_pytorch(place: str | None) -> None:
    x = numbers(4, dtype=torch.complex128)
    loss = function(lambda x: xp.sum(xp.abs(x * x - 1) ** 2), device=place)(x)
    (expected,) = torch.autograd.grad(((x * x - 1).abs() ** 2).sum(), x)
    torch.testing.assert_close(torch.autograd.grad(loss, x)[0], expected)


TRANSFORMED: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "grad": lambda g, X: torch.func.grad(g)(X[0]),
    "grad of grad": lambda g, X: torch.func.grad(lambda x: torch.func.grad(g)(x).prod())(X[0]),
    "vjp": lambda g, X: torch.func.vjp(g, X[0])[1](torch.tensor(2.0))[0],
    "jvp": lambda g, X: torch.func.jvp(g, (X[0],), (X[1],))[1],
    "jvp of grad": lambda g, X: torch.func.jvp(torch.func.grad(g), (X[0],), (X[1],))[1],
    "hessian": lambda g, X: torch.func.hessian(g)(X[0]),
    **{
        f"{outer.__name__} of {inner.__name__}": lambda g, X, outer=outer, inner=inner: outer(inner(g))(X[0])
        for outer in (torch.func.jacrev, torch.func.jacfwd)
        for inner in (torch.func.jacrev, torch.func.jacfwd)
    },
    "grad of jvp": lambda g, X: torch.func.grad(lambda x: torch.func.jvp(g, (x,), (X[1],))[1])(X[0]),
    "jvp of jvp": lambda g, X: torch.func.jvp(lambda x: torch.func.jvp(g, (x,), (X[1],))[1], (X[0],), (X[1],))[1],
    "vmap of jacrev": lambda g, X: torch.vmap(torch.func.jacrev(g))(X),
    "vmap of jacfwd": lambda g, X: torch.vmap(torch.func.jacfwd(g))(X),
    "hessian of hessian": lambda g, X: torch.func.hessian(lambda x: torch.func.hessian(g)(x).sum())(X[0]),
    "linearize": lambda g, X: torch.func.linearize(g, X[0])[1](X[1]),
    "vmap": lambda g, X: torch.vmap(g)(X),
    "vmap along axis 1": lambda g, X: torch.vmap(g, in_dims=1)(X),
    "vmap of grad": lambda g, X: torch.vmap(torch.func.grad(g))(X),
    "vmap of hessian": lambda g, X: torch.vmap(torch.func.hessian(g))(X),
    "grad of vmap": lambda g, X: torch.func.grad(lambda X: torch.vmap(g)(X).prod())(X),
    "vmap of vmap": lambda g, X: torch.vmap(torch.vmap(lambda x: g(x[None])))(X),
    "vmap of jvp": lambda g, X: torch.vmap(lambda x: torch.func.jvp(g, (x,), (x * 2,))[1])(X),
}


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")  # by torch.func.linearize
@pytest.mark.parametrize("title", TRANSFORMED)
def test_transforms_of_torch_func(title: str) -> None:
    X = torch.randn(3, 4)
    ours = function(lambda x: xp.sum(xp.sin(x) * x**2), device=None if title == "linearize" else "@numpy")
    got = TRANSFORMED[title](ours, X)
    torch.testing.assert_close(got, TRANSFORMED[title](lambda x: (torch.sin(x) * x**2).sum(), X))
    assert not got.requires_grad


def test_what_cannot_call_functions_is_an_error() -> None:
    f, x = function(lambda x: x * x, device="@numpy"), torch.ones(2)
    with pytest.raises(
        GraphError, match=r"torch.func.linearize, and would take what is computed on @numpy for constants"
    ):
        torch.func.linearize(f, x)
    for strategy in ("reverse-mode", "forward-mode"):
        with pytest.raises(
            BatchError, match=r"PyTorch's older vmap, .* cannot batch calls of functions; use torch.func"
        ):
            torch.autograd.functional.jacobian(f, x, vectorize=True, strategy=strategy)


def test_an_empty_batch_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"expected a batch with members for torch.vmap, got an empty one"):
        torch.vmap(function(lambda x: x))(torch.zeros(0, 2))


def test_trees_integers_and_other_objects_pass() -> None:
    def f(tree: dict[str, Any], *, scale: int, name: str) -> dict[str, Any]:
        assert type(tree["i"]) is Variable
        return {"y": tree["x"][0] * scale, "i": tree["i"] + 1, "none": None, "name": name, "pair": (tree["x"][0], 2)}

    x = numbers(3)
    found = function(f)({"x": [x], "i": torch.arange(2)}, scale=3, name="a")
    torch.testing.assert_close(found["y"], 3 * x)
    assert found["i"].tolist() == [1, 2]
    assert not found["i"].requires_grad
    assert (found["none"], found["name"], found["pair"][1]) == (None, "a", 2)
    (found["y"].sum() + found["pair"][0].sum()).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4.0] * 3


def test_only_inputs_that_require_gradients_get_them() -> None:
    x, y = numbers(3), torch.randn(3)
    function(lambda x, y: xp.sum(x * y))(x, y).backward()
    assert y.grad is None
    with torch.no_grad():
        assert not function(lambda x: x * 2)(x).requires_grad
    assert not function(lambda x: x * 2)(y).requires_grad


def test_no_gradient_arrives_where_none_is_needed() -> None:
    x = numbers(3)
    y, z = function(lambda x: (x * 2, xp.floor(x)))(x)
    assert not z.requires_grad
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0] * 3


def test_non_contiguous_and_lazy_tensors() -> None:
    x = numbers(3, 4)
    for place in PLACES:
        found = function(lambda x: x * 2, device=place)(x.t()[::2])
        torch.testing.assert_close(found, x.t()[::2] * 2)
    c = numbers(2, dtype=torch.complex128)
    torch.testing.assert_close(function(lambda x: x * 2, device="@numpy")(c.conj()), c.conj() * 2)


def test_a_result_does_not_share_the_memory_of_an_argument() -> None:
    x = torch.randn(3)
    y = function(lambda x: x)(x)
    y += 1
    assert not torch.equal(x, y)


@pytest.mark.parametrize("place", [None, "@numpy"])
@pytest.mark.parametrize("which", ["argument", "result"])
def test_a_tensor_changed_in_place_is_noticed(which: str, place: str | None) -> None:
    x = numbers(3) * 1
    y = function(xp.exp, device=place)(x)
    (x if which == "argument" else y).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_arrays_of_our_graph_stay_without_pytorchs_tape() -> None:
    seen: list[Variable] = []
    y = function(lambda x: seen.append(xp.exp(x)) or seen[0])(numbers(3))
    assert y.requires_grad
    assert not seen[0].array.requires_grad


def test_what_was_recorded_is_dropped_after_the_backward_pass() -> None:
    nodes: list[weakref.ref[Any]] = []

    def f(x: Variable) -> Variable:
        y = xp.exp(x)
        nodes.append(weakref.ref(y.node))
        return xp.sum(y * y)

    x = numbers(5)
    loss = function(f)(x)
    assert nodes[0]() is not None
    loss.backward()
    gc.collect()
    assert nodes[0]() is None
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    loss = function(f)(x)
    del loss
    gc.collect()
    assert nodes[1]() is None


def test_hooks_for_saved_tensors_cost_a_second_run_only() -> None:
    x = numbers(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
        loss = function(lambda x: xp.sum(x**3))(x)
    torch.testing.assert_close(torch.autograd.grad(loss, x)[0], 3 * x.detach() ** 2)


@pytest.mark.parametrize("place", [None, "@numpy"])
def test_captured_variables_accumulate_their_gradients(place: str | None) -> None:
    w = Variable(torch.ones(3) if place is None else np.ones(3))
    f = function(lambda x: xp.sum(w * x * x), device=place)
    x = torch.randn(3)
    for times in (1, 2):
        f(x).backward()
        np.testing.assert_allclose(np.asarray(w.grad), times * x.numpy() ** 2)
    w.cleargrad()
    x.requires_grad_()
    (gx,) = torch.autograd.grad(f(x), x, create_graph=True)
    assert w.grad is None
    gx.sum().backward()
    np.testing.assert_allclose(np.asarray(w.grad), 2 * x.detach().numpy())


@pytest.mark.filterwarnings("ignore::UserWarning")  # the compiler reads gradients of tensors that are not leaves
def test_torch_compile_breaks_the_graph() -> None:
    f = function(lambda x: xp.sum(x * x))
    x = numbers(3)
    loss = torch.compile(lambda x: f(x * 2) + 1, backend="eager")(x)
    torch.testing.assert_close(torch.autograd.grad(loss, x)[0], 8 * x.detach())


def test_wrong_arguments_are_errors_that_say_where() -> None:
    with pytest.raises(TypeError, match=r"interop.torch.function: expected a function, got int"):
        function(cast(Any, 3))
    with pytest.raises(TypeError, match=r"argument 1 at \['w'\]: expected a tensor, got a Variable; pass its array"):
        function(lambda x, y: x)(torch.ones(1), {"w": Variable(np.ones(1))})
    with pytest.raises(UnknownArray, match="own tape"):
        function(lambda x: torch.sin(x.array).requires_grad_())(torch.ones(2))
    with pytest.raises(xpgrad.ShapeError, match="matmul"):
        function(lambda x: x @ np.ones((4, 4)), device="@numpy")(torch.ones(3))
