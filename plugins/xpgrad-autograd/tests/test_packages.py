"""Programs as packages that use autograd have them: rules of other libraries, classes of arrays, masks of values."""

import numpy as onp
import pytest

X = onp.array([0.5, 1.0, -2.0])


def test_jacobians_of_rules_that_call_other_libraries(ag, np):
    from autograd.extend import defvjp, primitive
    from autograd.misc.fixed_points import fixed_point
    from autograd.tracer import getval

    squared = primitive(lambda x: onp.array([float(each) ** 2 for each in x]))
    slope = primitive(lambda x, g: onp.array([2 * float(each) for each in x]) * g)
    defvjp(squared, lambda ans, x: lambda g: slope(x, g))
    doubled = primitive(lambda g: onp.array([2 * float(each) for each in g]))
    defvjp(slope, lambda ans, x, g: lambda h: h * doubled(getval(g)), lambda ans, x, g: lambda h: slope(x, h))
    onp.testing.assert_allclose(ag.jacobian(squared)(X), onp.diag(2 * X))
    onp.testing.assert_allclose(ag.hessian(lambda x: np.sum(squared(x)))(X), 2 * onp.eye(3))

    def root(a):
        return fixed_point(lambda a: lambda x: (x + a / x) / 2, a, onp.ones(3), lambda x, y: np.max(abs(x - y)), 1e-12)

    onp.testing.assert_allclose(ag.jacobian(root)(1 + X**2), onp.diag(0.5 / onp.sqrt(1 + X**2)))


def test_masks_of_values_in_second_derivatives(ag, np):
    def function(x):
        y = np.exp(x)
        return np.sum(np.where(y._value > 1.2, y, 0.0))

    onp.testing.assert_allclose(ag.hessian(function)(X), onp.diag(onp.where(onp.exp(X) > 1.2, onp.exp(X), 0)))


def test_registered_subclasses_of_arrays(ag, np):
    from autograd.extend import VSpace, vspace
    from autograd.numpy.numpy_boxes import ArrayBox
    from autograd.tracer import Box

    class Marked(onp.ndarray):
        """Arrays that may be marked as constant."""

        constant = False

    def boxed(x, *args):
        if x.constant:
            raise ValueError("constant")
        return ArrayBox(x, *args)

    Box.type_mappings[Marked] = boxed
    VSpace.mappings[Marked] = lambda x: vspace(onp.asarray(x))
    try:
        x = X.view(Marked)
        onp.testing.assert_array_equal(ag.grad(lambda y: np.sum(y * x * y[x > 0][0]))(x), 0.5 * X + [X @ X, 0, 0])
        onp.testing.assert_array_equal(ag.jacobian(lambda y: y**2)(x), onp.diag(2 * X))
        onp.testing.assert_array_equal(ag.deriv(lambda y: y * x)(2.0), X)
        x.constant = True
        with pytest.raises(ValueError, match="constant"):
            ag.grad(np.sum)(x)
    finally:
        del Box.type_mappings[Marked], VSpace.mappings[Marked]


def test_gradients_by_a_tuple_may_be_an_array(ag, np):
    from autograd.extend import defvjp, primitive

    total = primitive(lambda xs: sum(each * (i + 1) for i, each in enumerate(xs[0])))
    defvjp(total, lambda ans, xs: lambda g: (g * onp.array([1.0, 2.0, 3.0]),))
    assert ag.grad(lambda x, y: total(((x, y, 4.0),)), (0, 1))(2.0, 3.0) == (1.0, 2.0)


def test_singular_matrices_raise_numpys_error(ag, np):
    for function in (np.linalg.cholesky, np.linalg.inv):
        with pytest.raises(onp.linalg.LinAlgError):
            ag.grad(lambda x, function=function: np.sum(function(x)))(onp.zeros((2, 2)))
