"""Derivatives of functions of NumPy arrays, computed by xpgrad under the names of autograd."""

from xpgrad_autograd.derivatives import primitive_with_deprecation_warnings as primitive
from xpgrad_autograd.package.builtins import dict, isinstance, list, tuple, type
from xpgrad_autograd.package.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)

__all__ = [
    "checkpoint", "deriv", "dict", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "isinstance", "jacobian", "list",
    "make_ggnvp", "make_hvp", "make_jvp", "make_vjp", "multigrad_dict", "primitive", "tensor_jacobian_product", "tuple",
    "type", "value_and_grad", "vector_jacobian_product",
]  # fmt: skip
