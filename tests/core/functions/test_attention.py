"""Attention, beyond the case table."""

from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable, grad
from xpgrad.errors import ChangedArray
from xpgrad.functions import attention

RNG = np.random.default_rng(0)
CAUSAL = np.tril(np.ones((40, 40), bool))


def _results(q: Any, k: Any, v: Any, mask: Any, *, recorded: bool) -> list[Any]:
    xs: list[Any] = [Variable(x, requires_grad=True) for x in (q, k, v)]
    y = F.scaled_dot_product_attention(*xs, mask)
    gy = Variable(np.random.default_rng(1).standard_normal(y.shape).astype(y.dtype))
    return [y.array, *[gx.array for gx in grad([y], xs, [gy], enable_double_backprop=recorded)]]


def _apart(shape: tuple[int, ...], dtype: str) -> Any:
    """Return an array whose axes of positions and of heads are swapped in memory, as splitting into heads gives."""
    return np.swapaxes(RNG.standard_normal((*shape[:-3], *np.roll(shape[-3:-1], 1), shape[-1])).astype(dtype), -3, -2)


@pytest.mark.parametrize("kept", [0, attention.MAX_KEPT_WEIGHTS])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mask", [None, CAUSAL, CAUSAL[:, :1], np.arange(240).reshape((6, 1, 40)) % 3 > 0])
def test_raw_and_recorded_gradients_are_equal_to_the_bit(
    kept: int, dtype: str, mask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "MAX_KEPT_WEIGHTS", kept)
    for shape in (6, 40, 16), (1, 40, 1), (1, 40, 70):
        q, k, v = (RNG.standard_normal(shape).astype(dtype) for _ in range(3))
        for arrays in ([q, k, v], [q[0], k[0], v[0]], [_apart((2, *shape), dtype) for _ in range(3)]):
            if mask is not None and mask.ndim == 3 and arrays[0].shape != (6, 40, 16):
                continue
            recorded = _results(*arrays, mask, recorded=True)
            with monkeypatch.context() as patch:
                patch.setattr(attention, "_gradients", None)  # of a recorded sweep; NumPy's kernel does without it
                raw = _results(*arrays, mask, recorded=False)
            for one, other in zip(raw, recorded, strict=True):
                assert one.tobytes() == other.tobytes(), (shape, arrays[0].ndim)


@pytest.mark.parametrize("kept", [0, attention.MAX_KEPT_WEIGHTS])
def test_heads_in_several_parts_are_as_written_with_products_and_softmax(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "MAX_KEPT_WEIGHTS", kept)
    q, k, v = (RNG.standard_normal((3, 8, 200, 16)) for _ in range(3))
    raw = _results(q, k, v, None, recorded=False)
    xs = [Variable(x, requires_grad=True) for x in (q, k, v)]
    y = F.softmax(xs[0] @ xs[1].mT / 4, axis=3) @ xs[2]
    gy = Variable(np.random.default_rng(1).standard_normal(y.shape))
    for one, other in zip(raw, [y, *grad([y], xs, [gy])], strict=True):
        np.testing.assert_allclose(one, other.array, rtol=1e-10, atol=1e-12)


def test_a_query_without_keys_gives_zeros_and_passes_no_gradient() -> None:
    q, k, v = (RNG.standard_normal((2, 3, 4)) for _ in range(3))
    mask = np.array([[True, True, False], [False, False, False], [True, True, True]])
    y, gq, _, _ = _results(q, k, v, mask, recorded=False)
    assert not y[:, 1].any()
    assert not gq[:, 1].any()
    assert y[:, 0].any()


def test_weights_are_kept_only_if_they_are_few_and_until_the_graph_is_released() -> None:
    for queries, kept in (100, True), (attention.MAX_KEPT_WEIGHTS, False):
        xs = [Variable(np.ones(shape), requires_grad=True) for shape in ((queries, 1), (2, 1), (2, 1))]
        y = F.scaled_dot_product_attention(*xs)
        f = y.creator_node
        assert (f.weights is not None) is kept
        y.sum().backward(retain_graph=False)
        assert f.weights is None


def test_only_gradients_that_are_needed_are_computed() -> None:
    q, k, v = (RNG.standard_normal((2, 3, 4)) for _ in range(3))
    xs = [Variable(x, requires_grad=True) for x in (q, k, v)]
    gxs = grad([F.scaled_dot_product_attention(*xs).sum()], xs)
    for i in range(3):
        some = [Variable(x, requires_grad=i == j) for j, x in enumerate((q, k, v))]
        (gx,) = grad([F.scaled_dot_product_attention(*some).sum()], [some[i]])
        assert gx.array.tobytes() == gxs[i].array.tobytes()


def test_arrays_without_elements_have_gradients_without_elements() -> None:
    for queries, keys, values in (((0, 3, 4), (0, 5, 4), (0, 5, 2)), ((2, 0, 4), (2, 5, 4), (2, 5, 2))):
        results = _results(np.ones(queries), np.ones(keys), np.ones(values), None, recorded=False)
        assert [x.shape for x in results] == [(*queries[:-1], 2), queries, keys, values]
        assert not any(x.any() for x in results)


def test_a_mask_that_has_changed_is_an_error_in_debug_mode() -> None:
    q, k, v = (Variable(RNG.standard_normal((2, 3, 4)), requires_grad=True) for _ in range(3))
    mask = np.ones((3, 3), bool)
    with xpgrad.using_config("debug", True):
        y = F.scaled_dot_product_attention(q, k, v, mask)
        mask[0, 0] = False
        with pytest.raises(ChangedArray, match="scaled_dot_product_attention"):
            y.sum().backward()
