"""Data sets of pickled examples in one file."""

import os
import pickle
import threading
from typing import Any, BinaryIO

from xpgrad.dataset import DatasetMixin

__all__ = ["PickleDataset", "PickleDatasetWriter", "open_pickle_dataset", "open_pickle_dataset_writer"]


class PickleDatasetWriter:
    """Writes examples one after the other; as a context manager it closes the file.

    Parameters
    ----------
    writer : binary file
    protocol : int
        Of `pickle`.
    """

    def __init__(self, writer: BinaryIO, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
        self._writer, self._protocol = writer, protocol

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def flush(self) -> None:
        """Flush the file."""
        self._writer.flush()

    def write(self, x: Any) -> None:
        """Write an example."""
        pickle.dump(x, self._writer, protocol=self._protocol)

    def __enter__(self) -> "PickleDatasetWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PickleDataset(DatasetMixin):
    """Examples that a `PickleDatasetWriter` has written.

    Parameters
    ----------
    reader : binary file
        Seekable. A process that is forked opens a named file again.
    """

    def __init__(self, reader: BinaryIO) -> None:
        if not reader.seekable():
            raise ValueError("PickleDataset: expected a seekable file")
        self._reader, self._process, self._lock = reader, os.getpid(), threading.Lock()
        self._positions = []
        reader.seek(0)
        while True:
            position = reader.tell()
            try:
                pickle.load(reader)
            except EOFError:
                break
            self._positions.append(position)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def __len__(self) -> int:
        return len(self._positions)

    def get_example(self, i: int) -> Any:
        """Return an example."""
        with self._lock:
            if self._process != os.getpid() and isinstance(getattr(self._reader, "name", None), str):
                self._reader, self._process = open(self._reader.name, "rb"), os.getpid()
            self._reader.seek(self._positions[i])
            return pickle.load(self._reader)

    def __enter__(self) -> "PickleDataset":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_pickle_dataset(path: str) -> PickleDataset:
    """Return the examples of a file."""
    return PickleDataset(open(path, "rb"))


def open_pickle_dataset_writer(path: str, protocol: int = pickle.HIGHEST_PROTOCOL) -> PickleDatasetWriter:
    """Return a writer of examples into a new file."""
    return PickleDatasetWriter(open(path, "wb"), protocol)
