"""Messages for missing attributes that have another name or another place."""

import importlib

import numpy as np
import pytest

import xpgrad
from xpgrad import hints
from xpgrad.testing.arrays import placed


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        ("xpgrad", "hessian", "xpgrad.transforms.hessian"),
        ("xpgrad", "vmap", "xpgrad.transforms.vmap"),
        ("xpgrad", "jit", "xpgrad.compile"),
        ("xpgrad", "nn", "xpgrad.links and xpgrad.functions"),
        ("xpgrad", "optim", "xpgrad.optimizers"),
        ("xpgrad", "no_grad", "xpgrad.no_backprop_mode"),
        ("xpgrad", "make_jvp", "xpgrad.transforms.jvp"),
        ("xpgrad", "expm", "xpgrad.scipy.linalg.expm"),
        ("xpgrad", "Linear", "xpgrad.links.Linear"),
        ("xpgrad.transforms", "jit", "xpgrad.compile"),
        ("xpgrad.array_api", "random", "xpgrad.random"),
        ("xpgrad.array_api", "relu", "xpgrad.functions.relu"),
        ("xpgrad.array_api", "sigmoid", "xpgrad.functions.sigmoid"),
        ("xpgrad.functions", "mse_loss", "xpgrad.functions.mean_squared_error"),
        ("xpgrad.functions", "ReLU", "xpgrad.functions.relu"),
        ("xpgrad.functions", "sort", "xpgrad.array_api.sort"),
        ("xpgrad.links", "Dense", "xpgrad.links.Linear"),
        ("xpgrad.links", "Conv2d", "xpgrad.links.Convolution2D"),
        ("xpgrad.links", "Dropout", "xpgrad.functions.dropout"),
        ("xpgrad.optimizers", "Adagrad", "xpgrad.optimizers.AdaGrad"),
    ],
)
def test_module_hints_at_names_of_other_modules(module: str, name: str, advice: str) -> None:
    found = importlib.import_module(module)
    assert not hasattr(found, name)
    with pytest.raises(AttributeError) as caught:
        getattr(found, name)
    assert str(caught.value) == f"module {module!r} has no attribute {name!r}; use {advice}"


def test_the_namespace_of_a_variable_has_the_same_hints(device: xpgrad.Device) -> None:
    namespace = xpgrad.Variable(placed(np.ones(2), device)).__array_namespace__()
    with pytest.raises(AttributeError, match=r"^module '.*' has no attribute 'relu'; use xpgrad\.functions\.relu$"):
        namespace.relu  # noqa: B018 - it raises


def test_the_text_is_not_computed_before_it_is_read() -> None:
    with pytest.raises(AttributeError) as caught:
        xpgrad.mse_loss  # noqa: B018 - it raises
    assert type(caught.value.args[0]) is not str  # the text is computed when it is read


def test_suggested_names_exist_and_keys_of_the_table_do_not() -> None:
    public = {name for module in hints.MODULES for name in dir(importlib.import_module(module))}
    assert public & set(hints.NAMES) == {"cross_entropy", "interpolate"}  # PyTorch's names differ
    for advice in hints.NAMES.values():
        for path in advice.replace(" and its method backward", "").replace(", or ", " and ").split(" and "):
            found: object = xpgrad
            for part in path.split(".")[1:]:
                found = getattr(found, part)


@pytest.mark.parametrize(
    ("made", "name", "advice"),
    [
        (lambda: xpgrad.links.Linear(2, 1), "parameters", "link.params()"),
        (lambda: xpgrad.Sequential(xpgrad.links.Linear(2, 1)), "zero_grad", "link.cleargrads()"),
        (
            lambda: xpgrad.links.Linear(2, 1),
            "state_dict",
            "xpgrad.serializers.save_npz(file, link), or dict(link.namedparams())",
        ),
        (lambda: xpgrad.optimizers.Adam(), "zero_grad", "cleargrads() of the model, optimizer.target"),
        (lambda: xpgrad.optimizers.LBFGS(), "state_dict", "xpgrad.serializers.save_npz(file, optimizer)"),
    ],
)
def test_links_and_optimizers_name_their_methods(made, name, advice) -> None:
    obj = made()
    assert not hasattr(obj, name)
    assert name not in dir(obj)
    assert "update" in dir(obj) or "params" in dir(obj)
    with pytest.raises(AttributeError) as caught:
        getattr(obj, name)
    assert str(caught.value) == f"{type(obj).__name__!r} object has no attribute {name!r}; use {advice}"


def test_advice_for_links_and_optimizers_can_be_followed(tmp_path) -> None:
    link, optimizer = xpgrad.links.Linear(2, 1), xpgrad.optimizers.SGD()
    optimizer.setup(link)
    places = {
        "xpgrad": xpgrad, "link": link, "optimizer": optimizer, "file": tmp_path / "file.npz", "device": "@numpy",
        "name": "n", "value": 1,
    }  # fmt: skip
    xpgrad.serializers.save_npz(places["file"], link)
    for name in ("eval", "load_state_dict", "named_modules", "parameters", "state_dict", "to", "zero_grad"):
        eval(hints.OF_LINKS[name].partition(", or ")[0], places)
    for name in ("load_state_dict", "param_groups", "state_dict"):
        xpgrad.serializers.save_npz(places["file"], optimizer)
        eval(hints.OF_OPTIMIZERS[name].partition(", or ")[0], places)
    assert not set(hints.OF_LINKS) & {name for name in dir(link) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("name", "given", "advice"),
    [
        ("Adam", {"lr": 0.1}, "use alpha, the step size in Chainer's Adam; there are alpha, beta1"),
        ("Adam", {"betas": (0.9, 0.99)}, "use beta1 and beta2"),
        ("SGD", {"learning_rate": 0.1}, "use lr; there are lr"),
        ("Adam", {"learning_rate": 0.1}, "use alpha"),
        ("MomentumSGD", {"weight_decay": 0.1}, "WeightDecay"),
        ("SGD", {"nesterov": True}, "SGD: there is no hyperparameter nesterov; there are lr"),
    ],
)
def test_optimizers_name_their_hyperparameters(name, given, advice) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(xpgrad.optimizers, name)(**given)
    assert advice in str(caught.value)


def test_a_link_may_have_attributes_of_these_names() -> None:
    class Net(xpgrad.Chain):
        def __init__(self) -> None:
            super().__init__()
            self.train = True
            with self.init_scope():
                self.modules = xpgrad.links.Linear(2, 1)
                self.to = xpgrad.Parameter(np.ones(2))

        def parameters(self) -> int:
            return 3

    net = Net()
    assert (net.train, net.parameters(), net.to.shape) == (True, 3, (2,))
    assert [name for name, _ in net.namedparams()] == ["/to", "/modules/W", "/modules/b"]
    assert {"train", "modules", "to", "parameters"} <= set(dir(net))
    assert net.copy().train
