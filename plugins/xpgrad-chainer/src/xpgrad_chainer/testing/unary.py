"""Tests of functions of one Variable that are elementwise."""

import unittest
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import Variable
from xpgrad.backends.cuda import to_cpu, to_gpu
from xpgrad.testing import assert_allclose
from xpgrad.testing.gradient_check import check_backward, check_double_backward
from xpgrad_chainer.testing import marks
from xpgrad_chainer.testing.parameterized import parameterize, product

HALF = {"eps": 2**-4, "atol": 2**-4, "rtol": 2**-4, "dtype": np.float64}
OTHERS = {"atol": 1e-4, "rtol": 1e-4, "dtype": np.float64}


def unary_math_function_unittest(
    func: Callable[..., Any],
    func_expected: Callable[..., Any] | None = None,
    label_expected: str | None = None,
    make_data: Callable[..., Any] | None = None,
    is_linear: bool | None = None,
    forward_options: dict[str, Any] | None = None,
    backward_options: dict[str, Any] | None = None,
    double_backward_options: dict[str, Any] | None = None,
) -> Callable[[type], Any]:
    """Return a decorator that gives a class tests of outputs, gradients, gradients of gradients, and the label.

    Parameters
    ----------
    func : function of a Variable
    func_expected : function of array and dtype, optional
        By default NumPy's function of the same name.
    label_expected : str, optional
        By default the name.
    make_data : function of shape and dtype, optional
        Returns input, gradient of the output, and gradient of the gradient; by default uniform between -1 and 1.
    forward_options, backward_options, double_backward_options : dict, optional
        Options of the comparison and of the gradient checks.
    """
    if is_linear is not None:
        warnings.warn("is_linear option is deprecated", DeprecationWarning, stacklevel=2)
    is_instance = not hasattr(func, "__name__")
    name = type(func).__name__.lower() if is_instance else func.__name__
    if func_expected is None and not hasattr(np, name):
        raise ValueError(f"NumPy has no functions corresponding to Chainer function '{name}'.")
    if label_expected is not None and not is_instance:
        raise ValueError("Expected label is given even though Chainer function does not have its label.")
    expected = func_expected or getattr(np, name)
    given = (forward_options or {}), (backward_options or {}), (double_backward_options or {})

    def make(shape: Any, dtype: Any) -> tuple[Any, ...]:
        return tuple(np.random.uniform(-1, 1, shape).astype(dtype) for _ in range(3))

    def set_up(self: Any) -> None:
        self.x, self.gy, self.ggx = (*(make_data or make)(self.shape, self.dtype), None)[:3]
        half = self.dtype == np.float16
        eps = np.finfo(np.float16).eps if half else 1e-4
        defaults: Any = {"atol": eps, "rtol": eps}, HALF if half else OTHERS, HALF if half else OTHERS
        options = [dict(default) | own for default, own in zip(defaults, given, strict=True)]
        self.forward_options, self.backward_options, self.double_backward_options = options

    def check_forward(self: Any, x: Any) -> None:
        y = func(Variable(x))
        assert y.dtype == x.dtype
        assert_allclose(expected(to_cpu(x), dtype=x.dtype), y.array, **self.forward_options)

    def check_first(self: Any, x: Any, gy: Any) -> None:
        check_backward(func, x, gy, **self.backward_options)

    def check_second(self: Any, x: Any, gy: Any, ggx: Any) -> None:
        check_double_backward(func, x, gy, ggx, **self.double_backward_options)

    def decorate(cls: type) -> Any:
        assert issubclass(cls, unittest.TestCase)
        members: dict[str, Any] = {
            "setUp": set_up,
            "check_forward": check_forward,
            "check_backward": check_first,
            "test_forward_cpu": lambda self: self.check_forward(self.x),
            "test_forward_gpu": _on_gpu("check_forward", "x"),
            "test_backward_cpu": lambda self: self.check_backward(self.x, self.gy),
            "test_backward_gpu": _on_gpu("check_backward", "x", "gy"),
            "check_double_backward": check_second,
            "test_double_backward_cpu": lambda self: self.check_double_backward(self.x, self.gy, self.ggx),
            "test_double_backward_gpu": _on_gpu("check_double_backward", "x", "gy", "ggx"),
        }
        if is_instance:
            made: Any = func
            members["test_label"] = lambda self: self.assertEqual(made.label, label_expected or name)
        for key, member in members.items():
            setattr(cls, key, member)
        parameters = product({"shape": [(3, 2), ()], "dtype": [np.float16, np.float32, np.float64]})
        return parameterize(*parameters)(cls)

    return decorate


def _on_gpu(check: str, *names: str) -> Any:
    """Return a test that calls a method with attributes that are sent to a GPU."""

    def test(self: Any) -> None:
        getattr(self, check)(*(to_gpu(getattr(self, name)) for name in names))

    return marks.gpu(test)
