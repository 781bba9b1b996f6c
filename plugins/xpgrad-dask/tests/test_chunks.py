"""How arrays are cut: gradients like their arrays, results like their operands, and no chunk of everything."""

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F

VALUES = np.random.default_rng(0).random((9, 5))
CHUNKS = ((4, 3, 2), (2, 3))


def variable() -> Any:
    return xpgrad.Variable(da.from_array(VALUES, chunks=CHUNKS))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: xp.sum(x),
        lambda x: xp.sum(x * x),
        lambda x: xp.sum(xp.mean(x, axis=1)),
        lambda x: xp.sum(xp.sort(x, axis=0) ** 2),
        lambda x: xp.sum(x[2:5]) + xp.sum(x),
        lambda x: xp.sum(xp.reshape(x, (-1,)) ** 2),
        lambda x: xp.sum(xp.matmul(x, xp.ones_like(x[0]))),
        lambda x: xp.sum(xp.take(x, da.from_array(np.asarray([1, 1, 8])), axis=0)),
    ],
)
def test_a_gradient_has_the_chunks_of_its_array(f: Any) -> None:
    x = variable()
    f(x).backward()
    assert x.grad.chunks == CHUNKS


def test_the_gradient_of_a_sum_is_cut_without_a_chunk_of_everything() -> None:
    x = xpgrad.Variable(da.ones((10**6, 10**6), chunks=10**5))
    y = xp.sum(x)
    y.backward()
    assert x.grad.chunks == x.array.chunks
    assert x.grad[123456, 654321].compute() == 1


def test_what_is_stretched_gets_chunks_of_dasks_size() -> None:
    with dask.config.set({"xpgrad.most-chunks": None}):
        y = xp.broadcast_to(xpgrad.Variable(da.ones(3, chunks=2)), (100, 3))
    assert y.array.chunks[1] == (2, 1)
    assert max(y.array.chunks[0]) <= 8


def test_the_number_of_chunks_of_what_xpgrad_cuts_has_a_limit_that_can_be_set() -> None:
    values = np.arange(10_000.0)
    device, counts = xpgrad.get_device("@dask"), []
    for most in (8, 50):
        with dask.config.set({"xpgrad.most-chunks": most}):
            made = xpgrad.Variable(values).to_device(device).array, device.backend.xp.arange(10_000)
        counts.append([x.npartitions for x in made])
        np.testing.assert_array_equal(made[0].compute(), values)
        np.testing.assert_array_equal(made[1].compute(), values)
    assert counts == [[8, 8], [50, 50]]


def test_images_of_a_batch_stay_in_their_chunks() -> None:
    x = xpgrad.Variable(da.ones((6, 2, 4, 4), chunks=(2, 2, 4, 4)))
    W = xpgrad.Variable(da.ones((3, 2, 3, 3), chunks=2))
    y = F.convolution_2d(x, W)
    assert y.array.chunks == ((2, 2, 2), (3,), (2,), (2,))
    assert F.max_pooling_2d(x, 2).array.chunks[0] == (2, 2, 2)
    xp.sum(y).backward()
    assert (x.grad.chunks, W.grad.chunks) == (x.array.chunks, W.array.chunks)
    np.testing.assert_array_equal(W.grad.compute(), np.full((3, 2, 3, 3), 24.0))


def test_a_special_function_is_one_task_a_chunk() -> None:
    y = xp.special.gammaln(xpgrad.Variable(da.from_array(VALUES + 1, chunks=CHUNKS)))
    assert y.array.chunks == CHUNKS
    assert len(y.array.dask) <= 3 * y.array.npartitions  # with the chunks themselves, and the table that they are of


def test_the_chunks_of_many_concatenations_do_not_multiply() -> None:
    x = xpgrad.Variable(da.ones(1000, chunks=500))
    xp.sum(xp.cumulative_prod(x)).backward()  # ten, each of parts that are shifted
    assert x.grad.npartitions <= 16
    parts = [xpgrad.Variable(da.ones(n, chunks=(n,))) for n in (1, 2, 4, 1, 1, 1)]
    assert xp.concat(parts).array.chunks == ((3, 4, 3),)


def test_products_sum_over_chunks() -> None:
    x = xpgrad.Variable(da.from_array(VALUES, chunks=(3, 5)))
    w = xpgrad.Variable(da.ones(5))
    xp.sum(xp.matmul(x, w)).backward()
    np.testing.assert_allclose(w.grad.compute(), VALUES.sum(0))
    assert w.grad.chunks == w.array.chunks


def test_matrices_come_in_one_chunk_each_and_stacks_stay_apart() -> None:
    x = xpgrad.Variable(da.from_array(np.eye(4) + np.zeros((6, 4, 4)), chunks=(2, 2, 2)))
    assert max(xp.linalg.inv(x).array.chunks[0]) <= 2
    np.testing.assert_allclose(xp.linalg.det(x).array.compute(), np.ones(6))


def test_arrays_of_other_chunks_take_part_in_one_operation() -> None:
    x, y = variable(), xpgrad.Variable(da.from_array(VALUES, chunks=2))
    xp.sum(x * y).backward()
    assert (x.grad.chunks, y.grad.chunks) == (x.array.chunks, y.array.chunks)
    np.testing.assert_allclose(y.grad.compute(), VALUES)
