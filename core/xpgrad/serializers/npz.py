"""Models, optimizers and trainers in NumPy's .npz files, as Chainer writes them."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.serializers.dictionary import DictionarySerializer, Ignored, load
from xpgrad.serializers.files import File, read, written


def save_npz(file: File, obj: Any, compression: bool = True) -> None:
    """Save an object to an .npz file, which Chainer and NumPy read.

    Parameters
    ----------
    file : str, path or binary file
        A path gets the file when it is complete.
    obj : object with a method `serialize`
        A link, an optimizer, a trainer.
    compression : bool
        Whether the file is compressed.
    """
    serializer = DictionarySerializer()
    serializer.save(obj)
    host: Any = plugins.host
    with written(file) as opened:
        host.archives().write_npz(opened, serializer.target, compression)


def load_npz(
    file: File, obj: Any, path: str = "", strict: bool = True, ignore_names: Ignored | Iterable[Ignored] | None = None
) -> None:
    """Load an object from an .npz file written by `save_npz` of xpgrad or Chainer.

    Arrays keep their device and dtype. Uninitialised parameters are initialised. If loading fails, the object is
    unchanged. No data is unpickled: the pickle of None, which Chainer writes, is recognized by its bytes, and other
    pickles are errors. An array is unpacked only after its shape was compared with the shape of the parameter.

    Parameters
    ----------
    file : str, path or binary file
    obj : object with a method `serialize`
    path : str
        The part of the file to load, such as ``updater/model:main/`` of a trainer's snapshot.
    strict : bool
        Whether names missing in the file are errors, and names unknown to a link give a warning.
    ignore_names : str, callable, or list of these, optional
        Full names, and predicates of names, of values to leave unchanged.

    Raises
    ------
    KeyError
        Names are missing; the text lists them.
    ShapeError, DtypeError
        An array in the file does not fit.
    SerializationError
        The file is damaged, or has objects other than arrays, numbers, text and None.
    """
    host: Any = plugins.host
    with read(file) as opened:
        load(host.archives().Archive(opened), obj, path, strict, ignore_names)
