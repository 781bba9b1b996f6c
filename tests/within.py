"""Functions of another framework in our graph: derivatives, trees, forward mode, batches, and compiled functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import BatchError, CompileWarning, TraceError
from xpgrad.testing.gradient_check import check_backward, check_double_backward
from xpgrad.transforms import checkpoint, grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, value_and_grad, vmap

A = np.asarray([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
WITHIN: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: lambda x: xp.sum(f(x)),
    "grad": lambda f: grad(lambda x: xp.sum(f(x))),
    "jvp": lambda f: lambda x: jvp(f, (x,), (x,))[1],
    "hvp": lambda f: lambda x: hvp(lambda x: xp.sum(f(x)), (x,), (x,))[0],
    "hessian": lambda f: hessian(lambda x: xp.sum(f(x))),
}

FORWARD: dict[str, Callable[[Any], Any]] = {
    "jvp": lambda f: jvp(f, (A, A + 1), (A * 2, A - 1))[1],
    "jvp by one argument": lambda f: jvp(lambda x: f(x, A), (A,), (A + 3,))[1],
    "jvp of jvp": lambda f: jvp(lambda x: jvp(f, (x, A), (A, A * 2))[1], (A,), (A + 3,))[1],
    "gradient of jvp": lambda f: grad(lambda x: xp.sum(jvp(f, (x, A + 1), (x * 2, A))[1]))(A),
    "jvp of gradient": lambda f: jvp(grad(lambda x: xp.sum(f(x, x) ** 2)), (A,), (A + 1,))[1],
    "hvp": lambda f: hvp(lambda x: xp.sum(f(x, A) ** 2), (A,), (A + 1,))[0],
    "gradient of hvp": lambda f: grad(lambda v: xp.sum(hvp(lambda x: xp.sum(f(x, x) ** 2), (A,), (v,))[0] ** 2))(A),
}
BATCHED: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda f: vmap(f)(A, A + 1),
    "vmap of a shared argument": lambda f: vmap(f, in_axes=(0, None))(A, A[0]),
    "along another axis": lambda f: vmap(f, in_axes=(1, 1), out_axes=1)(A, A + 1),
    "vmap of vmap": lambda f: vmap(vmap(f, in_axes=(None, 0)), in_axes=(0, None))(A, A + 1),
    "vmap of grad": lambda f: vmap(grad(lambda x, y: xp.sum(f(x, y) ** 2), 1), in_axes=(0, None))(A, A[0]),
    "vmap of grad of grad": lambda f: vmap(grad(lambda x: xp.sum(grad(lambda z: xp.sum(f(z, x)))(x) ** 2)))(A),
    "grad of vmap": lambda f: grad(lambda y: xp.sum(vmap(f, in_axes=(0, None))(A, y) ** 2))(A[0]),
    "vmap of grad of vmap": lambda f: vmap(grad(lambda y: xp.sum(vmap(f, in_axes=(0, None))(A, y) ** 2)))(A),
    "vmap of jvp": lambda f: vmap(lambda x, t: jvp(f, (x, x), (t, t))[1])(A, A + 1),
    "vmap of jacobian": lambda f: vmap(jacobian(lambda x: f(x, x)))(A),
    "vmap of hessian": lambda f: vmap(hessian(lambda x: xp.sum(f(x, x) ** 2)))(A),
    "jacobian of vmap": lambda f: jacrev(lambda y: vmap(f, in_axes=(0, None))(A, y))(A[0]),
}


class OfAFramework:
    """Tests of `convert`, which takes functions of another `framework` into our graph."""

    framework: Any
    convert: Callable[..., Any]

    def test_numerical_gradients_to_second_order(self) -> None:
        f = self.convert(lambda x, y: (self.framework.tanh(x * y) * x).sum(0))
        x, y, gy = A, A[::-1] + 1, np.asarray([1.0, -0.5, 2.0])
        check_backward(f, (x, y), gy)
        check_double_backward(f, (x, y), gy, (A * 2, A - 1))

    def test_third_derivatives(self) -> None:
        f = self.convert(lambda x: (x**5).sum())
        third = grad(lambda x: xp.sum(grad(lambda x: xp.sum(grad(f)(x)))(x)))
        np.testing.assert_allclose(third(A), 60 * A**2)
        np.testing.assert_allclose(hvp(f, (A,), (A,))[0], 20 * A**4)

    def test_complex_gradients_are_ours(self) -> None:
        z, theirs = A + 1j * A[::-1], self.convert(lambda z: self.framework.exp(z) * z.conj())
        for transform in (grad, lambda f: lambda z: hvp(f, (z,), (z,))[0]):
            found, expected = (
                transform(lambda z, f=f: xp.sum(xp.abs(f(z)) ** 2))(z)
                for f in (theirs, lambda z: xp.exp(z) * xp.conj(z))
            )
            np.testing.assert_allclose(found, expected)

    def test_trees_integers_none_and_other_objects_pass(self) -> None:
        def f(tree: dict[str, Any], *, scale: int) -> dict[str, Any]:
            x, i = tree["x"][0], tree["i"]
            assert not {type(x), type(i)} & {np.ndarray, Variable}
            return {"y": x * scale, "i": i + 1, "none": None, "name": "a", "max": (x.max(), x.argmax()), "b": x > 0}

        x = Variable(A)
        found = self.convert(f)({"x": [x], "i": np.arange(2)}, scale=3)
        assert found["y"].requires_grad
        assert not found["i"].requires_grad
        assert found["i"].array.tolist() == [1, 2]
        assert (found["none"], found["name"], found["b"].dtype) == (None, "a", bool)
        (found["max"][0] + xp.sum(found["y"])).backward()
        np.testing.assert_allclose(x.grad, 3 + (A.max() == A))
        assert not self.convert(f)({"x": [A], "i": np.arange(2)}, scale=3)["y"].requires_grad
        with xpgrad.no_backprop_mode():
            assert not self.convert(self.framework.tanh)(x).requires_grad

    def test_outputs_without_cotangents_and_outputs_after_a_checkpoint(self) -> None:
        x, exp = Variable(A), self.framework.exp
        _, z = self.convert(lambda t: (t * 2, exp(t)))(x)
        xp.sum(z).backward()
        np.testing.assert_allclose(x.grad, np.exp(A))
        x.cleargrad()
        xp.sum(checkpoint(lambda x: self.convert(exp)(x * 2))(x)).backward()
        np.testing.assert_allclose(x.grad, 2 * np.exp(2 * A))

    def test_a_compiled_function_runs_it_without_a_program_and_says_so(self) -> None:
        f, called = self.convert(self.framework.sin), rf"{self.convert.__name__}\(sin\) was called"
        step = xpgrad.compile(value_and_grad(lambda x: xp.sum(f(x * 2))))
        with pytest.warns(CompileWarning, match=rf"{called} \(line .*; call it outside of the compiled"):
            step(A)
        with pytest.raises(TraceError, match=called):
            xpgrad.compile(value_and_grad(lambda x: xp.sum(f(x))), strict=True)(A)

    @pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning", "ignore::xpgrad.BatchWarning")
    @pytest.mark.parametrize("make", WITHIN.values(), ids=WITHIN)
    def test_a_compiled_transform_runs_it_without_a_program(self, make: Callable[[Any], Any]) -> None:
        f = make(self.convert(lambda x: self.framework.sin(x) * x))
        step = xpgrad.compile(f)
        for _ in range(3):
            np.testing.assert_allclose(step(A), f(A))
        with pytest.raises(TraceError, match="has no program"):
            step.program(A)

    @pytest.mark.parametrize("title", FORWARD)
    def test_forward_mode_transposes_the_gradient(self, title: str) -> None:
        theirs = self.convert(lambda x, y: (self.framework.tanh(x) * y).sum(0))
        expected = FORWARD[title](lambda x, y: xp.sum(xp.tanh(x) * y, axis=0))
        np.testing.assert_allclose(FORWARD[title](theirs), expected, rtol=1e-12)

    @pytest.mark.parametrize("title", BATCHED)
    def test_batches_are_batches_of_the_framework(self, title: str) -> None:
        theirs = self.convert(lambda x, y: self.framework.tanh(x) * y.sum())
        expected = BATCHED[title](lambda x, y: xp.tanh(x) * xp.sum(y))
        np.testing.assert_allclose(BATCHED[title](theirs), expected, rtol=1e-12)

    def test_forward_mode_of_a_batch_is_refused_with_what_to_do(self) -> None:
        text = rf"{self.convert.__name__}\(tanh\): arrays within vmap cannot .* call jvp within vmap"
        with pytest.raises(BatchError, match=text):
            jvp(vmap(self.convert(self.framework.tanh)), (A,), (A,))

    @pytest.mark.parametrize("transform", [jacobian, jacrev, jacfwd, hessian])
    def test_matrices_of_derivatives(self, transform: Any) -> None:
        theirs, ours = (lambda x, f=f: f(x) * x for f in (self.convert(self.framework.tanh), xp.tanh))
        if transform is hessian:
            theirs, ours = (lambda x, f=f: xp.sum(f(x)) for f in (theirs, ours))
        np.testing.assert_allclose(transform(theirs)(A), transform(ours)(A), rtol=1e-12, atol=1e-15)
