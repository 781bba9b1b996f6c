"""Files of data sets in a cache on disk, and their download."""

import hashlib
import os
import shutil
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import URLError

_root = os.environ.get("CHAINER_DATASET_ROOT", os.path.join(os.path.expanduser("~"), ".chainer", "dataset"))


def get_dataset_root() -> str:
    """Return the directory of all data sets: ``CHAINER_DATASET_ROOT``, or ``~/.chainer/dataset``."""
    return _root


def set_dataset_root(path: str) -> None:
    """Set the directory of all data sets."""
    global _root
    _root = path


def get_dataset_directory(dataset_name: str, create_directory: bool = True) -> str:
    """Return the directory of a data set, below the root, and make it."""
    path = os.path.join(_root, dataset_name)
    if create_directory:
        os.makedirs(path, exist_ok=True)
    return path


def cached_download(url: str) -> str:
    """Return the path of a file that was downloaded from `url`, now or earlier.

    Raises
    ------
    OSError
        It cannot be downloaded; the message names the path at which it may be put by hand.
    """
    directory = os.path.join(_root, "_dl_cache")
    path = os.path.join(directory, hashlib.md5(url.encode("utf-8"), usedforsecurity=False).hexdigest())
    if os.path.exists(path):
        return path
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as temporary:
        partial = os.path.join(temporary, "dl")
        try:
            urllib.request.urlretrieve(url, partial)
        except URLError as error:
            raise OSError(f"cannot download {url}: {error.reason}; put the file there as {path}") from error
        shutil.move(partial, path)
    return path


def cache_or_load_file(path: str, creator: Callable[[str], Any], loader: Callable[[str], Any]) -> Any:
    """Return ``loader(path)`` if there is that file, else ``creator(path)``, which writes it and returns it."""
    if os.path.exists(path):
        return loader(path)
    try:
        os.makedirs(_root, exist_ok=True)
    except OSError as error:
        raise OSError(f"cannot create the directory of data sets {_root}; set CHAINER_DATASET_ROOT") from error
    with tempfile.TemporaryDirectory(dir=_root) as temporary:
        partial = os.path.join(temporary, os.path.basename(path))
        content = creator(partial)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if not os.path.exists(path):
            shutil.move(partial, path)
    return content
