"""Each optimizer and hook over complex numbers: the steps equal steps of real numbers along a line of the plane."""

import numpy as np
import pytest
from tests.core.optimizers.problems import OPTIMIZERS, made
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Link, Parameter, optimizer_hooks, optimizers
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError
from xpgrad.testing.arrays import on_host

HOOKS = {
    "WeightDecay": (0.1,), "Lasso": (0.1,), "GradientClipping": (0.3,), "GradientLARS": (),
    "GradientHardClipping": (-1.0, 1.0), "GradientNoise": (1e-9,),
}  # fmt: skip
METHODS = [*((name, None) for name in OPTIMIZERS), *(("MomentumSGD", hook) for hook in HOOKS)]
DEVICES = "@numpy", "@strict:cpu", "native:0", "@torch:cpu"
CASES = [
    *((*method, form, "@numpy") for method in METHODS for form in ("apart", "compiled", "rule")),
    *((*method, "packed", device) for method in [*METHODS, ("LBFGS", None)] for device in DEVICES),
    *(
        pytest.param(name, None, "packed", "@jax:cpu", marks=pytest.mark.exhaustive(2))
        for name in ("Adam", "SMORMS3", "MSVAG", "LBFGS")
    ),
]
PHASE = 0.6 - 0.8j
SHAPES = (2, 3), (4,), ()
STEPS = 6


def distance(points, targets):
    return sum(xp.sum(xp.abs(w - t) ** 2) for w, t in zip(points, targets, strict=True))


def points(low, phase, dtype):
    """Return arrays of points of the line through 0 and `phase`."""
    rng = np.random.default_rng(2)
    return [np.asarray(phase * rng.uniform(low, low + 1, shape)).astype(dtype) for shape in SHAPES]


def flat(arrays):
    return np.concatenate([np.ravel(on_host(array)) for array in arrays])


def trajectory(name, hook, form, device, phase, dtype):
    """Return the parameters after each step."""
    starts, targets = xpgrad.get_device(device).send((points(2, phase, dtype), points(0, phase, dtype)))
    model = Link()
    with model.init_scope():
        for i, start in enumerate(starts):
            setattr(model, f"w{i}", Parameter(start))
    optimizer = (made(name) if name in OPTIMIZERS else getattr(optimizers, name)(max_iter=1)).setup(model)
    if hook is not None:
        optimizer.add_hook(getattr(optimizer_hooks, hook)(*HOOKS[hook]))
    if form == "rule":
        return of_rule(optimizer.rule, starts, targets)
    if form == "apart":
        for param in model.params():
            param.update_rule.add_hook(lambda rule, param: None, name="apart")

    def loss():
        return distance(list(model.params()), targets)

    step = optimizer.compile(loss) if form == "compiled" else lambda: optimizer.update(loss)
    found = []
    for _ in range(STEPS):
        step()
        found.append(flat(param.array for param in model.params()))
    return np.array(found)


def of_rule(rule, params, targets):
    state, found = rule.init(params), []
    for _ in range(STEPS):
        params, state = rule.update(params, xpgrad.transforms.grad(distance)(params, targets), state)
        found.append(flat(params))
    return np.array(found)


@pytest.mark.parametrize(("name", "hook", "form", "device"), CASES)
def test_steps_along_a_line_of_the_plane_agree_with_real_numbers(name, hook, form, device):
    device_or_skip(device)
    if hook == "GradientHardClipping":
        with pytest.raises(DtypeError, match=f"{hook}: expected a real gradient, got complex64"):
            trajectory(name, hook, form, device, PHASE, "complex64")
        return
    real = trajectory(name, hook, form, device, 1.0, "float32")
    found = trajectory(name, hook, form, device, PHASE, "complex64")
    np.testing.assert_allclose(found, PHASE * real, rtol=1e-3)
    assert (np.abs(found[-1] - flat(points(0, PHASE, "complex64"))) < np.abs(found[0])).all()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_averages_of_squares_are_real(name):
    state = made(name).rule.init(np.asarray([1 + 2j]))
    real = {"t", *getattr(optimizers, name).real_states} & state.keys()
    assert {key for key in state if not np.iscomplexobj(state[key])} == real
