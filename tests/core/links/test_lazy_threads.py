"""Links with deferred parameters, when several threads pass the first input simultaneously."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from xpgrad import Parameter
from xpgrad import links as L

IMAGES = np.random.default_rng(0).normal(size=(2, 4, 6, 6)).astype("float32")
ROWS = IMAGES.reshape(8, 36)
LINKS = {
    "Linear": (lambda: L.Linear(None, 3), ROWS),
    "Convolution2D": (lambda: L.Convolution2D(None, 3, 3), IMAGES),
    "Deconvolution2D": (lambda: L.Deconvolution2D(None, 3, 3), IMAGES),
    "DepthwiseConvolution2D": (lambda: L.DepthwiseConvolution2D(None, 2, 3), IMAGES),
    "LocalConvolution2D": (lambda: L.LocalConvolution2D(None, 3, ksize=3), IMAGES),
    "BatchNormalization": (lambda: L.BatchNormalization(axis=0), ROWS),
    "LayerNormalization": (lambda: L.LayerNormalization(None), ROWS),
    "GroupNormalization": (lambda: L.GroupNormalization(2), IMAGES),
    "Swish": (lambda: L.Swish(None), ROWS),
    "SimplifiedDropconnect": (lambda: L.SimplifiedDropconnect(None, 3, ratio=0.0), ROWS),
}


@pytest.mark.parametrize("name", LINKS)
def test_concurrent_threads_initialise_parameters_once(name, monkeypatch):
    make, x = LINKS[name]
    link, barrier, made = make(), threading.Barrier(8), []
    original = Parameter.initialize

    def slow(parameter, shape):
        made.append(parameter)
        threading.Event().wait(0.02)  # the other threads arrive meanwhile
        original(parameter, shape)

    monkeypatch.setattr(Parameter, "initialize", slow)

    def call(_):
        barrier.wait()
        return link(x).array

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(call, range(8)))
    assert len(made) == len(set(map(id, made)))
    if name != "BatchNormalization":  # whose result depends on the batch
        for result in results:
            np.testing.assert_array_equal(result, link(x).array)
