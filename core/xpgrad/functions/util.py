"""Trading time for memory under Chainer's name."""

from typing import Any

from xpgrad.graph.variable import Variable

__all__ = ["forget"]


def forget(func: Any, *xs: Any) -> Any:
    """Return ``func(*xs)`` without keeping intermediate values: the backward pass computes `func` again.

    Parameters
    ----------
    func : callable
        Takes Variables, returns a Variable or a tuple of Variables. It must return the same result when called again.
    *xs : Variable or array

    Returns
    -------
    Variable or tuple of Variable
        A tuple with one element is returned as that Variable, as in Chainer.

    Raises
    ------
    TypeError
        `func` is not callable, or does not return Variables.

    Notes
    -----
    It is `xpgrad.transforms.checkpoint`: random numbers are replayed, Variables in the closure of `func` get their
    gradients, and, unlike in Chainer, gradients can be differentiated again.
    """
    from xpgrad.transforms.recomputed import checkpoint  # few programs use it, and `import xpgrad` stays light

    if not callable(func):
        raise TypeError(f"forget: func must be a callable, got {type(func).__name__}")

    def checked(*args: Any) -> Any:
        ys = func(*args)
        if isinstance(ys, Variable):
            return ys
        if not isinstance(ys, tuple):
            raise TypeError(f"forget: expected a Variable or a tuple of Variables from func, got {type(ys).__name__}")
        for i, y in enumerate(ys):
            if not isinstance(y, Variable):
                raise TypeError(
                    f"forget: element {i} of the tuple that func returned is not a Variable: {type(y).__name__}"
                )
        return ys

    ys = checkpoint(checked)(*[x if isinstance(x, Variable) else Variable(x) for x in xs])
    return ys[0] if isinstance(ys, tuple) and len(ys) == 1 else ys
