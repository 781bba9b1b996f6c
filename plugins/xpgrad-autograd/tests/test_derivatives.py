"""Operators, rules of programs, kinds of values and traces, with autograd's names."""

import copy
import importlib

import numpy as onp
import pytest
import scipy.stats

X = onp.array([0.5, 1.0, -2.0])


def test_operators_on_functions(ag, np):
    def f(x):
        return np.sum(np.sin(x) * x**2)

    slope = onp.cos(X) * X**2 + 2 * X * onp.sin(X)
    second = onp.diag(-onp.sin(X) * X**2 + 4 * X * onp.cos(X) + 2 * onp.sin(X))
    onp.testing.assert_allclose(ag.grad(f)(X), slope)
    onp.testing.assert_allclose(ag.elementwise_grad(np.sin)(X), onp.cos(X))
    onp.testing.assert_allclose(ag.jacobian(lambda x: np.outer(x, x))(X).shape, (3, 3, 3))
    onp.testing.assert_allclose(ag.hessian(f)(X), second)
    onp.testing.assert_allclose(ag.hessian_vector_product(f)(X, X), second @ X)
    onp.testing.assert_allclose(ag.make_hvp(f)(X)[0](X), second @ X)
    onp.testing.assert_allclose(ag.make_ggnvp(lambda x: x**2)(X)(X), 4 * X**3)
    onp.testing.assert_allclose(ag.make_jvp(f)(X)(X)[1], slope @ X)
    assert ag.value_and_grad(lambda x: x**2)(3.0) == (9.0, 6.0)
    assert type(ag.grad(lambda x: x**2)(3.0)) is onp.float64
    assert ag.deriv(np.exp)(0.0) == 1.0
    assert ag.holomorphic_grad(lambda z: z**2)(1 + 2j) == 2 + 4j
    assert ag.grad_named(lambda a, b: a * b, "b")(2.0, 3.0) == 2.0
    assert dict(ag.multigrad_dict(lambda a, b=2.0: a * b)(3.0)) == {"a": 2.0, "b": 3.0}
    assert ag.checkpoint(np.sin)(1.0) == onp.sin(1.0)
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(ag.checkpoint(np.sin)(x)))(X), onp.cos(X))


def test_containers_stay_what_they_are(ag, np):
    def f(given):
        assert type(given) is dict
        assert type(given["a"]) is list
        return np.sum(given["a"][0] * given["b"])

    found = ag.grad(f)({"a": [2.0, X], "b": X})
    assert found["a"][0] == X.sum()
    onp.testing.assert_array_equal(found["a"][1], 0 * X)
    onp.testing.assert_array_equal(found["b"], 2 + 0 * X)


@pytest.mark.parametrize("operand", [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), 2, 2.0, onp.float32(2), X])
def test_operands(operand, ag, np):
    plain = onp.asarray(operand)
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(x * operand))(X), plain + 0 * X)
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(operand * x))(X), plain + 0 * X)
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(onp.multiply(operand, x)))(X), plain + 0 * X)


def test_new_axis(ag, np):
    assert np.newaxis is None
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(x[:, np.newaxis] * x))(X), onp.full(3, 2 * X.sum()))


def test_unbroadcast_within_a_jacobian(ag, np):
    from autograd.extend import defvjp, primitive
    from autograd.numpy.numpy_vjps import unbroadcast_f

    product = primitive(onp.multiply)
    defvjp(
        product,
        lambda ans, x, y: unbroadcast_f(x, lambda g: g * y),
        lambda ans, x, y: unbroadcast_f(y, lambda g: g * x),
    )
    found = ag.jacobian(lambda x: product(onp.ones((2, 3)), x))(X)
    onp.testing.assert_allclose(found, onp.broadcast_to(onp.eye(3), (2, 3, 3)))
    onp.testing.assert_allclose(ag.hessian(lambda x: np.sum(product(x, x)))(X), 2 * onp.eye(3))


def test_derivatives_within_derivatives(ag, np):
    def inner(x):
        return ag.grad(lambda y: x * y**2)(3.0)  # the argument is constant, the function depends on x

    assert ag.grad(inner)(2.0) == 6.0
    assert ag.grad(lambda x: ag.deriv(lambda y: ag.grad(lambda z: x * y * z)(1.0))(2.0))(3.0) == 1.0
    assert ag.grad(ag.grad(ag.grad(lambda x: x**4)))(2.0) == 48.0


def test_complex_scalars(check):
    check(lambda z: z * z, modes=["rev"])(0.5 + 1j)


def test_iterables_of_arrays(ag, np):
    for join in (np.stack, np.concatenate, np.concat, np.hstack, np.vstack):
        onp.testing.assert_array_equal(join(k * X for k in (1, 2)), join([X, 2 * X]))
        onp.testing.assert_array_equal(join({"a": X, "b": 2 * X}.values()), join([X, 2 * X]))
        found = ag.grad(lambda x, join=join: np.sum(join(k * x for k in (1, 2))))(X)
        onp.testing.assert_allclose(found, 3 + 0 * X)


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((), (3,)),
                                    ((2, 3, 4), (4,)), ((2, 3), (4, 3, 2))])  # fmt: skip
def test_dot(shapes, np, check):
    a, b = (onp.arange(1.0, 1 + onp.prod(shape)).reshape(shape) / 5 for shape in shapes)
    check(np.dot, argnum=(0, 1))(a, b)
    check(lambda a: np.dot(a.tolist() if isinstance(a, onp.ndarray) else a, b.tolist()), modes=["rev"])(a)


def test_full_and_logsumexp(ag, np):
    from autograd.scipy.special import logsumexp

    assert ag.grad(lambda x: np.sum(np.full((2, 3), x) ** 2))(1.5) == 18.0
    rows = onp.array([[0.0, 1.0], [-onp.inf, -onp.inf], [onp.inf, 0.0]])
    onp.testing.assert_allclose(logsumexp(rows, axis=1), [onp.log1p(onp.e), -onp.inf, onp.inf])
    onp.testing.assert_allclose(ag.grad(lambda x: logsumexp([x[0], x[1]]))(X), [0.37754067, 0.62245933, 0])
    assert type(logsumexp(X)) is onp.float64


def test_boxes_are_of_the_module_that_dispatchers_expect(ag, np):
    from autograd.numpy.numpy_boxes import ArrayBox

    assert ArrayBox.__module__ == "autograd.numpy.numpy_boxes"


def test_functions_for_rules(ag, np):
    from autograd.numpy.numpy_vjps import match_complex, repeat_to_match_shape, unbroadcast_f

    pull = unbroadcast_f(onp.ones((1, 3)), lambda g: 2 * g)
    onp.testing.assert_array_equal(pull(onp.ones((4, 2, 3))), onp.full((1, 3), 16.0))
    assert pull(1j + onp.ones((2, 3))).dtype == float
    assert match_complex(1j, X).dtype == complex
    repeated, count = repeat_to_match_shape(X, (3, 2), float, 1, False)
    onp.testing.assert_array_equal(repeated, onp.stack([X, X], 1))
    assert count == 2
    rules = [importlib.import_module(f"autograd.numpy.{name}") for name in ("numpy_vjps", "numpy_jvps")]
    for name in ("defvjp", "defjvp", "match_complex", "balanced_eq", "register_notrace", "vspace", "ArrayBox"):
        assert getattr(rules[0], name) is getattr(rules[1], name)


def test_tables(ag, np):
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([1.0, 2.0, 3.0])
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(x * column))(X), column.to_numpy())
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(np.dot(x, column)))(X), column.to_numpy())
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(x[column.astype(int) - 1] * 2))(X), [2, 2, 2])


def test_what_cannot_be_differentiated(ag, np):
    with pytest.raises(TypeError, match=r"Can't differentiate w.r.t. type <class 'int'>"):
        ag.grad(lambda x: x)(3)
    with pytest.raises(TypeError, match="grad: expected a function with a real scalar result"):
        ag.grad(lambda x: x)(X)
    with pytest.raises(TypeError, match="does not support item assignment"):
        ag.grad(lambda x: x.__class__ and exec("x[0] = 1.0", {"x": x}))(X)
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        onp.testing.assert_array_equal(ag.grad(lambda x: 1.0)(X), 0 * X)
    with pytest.raises(TypeError, match=r"random.normal: samples have no derivatives by an argument; write them as"):
        ag.grad(lambda x: np.random.normal(x))(X)
    with pytest.raises(ValueError, match="low >= high"):
        np.random.randint(3, 2)
    with pytest.raises(AttributeError, match="sort"):  # in place, of arrays of NumPy
        ag.grad(lambda x: x.sort())(X)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\)"):
        ag.grad(lambda x: x * None)(X)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("make", [onp.ascontiguousarray, onp.asfortranarray])
def test_orders_of_elements(order, make, ag, np, check):
    x = make(onp.arange(6.0).reshape(2, 3))
    functions = [lambda np, x: np.ravel(x, order), lambda np, x: x.flatten(order), lambda np, x: x.ravel(order=order)]
    if order != "K":
        functions += [lambda np, x: np.reshape(x, (3, -1), order), lambda np, x: x.reshape(3, 2, order=order)]
    for f in functions:
        pullback, value = ag.make_vjp(lambda x, f=f: f(np, x))(x)
        onp.testing.assert_array_equal(value, f(onp, x))
        onp.testing.assert_array_equal(f(onp, make(pullback(value))), value)
    check(lambda x: np.reshape(x, -1, order="F") * X.repeat(2))(x)
    with pytest.raises(ValueError, match="reshape: expected the order 'C', 'F', 'A' or 'K', got 'B'"):
        ag.grad(lambda x: np.reshape(x, 6, order="B")[0])(x)


def test_texts_of_boxes(ag, np):
    texts = []
    ag.grad(lambda x: [x, texts.extend((f"{x}", str(x), f"{x:.2f}", format(x)))][0])(2.0)
    assert texts == [*["Autograd ArrayBox with value 2.0"] * 2, "2.00", "Autograd ArrayBox with value 2.0"]


def test_rules_of_the_program(ag, np, check):
    from autograd.extend import defjvp, defvjp, primitive

    @primitive
    def cube(x, y):
        assert type(x) in (onp.ndarray, onp.float64, float)
        return x**3 * y

    with pytest.raises(NotImplementedError, match="VJP of cube not defined"):
        ag.grad(cube)(2.0, 1.0)
    defvjp(cube, lambda ans, x, y: lambda g: 3 * g * x**2 * y)
    for derivative in (ag.grad(cube, 1), lambda x, y: ag.make_jvp(cube, 1)(x, y)(1.0)):
        with pytest.raises(NotImplementedError, match="VJP of cube wrt argnum 1 not defined"):
            derivative(2.0, 1.0)
    defvjp(cube, lambda ans, x, y: lambda g: 3 * g * x**2 * y, lambda ans, x, y: lambda g: g * x**3)
    check(cube, argnum=(0, 1))(2.0, 3.0)
    check(lambda x: np.sum(cube(x, 2.0) * x))(X)

    @primitive
    def twice(x):
        return 2 * x

    defjvp(twice, "same")
    check(twice, modes=["fwd"])(X)
    check(lambda x: np.sin(twice(x)), modes=["fwd"])(X)
    with pytest.raises(NotImplementedError, match="VJP of twice not defined"):
        ag.grad(lambda x: np.sum(twice(x)))(X)

    @primitive
    def halved(x):
        return x / 2

    defjvp(halved, lambda g, ans, x: g / 2)
    check(lambda x: np.sum(halved(x) ** 2))(X)

    @primitive
    def parts(x):
        return x[0], {"rest": x[1:]}

    def of_parts(ans, x):
        return lambda g: np.concatenate([np.reshape(g[0], (1,)), g[1]["rest"]])

    defvjp(parts, of_parts)
    check(lambda x: parts(x)[0] * np.sum(parts(x)[1]["rest"] ** 2), modes=["rev"])(X)

    @primitive
    def ordered(x):
        return np.sort(x), np.argsort(x)

    defvjp(ordered, lambda ans, x: lambda g: g[0][np.argsort(ans[1])] + g[1])
    check(lambda x: np.sum(X[ordered(x)[1]] * ordered(x)[0] ** 2), modes=["rev"])(X)


def test_a_rule_of_the_program_gets_arrays_and_boxes(ag, np, check):
    from autograd.extend import defvjp, primitive
    from autograd.tracer import isbox

    seen, calls = [], []

    @primitive
    def squared(z):
        calls.append(z)
        return ag.grad(lambda v: v**3 / 3)(z) if np.ndim(z) == 0 and np.isrealobj(z) else z**2

    def of_squared(ans, z):
        def pulled(g):
            seen.append((isbox(g), isbox(z), isbox(ans)))
            return 2 * z * g

        return pulled

    defvjp(squared, of_squared)
    assert ag.grad(squared)(1.5) == 3.0
    assert seen == [(False, False, False)]
    assert ag.grad(ag.grad(squared))(1.5) == 2.0
    assert seen[1:] == [(False, True, True)]
    assert len(calls) == 2
    onp.testing.assert_allclose(ag.jacobian(squared)(X), onp.diag(2 * X))
    onp.testing.assert_allclose(ag.hessian(lambda x: np.sum(squared(x)))(X), 2 * onp.eye(3))
    check(squared, modes=["rev"])(X + 1j)
    check(squared)(X.astype(onp.float32).astype(float))
    assert ag.grad(lambda x: np.sum(squared(x)))(X.astype(onp.float32)).dtype == onp.float32
    ag.grad(lambda x: [squared(x), calls.append(x)][0])(1.5)
    assert squared(calls[-1])._node.label == "squared"

    @primitive
    def summed(x, y):
        return np.sum(x) * y

    defvjp(summed, lambda ans, x, y: lambda g: g * y, lambda ans, x, y: lambda g: g * np.sum(x))
    onp.testing.assert_allclose(ag.grad(summed)(X, 2.0), [2.0, 2.0, 2.0])  # a gradient is stretched to the shape
    assert ag.grad(summed, 1)(X, 2.0) == X.sum()


def test_functions_of_scipy_accept_rules_of_the_program(ag, np, check):
    from autograd.extend import defvjp, primitive
    from autograd.scipy.linalg import cholesky, expm

    check(expm, order=1)(onp.array([[0.5, 0.3], [0.1, -0.2]]))
    for function, text in ((cholesky, ", or use autograd.numpy.linalg.cholesky"), (primitive(cholesky.fun), "")):
        with pytest.raises(NotImplementedError, match=f"VJP of cholesky not defined; give it one by defvjp{text}"):
            ag.grad(lambda x, function=function: np.sum(function(x)))(onp.eye(2))

    def of_exponential(ans, x):
        def pulled(g):
            zero = onp.zeros((2, 2))
            return expm(np.concatenate([np.concatenate([x.T, g], 1), np.concatenate([zero, x.T], 1)]))[:2, 2:]

        return pulled

    defvjp(expm, of_exponential)
    check(expm, modes=["rev"], order=1)(onp.array([[0.5, 0.3], [0.1, -0.2]]))


def test_copies_of_boxes_keep_derivatives(ag, np):
    assert ag.grad(lambda x: copy.copy(x) * copy.deepcopy([x])[0])(3.0) == 6
    assert ag.make_jvp(lambda x: copy.copy(x) * x)(3.0)(1.0)[1] == 6


def test_values_of_the_program(ag, np):
    from autograd.extend import Box, VSpace, defvjp, primitive

    class Point:
        def __init__(self, x, y):
            self.x, self.y = x, y

    class PointBox(Box):
        __slots__ = ()

    class PointSpace(VSpace):
        def zeros(self):
            return Point(0.0, 0.0)

        def _add(self, a, b):
            return Point(a.x + b.x, a.y + b.y)

    PointBox.register(Point)
    PointSpace.register(Point)

    @primitive
    def length(point):
        return point.x**2 + point.y**2

    defvjp(length, lambda ans, point: lambda g: Point(2 * g * point.x, 2 * g * point.y))
    found = ag.grad(lambda point: np.sin(length(point)) + length(point))(Point(0.5, 1.0))
    scale = 2 * (onp.cos(1.25) + 1)
    assert (found.x, found.y) == pytest.approx((scale * 0.5, scale * 1.0))

    @primitive
    def point_of(x, y):
        return Point(x, y)

    defvjp(point_of, lambda ans, x, y: lambda g: g.x, lambda ans, x, y: lambda g: g.y)
    for f in (lambda t: length(point_of(t, t**2)), lambda t: length(point_of(t, 1.0)) + t**4 - 1):
        assert ag.grad(f)(0.5) == pytest.approx(2 * 0.5 + 4 * 0.5**3)  # points within a function of numbers

    @primitive
    def first(point):
        return point.x

    defvjp(first, lambda ans, point: lambda g: point_of(g, 0.0))
    assert ag.grad(ag.grad(lambda t: first(point_of(t**3, 2.0))))(0.5) == pytest.approx(3.0)


def test_traces_of_nodes(ag, np):
    from autograd.tracer import Node, trace

    class Named(Node):
        __slots__ = ("text",)

        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            texts = dict(zip(parent_argnums, [parent.text for parent in parents], strict=True))
            given = [texts.get(i, str(arg)) for i, arg in enumerate(args)]
            self.text = f"{fun.__name__}({', '.join(given)})"

        def initialize_root(self):
            self.text = "x"

    value, node = trace(Named.new_root(), lambda x: np.sin(x) * 2.0 + x, 1.5)
    assert value == onp.sin(1.5) * 2 + 1.5
    assert node.text == "add(multiply(sin(x), 2.0), x)"


def test_other_libraries_in_the_same_program(ag, np):
    torch = pytest.importorskip("torch")
    found = ag.grad(lambda x: np.sum(np.sin(x) * x))(torch.tensor([0.5, 1.0]))
    assert isinstance(found, torch.Tensor)
    torch.testing.assert_close(found, torch.cos(torch.tensor([0.5, 1.0])) * torch.tensor([0.5, 1.0]) + torch.sin(
        torch.tensor([0.5, 1.0])
    ))  # fmt: skip


def test_distributions_and_solvers_of_scipy(ag, np, check, monkeypatch):
    from autograd.scipy import linalg, signal, special, stats

    matrix = onp.array([[2.0, 0.3], [0.3, 1.0]])
    check(stats.norm.logpdf, argnum=(0, 1, 2))(0.3, 0.5, 1.5)
    check(stats.norm.logcdf, argnum=(0, 1, 2))(0.3, 0.5, 1.5)
    with monkeypatch.context() as patch:
        patch.setattr(stats.norm, "_logpdf", None)  # SciPy's takes many times as long as the formula
        formula = [stats.norm.logpdf(X, *given) for given in ((0, 1.5), (1, 2), (0.5, onp.array([1.0, 2.0, 3.0])))]
    onp.testing.assert_allclose(formula[0], scipy.stats.norm.logpdf(X, 0, 1.5), rtol=1e-14)
    onp.testing.assert_allclose(formula[1], scipy.stats.norm.logpdf(X, 1, 2), rtol=1e-14)
    check(stats.t.logpdf, argnum=(0, 1, 2, 3))(0.3, 4.0, 0.5, 1.5)
    check(stats.beta.logpdf, argnum=(0, 1, 2))(0.3, 2.0, 3.0)
    check(stats.gamma.cdf, argnum=(0, 1), modes=["rev"], order=1)(0.7, 2.0)
    check(stats.poisson.logpmf, argnum=1)(3, 2.0)
    check(stats.multivariate_normal.logpdf, argnum=(0, 1))(onp.array([0.1, 0.2]), onp.array([0.3, 0.4]), matrix)
    check(special.logsumexp)(X)
    check(linalg.solve_triangular, argnum=(0, 1))(matrix, X[:2])
    check(linalg.sqrtm)(matrix)
    check(signal.convolve, argnum=(0, 1))(X, X[:2])


def test_parameters_are_found_by_the_optimizers(ag, np):
    from autograd.misc import flatten
    from autograd.misc.optimizers import adam, rmsprop, sgd

    start = {"w": onp.zeros(2), "b": 0.0}

    def loss(p, i):
        return np.sum((p["w"] - 1) ** 2) + (p["b"] + 2) ** 2

    for optimize, steps in ((sgd, {}), (adam, {"step_size": 0.1, "num_iters": 400}), (rmsprop, {"num_iters": 400})):
        found = optimize(ag.grad(loss), start, **steps)
        onp.testing.assert_allclose(found["w"], 1, atol=0.05)
        assert found["b"] == pytest.approx(-2, abs=0.05)
    vector, unflatten = flatten({"b": 1.0, "a": [X, ()]})
    onp.testing.assert_array_equal(vector, [*X, 1.0])
    assert unflatten(vector)["b"] == 1.0


def test_a_pullback_of_several_results_is_called_repeatedly(ag, np):
    pullback, value = ag.make_vjp(lambda x: (np.sin(x) * x, np.sum(x), 2.0))(X)
    for _ in range(3):
        onp.testing.assert_allclose(pullback((X, 0.5, 0.0)), (onp.cos(X) * X + onp.sin(X)) * X + 0.5)
    assert value[2] == 2.0
