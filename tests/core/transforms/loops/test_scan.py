"""`scan` against the plain loop, with all kinds of checkpoints."""

import gc
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable
from tests.core.transforms.references import orders as orders_of

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GraphError, ShapeError, StructureError
from xpgrad.function_hooks import TimerHook
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, grad, hessian, hvp, jvp, scan, value_and_grad, vmap
from xpgrad.transforms.trees import flatten, map_leaves

STEPS = 11
KEPT: tuple[Any, ...] = (None, 1, 2, 3, 50, "all")


def plain(f: Any, carry: Any, xs: Any, length: int | None = None, *, reverse: bool = False, **_: Any) -> Any:
    """Return the result of `scan`, from the loop in its documentation."""
    n = length or flatten(xs)[0][0].shape[0]
    ys = [None] * n
    for i in reversed(range(n)) if reverse else range(n):
        carry, ys[i] = f(carry, map_leaves(lambda x, i=i: x[i, ...], xs))
    leaves = zip(*(flatten(y)[0] for y in ys), strict=True)
    return carry, flatten(ys[0])[1].build(xp.stack(list(each)) for each in leaves)


@pytest.fixture
def leaves(device: Any) -> dict[str, Variable]:
    rng = np.random.default_rng(0)
    shapes = {"c": (3,), "xs": (STEPS, 3), "w": (3,)}
    return {name: variable(device, rng.standard_normal(shape), "float64") for name, shape in shapes.items()}


def loss_of(found: Any) -> Variable:
    carry, ys = found
    return xp.sum(carry**2) + (0 if ys is None else xp.sum(xp.sin(ys) * ys))


orders = partial(orders_of, loss_of)
assert_same = partial(assert_near, rtol=1e-10, atol=1e-12)


def single(x: Any) -> Any:
    return xp.astype(x, x.__array_namespace__().float32)


@pytest.mark.parametrize("checkpoints", KEPT)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, STEPS])
def test_values_and_gradients_agree_with_the_plain_loop(leaves: Any, n: int, checkpoints: Any, reverse: bool) -> None:
    c, xs, w = leaves["c"], leaves["xs"][:n, ...], leaves["w"]
    h = w * 2  # computed outside, and an ancestor of the results

    def f(carry: Any, x: Any) -> Any:
        carry = xp.tanh((w * 0.5) * carry + x * h)
        return carry, carry * w

    wanted = [c, xs, w, h]
    found = orders(lambda: scan(f, c, xs, reverse=reverse, checkpoints=checkpoints), wanted)
    assert_same(found, orders(lambda: plain(f, c, xs, reverse=reverse), wanted))


def test_trees_of_carries_inputs_and_outputs(device: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = (variable(device, rng.standard_normal((2,)), "float64") for _ in range(2))
    xs = {"u": variable(device, rng.standard_normal((6, 2)), "float64"), "n": array(device, np.arange(6), "int64")}

    def f(carry: Any, x: Any) -> Any:
        count, (p, q) = carry["count"], carry["pair"]
        p, q = xp.sin(q * x["u"]), p + xp.astype(x["n"], p.dtype)
        return {"count": count + x["n"], "pair": (p, q)}, [p * 2, {"n": x["n"] * 2, "none": None}]

    start = {"count": Variable(array(device, 0, "int64")), "pair": (a, b)}
    carry, ys = scan(f, start, xs)
    assert (values(carry["count"]), values(ys[1]["n"])) == (15, [0, 2, 4, 6, 8, 10])
    assert ys[1]["none"] is None
    total = lambda c, y: xp.sum(c["pair"][0] * c["pair"][1]) + xp.sum(y[0] ** 2)  # noqa: E731
    results = (carry, ys), plain(f, start, map_leaves(xpgrad.as_variable, xs))
    assert_same(*(xpgrad.grad([total(*each)], [a, b, xs["u"]]) for each in results))


def test_a_loop_of_no_steps(leaves: Any) -> None:
    c, xs, _ = leaves.values()
    state = xpgrad.random.get_state()
    carry, ys = scan(lambda carry, x: (F.dropout(carry + x), xp.sum(carry)), c, xs[:0, ...])
    assert values(carry) == values(c)
    assert ys.shape == (0,)
    assert xpgrad.random.get_state() == state
    (g,) = xpgrad.grad([xp.sum(carry)], [c])
    assert values(g) == [1.0, 1.0, 1.0]


def test_arrays_give_arrays_and_connected_results_are_variables(device: Any) -> None:
    xs = array(device, [[1.0], [2.0], [3.0], [4.0]])
    carry, ys = scan(lambda carry, x: (carry + x, carry), xs[0, ...], xs)
    assert type(carry) is type(ys) is type(xs)
    w = variable(device, [1.0])
    carry, ys = scan(lambda carry, x: (carry + x * w, x), xs[0, ...], xs)
    assert isinstance(carry, Variable)
    assert carry.requires_grad
    assert type(ys) is type(xs)
    with xpgrad.no_backprop_mode():
        carry, ys = scan(lambda carry, x: (carry + x * w, x), Variable(xs[0, ...]), xs)
    assert not carry.requires_grad


def test_a_carry_that_depends_on_a_parameter_only_later(device: Any) -> None:
    w = variable(device, [2.0, 3.0], "float64")
    start = array(device, [1.0, 1.0], "float64"), array(device, [1.0, 1.0], "float64")

    def f(carry: Any, x: Any) -> Any:
        return (carry[1] + 0, carry[1] * w), carry[0] * 2

    total = lambda found: xp.sum(found[0][0] * found[0][1]) + xp.sum(found[1] ** 2)  # noqa: E731
    results = scan(f, start, None, 9), plain(f, tuple(map(Variable, start)), None, 9)
    assert_same(*(xpgrad.grad([total(each)], [w]) for each in results))


@pytest.mark.parametrize("checkpoints", [None, 1, 3])
def test_random_numbers_agree_with_the_first_pass(device: Any, checkpoints: Any) -> None:
    c, xs = variable(device, np.ones(20), "float64"), array(device, np.ones((12, 20)), "float64")

    def f(carry: Any, x: Any) -> Any:
        carry = F.dropout(carry * x, 0.3)
        return carry, carry

    found = []
    for loop in (scan, plain):
        xpgrad.random.seed(5)
        carry, ys = loop(f, c, Variable(xs), checkpoints=checkpoints)
        after = on_host(xpgrad.random.uniform((2,), device=device))
        found.append([on_host(ys), after, *map(on_host, xpgrad.grad([xp.sum(carry * ys)], [c]))])
    assert_same(*found)


def test_the_mode_of_training_agrees_with_the_first_pass(device: Any) -> None:
    c = variable(device, np.ones(20), "float64")
    with xpgrad.using_config("train", False):
        carry, ys = scan(lambda carry, x: (F.dropout(carry * 2), None), c, None, 6)
    assert ys is None
    (g,) = xpgrad.grad([xp.sum(carry)], [c])
    assert values(g) == [64.0] * 20


def test_loops_nest_and_mix_with_checkpoints(leaves: Any) -> None:
    c, xs, w = leaves["c"], leaves["xs"][:5, ...], leaves["w"]

    def nested(inner: Any, around: Any) -> Any:
        def f(carry: Any, x: Any) -> Any:
            last, ys = inner(lambda a, b: (xp.sin(a * w + b), a * b), carry, xp.stack([x, carry, x * 2, w]))
            return around(lambda a: xp.tanh(a * w))(last), ys

        return f

    same = lambda f: f  # noqa: E731
    wanted = [c, xs, w]
    expected = orders(lambda: plain(nested(plain, same), c, xs), wanted)
    assert_same(orders(lambda: scan(nested(scan, checkpoint), c, xs), wanted), expected)
    whole = checkpoint(lambda c, xs: scan(nested(scan, same), c, xs, checkpoints=2))
    assert_same(orders(lambda: whole(c, xs), wanted), expected)


def test_variables_made_in_the_body_are_no_captures(leaves: Any, device: Any) -> None:
    c, xs, w = leaves.values()

    def f(carry: Any, x: Any) -> Any:
        made = Variable(array(device, [1.0, 2.0, 3.0], "float64"))
        return xp.sin(carry * made + x * (w * made)), None

    assert_same(orders(lambda: scan(f, c, xs), [c, w]), orders(lambda: plain(f, c, xs), [c, w]))


def test_inputs_unused_by_an_output_have_no_gradient(leaves: Any) -> None:
    c, xs, w = leaves.values()
    f = lambda carry, x: (xp.sin(carry), x * w)  # noqa: E731
    carry, ys = scan(f, c, xs)
    assert xpgrad.grad([xp.sum(carry)], [w])[0] is None or values(xpgrad.grad([xp.sum(carry)], [w])[0]) == [0, 0, 0]
    (g,) = xpgrad.grad([xp.sum(ys)], [w])
    np.testing.assert_allclose(on_host(g), on_host(xs).sum(axis=0), rtol=1e-12)


def test_complex_numbers(device: Any) -> None:
    rng = np.random.default_rng(2)
    c = variable(device, rng.standard_normal(2) + 1j * rng.standard_normal(2), "complex128")
    xs = variable(device, rng.standard_normal((7, 2)) + 1j * rng.standard_normal((7, 2)), "complex128")
    f = lambda carry, x: (xp.sin(carry * x) * 0.3, xp.conj(carry) * x)  # noqa: E731
    total = lambda found: xp.sum(xp.real(found[0] * found[1]))  # noqa: E731
    a, b = (xpgrad.grad([total(loop(f, c, xs))], [c, xs]) for loop in (scan, plain))
    assert_same(a, b)


def test_backward_twice_and_released_with_hooks_that_are_called_once(leaves: Any) -> None:
    c, xs, w = leaves.values()
    seen: list[Any] = []
    w.register_hook(lambda g: seen.append(on_host(g)))
    carry, _ = scan(lambda carry, x: (xp.sin(carry * w + x), None), c, xs)
    y = xp.sum(carry)
    y.backward()
    assert len(seen) == 1
    assert_same(seen, [w.grad])
    w.cleargrad()
    y.backward(retain_graph=False)
    assert_same(w.grad, seen[0])
    with pytest.raises(GraphError, match="retain_graph=False"):
        y.backward()


def kept_constant(x: Any) -> Any:
    with xpgrad.no_backprop_mode():
        return x * 0.5


def observed(x: Any) -> Any:
    with TimerHook():
        return xp.sin(x)


WITHIN = {
    "grad": lambda c, x, w: c - 0.1 * grad(lambda a: xp.sum(xp.sin(a * w) * x))(c),
    "vmap": lambda c, x, w: vmap(lambda a: xp.sin(a * w[0] + x[1]))(c) + c * w,
    "hook": lambda c, x, w: observed(c * w + x),
    "no graph": lambda c, x, w: xp.sin(c * w) * x + kept_constant(c),
    "no graph in vmap": lambda c, x, w: xp.sin(c * w) * x + vmap(kept_constant)(c),
}


@pytest.mark.parametrize("name", WITHIN)
def test_transforms_around_and_within(leaves: Any, name: str) -> None:
    c, xs, w = (x.array for x in leaves.values())

    def total(loop: Any) -> Any:
        def f(c: Any, w: Any) -> Any:
            return xp.sum(loop(lambda carry, x: (WITHIN[name](carry, x, w), None), c, Variable(xs))[0] ** 2)

        return f

    for transform in (
        lambda f: value_and_grad(f, (0, 1))(c, w),
        lambda f: hvp(f, (c, w), (w, c)),
        lambda f: jvp(f, (c, w), (w, c)),
        lambda f: jvp(checkpoint(f), (c, w), (w, c)),
        lambda f: [grad(lambda c: jvp(lambda w: f(c, w), (w,), (w,))[1])(c)],
    ):
        assert_same(transform(total(scan)), transform(total(plain)))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda c, xs: scan(lambda c, x: (c[:1], None), c, xs), StructureError, ("carry", "step 0", "(3,)", "(1,)")),
        (
            lambda c, xs: scan(lambda c, x: ({"h": single(c["h"])}, None), {"h": c}, xs),
            StructureError, ("['h']", "step 0", "float64 (3,)", "float32 (3,)", "cast"),
        ),
        (lambda c, xs: scan(lambda c, x: ((c, c), None), c, xs), StructureError, ("carry", "step 0")),
        (lambda c, xs: scan(lambda c, x: ([c[0]], None), (c, c), xs), StructureError, ("step 0", "tuple with 0, 1")),
        (lambda c, xs: scan(lambda c, x: (c, x[: 1 + int(c[0].array > 5)]), c * 0, xs + 2), None, ()),
        (lambda c, xs: scan(lambda c, x: ("carry", None), c, xs), StructureError, ("step 0", "carry")),
        (lambda c, xs: scan(lambda c, x: c, c, xs), TypeError, ("pair (carry, y)", "Variable", "step 0")),
        (lambda c, xs: scan(lambda c, x: (c, x, x), c, xs), TypeError, ("pair", "tuple of 3")),
        (
            lambda c, xs: scan(lambda c, x: (c + 1, x if int(c[0].array) < 4 else x[:1]), 0 * c.array, xs.array),
            StructureError, ("the output that step 4 returned: expected float64 (3,)",),
        ),
        (lambda c, xs: scan(None, c, xs), TypeError, ("expected a function", "NoneType")),
        (lambda c, xs: scan(lambda c, x: (c, x), c), TypeError, ("pass length=",)),
        (lambda c, xs: scan(lambda c, x: (c, x), c, xs, 3), ShapeError, ("length is 3", "11")),
        (lambda c, xs: scan(lambda c, x: (c, x), c, xs, -1), ValueError, ("negative",)),
        (lambda c, xs: scan(lambda c, x: (c, x), c, xs, 2.0), TypeError, ("integer", "2.0")),
        (lambda c, xs: scan(lambda c, x: (c, x), c, (xs, c)), ShapeError, ("11 of xs at [0]", "3 of xs at [1]")),
        (lambda c, xs: scan(lambda c, x: (c, x), c, c[0]), ShapeError, ("0-d",)),
        (lambda c, xs: scan(lambda c, x: (c, x), c, xs, checkpoints=0), ValueError, ("at least 1",)),
        (lambda c, xs: scan(lambda c, x: (c, x), c, xs, checkpoints="some"), TypeError, ("checkpoints",)),
    ],
)  # fmt: skip
def test_bad_input_is_named(leaves: Any, call: Any, error: Any, words: tuple[str, ...]) -> None:
    c, xs, _ = leaves.values()
    if error is None:
        call(c, xs)
        return
    with pytest.raises(error) as caught:
        call(c, xs)
    text = str(caught.value)
    assert text.startswith("scan: ")
    for word in words:
        assert word in text


def test_a_variable_that_only_later_steps_use_is_named(leaves: Any) -> None:
    c, xs, w = leaves.values()
    count = Variable((xs.array * 0)[0, 0, ...])

    def f(carry: Any, x: Any) -> Any:
        a, i = carry
        return (xp.sin(a * w if float(i.array) == 5 else a), i + 1), None

    (last, _), _ = scan(f, (c, count), xs)
    with pytest.raises(GraphError, match=r"scan of f: a step used the Variable .* from outside"):
        xp.sum(last).backward()


@pytest.mark.slow
def test_memory_is_bounded_by_a_few_steps() -> None:
    n = 1500
    xs = np.zeros((n, 32))
    w = Variable(np.full(32, 0.5))
    step = lambda c, x: (xp.tanh(w * c + x), None)  # noqa: E731

    def peak(run: Any) -> int:
        gc.collect()
        tracemalloc.start()
        xp.sum(run()).backward(retain_graph=False)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    with xpgrad.using_config("detect_mutation", False):
        limit = 0.1 * peak(lambda: plain(step, Variable(np.zeros(32)), xs)[0])
        for checkpoints in (None, 10):
            assert peak(lambda k=checkpoints: scan(step, Variable(np.zeros(32)), xs, checkpoints=k)[0]) < limit


@pytest.mark.parametrize("checkpoints", [None, 2])
def test_batches_around_and_within(leaves: Any, checkpoints: Any) -> None:
    c, xs, w = leaves.values()
    cs = xp.stack([c, c * 2, c - 1]).array

    def total(loop: Any) -> Any:
        def f(c: Any, xs: Any) -> Any:
            step = lambda a, x: (xp.tanh(w * 0.5 * a + x), a * x)  # noqa: E731
            return loss_of(loop(step, c, xs, checkpoints=checkpoints))

        return f

    for transform in (
        lambda f: (vmap(f, in_axes=(0, None))(cs, xs.array),),
        lambda f: vmap(grad(f, (0, 1)), in_axes=(0, None))(cs, xs.array),
        lambda f: grad(lambda a, b: xp.sum(vmap(f, in_axes=(0, None))(a, b)), (0, 1))(cs, xs.array),
        lambda f: xpgrad.grad([xp.sum(vmap(f, in_axes=(0, None))(Variable(cs), xs))], [w, xs]),
        lambda f: (hessian(f)(c.array, xs.array),),
    ):
        assert_same(transform(total(scan)), transform(total(plain)))
