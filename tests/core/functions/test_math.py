"""Mathematics under Chainer's names, beyond the case table."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F


def test_add_and_identity_of_one_are_itself():
    x = xpgrad.Variable(np.ones(2))
    assert F.add(x) is x
    assert F.identity(x) is x


@pytest.mark.parametrize("axis", [None, 1])
def test_logsumexp_of_large_values_does_not_overflow(device, axis):
    x = device.send(np.asarray([[1000.0, 1000.0], [-1000.0, -1000.0]], np.float32))
    y = xpgrad.get_device(-1).send(F.logsumexp(x, axis).array)
    expected = np.asarray([1000, -1000]) + np.log(2)
    np.testing.assert_allclose(y, expected if axis == 1 else expected[0], rtol=1e-6)


def test_logsumexp_of_minus_infinity_is_minus_infinity():
    with np.errstate(divide="ignore"):
        assert float(F.logsumexp(np.full(3, -np.inf))) == -np.inf


def test_positional_arguments_agree_with_chainer():
    x = np.arange(6.0).reshape(2, 3)
    assert F.sum(x, 0, True).shape == (1, 3)
    assert F.max(x, 1, True).shape == (2, 1)
    assert F.average(x, 0, None, True).shape == (1, 3)
    assert F.argmax(x, 0).shape == (3,)
    assert F.matmul(x, x, False, True).shape == (2, 2)
    assert F.tensordot(x, x.T, axes=1).shape == (2, 2)
