"""Models in files of the format safetensors."""

import io
import json

import numpy as np
import pytest
from tests.building import values
from tests.core.models.parts import Net, example
from tests.core.serializers.test_npz import Values, contents, different

import xpgrad
from xpgrad import Link, Parameter
from xpgrad.errors import DtypeError, SerializationError, ShapeError
from xpgrad.serializers import load_safetensors, save_safetensors


def saved(obj):
    file = io.BytesIO()
    save_safetensors(file, obj)
    file.seek(0)
    return file


@pytest.mark.parametrize("late", [False, True], ids=["initialised", "uninitialised"])
def test_loaded_on_any_device(tmp_path, device, late):
    net = different(device)
    save_safetensors(tmp_path / "net.safetensors", net)
    other = Net(None if late else 3).to_device(device)
    load_safetensors(tmp_path / "net.safetensors", other)
    assert contents(other) == contents(net)
    assert {p.device for p in other.params()} == {device}
    assert values(other(example(device))) == values(net(example(device)))


def test_the_package_reads_and_writes_the_same_files(tmp_path):
    package = pytest.importorskip("safetensors.numpy")
    net = different()
    found = package.load(saved(net).getvalue())
    assert {name: a.tolist() for name, a in found.items()} == {n: v for n, v in contents(net).items() if n != "count"}
    given = {name: np.asarray(a, "float32") for name, a in contents(net).items()} | {"count": np.asarray(4)}
    package.save_file(given, tmp_path / "theirs.safetensors", metadata={"format": "pt"})
    other = Net(None)
    load_safetensors(tmp_path / "theirs.safetensors", other)
    assert other.count == 4
    assert values(other.l1.W) == values(net.l1.W)


KINDS = {"int": 3, "big": 2**70, "float": 2.5, "nan": float("inf"), "bool": True, "text": "äb", "none": None}


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_no_arrays(kind):
    value = KINDS[kind]
    before = value if value is None else type(value)()
    link = Values(x=before)
    load_safetensors(saved(Values(x=value)), link)
    assert link.x == value
    assert type(link.x) is type(value)


DTYPES = ["float16", "float32", "float64", "complex64", "int8", "int16", "int32", "int64"]
DTYPES += ["uint8", "uint16", "uint32", "uint64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_all_dtypes(dtype):
    a = np.array([[0, 1], [2, 1]]).astype(dtype).T  # not contiguous
    link = Values(x=np.zeros((2, 2), dtype), empty=np.ones((0, 3), dtype), number=np.ones((), dtype))
    load_safetensors(saved(Values(x=a, empty=np.ones((0, 3), dtype), number=np.zeros((), dtype))), link)
    assert link.x.dtype == dtype
    assert (link.x == a).all()
    assert link.number == 0


@pytest.mark.parametrize("library", ["torch", "ml_dtypes"])
def test_bfloat16(library):
    imported = pytest.importorskip(library)
    numbers = [1.0, -2.5, 3.140625, float("inf"), 1e30]

    def made(values):
        if library == "torch":
            pytest.importorskip("xpgrad_torch")
            return imported.tensor(values, dtype=imported.bfloat16)
        return np.array(values, imported.bfloat16)

    link = Link()
    with link.init_scope():
        link.W = Parameter(made([0.0] * 5))
    source = link.copy("copy")
    source.W.array = made(numbers)
    file = saved(source)
    assert b'"BF16"' in file.getvalue()
    load_safetensors(file, link)
    assert "bfloat16" in str(link.W.dtype)
    assert link.W.array.tolist() == made(numbers).tolist()
    package = pytest.importorskip("safetensors.torch") if library == "torch" else None
    if package is not None:
        assert package.load(file.getvalue())["W"].tolist() == made(numbers).tolist()


WRONG = {
    "a missing name": (different, Values, {"y": 1}, KeyError, "the file has no y; the model has no count, l1/W"),
    "another shape": (
        lambda: Values(x=np.ones(3)), Values, {"x": np.ones(2)}, ShapeError, r"x: expected shape \(2,\), the file has",
    ),
    "text for a number": (lambda: Values(x="a"), Values, {"x": 3}, DtypeError, "x: expected a value that is a int"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_agree_with_npz(case):
    source, kind, given, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        load_safetensors(saved(source()), kind(**given))


def test_unsupported_values_raise():
    with pytest.raises(DtypeError, match="save_safetensors: the format has no dtype complex128; cast it"):
        save_safetensors(io.BytesIO(), Values(x=np.ones(2, "complex128")))
    with pytest.raises(TypeError, match="save_safetensors: expected arrays, numbers and strings, got list"):
        save_safetensors(io.BytesIO(), Values(x=[1]))


def header(**entries):
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text


BROKEN = {
    "nothing": b"",
    "no header": b"\xff" * 20,
    "half a header": header(x={})[:-3],
    "a list": (2).to_bytes(8, "little") + b"[]",
    "an unknown dtype": header(x={"dtype": "X8", "shape": [1], "data_offsets": [0, 1]}) + b"\0",
    "other bytes than the shape has": header(x={"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}) + b"\0" * 8,
    "no whole numbers": header(x={"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]}) + b"\0" * 8,
    "a negative size": header(x={"dtype": "F32", "shape": [-2], "data_offsets": [8, 0]}) + b"\0" * 8,
    "bytes before": header(x={"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}) + b"\0" * 12,
    "bytes after": header(x={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}) + b"\0" * 9,
    "bytes of two arrays": header(
        x={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        y={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    )
    + b"\0" * 8,
    "a name twice": header(x={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}).replace(b'"shape"', b'"dtype"')
    + b"\0" * 8,
    "nested too deep": (100_000).to_bytes(8, "little") + b"[" * 100_000,
    "cut off": header(x={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}) + b"\0" * 7,
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files(case):
    link = Values(x=np.ones(2, "float32"))
    text = r"load_safetensors: the file is no whole file: expected .*, got "
    with pytest.raises((SerializationError, ShapeError), match=rf"{text}|x: expected shape \(2,\), the file has"):
        load_safetensors(io.BytesIO(BROKEN[case]), link)
    assert values(link.x) == [1, 1]


def test_a_part_of_a_file():
    net = different()
    part = Net().rest
    load_safetensors(saved(net), part, path="rest")
    assert values(part[0].W) == values(net.rest[0].W)
    assert isinstance(xpgrad.Sequential(*part), Link)
