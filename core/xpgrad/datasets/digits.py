"""Handwritten digits that scikit-learn carries."""

from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.datasets.members import TupleDataset
from xpgrad.datasets.parts import SubDataset

HELD_OUT = 360
_SHAPES = {1: (64,), 2: (8, 8), 3: (1, 8, 8)}


def get_digits(
    withlabel: bool = True, ndim: int = 1, scale: float = 1.0, dtype: Any = "float32", label_dtype: Any = "int32"
) -> tuple[Any, Any]:
    """Return 1,437 scans of handwritten digits to train with, and 360 to test with.

    The options are the same as for Chainer's ``get_mnist``, which downloads larger scans; these are the 8 x 8 scans of
    ``sklearn.datasets.load_digits`` (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0).

    Parameters
    ----------
    withlabel : bool
        Whether examples are pairs of scan and label; else they are scans.
    ndim : {1, 2, 3}
        Scans of shape (64,), (8, 8) or (1, 8, 8).
    scale : float
        The largest value of a pixel.
    dtype, label_dtype : dtype of any library, or its name
    """
    if ndim not in _SHAPES:
        raise ValueError(f"get_digits: ndim must be 1, 2 or 3, got {ndim!r}")
    try:
        from sklearn.datasets import load_digits  # optional
    except ImportError:
        raise ImportError("get_digits: scikit-learn is not installed; pip install scikit-learn") from None
    np = plugins.host.module
    images, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(labels))  # a fixed generator, so that runs are comparable
    x = (images[order] * (scale / 16)).astype(dtype_of(dtype, plugins.host, "get_digits")).reshape(-1, *_SHAPES[ndim])
    data = TupleDataset(x, labels[order].astype(dtype_of(label_dtype, plugins.host, "get_digits"))) if withlabel else x
    split = len(x) - HELD_OUT
    return SubDataset(data, 0, split), SubDataset(data, split, len(x))
