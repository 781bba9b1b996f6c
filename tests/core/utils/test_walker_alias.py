"""`WalkerAlias`: frequencies, seeds, devices."""

import numpy as np
import pytest

import xpgrad
from xpgrad.utils import WalkerAlias


@pytest.mark.parametrize("probs", [[1, 2, 3, 4, 0], [5.0], [1e-9, 1], [0.2] * 5, np.arange(50.0)])
def test_boxes_add_up_to_the_probabilities(probs):
    sampler = WalkerAlias(probs)
    found = np.zeros(len(probs))
    for threshold, (first, second) in zip(sampler.threshold, sampler.values.reshape(-1, 2), strict=True):
        found[first] += threshold
        found[second] += 1 - threshold
    np.testing.assert_allclose(found / len(probs), np.asarray(probs) / np.sum(probs), atol=1e-6)


def test_frequencies_are_the_probabilities(device):
    xpgrad.random.seed(0, device)
    samples = xpgrad.get_device(-1).send(WalkerAlias([1, 2, 3, 4, 0]).to_device(device).sample((100, 200)))
    assert samples.shape == (100, 200)
    assert samples.dtype == np.int32
    counts = np.bincount(samples.ravel(), minlength=5)
    expected = 20_000 * np.asarray([0.1, 0.2, 0.3, 0.4, 0])
    assert counts[4] == 0
    assert ((counts - expected)[:4] ** 2 / expected[:4]).sum() < 16  # chi-squared of 3 degrees: 1 in 1,000


def test_the_seed_decides(device):
    sampler = WalkerAlias([1, 1, 1]).to_device(device)
    xpgrad.random.seed(5, device)
    first, second = (xpgrad.get_device(-1).send(sampler.sample(50)) for _ in range(2))
    xpgrad.random.seed(5, device)
    np.testing.assert_array_equal(xpgrad.get_device(-1).send(sampler.sample((50,))), first)
    assert (first != second).any()


def test_sampler_stays_on_its_device(device):
    sampler = WalkerAlias([1, 2])
    assert sampler.device == xpgrad.get_device(-1)
    assert sampler.to_device(device) is sampler
    assert sampler.device == device
    assert device.is_array_supported(sampler.sample((2, 0)))
    assert sampler.to_cpu().device == xpgrad.get_device(-1)


@pytest.mark.parametrize("probs", [[], [0, 0], [-1, 2], [float("nan"), 1], [float("inf")]])
def test_wrong_probabilities_raise(probs):
    with pytest.raises(
        ValueError, match="WalkerAlias: probs must be finite and not negative, and one of them positive"
    ):
        WalkerAlias(probs)
