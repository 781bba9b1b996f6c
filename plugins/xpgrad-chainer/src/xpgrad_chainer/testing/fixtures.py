"""Matrices, saved copies and trainers for tests."""

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unittest import mock

import numpy as np

from xpgrad import serializers
from xpgrad_chainer.training.trainer import Trainer

Files = Callable[[str, Any], Any]


def generate_matrix(shape: Sequence[int], dtype: Any = float, **kwargs: Any) -> Any:
    """Return a random matrix, or a stack of matrices, with the given singular values.

    Parameters
    ----------
    shape : tuple of int, at least two
    dtype : real or complex floating-point dtype
    singular_values : array
        Broadcast to ``shape[:-2] + (min(shape[-2:]),)``.
    """
    if "singular_values" not in kwargs:
        raise TypeError("generate_matrix: expected singular_values=")
    values = np.asarray(kwargs.pop("singular_values"))
    if kwargs:
        raise TypeError(f"generate_matrix: unexpected argument {next(iter(kwargs))!r}")
    if len(shape) <= 1:
        raise ValueError(f"generate_matrix: expected at least two lengths, got {tuple(shape)}")
    if np.dtype(dtype).kind not in "fc":
        raise TypeError(f"generate_matrix: expected a floating-point dtype, got {np.dtype(dtype)}")
    if values.dtype.kind not in "uif" or (values < 0).any():
        raise ValueError("generate_matrix: expected singular values of at least 0")
    matrix = np.random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        matrix = matrix + 1j * np.random.standard_normal(shape)
    u, s, vh = np.linalg.svd(matrix, full_matrices=False)
    return np.einsum("...ik,...k,...kj->...ij", u, np.broadcast_to(values, s.shape), vh).astype(dtype)


def save_and_load(src: Any, dst: Any, filename: str, saver: Files, loader: Files) -> None:
    """Save `src` in a temporary directory, and load it into `dst`."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, filename)
        saver(path, src)
        loader(path, dst)


def save_and_load_npz(src: Any, dst: Any) -> None:
    """Save `src` as an npz file, and load it into `dst`."""
    save_and_load(src, dst, "tmp.npz", serializers.save_npz, serializers.load_npz)


def save_and_load_hdf5(src: Any, dst: Any) -> None:
    """Save `src` as an HDF5 file, and load it into `dst`."""
    from xpgrad_chainer.serializers import load_hdf5, save_hdf5  # needs h5py

    save_and_load(src, dst, "tmp.h5", save_hdf5, load_hdf5)


def get_trainer_with_mock_updater(
    stop_trigger: Any = (10, "iteration"), iter_per_epoch: int = 10, extensions: Iterable[Any] | None = None
) -> Trainer:
    """Return a trainer whose updater is a mock that counts iterations.

    Parameters
    ----------
    stop_trigger : trigger
    iter_per_epoch : int
    extensions : iterable of extensions, optional
    """
    if iter_per_epoch <= 0:
        raise ValueError(f"get_trainer_with_mock_updater: iter_per_epoch must be positive, got {iter_per_epoch}")
    updater = mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.iteration, updater.epoch, updater.epoch_detail = 0, 0, 0.0
    updater.previous_epoch_detail, updater.is_new_epoch = None, True

    def update() -> None:
        updater.update_core()
        updater.iteration += 1
        updater.epoch = updater.iteration // iter_per_epoch
        updater.previous_epoch_detail = updater.epoch_detail
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.is_new_epoch = updater.iteration % iter_per_epoch == 0

    updater.update = mock.Mock(side_effect=update)
    trainer = Trainer(updater, stop_trigger)
    for extension in extensions or ():
        trainer.extend(extension)
    return trainer
