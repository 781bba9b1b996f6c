"""The sweep: visited functions, accumulation and stored gradients, raw and recorded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.graph import programs
from tests.core.graph.leaves import leaf, seeded, spread

from xpgrad import Variable, grad
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed

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


def test_gradients_of_0d_arrays_that_are_indexed_and_used_otherwise_add_up(device) -> None:
    z = Variable(placed(np.asarray(0.3 + 0.5j), device))
    y = xp.imag(z)  # its rule multiplies by a complex number, which makes Python's number of NumPy's scalar
    (y[()] * 2.0 + y).backward()
    np.testing.assert_array_equal(on_host(z.grad), 3j)


# Memory of gradients


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
