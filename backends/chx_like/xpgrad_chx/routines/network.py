"""Calls of functions of `xpgrad.functions` by routines."""

from typing import Any

from xpgrad.errors import ShapeError
from xpgrad.utils.type_check import InvalidType
from xpgrad_chx.errors import OperandError
from xpgrad_chx.evaluation import through


def run(name: str, *args: Any, **kwargs: Any) -> Any:
    """Return the results of a function of `xpgrad.functions` on arrays, as arrays.

    Raises
    ------
    OperandError
        The function does not take an operand of such a dtype or shape.
    """
    import xpgrad.functions as F  # at the first routine that needs it: the namespace stays light

    try:
        return through(getattr(F, name), name, args, kwargs)
    except ShapeError:
        raise
    except InvalidType as error:
        raise OperandError(str(error)) from None
