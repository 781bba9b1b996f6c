"""Checks of initializers, under Chainer's names."""

from typing import Any

import numpy as np

from xpgrad import get_array_types


def _check_is_initializer_like(initializer: Any) -> None:
    """Raise TypeError unless the argument is an initializer, a number, an array or None."""
    known = initializer is None or callable(initializer) or np.isscalar(initializer)
    if not (known or isinstance(initializer, get_array_types())):
        raise TypeError(
            f"invalid type of initializer: {type(initializer).__name__}; expected an initializer, a number or an array"
        )
