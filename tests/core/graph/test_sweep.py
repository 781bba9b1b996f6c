"""The sweep: visited functions, accumulation and stored gradients, raw and recorded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.graph import programs
from tests.core.graph.leaves import leaf, seeded, spread

from xpgrad import FunctionNode, Variable, backward, grad
from xpgrad import array_api as xp
from xpgrad.errors import GradientError, ShapeError
from xpgrad.testing.arrays import on_host, placed


class Mixed(FunctionNode):
    """Two outputs, the product and the sum of its inputs, and a backward that a test may replace."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        x1, x2 = inputs
        return x1 * x2, x1 + x2

    def backward(self, indexes, gys):
        x1, x2 = self.get_retained_inputs()
        product, total = gys
        gxs = []
        for i in indexes:
            gx = None if product is None else product * (x2, x1)[i]
            gxs.append(gx if total is None else total if gx is None else gx + total)
        return tuple(gxs)


# Raw and recorded


def _gradients(program, shapes, dtype, seed_shape_from, recorded):
    leaves = [leaf(shape, dtype=dtype, start=1 + 100 * i) for i, shape in enumerate(shapes)]
    y = programs.run(program, leaves)[-1]
    seeded(y)
    y.backward(enable_double_backprop=recorded)
    return [x.grad for x in leaves]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs.programs(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_raw_and_recorded_sweeps_are_bit_equal(program, dtype, large) -> None:
    shapes = [(65, 65), (65,), ()] if large else [(3, 4), (4,), (), (1, 1)]
    raw, recorded = (_gradients(program, shapes, dtype, None, each) for each in (False, True))
    for one, two in zip(raw, recorded, strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            assert one.dtype == two.dtype == dtype
            assert one.tobytes() == two.tobytes()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs.programs())
def test_gradients_of_random_programs_agree_with_finite_differences(program) -> None:
    shapes = [(3, 4), (4,), (), (1, 1)]
    leaves = [leaf(shape, start=1 + 100 * i) for i, shape in enumerate(shapes)]
    y = seeded(programs.run(program, leaves)[-1])
    gy = y.grad
    y.backward()
    directions = [spread(shape, start=7 + i) for i, shape in enumerate(shapes)]
    analytic = sum(np.sum(x.grad * d) for x, d in zip(leaves, directions, strict=True) if x.grad is not None)

    def loss(t):
        moved = [Variable(np.asarray(x.array + t * d)) for x, d in zip(leaves, directions, strict=True)]
        return np.sum(programs.run(program, moved)[-1].array * gy)

    numeric = (loss(1e-6) - loss(-1e-6)) / 2e-6
    assert analytic == pytest.approx(numeric, rel=1e-4, abs=1e-4 * (1 + abs(loss(0))))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(programs.programs(), st.integers(0, 15))
def test_grad_gives_the_very_gradients_of_backward(program, which) -> None:
    leaves = [leaf(shape, start=1 + 100 * i) for i, shape in enumerate([(3, 4), (4,), (), (1, 1)])]
    y = seeded(programs.run(program, leaves)[-1])
    gy = Variable(y.grad)
    y.backward()
    wanted = [x for i, x in enumerate(leaves) if which >> i & 1]
    for x, g in zip(wanted, grad([y], wanted, [gy]), strict=True):
        assert (x.grad is None) == (g is None)
        assert g is None or g.array.tobytes() == x.grad.tobytes()


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("factors", [(1e8, 1.0, -1e8), (1.0, 1e8, -1e8), (1e8, -1e8, 1.0)])
def test_sums_are_made_in_arrival_order(factors, recorded) -> None:
    x = Variable(np.array(1.0, np.float32))
    first, second, third = (x * c for c in factors)
    (first + second + third).backward(enable_double_backprop=recorded)
    # The outer addition meets the third product; the inner one, which comes next, the first and the second.
    one, two, three = np.array(factors, np.float32)
    assert x.grad == (three + one) + two


# Visited functions and stored gradients


def test_gradient_of_unused_input_is_none(device) -> None:
    x, unused, alone = leaf((3,), device), leaf((3,), device), leaf((3,), device)
    y = x * 2
    _ = unused * alone
    seeded(y).backward()
    assert x.grad is not None
    assert unused.grad is None
    assert alone.grad is None


def test_gradient_of_an_input_without_requires_grad_is_none(device) -> None:
    x, fixed = leaf((3,), device), Variable(placed(spread(3), device), requires_grad=False)
    seeded(x * fixed).backward()
    np.testing.assert_allclose(on_host(x.grad), spread(3) * spread(3, start=50))
    assert fixed._grad is None


def test_gradient_of_integers_is_none(device) -> None:
    x, n = leaf((3,), device), Variable(placed(np.arange(3), device))
    seeded(x * xp.astype(n, x.dtype)).backward()
    assert n.grad is None
    assert n.requires_grad


def test_each_function_runs_once_after_its_consumers(device) -> None:
    calls = []

    class Noted(FunctionNode):
        def __init__(self, name):
            self.name = name

        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, gys):
            calls.append(self.name)
            return (gys[0] * 2,)

    x = leaf((3,), device)
    a = Noted("a").apply((x,))[0]
    b = Noted("b").apply((a,))[0]
    c = Noted("c").apply((b,))[0]
    seeded(a + (c + b) + a).backward()
    assert calls == ["c", "b", "a"]
    np.testing.assert_allclose(on_host(x.grad), (2 + 2 + 4 + 8) * spread(3, start=50))


def test_leaves_add_up_over_calls_and_intermediates_do_not(device) -> None:
    x = leaf((3,), device)
    h = x * x
    y = h * 3
    for _ in range(2):
        seeded(y).backward()
    np.testing.assert_allclose(on_host(x.grad), 2 * 6 * spread(3) * spread(3, start=50))
    assert h.grad is None
    assert y.grad is None


def test_retain_grad_keeps_the_gradients_in_between(device) -> None:
    x = leaf((3,), device)
    h = x * x
    y = h * 3
    seeded(y).backward(retain_grad=True)
    np.testing.assert_allclose(on_host(h.grad), 3 * spread(3, start=50))
    np.testing.assert_allclose(on_host(y.grad), spread(3, start=50))


def test_a_leaf_takes_its_own_gradient_as_the_start(device) -> None:
    x = leaf((), device)
    x.backward()
    assert float(on_host(x.grad)) == 1


def test_backward_from_many_elements_without_a_gradient_raises(device) -> None:
    x = leaf((3,), device)
    with pytest.raises(GradientError, match="cannot start from 3 elements"):
        (x * 2).backward()
    with pytest.raises(GradientError, match="cannot start from 0 elements"):
        (leaf((0,), device) * 2).backward()
    assert x.grad is None


def test_several_outputs_are_swept_together(device) -> None:
    x1, x2 = leaf((3,), device), leaf((3,), device, start=9)
    product, total = Mixed().apply((x1, x2))
    product.grad, total.grad = (placed(spread(3, start=s), device) for s in (20, 30))
    backward([product, total])
    np.testing.assert_allclose(on_host(x1.grad), spread(3, start=20) * spread(3, start=9) + spread(3, start=30))


@pytest.mark.parametrize("which", [0, 1])
def test_an_output_that_is_not_used_has_gradient_none(device, which) -> None:
    x1, x2 = leaf((3,), device), leaf((3,), device, start=9)
    seeded(Mixed().apply((x1, x2))[which]).backward()
    expected = spread(3, start=50) * (spread(3, start=9) if which == 0 else 1)
    np.testing.assert_allclose(on_host(x1.grad), expected)


def test_complex_cotangent_of_a_real_input_gives_its_real_part(device) -> None:
    x = leaf((3,), device)
    z = Variable(placed(spread(3, start=9) + 1j * spread(3, start=20), device))
    y = z * xp.astype(x, z.dtype)
    gy = spread(3, start=30) + 1j * spread(3, start=40)
    y.grad = placed(gy, device)
    y.backward()
    assert x.grad.dtype == x.dtype
    np.testing.assert_allclose(on_host(x.grad), (gy * np.conj(on_host(z))).real)
    np.testing.assert_allclose(on_host(z.grad), gy * spread(3))


def test_wrong_shape_from_a_function_is_an_error_that_names_it(device) -> None:
    class Wrong(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, gys):
            return (gys[0][:1],)

    x = leaf((3,), device)
    with pytest.raises(ShapeError, match=r"Wrong: .*expected \(3,\) as the input, got \(1,\)"):
        seeded(Wrong().apply((x,))[0]).backward()
    assert x.grad is None


# Memory of gradients


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_do_not_share_memory(size, recorded) -> None:
    x1, x2, x3 = (leaf((size,), start=s) for s in (1, 2, 3))
    h = x1 + x2
    y = h + x3 + h
    seed = spread(size, start=50)
    y.grad = seed
    y.backward(retain_grad=True, enable_double_backprop=recorded)
    gradients = [x1.grad, x2.grad, x3.grad, h.grad, y.grad]
    for i, one in enumerate(gradients):
        assert one is not seed
        assert not np.shares_memory(one, seed)
        assert not any(np.shares_memory(one, two) for two in gradients[:i])
    np.testing.assert_array_equal(x1.grad, 2 * spread(size, start=50))
    np.testing.assert_array_equal(seed, spread(size, start=50))


@pytest.mark.parametrize("size", [3, 5000])
def test_many_uses_of_one_value_add_up_without_side_effects(size) -> None:
    x, w = leaf((size,)), leaf((size,), start=9)
    h = x + 0.0
    y = h
    for _ in range(5):
        y = y + h * w
    seeded(y).backward()
    np.testing.assert_allclose(x.grad, spread(size, start=50) * (1 + 5 * spread(size, start=9)))
    np.testing.assert_allclose(w.grad, spread(size, start=50) * 5 * spread(size))


def test_views_of_a_seed_are_not_stored(device) -> None:
    x = leaf((3, 4), device)
    y = xp.reshape(x, (12,))
    seed = placed(spread(12, start=50), device)
    y.grad = seed
    y.backward()
    x.grad[...] = x.grad * 0
    np.testing.assert_array_equal(on_host(seed), spread(12, start=50))


def test_leaf_gradients_get_the_layout_of_their_array_where_a_library_has_layouts(device, monkeypatch) -> None:
    backend, asked = device.backend, []
    x = Variable(placed(np.asarray([1.0, 2.0]), device))

    def laid_out(array, spec):
        asked.append(spec)
        return array * 2

    monkeypatch.setattr(backend, "laid_out", laid_out)
    xp.sum(x * x).backward()
    assert not asked
    np.testing.assert_array_equal(on_host(x.grad), [2, 4])
    x.cleargrad()
    monkeypatch.setattr(type(backend), "has_layouts", True)
    xp.sum(x * x).backward()
    assert asked == [x.node.spec]
    np.testing.assert_array_equal(on_host(x.grad), [4, 8])
