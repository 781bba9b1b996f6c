"""Damaged and hostile files: a documented error, no changes, and no execution."""

import io
import pickle
import random
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
from tests.core.models.parts import Net
from tests.core.serializers.test_npz import Values, contents, different
from tests.turn import ALL, commit

from xpgrad.errors import DtypeError, SerializationError, ShapeError
from xpgrad.serializers import dictionary, load_npz, load_safetensors, save_npz, save_safetensors
from xpgrad_numpy.pickled_none import is_none

MUTATIONS = 20_000 if ALL else 5_000


def npz(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    file.seek(0)
    return file


def npy(value: Any, header: dict[str, Any] | None = None, data: bytes | None = None) -> bytes:
    """Return an array in NumPy's format, with another header, or other bytes after it."""
    array = np.asarray(value)
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, header or np.lib.format.header_data_from_array_1_0(array))
    return file.getvalue() + (array.tobytes() if data is None else data)


def object_with(data: bytes) -> bytes:
    return npy(np.array(None), data=data)


class Call:
    def __reduce__(self) -> Any:
        return print, ("executed",)


ARRAY = pickle.dumps(np.array(None), protocol=2)
PYTHON_2 = (
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85q\x03U\x01bq\x04\x87q\x05Rq\x06"
    b"(K\x01)cnumpy\ndtype\nq\x07U\x02O8K\x00K\x01\x87q\x08Rq\t(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\nb"
    b"\x89]q\x0bNatq\x0cb."
)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_none_is_recognized_from_every_numpy_version(protocol):
    data = pickle.dumps(np.array(None), protocol=protocol)
    old, new = (struct.pack("B", len(name)) + name for name in (b"numpy.core.multiarray", b"numpy._core.multiarray"))
    for each in (
        data,
        data.replace(b"numpy._core.", b"numpy.core.") if protocol < 4 else data.replace(new, old),
        PYTHON_2,
    ):
        assert is_none(each)
        values = Values(x=None)
        load_npz(npz({"x": object_with(each)}), values)
        assert values.x is None


OBJECTS = {
    "a call": pickle.dumps(np.array(Call(), dtype=object)),
    "another object": pickle.dumps(np.array([1, None], dtype=object)),
    "a number": pickle.dumps(np.array(3, dtype=object)),
    # An array of another dtype, whose elements would be read from an address that the file gives.
    "another dtype": ARRAY.replace(b"O8", b"V8"),
    "more dimensions": ARRAY.replace(b"K\x01)", b"K\x01K\x05\x85"),
    "nothing": b"",
    "half": ARRAY[:-20],
    "endless": b"(" * 100_000,
    "long": ARRAY[:-1] + b"N0" * 1000 + b".",
    "no memo": b"\x80\x02h\x07.",
}


@pytest.mark.parametrize("case", OBJECTS)
def test_no_other_pickle_is_loaded(case, capsys):
    values = Values(x=np.ones(2))
    text = (
        r"load_npz: the file, x: expected numbers, text or None, got a pickled object, which is not loaded, as it may"
    )
    with pytest.raises(SerializationError, match=text):
        load_npz(npz({"x": object_with(OBJECTS[case])}), values)
    assert capsys.readouterr().out == ""
    assert values.x.tolist() == [1, 1]


def twice() -> io.BytesIO:
    file = npz({"x": npy(np.zeros(2)), "y": npy(np.zeros(2))})
    return io.BytesIO(file.getvalue().replace(b"y.npy", b"x.npy"))


def renamed(file: io.BytesIO, old: bytes, new: bytes) -> io.BytesIO:
    data = file.getvalue()
    assert old in data
    return io.BytesIO(data.replace(old, new))


HEADER = {"descr": "<f8", "fortran_order": False, "shape": (2,)}
STORED = npz({"x": npy(np.zeros(2))}, zipfile.ZIP_STORED)
DAMAGED = {
    "two entries of one name": twice,
    "more elements": lambda: npz({"x": npy(np.zeros(2), data=bytes(2**17))}),
    "fewer elements": lambda: npz({"x": npy(np.zeros(2), data=bytes(8))}),
    "a negative shape": lambda: npz({"x": npy(np.zeros(2), HEADER | {"shape": (-2,)})}),
    "a huge shape": lambda: npz({"x": npy(np.zeros(2), HEADER | {"shape": (2**62, 2**62)})}),
    "a strange dtype": lambda: npz({"x": npy(np.zeros(2), HEADER | {"descr": "|V8"})}),
    "no dtype": lambda: npz({"x": npy(np.zeros(2), HEADER | {"descr": "what"})}),
    "no array": lambda: npz({"x": b"nothing of the kind"}),
    "a deep header": lambda: npz({"x": b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"(" * 9000}),
    "another version": lambda: npz({"x": b"\x93NUMPY\x09\x00" + bytes(100)}),
    "a wrong checksum": lambda: renamed(STORED, np.zeros(2).tobytes(), np.ones(2).tobytes()),
    "another compression": lambda: renamed(
        STORED, b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x63"
    ),
    "nothing": lambda: io.BytesIO(b""),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_npz_files_raise_one_error_and_leave_the_state_unchanged(case):
    values = Values(x=np.ones(2))
    with pytest.raises((SerializationError, ShapeError)) as caught:
        load_npz(DAMAGED[case](), values)
    assert values.x.tolist() == [1, 1]
    if isinstance(caught.value, SerializationError):
        assert str(caught.value).startswith("load_npz: the file")
        assert ": expected " in str(caught.value)


def test_an_array_is_compared_with_its_parameter_before_it_is_unpacked(monkeypatch):
    file = npz({"x": npy(np.zeros(2**22))})
    read = []
    original = zipfile.ZipExtFile.read

    def counted(self: Any, n: int | None = -1) -> bytes:
        data = original(self, n)
        read.append(len(data))
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    with pytest.raises(ShapeError, match=r"x: expected shape \(2,\), the file has \(4194304,\)"):
        load_npz(file, Values(x=np.ones(2)))
    assert sum(read) < 1000
    monkeypatch.setattr(dictionary, "MAX_VALUE", 1000)
    text = npy(np.array("a"), {**HEADER, "descr": "<U1000", "shape": ()}, bytes(4000))
    with pytest.raises(SerializationError, match="x: expected a str of at most 1000 bytes, the file has 4000"):
        load_npz(npz({"x": text}), Values(x="a"))


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes of a file with one to three changes of bits, bytes, lengths or parts."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(made)) if made else 0
        end = min(len(made), start + rng.choice((1, 1, 2, 4, 8, 64)))
        part = rng.choice(("bit", "random", "zero", "full", "remove", "repeat", "cut", "copy"))
        if part == "bit" and made:
            made[start] ^= 1 << rng.randrange(8)
        elif part in ("random", "zero", "full"):
            made[start:end] = {"random": rng.randbytes, "zero": bytes, "full": lambda n: b"\xff" * n}[part](end - start)
        elif part in ("remove", "repeat"):
            made[start:end] = made[start:end] * (2 * (part == "repeat"))
        elif part == "copy":
            place = rng.randrange(len(made) + 1)
            made[place : place + end - start] = made[start:end]
        elif part == "cut":
            del made[start:]
    return bytes(made)


def files() -> dict[str, tuple[Any, bytes]]:
    found = {}
    for name, save, load in (("npz", save_npz, load_npz), ("safetensors", save_safetensors, load_safetensors)):
        file = io.BytesIO()
        save(file, different())
        found[name] = load, file.getvalue()
    found["stored npz"] = (
        load_npz,
        npz({k: npy(v) for k, v in contents_as_arrays().items()}, zipfile.ZIP_STORED).getvalue(),
    )
    return found


def contents_as_arrays() -> dict[str, Any]:
    return {name: np.asarray(value) for name, value in contents(different()).items()}


@pytest.mark.parametrize("name", ["npz", "safetensors", "stored npz"])
def test_mutations_of_files_load_or_give_a_documented_error(name):
    load, data = files()[name]
    rng = random.Random(f"{name} {commit()}")
    net, before = Net(), contents(Net())
    refused = 0
    for number in range(MUTATIONS // 3):
        changed = mutated(data, rng)
        try:
            load(io.BytesIO(changed), net)
        except (KeyError, ShapeError, DtypeError, SerializationError):
            refused += 1
            assert contents(net) == before, number
        except Exception as error:
            error.add_note(f"mutation {number} of {name}")
            raise
        else:
            net = Net()
    assert refused > MUTATIONS / 6
