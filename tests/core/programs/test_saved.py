"""Programs in files: equal results in another process without the function's code, and no code run on loading."""

import collections
import io
import json
import subprocess
import sys

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import links as L
from xpgrad.errors import SerializationError, ShapeError
from xpgrad.transforms import value_and_grad

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)
IMAGES = np.linspace(-1.0, 1.0, 2 * 3 * 8 * 8, dtype=np.float32).reshape(2, 3, 8, 8)
LABELS = np.asarray([0, 1, 1, 0])


def perceptron():
    net = xpgrad.Sequential(L.Linear(3, 5), F.relu, L.BatchNormalization(5), L.Linear(5, 2))
    return lambda x: F.softmax(net(x))


def image_net():
    net = xpgrad.Sequential(L.Convolution2D(3, 4, 3), F.tanh, lambda x: F.max_pooling_2d(x, 2))
    return lambda x: {"all": net(x), "some": (net(x)[:, ::2].sum(axis=(2, 3)), "text")}


def gradient():
    net = xpgrad.Sequential(L.Linear(3, 5), F.relu, L.Linear(5, 2))
    return lambda x, t: value_and_grad(lambda x: F.softmax_cross_entropy(net(x), t))(x)


CASES = {
    "a perceptron": (perceptron, (X,)),
    "images": (image_net, (IMAGES,)),
    "a gradient": (gradient, (X, LABELS)),
    "a tree": (lambda: lambda d, n: [d["x"] * n, d["x"]], ({"x": X}, 3)),
    "nothing": (lambda: lambda d, n: (d["x"] * 2, n, {"none": None, "empty": []}), ({"x": X, "mask": None}, None)),
    "linear algebra": (lambda: lambda x: xp.linalg.qr(x)[0] @ xp.linalg.inv(x.T @ x + xp.eye(3)), (X.astype(float),)),
}


def saved(case, weights=True):
    make, args = case
    with xpgrad.using_config("train", False):
        f = xpgrad.compile(make(), executor="python")
        expected = f(*args)
        file = io.BytesIO()
        f.program(*args).save(file, weights=weights)
    file.seek(0)
    return file, args, expected


def close(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and all(map(close, a, b))
    if a is None or isinstance(a, str):
        return a == b
    return np.allclose(xpgrad.get_device("@numpy").send(getattr(a, "array", a)), getattr(b, "array", b), rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_program_agrees_with_the_function(case):
    file, args, expected = saved(CASES[case])
    program = xpgrad.load_program(file)
    for _ in range(3):
        assert close(program(*args), expected)


def test_another_process_needs_no_code(tmp_path):
    file, (x,), expected = saved(CASES["a perceptron"])
    (tmp_path / "program.npz").write_bytes(file.getvalue())
    np.save(tmp_path / "x.npy", x)
    code = "import numpy, xpgrad; numpy.save('y.npy', xpgrad.load_program('program.npz')(numpy.load('x.npy')))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), getattr(expected, "array", expected), rtol=1e-5)


def test_weights_are_in_the_file_only_if_requested():
    file, (x,), _ = saved(CASES["a perceptron"], weights=False)
    assert not [name for name in np.load(file) if name.startswith("weight")]
    program = xpgrad.load_program(file)
    with pytest.raises(ValueError, match="the file has no weights; give weights"):
        program(x)
    full = xpgrad.load_program(saved(CASES["a perceptron"])[0])
    assert program.weights.keys() == full.weights.keys()
    program.weights.update(full.weights)
    assert close(program(x), full(x))


def test_other_arguments_raise():
    file, (d, n), _ = saved(CASES["a tree"])
    program = xpgrad.load_program(file)
    for args, error, text in (
        (({"x": X[:2]}, n), ShapeError, r"expected an array of .*\(4, 3\)"),
        (({"x": X.astype(float)}, n), ShapeError, "expected an array of .*float32"),
        ((d, 4), ValueError, "expected 3 in the arguments"),
        ((d,), TypeError, "expected tuple of 2"),
        (({"y": X}, n), TypeError, "expected an argument 'x'"),
        (({"x": 1.0}, n), TypeError, "expected an array"),
    ):
        with pytest.raises(error, match=text):
            program(*args)


def drawn(x):
    return F.dropout(x, 0.5)


def test_value_that_cannot_be_saved_is_named():
    x, v = X, xpgrad.Variable(np.zeros((4, 3), np.float32))

    def stores(x):
        v.array = (x * 2).array
        return x

    Pair = collections.namedtuple("Pair", "a b")
    for f, text in (
        (drawn, "random_uniform .*or draws"),
        (stores, "it stores values"),
        (lambda x: Pair(x, x * 2), "the results has Pair, which .*; use dictionaries, lists and tuples, or leave"),
    ):
        with pytest.raises(SerializationError, match=text):
            xpgrad.compile(f).program(x).save(io.BytesIO())
    changed = xpgrad.compile(lambda x: x * 2).program(x).replaced(origin=None)
    with pytest.raises(SerializationError, match="expected a program of a compiled function"):
        changed.save(io.BytesIO())


def damaged(change):
    file, args, _ = saved(CASES["a perceptron"])
    entries = dict(np.load(file))
    described = json.loads(bytes(entries["program"]))
    change(described)
    entries["program"] = np.frombuffer(json.dumps(described).encode(), np.uint8)
    made = io.BytesIO()
    np.savez(made, **entries)
    made.seek(0)
    return made, args


def set_function(*function):
    return lambda described: described["calls"][0].update(function=list(function))


@pytest.mark.parametrize(
    "change",
    [
        set_function("function", "load"), set_function("function", "__class__"), set_function("operator", "attrgetter"),
        set_function("function", "os.system"), set_function("backend", "archives"),
        set_function("eval", "add"), set_function("kernel", "os.system"),
        set_function(1, 2), set_function("function", ["add"]),
        lambda d: d.update(format="other"), lambda d: d.update(version=2), lambda d: d.pop("calls"),
        lambda d: d["calls"][0].update(args={"list": [{"value": 99}]}),
        lambda d: d["calls"][0].update(args={"list": [{"value": -1}]}),
        lambda d: d["calls"][0].update(args={"list": [{"made": 1}]}),
        lambda d: d["inputs"][0].update(spec=[[-1, 3], "float32"]),
        lambda d: d["inputs"][0].update(spec=[[4, 3], "object"]),
        lambda d: d.update(outputs=["text"]), lambda d: d.update(outputs=[]), lambda d: d.update(results=-1),
        lambda d: d.update(results={"list": ["argument", 7]}), lambda d: d.update(arguments="x"),
    ],
)  # fmt: skip
def test_a_changed_file_raises(change):
    file, _ = damaged(change)
    with pytest.raises(SerializationError, match="load_program"):
        xpgrad.load_program(file)


def test_wrong_specs_raise_before_any_executor_trusts_them():
    file, args = damaged(lambda d: d["calls"][0].update(results=[[[400, 500], "float32"]]))
    program = xpgrad.load_program(file)
    with pytest.raises(SerializationError, match="affine to return"):
        program(*args)
    with pytest.raises(SerializationError):
        xpgrad.load_program(io.BytesIO(b"nothing"))
