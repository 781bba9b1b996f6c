"""Links of losses over many words, and `CRF1d`."""

import itertools
import tracemalloc

import numpy as np
import pytest
from tests.building import assert_near

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad.links import sampling

RNG = np.random.default_rng(0)
X, T = RNG.standard_normal((5, 3)).astype("f"), np.array([0, 3, 1, 2, 3], "i")
COUNTS = {0: 8, 1: 5, 2: 6, 3: 4}


def test_negative_samples_are_drawn_by_powers_of_counts():
    xpgrad.random.seed(0)
    link = L.NegativeSampling(3, [1, 16], 2000, power=0.5)
    loss, samples = link(X[:1], T[:1], return_samples=True)
    assert samples.shape == (1, 2001)
    assert samples[0, 1:].mean() == pytest.approx(0.8, abs=0.03)
    assert float(loss.array) == pytest.approx(2001 * np.log(2), rel=1e-4)
    assert link(X[:3], T[:3] % 2, reduce="no").shape == (3,)
    assert L.NegativeSampling(3, [1, 2], 2, dtype="float64").W.dtype == np.float64


def test_losses_agree_with_the_functions():
    link = L.BlackOut(3, [1, 2, 3, 4], 6)
    link.W.array = RNG.standard_normal((4, 3)).astype("f")
    xpgrad.random.seed(3)
    y = link(X, T)
    xpgrad.random.seed(3)
    np.testing.assert_allclose(y.array, F.black_out(X, T, link.W, link.sampler.sample((5, 6))).array)


def test_frequent_words_are_near_the_root():
    assert L.BinaryHierarchicalSoftmax.create_huffman_tree(COUNTS) == ((3, 1), (2, 0))
    assert L.BinaryHierarchicalSoftmax.create_huffman_tree({4: 100, 7: 1, 9: 2}) == ((7, 9), 4)
    with pytest.raises(ValueError, match="expected counts of at least one word"):
        L.BinaryHierarchicalSoftmax.create_huffman_tree({})


def test_probabilities_of_the_tree_add_up_to_1():
    link = L.BinaryHierarchicalSoftmax(3, (((0, 1), 2), (3, 5)))
    p = [np.exp(-link(X[:1], np.array([word], "i")).array) for word in (0, 1, 2, 3, 5)]
    assert sum(p) == pytest.approx(1, rel=1e-5)
    assert link.W.shape == (4, 3)
    assert abs(link.W.array).max() <= 1


def test_loss_of_a_path():
    link = L.BinaryHierarchicalSoftmax(3, ((0, 1), 2))
    w = link.W.array
    softplus = lambda z: np.log1p(np.exp(z))  # noqa: E731 - one formula
    expected = softplus(-X[0] @ w[0]) + softplus(X[0] @ w[1])  # left at the root, right after it
    np.testing.assert_allclose(link(X[:1], np.array([1], "i")).array, expected, rtol=1e-5)


def test_large_batches_keep_no_rows_of_nodes(monkeypatch):
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree(dict.fromkeys(range(64), 1))
    link, t = L.BinaryHierarchicalSoftmax(50, tree), RNG.integers(0, 64, 2000).astype("i")
    found = []
    for block in (2**30, 2**14):
        monkeypatch.setattr(sampling, "BLOCK", block)
        x = xpgrad.Variable(np.ones((2000, 50), "f"))
        link.cleargrads()
        tracemalloc.start()
        loss = link(x, t)
        loss.backward()
        found.append((loss.array, x.grad, link.W.grad, tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    *whole, most = found[0]
    *parts, peak = found[1]
    assert_near(whole, parts, rtol=1e-3, atol=1e-3)
    assert most > 2 * 2000 * 6 * 50 * 4 > 2 * peak


def test_samples_have_the_probabilities_of_the_tree():
    xpgrad.random.seed(0)
    link, words = L.BinaryHierarchicalSoftmax(3, (((0, 1), 2), (3, 5))), [0, 1, 2, 3, 5]
    drawn = link.sample(np.repeat(X[:1], 4000, axis=0))
    p = [float(np.exp(-link(X[:1], np.array([word], "i")).array)) for word in words]
    assert drawn.shape == (4000,)
    np.testing.assert_allclose([(drawn == word).mean() for word in words], p, atol=0.03)


def test_errors_of_the_tree():
    with pytest.raises(ValueError, match="an inner node must have two children, got 3"):
        L.BinaryHierarchicalSoftmax(3, (0, 1, 2))
    with pytest.raises(ValueError, match="expected a tree of at least two words"):
        L.BinaryHierarchicalSoftmax(3, 0)
    with pytest.raises(xpgrad.utils.type_check.InvalidType, match=r"t of shape \(N,\)"):
        L.BinaryHierarchicalSoftmax(3, (0, 1))(X, T[:2])


def test_sequences_or_steps():
    link = L.CRF1d(3, np.arange(9.0, dtype="f").reshape(3, 3) / 9)
    sequences = [RNG.standard_normal((n, 3)).astype("f") for n in (3, 2)]
    labels = [np.array([0, 2, 1], "i"), np.array([1, 1], "i")]
    steps, targets = F.transpose_sequence(sequences), F.transpose_sequence(labels)
    one, two = link(sequences, labels, transpose=True), link(steps, targets)
    np.testing.assert_allclose(one.array, two.array)
    assert link(steps, targets, reduce="no").shape == (2,)
    score, paths = link.argmax(sequences, transpose=True)
    best = max(
        itertools.product(range(3), repeat=3),
        key=lambda path: (
            sum(sequences[0][k, n] for k, n in enumerate(path))
            + sum(link.cost.array[a, b] for a, b in itertools.pairwise(path))
        ),
    )
    np.testing.assert_array_equal(xpgrad.as_array(paths[0]), best)
    assert score.shape == (2,)
    assert not L.CRF1d(3).cost.array.any()


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu"])
def test_a_sampler_of_a_program_may_take_the_place_of_ours(device):
    class Sampler:
        def sample(self, shape):
            return np.zeros(shape, np.int32)

    link = L.NegativeSampling(3, [1, 16], 2)
    link.sampler = Sampler()
    _, samples = link.to_device(device).to_device("@numpy")(X[:1], T[:1], return_samples=True)
    np.testing.assert_array_equal(samples[0, 1:], [0, 0])


def test_crf_of_whole_sequences_takes_them_in_any_order():
    link = L.CRF1d(3, initial_cost=RNG.standard_normal((3, 3)))
    xs = [RNG.standard_normal((n, 3)) for n in (2, 3, 1)]
    ys = [RNG.integers(0, 3, n) for n in (2, 3, 1)]
    apart = [link([x], [y], "no", transpose=True).array[0] for x, y in zip(xs, ys, strict=True)]
    np.testing.assert_allclose(link(xs, ys, "no", transpose=True).array, apart)
    scores, paths = link.argmax(xs, transpose=True)
    for i, x in enumerate(xs):
        score, path = link.argmax([x], transpose=True)
        np.testing.assert_allclose(scores.array[i], score.array[0])
        np.testing.assert_array_equal(xpgrad.as_array(paths[i]), xpgrad.as_array(path[0]))
