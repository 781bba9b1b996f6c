"""Data sets of Chainer that xpgrad does not have, from files and downloads."""

from xpgrad_chainer.datasets.collections import (
    get_cifar10,
    get_cifar100,
    get_fashion_mnist,
    get_fashion_mnist_labels,
    get_kuzushiji_mnist,
    get_kuzushiji_mnist_labels,
    get_mnist,
    get_ptb_words,
    get_ptb_words_vocabulary,
    get_svhn,
    preprocess_mnist,
)
from xpgrad_chainer.datasets.images import (
    ImageDataset,
    LabeledImageDataset,
    LabeledZippedImageDataset,
    MultiZippedImageDataset,
    TextDataset,
    ZippedImageDataset,
    available,
)
from xpgrad_chainer.datasets.pickles import (
    PickleDataset,
    PickleDatasetWriter,
    open_pickle_dataset,
    open_pickle_dataset_writer,
)

__all__ = [
    "ImageDataset", "LabeledImageDataset", "LabeledZippedImageDataset", "MultiZippedImageDataset", "PickleDataset",
    "PickleDatasetWriter", "TextDataset", "ZippedImageDataset", "available", "get_cifar10", "get_cifar100",
    "get_fashion_mnist", "get_fashion_mnist_labels", "get_kuzushiji_mnist", "get_kuzushiji_mnist_labels", "get_mnist",
    "get_ptb_words", "get_ptb_words_vocabulary", "get_svhn", "open_pickle_dataset", "open_pickle_dataset_writer",
    "preprocess_mnist",
]  # fmt: skip
