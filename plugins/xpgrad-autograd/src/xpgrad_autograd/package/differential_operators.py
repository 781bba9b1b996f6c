"""Gradients, Jacobians and their products with vectors."""

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as onp

from xpgrad.transforms import jacobian as matrix
from xpgrad_autograd.boxes import boxed, functions, is_box
from xpgrad_autograd.derivatives import INDEPENDENT, Evaluation, defvjp_argnum, primitive
from xpgrad_autograd.derivatives import make_jvp as _make_jvp
from xpgrad_autograd.derivatives import make_vjp as _make_vjp
from xpgrad_autograd.package.wrap_util import unary_to_nary
from xpgrad_autograd.spaces import vspace

Function = Callable[..., Any]
make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)
ONE = onp.float64(1.0)
_rows_only = ContextVar("_rows_only", default=False)
"""Whether Jacobians are computed row by row, since a rule of the program failed for a batch of cotangents.

Such a rule calls other libraries with the value of its cotangent.
"""


def _of_scalar(name: str, ans: Any) -> Any:
    if type(ans) is onp.float64:
        return ONE
    try:
        space = vspace(ans)
    except TypeError as error:
        raise TypeError(f"{name}: expected a function with a real scalar result, got {type(ans).__name__}") from error
    if space.size != 1:
        raise TypeError(
            f"{name}: expected a function with a real scalar result, got {space}; "
            "use jacobian, elementwise_grad or holomorphic_grad"
        )
    return space.ones()


@unary_to_nary
def grad(fun: Function, x: Any) -> Any:
    """
    Returns a function which takes the arguments of `fun` and gives the gradient of its result, a real scalar.

    The gradient with respect to positional argument number `argnum` has the type of that argument.

    Parameters
    ----------
    fun : callable
    argnum : int, or tuple or list of int

    Raises
    ------
    TypeError
        The result is no real scalar, or the argument is no floating-point number, array or container of these.
    """
    vjp, ans = _make_vjp(fun, x)
    return vjp(_of_scalar("grad", ans))


@unary_to_nary
def elementwise_grad(fun: Function, x: Any) -> Any:
    """Return the sums of the columns of the Jacobian of a real function: its derivative, if that is elementwise."""
    vjp, ans = _make_vjp(fun, x)
    if vspace(ans).iscomplex:
        raise TypeError("elementwise_grad: expected a function with a real result, got a complex one")
    return vjp(vspace(ans).ones())


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """Return the derivative of a function of a scalar, computed in forward mode."""
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: Any) -> Any:
    """Return the Jacobian by an array or number, with the shape of the result followed by the argument's shape."""
    space = vspace(x)
    evaluation = Evaluation(fun, x)

    def of_one(root: Any) -> Any:
        outputs = evaluation([root])
        if not outputs:
            return functions()["zeros"](onp.shape(evaluation.result))
        return outputs[0]

    is_other = space.iscomplex or not hasattr(space, "shape") or (is_box(x) and type(x).__name__ != "ArrayBox")
    if is_other or _rows_only.get():
        return _by_rows(fun, x)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = matrix(of_one, mode="reverse", allow_constant=True)(evaluation.inputs[0])
    except Exception:
        if not hasattr(evaluation, "result"):
            raise
        token = _rows_only.set(True)
        try:
            return _by_rows(fun, x)
        finally:
            _rows_only.reset(token)
    if not any(map(is_box, [evaluation.result])):
        warnings.warn(INDEPENDENT, stacklevel=3)
    return boxed(found) if hasattr(found, "creator_node") else found


def _by_rows(fun: Function, x: Any) -> Any:
    vjp, ans = _make_vjp(fun, x)
    space = vspace(ans)
    rows = [vjp(each) for each in space.standard_basis()]
    xp = functions()
    return xp["reshape"](xp["stack"](rows), space.shape + vspace(x).shape)


@unary_to_nary
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """Return the complex derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda x: functions()["real"](fun(x)))(x)


def grad_named(fun: Function, argname: str) -> Any:
    """Return the gradient by an argument that is named."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


@unary_to_nary
def hessian(fun: Function, x: Any) -> Any:
    """Return the Jacobian of the Jacobian."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> Any:
    """Return the product of the Hessian with a vector as a function of the vector, and the gradient."""
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Any:
    """Return the function of the arguments, and a tensor after them, that gives the Hessian times the tensor."""
    gradient = grad(fun, argnum)

    def product(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return functions()["tensordot"](gradient(*rest, **kwargs), tensor, onp.ndim(tensor))

    return grad(product, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Any:
    """Return the function of the arguments, and a tensor after them, that gives the tensor times the Jacobian."""

    def product(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return functions()["tensordot"](tensor, fun(*rest, **kwargs), axes=onp.ndim(tensor))

    return jacobian(product, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: Any) -> Any:
    """Return the product of the Jacobian with a vector as a function of the vector."""
    vjp, y = _make_vjp(fun, x)
    return _make_vjp(vjp, vspace(y).zeros())[0]


def make_ggnvp(f: Function, g: Function | None = None, f_argnum: int = 0) -> Any:
    """Return products with the generalized Gauss-Newton matrix of g(f(x)); g is half the sum of squares by default."""

    def half(y: Any) -> Any:
        return functions()["sum"](y**2, axis=-1) / 2

    @unary_to_nary
    def make(f: Function, x: Any) -> Any:
        f_vjp, value = _make_vjp(f, x)
        g_hvp, gradient = _make_vjp(grad(g or half), value)
        f_jvp, _ = _make_vjp(f_vjp, vspace(gradient).zeros())
        return lambda v: f_vjp(g_hvp(f_jvp(v)))

    return make(f, f_argnum)


@unary_to_nary
def value_and_grad(fun: Function, x: Any) -> Any:
    """Return the value, a real scalar, and the gradient."""
    vjp, ans = _make_vjp(fun, x)
    return ans, vjp(_of_scalar("value_and_grad", ans))


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> Any:
    """Return the gradient of the first result, and the second result."""
    vjp, (ans, aux) = _make_vjp(lambda x: tuple(fun(x)), x)
    return vjp((vspace(ans).ones(), vspace(aux).zeros())), aux


def multigrad_dict(fun: Function) -> Any:
    """Return the function that gives the gradients by all arguments in a dictionary by their names."""
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_all(given: dict[str, Any]) -> Any:
            positional: list[Any] = []
            named: dict[str, Any] = {}
            for name, parameter in signature.parameters.items():
                if parameter.kind is parameter.VAR_POSITIONAL:
                    positional.extend(given[name])
                elif parameter.kind is parameter.VAR_KEYWORD:
                    named.update(given[name])
                elif parameter.kind is parameter.KEYWORD_ONLY:
                    named[name] = given[name]
                else:
                    positional.append(given[name])
            return fun(*positional, **named)

        found = grad(of_all)(dict(bound.arguments))
        return OrderedDict((name, found[name]) for name in bound.arguments)

    return gradients


def checkpoint(fun: Function) -> Any:
    """Return a function that keeps no intermediate values for its gradient, but computes them again."""
    made = primitive(fun)

    def rule(argnum: int, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return make_vjp(fun, argnum)(*args, **kwargs)[0]

    defvjp_argnum(made, rule)
    return made
