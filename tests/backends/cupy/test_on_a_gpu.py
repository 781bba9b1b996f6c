"""On a real GPU. The case table, which then includes this device, tests that the functions are right there."""

import importlib
import pickle

import numpy as np
import pytest
from tests.backends.cupy import groups
from tests.backends.fusion.reference import evaluate
from tests.devices import DEVICES, GPU

import xpgrad
from xpgrad_cupy.fusion.plan import plan_of
from xpgrad_cupy.fusion.table import Unsupported

pytestmark = pytest.mark.gpu


def test_the_case_table_passes_on_a_gpu() -> None:
    assert GPU in DEVICES


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (300, 200)])  # through pageable and through pinned memory
def test_copies_to_the_gpu_and_back_are_exact(shape: tuple[int, ...]) -> None:
    device, host = xpgrad.get_device(GPU), np.random.default_rng(0).random(shape)
    back = xpgrad.get_device("@numpy").send(device.send(host))
    assert back.tobytes() == host.tobytes()


def test_repeated_positions_accumulate_also_in_complex_numbers() -> None:
    device = xpgrad.get_device(GPU)
    x = xpgrad.Variable(device.send(np.array([1 + 1j, 2, 3])))
    y = x[device.send(np.array([0, 2, 0]))]
    y.grad = device.send(np.array([1 + 2j, 3, 4 - 1j]))
    y.backward()
    assert x.grad.get().tolist() == [5 + 1j, 0, 3]


def test_random_numbers_have_their_moments_and_come_again_from_one_state() -> None:
    device = xpgrad.get_device(GPU)
    state = xpgrad.random.get_state(device)
    uniform, normal = (draw((1000, 1000), None, device) for draw in (xpgrad.random.uniform, xpgrad.random.normal))
    assert abs(float(uniform.mean()) - 0.5) < 0.002
    assert abs(float(normal.mean())) < 0.005
    assert abs(float(normal.var()) - 1) < 0.01
    xpgrad.random.set_state(state, device)
    assert bool((xpgrad.random.uniform((1000, 1000), None, device) == uniform).all())


def test_devices_and_variables_are_pickled() -> None:
    x = xpgrad.Variable(xpgrad.get_device(GPU).send(np.arange(3.0)))
    again = pickle.loads(pickle.dumps(x))
    assert again.device == x.device
    assert again.array.get().tolist() == [0, 1, 2]


def test_memory_is_counted_and_released() -> None:
    device = xpgrad.get_device(GPU)
    before = device.memory_used()
    held = device.send(np.ones(2**16))
    assert device.memory_used() >= before + held.nbytes
    del held
    device.free_memory()
    device.synchronize()
    assert device.memory_used() == before


def test_kernels_of_groups_agree_with_numpy_on_a_gpu() -> None:
    device, executor = xpgrad.get_device(GPU), importlib.import_module("xpgrad_cupy.executor")
    made = [make() for make in groups.SAMPLES.values()] + [groups.at_random(seed) for seed in range(100)]
    for number, (b, results) in enumerate(made):
        fused = b.fused(*results, spec_of=lambda x: device.backend.spec(device.send(x)))
        try:
            kernels = executor.Kernels(fused, plan_of(fused))
        except Unsupported:
            assert number >= len(groups.SAMPLES)
            continue
        arrays = b.arrays
        got = kernels(*map(device.send, arrays))
        for y, wanted in zip(got, evaluate(fused, *arrays), strict=True):
            np.testing.assert_allclose(y.get(), wanted, 1e-4, 1e-4)


def test_a_compiled_function_gives_the_eager_results() -> None:
    xp = xpgrad.array_api
    device, host = xpgrad.get_device(GPU), np.random.default_rng(0).random((50, 40))
    eager = xpgrad.transforms.value_and_grad(lambda x: xp.sum(xp.tanh(x) * xp.exp(-x * x) / xp.sum(x, axis=1)[:, None]))
    compiled = xpgrad.compile(eager)
    for k in range(4):
        value, gradient = compiled(device.send(host + k))
        expected, other = eager(host + k)
        np.testing.assert_allclose(value.get(), expected, 1e-12)
        np.testing.assert_allclose(gradient.get(), other, 1e-10, 1e-14)
