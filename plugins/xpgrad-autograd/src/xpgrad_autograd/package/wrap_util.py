"""Operators on functions of one argument, for functions of several."""

from collections.abc import Callable
from typing import Any

from xpgrad_autograd.package.util import subvals


def get_name(f: Any) -> str:
    """Return the name of a function."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f: Any) -> str:
    """Return the docstring of a function."""
    return getattr(f, "__doc__", "") or ""


def wraps(fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any) -> Any:
    """Return a decorator that sets name and docstring of a function from formats and `fun`."""

    def decorated(f: Any) -> Any:
        f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        return f

    return decorated


def wrap_nary_f(fun: Any, op: Any, argnum: Any) -> Any:
    """Return the decorator that documents an operator's result for a function."""
    doc = (
        "    {op} of function {fun} with respect to argument number {argnum}.\n    The arguments are those of {fun}.\n"
    )
    return wraps(fun, "{op}_of_{fun}_wrt_argnum_{argnum}", doc, op=get_name(op), argnum=argnum)


def unary_to_nary(unary_operator: Callable[..., Any]) -> Any:
    """Return an operator for functions of several arguments, with `argnum`: an integer, or a list or tuple of these.

    The arguments of a tuple or list of `argnum` are one tuple for the operator.
    """
    naming: Callable[[Any], Any] = wraps(unary_operator)

    @naming
    def nary_operator(fun: Any, argnum: Any = 0, *op_args: Any, **op_kwargs: Any) -> Any:
        if type(argnum) not in (int, tuple, list):
            raise TypeError(f"{get_name(unary_operator)}: expected an int, tuple or list as argnum, got {argnum!r}")

        def nary_f(*args: Any, **kwargs: Any) -> Any:
            single = isinstance(argnum, int)

            def unary_f(x: Any) -> Any:
                return fun(*subvals(args, [(argnum, x)] if single else zip(argnum, x, strict=True)), **kwargs)

            unary_f.__name__, unary_f.__doc__ = get_name(fun), get_doc(fun)
            x = args[argnum] if single else tuple(args[i] for i in argnum)
            return unary_operator(unary_f, x, *op_args, **op_kwargs)

        return wrap_nary_f(fun, unary_operator, argnum)(nary_f)

    return nary_operator
