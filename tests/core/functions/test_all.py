"""`xpgrad.functions` as a whole: every function has a case, and the Chainer names that are plain renames."""

import inspect
import itertools
import pickle
import re

import numpy as np
import pytest

import xpgrad.functions as F
from xpgrad import Variable, array_api
from xpgrad.errors import ShapeError
from xpgrad.utils.type_check import InvalidType
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import host_inputs

# Other names for functions of the standard, which have cases there, with a refusal of integers in front.
RENAMED = {
    "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctanh": "atanh", "ceil": "ceil", "cos": "cos",
    "cosh": "cosh", "exp": "exp", "expm1": "expm1", "floor": "floor", "log": "log", "log10": "log10", "log1p": "log1p",
    "log2": "log2", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan",
}  # fmt: skip
THE_SAME = {
    "absolute": "abs",
}
BY_NAME = {
    "arctan2": ("x1", "x2"),
    "minimum": ("x1", "x2"),
    "sign": ("x",),
    "square": ("x",),
    "tensordot": ("a", "b"),
}
"""Functions of the standard whose arrays also have names in Chainer."""


def test_every_function_has_a_case_or_is_a_plain_rename():
    covered = {case.name.removeprefix("F.").partition("-")[0] for case in CASES if case.area == "F"}
    assert set(F.__all__) == covered | RENAMED.keys() | THE_SAME.keys() | BY_NAME.keys()


def test_all_lists_existing_names():
    for name in F.__all__:
        assert callable(getattr(F, name))  # loads the late imported names
    public = {name for name, value in vars(F).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public == set(F.__all__)


@pytest.mark.parametrize(("name", "standard"), THE_SAME.items())
def test_the_same_function(name, standard):
    assert getattr(F, name) is getattr(array_api, standard)


def test_arrays_go_by_name():
    names = BY_NAME | dict.fromkeys((*RENAMED, "relu", "softmax", "erf", "sigmoid"), ("x",)) | {"flipud": ("a",)}
    for name, arguments in names.items():
        xs = [np.asarray([[0.25, 0.5]]), np.asarray([[0.5, 0.125]])][: len(arguments)]
        by_name = getattr(F, name)(**dict(zip(arguments, xs, strict=True)))
        np.testing.assert_array_equal(by_name.array, getattr(F, name)(*xs).array, name)


@pytest.mark.parametrize(
    ("name", "kind", "arguments"),
    [
        ("concat", ShapeError, ([np.ones((2, 3)), np.ones((3, 3))],)), ("concat", IndexError, ([np.ones(2)],)),
        ("broadcast", ShapeError, (np.ones(2), np.ones(3))), ("broadcast_to", ShapeError, (np.ones(2), (3,))),
        ("reshape", ShapeError, (np.ones(2), (3,))), ("stack", ShapeError, ([np.ones(2), np.ones(3)],)),
        ("add", ShapeError, (np.ones(2), np.ones(3))), ("matmul", ShapeError, (np.ones((2, 3)), np.ones((2, 3)))),
        ("einsum", ShapeError, ("ij,jk", np.ones((2, 3)), np.ones((2, 3)))), ("sum", IndexError, (np.ones(2), 1)),
        ("split_axis", ShapeError, (np.ones(7), 3, 0)), ("mean", IndexError, (np.ones(2), -2)),
        ("moveaxis", IndexError, (np.ones(2), 1, 0)), ("argmax", IndexError, (np.ones(2), 1)),
        ("cumsum", IndexError, (np.ones(2), 1)), ("flip", IndexError, (np.ones(2), 1)),
        ("logsumexp", IndexError, (np.ones(2), 1)), ("squeeze", IndexError, (np.ones(2), 1)),
        ("separate", IndexError, (np.ones(2), 1)), ("expand_dims", IndexError, (np.ones(2), 2)),
    ],
)  # fmt: skip
def test_shapes_and_axes_that_do_not_fit_are_invalid_types(name, kind, arguments):
    with pytest.raises(InvalidType) as caught:
        getattr(F, name)(*arguments)
    assert isinstance(caught.value, kind)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value) == again.actual


def test_functions_can_be_pickled():
    assert [name for name in F.__all__ if pickle.loads(pickle.dumps(getattr(F, name))) is not getattr(F, name)] == []


def test_other_arguments_go_by_name():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(F.where(condition=x > 2, x=x, y=-x).array, np.where(x > 2, x, -x))
    np.testing.assert_array_equal(F.where(x > 2, x=x, y=-x).array, np.where(x > 2, x, -x))
    np.testing.assert_array_equal(F.moveaxis(x, source=0, destination=1).array, x.T)
    np.testing.assert_array_equal(F.reshape(x=x, shape=(3, 2)).array, x.reshape(3, 2))
    np.testing.assert_array_equal(F.tensordot(x, x.T, 1).array, x @ x.T)
    np.testing.assert_array_equal(F.squared_difference(x1=x, x2=x[::-1]).array, (x - x[::-1]) ** 2)
    with pytest.raises(TypeError, match="relu"):
        F.relu(y=x)


@pytest.mark.parametrize(
    ("name", "removed"),
    [
        ("batch_normalization", "train"), ("convolution_2d", "deterministic"), ("deconvolution_2d", "deterministic"),
        ("dropout", "train"), ("n_step_bigru", "use_cudnn"), ("n_step_bilstm", "train"), ("n_step_birnn", "train"),
        ("n_step_gru", "use_cudnn"), ("n_step_lstm", "train"), ("n_step_rnn", "train"), ("rrelu", "train"),
        ("spatial_transformer_grid", "use_cudnn"), ("spatial_transformer_sampler", "use_cudnn"), ("zoneout", "train"),
    ],
)  # fmt: skip
def test_arguments_that_chainer_dropped_raise_with_advice(name, removed):
    advice = {"train": r"use xpgrad.using_config\('train', ...\)"}.get(removed, "delete it")
    with pytest.raises(ValueError, match=f"{name}: the argument '{removed}' was removed in Chainer 2; {advice}"):
        getattr(F, name)(np.ones((2, 3)), **{removed: True})
    with pytest.raises(TypeError):
        getattr(F, name)(np.ones((2, 3)), foo=True)


def test_a_rename_gives_the_same_values_and_its_own_name(device):
    x = Variable(device.send(np.asarray([0.25, 0.5], np.float32)))
    for name, standard in RENAMED.items():
        renamed, plain = getattr(F, name)(x), getattr(array_api, standard)(x)
        assert str(renamed) == str(plain), name
        assert getattr(F, name).__name__ == name


ONE_ARRAY = (
    *RENAMED, "average", "clipped_relu", "crelu", "elu", "gelu", "hard_sigmoid", "leaky_relu", "log_softmax",
    "logsumexp", "relu", "relu6", "rrelu", "decov", "rsqrt", "selu", "sigmoid", "softmax", "softplus", "tanh",
    "dropout", "batch_l2_norm_squared",
    "digamma", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "lgamma", "log_ndtr", "ndtr", "ndtri",
)  # fmt: skip
MATRICES = {"batch_det": 3, "batch_inv": 3, "cholesky": 2, "det": 2, "inv": 2}


def test_integers_raise_with_the_name(device):
    x = device.send(np.ones((2, 3), np.int64))
    text = r"(?s)Invalid operation is performed in: \w+ .*floating.*int64 \(2, 3\)"
    wrong = []
    for name, given in itertools.product((*ONE_ARRAY, *MATRICES), (x, Variable(x))):
        try:
            wrong.append((name, getattr(F, name)(given)))
        except InvalidType as error:
            wrong += [] if re.search(text, str(error)) else [(name, error)]
    assert wrong == []


@pytest.mark.parametrize("name", ["relu", "sigmoid", "softmax", "log_softmax", "linear"])
def test_non_array_argument_raises(name):
    args = ([1.0, 2.0],) * (2 if name == "linear" else 1)
    with pytest.raises(TypeError, match=f"{name}: expected an array.*got list"):
        getattr(F, name)(*args)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_narrow_dtypes_stay(dtype):
    wrong = {}
    for case in CASES:
        kinds = {x.kind for x in case.inputs}
        if case.area != "F" or case.dtype is not None or "float" not in kinds or "real" in kinds:
            continue
        xs = [Variable(x.astype(dtype) if x.dtype.kind == "f" else x) for x in host_inputs(case, "float32")]
        ys = case.call(F, *xs)
        found = [y for y in (ys if isinstance(ys, (tuple, list)) else [ys]) if isinstance(y, Variable)]
        for y in found:
            if case.order and y.requires_grad:
                F.sum(y).backward()
        found += [x.grad for x in xs if x.grad is not None and x.dtype == dtype]
        if {str(y.dtype) for y in found} != {dtype}:
            wrong[case.name] = [str(y.dtype) for y in found]
    assert not wrong
