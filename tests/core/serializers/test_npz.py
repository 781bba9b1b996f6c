"""Models in .npz files, as Chainer writes them."""

import io
import zipfile

import numpy as np
import pytest
from tests.building import array, values
from tests.core.models.parts import Filling, Linear, Net, Tied, example

import xpgrad
from xpgrad import Chain, ChainList, Link, Parameter, Variable
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.serializers import DictionarySerializer, NpzDeserializer, load_npz, save_npz

NAMES = ["count", "l1/W", "l1/b", "rest/0/W", "rest/0/b", "rest/1/W", "rest/1/b", "scale"]


def contents(model):
    """Return the saved contents of a model."""
    found = DictionarySerializer()
    found.save(model)
    return {name: a.tolist() for name, a in found.target.items()}


def different(device=None):
    """Return a model whose values differ from a new model."""
    net = Net()
    for i, p in enumerate(net.params()):
        p.array = p.array * 0.5 + i
    net.count, net.scale = 9, net.scale * 3
    return net if device is None else net.to_device(device)


def saved(obj, **kwargs):
    file = io.BytesIO()
    save_npz(file, obj, **kwargs)
    file.seek(0)
    return file


def by_numpy(**arrays):
    """Return a file that Chainer would write: `numpy.savez_compressed` of arrays by name."""
    file = io.BytesIO()
    np.savez_compressed(file, **{name: np.asarray(value) for name, value in arrays.items()})
    file.seek(0)
    return file


@pytest.mark.parametrize("compression", [True, False])
def test_numpy_reads_saved_files(tmp_path, device, compression):
    net = different(device)
    path = tmp_path / "net.npz"
    save_npz(path, net, compression=compression)
    with np.load(path) as found:
        assert sorted(found.files) == NAMES
        assert found["l1/W"].dtype == np.float32
        assert found["l1/W"].tolist() == values(net.l1.W)
        assert found["count"].shape == ()
        assert found["count"] == 9
    with zipfile.ZipFile(path) as archive:
        method = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
        assert {info.compress_type for info in archive.infolist()} == {method}


@pytest.mark.parametrize("late", [False, True], ids=["initialised", "uninitialised"])
def test_loaded_on_any_device(tmp_path, device, late):
    net = different()
    save_npz(str(tmp_path / "net.npz"), net)
    other = Net(None if late else 3).to_device(device)
    load_npz(str(tmp_path / "net.npz"), other)
    assert contents(other) == contents(net)
    assert {p.device for p in other.params()} == {device}
    assert xpgrad.get_device_from_array(other.scale) == device
    assert type(other.count) is int
    x = np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3)
    np.testing.assert_allclose(values(other(example(device))), values(net(x)), rtol=1e-5)


class MLP(Chain):
    def __init__(self, n_in=None):
        super().__init__()
        with self.init_scope():
            self.l1, self.l2 = Linear(n_in, 4), Linear(4, 2)


class Classifier(Chain):
    """As Chainer's `links.Classifier`: a model called `predictor`."""

    def __init__(self, predictor):
        super().__init__()
        with self.init_scope():
            self.predictor = predictor


def chainers(prefix=""):
    rng = np.random.default_rng(0)
    shapes = {"l1/W": (4, 3), "l1/b": (4,), "l2/W": (2, 4), "l2/b": (2,)}
    return {f"{prefix}predictor/{name}": rng.normal(size=s).astype("float32") for name, s in shapes.items()}


@pytest.mark.parametrize("n_in", [3, None])
def test_a_model_that_chainer_saved(device, n_in):
    arrays = chainers()
    model = Classifier(MLP(n_in)).to_device(device)
    load_npz(by_numpy(**arrays), model)
    for path, p in model.namedparams():
        assert values(p) == arrays[path[1:]].tolist()
        assert p.device == device


def test_a_part_of_a_snapshot_that_chainers_trainer_saved():
    state = {"m": np.zeros((4, 3), "f"), "v": np.zeros((4, 3), "f"), "t": 5}
    arrays = chainers("updater/model:main/")
    others = {f"updater/optimizer:main/predictor/l1/W/{name}": value for name, value in state.items()}
    others |= {
        "updater/optimizer:main/t": 5, "updater/optimizer:main/epoch": 1, "updater/iteration": 100,
        "updater/iterator:main/current_position": 3, "_snapshot_elapsed_time": 1.5, "stop_trigger": None,
        "extensions/LogReport/_log": "[{}]",
    }  # fmt: skip
    for path in ("updater/model:main/", "updater/model:main", "/updater/model:main/"):
        model = Classifier(MLP(3))
        load_npz(by_numpy(**arrays, **others), model, path=path)
        assert values(model.predictor.l2.W) == arrays["updater/model:main/predictor/l2/W"].tolist()
    predictor = MLP(3)
    load_npz(by_numpy(**arrays, **others), predictor, path="updater/model:main/predictor")
    assert values(predictor.l1.b) == arrays["updater/model:main/predictor/l1/b"].tolist()


class Values(Link):
    """Persistent values of all kinds."""

    def __init__(self, **given):
        super().__init__()
        for name, value in given.items():
            self.add_persistent(name, value)


KINDS = {
    "int": (3, 0), "negative": (-3, 0), "float": (2.5, 0.0), "bool": (True, False), "complex": (1 + 2j, 0j),
    "text": ("äb", ""), "none": (None, 3), "none of none": (None, None), "numpy": (np.float64(1.5), np.float64(0)),
    "int as float": (3, 0.5), "list": ([1, 2], [0]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_no_arrays(kind):
    value, before = KINDS[kind]
    link = Values(x=before)
    load_npz(saved(Values(x=value)), link)
    assert link.x == value
    assert type(link.x) is (type(value) if value is None else type(before))
    with np.load(saved(Values(x=value)), allow_pickle=True) as found:
        assert found["x"].tolist() == value


DTYPES = ["float16", "float32", "float64", "complex64", "complex128", "int8", "int64", "uint16", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_all_dtypes(dtype):
    a = np.array([[0, 1], [2, 1]]).astype(dtype)
    link = Values(x=np.zeros((2, 2), dtype))
    load_npz(saved(Values(x=a)), link)
    assert link.x.dtype == dtype
    assert (link.x == a).all()
    load_npz(by_numpy(x=a.astype(a.dtype.newbyteorder(">"))), link)
    assert (link.x == a).all()


def test_dtypes_agree_with_the_model(device):
    link = Link()
    with link.init_scope():
        link.W, link.u = Parameter(array(device, [1.0, 2.0])), Parameter(Filling("float32"))
    link.to_device(device)
    load_npz(by_numpy(W=np.array([3.0, 4.0]), u=np.array([5.0])), link)
    assert [device.backend.dtype_name(p.dtype) for p in (link.W, link.u)] == ["float32", "float32"]
    assert (values(link.W), values(link.u)) == ([3, 4], [5])


def test_mutable_arrays_are_loaded_in_place():
    net, source = Net(), different()
    before = [p.array for p in net.params()]
    shared = net.copy("share")
    load_npz(saved(source), net)
    assert all(p.array is a for p, a in zip(net.params(), before, strict=True))
    assert values(shared.l1.W) == values(source.l1.W)
    net.l1.W.array.flags.writeable = False
    load_npz(saved(Net()), net)
    assert contents(net) == contents(Net())


def test_tied_parameters_and_lists():
    source = Tied()
    source.a.W.array = source.a.W.array + 1
    made = Tied()
    load_npz(saved(source), made)
    assert made.a.W is made.b.W
    assert contents(made) == contents(source)
    assert list(contents(ChainList(Linear(1, 1), Linear(1, 1)))) == ["0/W", "0/b", "1/W", "1/b"]


def test_uninitialised_parameters_are_saved_as_none_like_chainer():
    net = Net(None)
    with np.load(saved(net), allow_pickle=True) as found:
        assert found["l1/W"].dtype == object
        assert found["l1/W"].tolist() is None
    other = Net(None)
    load_npz(saved(net), other)
    assert not other.l1.W.is_initialized


def test_names_that_the_model_does_not_have_are_left_with_a_warning():
    given, net = contents(different()), Net(3)
    with pytest.warns(UserWarning, match="Net: the model has no l3/W; pass strict=False"):
        load_npz(by_numpy(**given, **{"l3/W": np.ones(2)}), net)
    np.testing.assert_array_equal(net.l1.W.array, given["l1/W"])
    load_npz(by_numpy(**given, **{"l3/W": np.ones(2)}), net, strict=False)


WRONG = {
    "a missing name": (
        {"l1/W": None, "scale": None}, {}, KeyError, "the file is not of this Net: the file has no l1/W, scale; pass",
    ),
    "other names": (
        {"l1/W": None, "l0/W": np.ones(2)}, {}, KeyError, "the file has no l1/W; the model has no l0/W; pass strict",
    ),
    "another shape": (
        {"rest/1/W": np.ones((4, 2))}, {}, ShapeError, r"rest/1/W: expected shape \(2, 4\), the file has \(4, 2\)",
    ),
    "a name that a function has": (
        {"scale": np.ones(3)}, {}, ShapeError, r"load_npz: scale: expected shape \(2,\), the file has \(3,\)",
    ),
    "a shape that would broadcast": (
        {"rest/1/b": np.ones(1)}, {}, ShapeError, r"rest/1/b: expected shape \(2,\), the file has \(1,\)",
    ),
    "complex numbers": ({"rest/1/b": np.ones(2) * 1j}, {}, DtypeError, "rest/1/b: .*complex128.* cannot be copied to"),
    "text": ({"rest/1/b": np.array(["a", "b"])}, {}, DtypeError, "rest/1/b: expected numbers for .*, the file has <U1"),
    "a float for an int": ({"count": 2.5}, {}, DtypeError, "count: expected a value that is a int, the file has 2.5"),
    "an array for an int": ({"count": np.ones(2)}, {}, ShapeError, "count: expected one int, the file has an array"),
    "another path": ({}, {"path": "main"}, KeyError, "the file has no main/count, main/l1/W"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_failed_load_leaves_the_state_unchanged(case, device):
    changes, options, error, text = WRONG[case]
    given = {name: np.asarray(value) for name, value in contents(different()).items()} | changes
    given = {name: value for name, value in given.items() if value is not None}
    for n_in in (3, None):
        net = Net(n_in).to_device(device)
        held = [(p.array, p.grad) if p.is_initialized else (None, None) for p in net.params()]
        before = {p.name: values(p) for p in net.params(include_uninit=False)}
        scale, count = net.scale, net.count
        with pytest.raises(error, match=text):
            load_npz(by_numpy(**given), net, **options)
        for p, (a, grad) in zip(net.params(), held, strict=True):
            if a is None:
                assert not p.is_initialized
            else:
                assert p.array is a
                assert p.grad is grad
        assert {p.name: values(p) for p in net.params(include_uninit=False)} == before
        assert net.scale is scale
        assert values(scale) == [1, 1]
        assert net.count == count


def test_missing_or_ignored_names_keep_their_values():
    given = {"l1/W": np.full((4, 3), 7.0), "l3/W": np.ones(2)}
    net = Net()
    load_npz(by_numpy(**given), net, strict=False)
    assert values(net.l1.W) == [[7] * 3] * 4
    assert values(net.l1.b) == [0] * 4
    for ignored in (
        "l1/W", ["l1/W", "count"], lambda name: name.startswith("l1/"), ["count", lambda name: name.endswith("1/W")],
    ):  # fmt: skip
        net = Net()
        load_npz(saved(different()), net, ignore_names=ignored)
        assert values(net.l1.W) == values(Net().l1.W)
        assert values(net.rest[0].W) == values(different().rest[0].W)
    with pytest.raises(KeyError, match="the file has no count"):
        load_npz(by_numpy(**given), Net(), ignore_names=["l1/W", lambda name: name.startswith("rest")])


def test_invalid_or_missing_file_raises():
    with pytest.raises(ValueError, match=r"expected an \.npz file"):
        load_npz(io.BytesIO(b"nothing"), Net())
    with pytest.raises(FileNotFoundError):
        load_npz("/nowhere/net.npz", Net())


def test_dtypes_that_npz_lacks():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with pytest.raises(DtypeError, match=r".npz has no dtype bfloat16; use save_safetensors"):
        save_npz(io.BytesIO(), Values(x=np.ones(2, ml_dtypes.bfloat16)))


class Counter:
    """An object of a user's with Chainer's protocol, which keeps a link, an array and a number."""

    def __init__(self, fails=False):
        self.fails, self.link, self.order, self.n, self.state = fails, Linear(2, 2), np.arange(3), 0, {"a": [1.0]}

    def serialize(self, serializer):
        self.n = serializer("n", self.n)
        serializer("order", self.order)
        self.state["a"][0] = serializer["state"]("a", self.state["a"][0])
        self.link.serialize(serializer["link"])
        if self.fails:
            serializer("more", 3)


def test_other_objects_are_loaded_whole_or_not_at_all():
    source = Counter()
    source.n, source.order, source.link.W.array = 5, np.array([2, 1, 0]), source.link.W.array + 1
    source.state = {"a": [2.0]}
    made = Counter()
    order = made.order
    load_npz(saved(source), made)
    assert (made.n, order.tolist(), made.state) == (5, [2, 1, 0], {"a": [2.0]})
    assert values(made.link.W) == values(source.link.W)
    failing = Counter(fails=True)
    order = failing.order
    with pytest.raises(KeyError, match="the file has no 'more'"):
        load_npz(saved(source), failing)
    assert (failing.n, order.tolist(), failing.state) == (0, [0, 1, 2], {"a": [1.0]})
    assert failing.order is order
    assert values(failing.link.W) == values(Counter().link.W)


def test_serializers_as_chainer_calls_them():
    target = {}
    serializer = DictionarySerializer(target, "model/")
    assert serializer("/W", 3) == 3
    assert serializer["/l1/"]("b", None) is None
    assert {name: a.tolist() for name, a in target.items()} == {"model/W": 3, "model/l1/b": None}
    loader = NpzDeserializer({"model/W": np.ones(2), "model/l1/b": np.array(5)}, "model/")
    assert values(loader("W", None)) == [1, 1]
    into = np.zeros(2)
    assert loader("W", into) is into
    assert values(into) == [1, 1]
    assert loader["l1"]("b", 3) == 5
    x = Variable(np.zeros(2))
    assert loader("W", x) is x
    assert values(x) == [1, 1]
    with pytest.raises(KeyError, match="the file has no 'model/u'"):
        loader("u", 3)
    assert NpzDeserializer({}, strict=False)("u", 3) == 3
