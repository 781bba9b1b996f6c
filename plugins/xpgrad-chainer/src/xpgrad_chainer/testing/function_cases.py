"""`FunctionTestCase`: a class whose methods define a function and its expected outputs, and which tests derivatives."""

import unittest
from typing import Any

import numpy as np

from xpgrad import Variable
from xpgrad.testing import assert_allclose
from xpgrad.testing.gradient_check import check_backward, check_double_backward
from xpgrad_chainer.testing.checks import (
    FunctionTestError,
    _as_noncontiguous_array,
    check_arrays,
    check_equal,
    check_types,
    check_variables,
    random_like,
    until_differentiable,
)

Arrays = tuple[Any, ...]


class FunctionTestBase:
    """Attributes and methods that a test of a function defines.

    Attributes
    ----------
    check_forward_options, check_backward_options, check_double_backward_options : dict
        Options of the comparisons and of the gradient checks.
    skip_forward_test, skip_backward_test, skip_double_backward_test : bool
    dodge_nondifferentiable : bool
        Whether other inputs are generated where the function has no derivative.
    numerical_grad_dtype : dtype
        Of finite differences.
    contiguous : None or "C"
        By default no input is contiguous.
    """

    backend_config: Any = None
    test_name: str | None = None
    check_forward_options: Any = None
    check_backward_options: Any = None
    check_double_backward_options: Any = None
    skip_forward_test = False
    skip_backward_test = False
    skip_double_backward_test = False
    dodge_nondifferentiable = False
    numerical_grad_dtype: Any = np.float64
    contiguous: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.check_forward_options = {}
        self.check_backward_options = {}
        self.check_double_backward_options = {}

    def before_test(self, test_name: str) -> None:
        """Prepare a test; called before each."""

    def forward(self, inputs: Any, device: Any) -> Any:
        """Return the outputs for Variables."""
        raise NotImplementedError("forward() is not implemented.")

    def forward_expected(self, inputs: Any) -> Any:
        """Return the expected outputs for arrays of NumPy."""
        raise NotImplementedError("forward_expected() is not implemented.")

    def generate_inputs(self) -> Any:
        """Return arrays of NumPy."""
        raise NotImplementedError("generate_inputs() is not implemented.")

    def generate_grad_outputs(self, outputs_template: Any) -> Any:
        """Return gradients of the outputs."""
        return random_like(outputs_template)

    def generate_grad_grad_inputs(self, inputs_template: Any) -> Any:
        """Return gradients of the gradients of the inputs."""
        return random_like(inputs_template)

    def check_forward_outputs(self, outputs: Any, expected_outputs: Any) -> None:
        """Raise unless the outputs are those expected."""
        check_types(outputs, expected_outputs)
        check_equal(outputs, expected_outputs, FunctionTestError, **self.check_forward_options)

    def run_test_forward(self, backend_config: Any) -> None:
        """Test the outputs."""
        self._start("test_forward", self.skip_forward_test, backend_config)
        given = self._laid_out(self._generated("generate_inputs"))
        copies = [array.copy() for array in given]
        expected = self._expected(given)
        inputs = self._laid_out(backend_config.get_array(given))
        ys = self._forward(
            tuple(Variable(x, requires_grad=a.dtype.kind == "f") for x, a in zip(inputs, copies, strict=True))
        )
        for before, after in zip(copies, inputs, strict=True):
            with FunctionTestError.raise_if_fail("Input arrays have been modified during forward."):
                assert_allclose(before, after, atol=0, rtol=0)
        self.check_forward_outputs(tuple(y.array for y in ys), expected)

    def run_test_backward(self, backend_config: Any) -> None:
        """Test the gradients against finite differences."""
        self._start("test_backward", self.skip_backward_test, backend_config)

        def check() -> None:
            xs, gys = self._data(backend_config)
            with FunctionTestError.raise_if_fail("backward is not implemented correctly"):
                check_backward(
                    lambda *xs: self._forward(xs), xs, gys, dtype=self.numerical_grad_dtype,
                    detect_nondifferentiable=self.dodge_nondifferentiable, **self.check_backward_options,
                )  # fmt: skip

        until_differentiable(check, self.dodge_nondifferentiable)

    def run_test_double_backward(self, backend_config: Any) -> None:
        """Test the gradients of gradients against finite differences."""
        self._start("test_double_backward", self.skip_double_backward_test, backend_config)

        def check() -> None:
            inputs = self._generated("generate_inputs")
            xs, gys = self._data(backend_config, inputs)
            ggxs = [
                None if gg is None else self._laid_out(backend_config.get_array(gg))
                for gg in self._generated("generate_grad_grad_inputs", inputs)
                if gg is None or gg.dtype.kind == "f"
            ]
            with backend_config, FunctionTestError.raise_if_fail("double backward is not implemented correctly"):
                check_double_backward(
                    lambda *xs: self._forward(xs), xs, gys, tuple(ggxs), dtype=self.numerical_grad_dtype,
                    detect_nondifferentiable=self.dodge_nondifferentiable, **self.check_double_backward_options,
                )  # fmt: skip

        until_differentiable(check, self.dodge_nondifferentiable)

    def _start(self, name: str, skipped: bool, backend_config: Any) -> None:
        if skipped:
            raise unittest.SkipTest(f"skip_{name.removeprefix('test_')}_test is set")
        self.backend_config, self.test_name = backend_config, name
        self.before_test(name)

    def _data(self, backend_config: Any, inputs: Any = None) -> tuple[Arrays, Arrays]:
        """Return inputs and gradients of the outputs, on the device."""
        inputs = self._generated("generate_inputs") if inputs is None else inputs
        gys = self._generated("generate_grad_outputs", self._expected(inputs))
        on_device = [
            tuple(None if a is None else self._laid_out(backend_config.get_array(a)) for a in each)
            for each in (inputs, gys)
        ]
        return on_device[0], on_device[1]

    def _generated(self, method: str, *args: Any) -> Any:
        arrays = getattr(self, method)(*args)
        check_arrays(arrays, method)
        return arrays

    def _expected(self, inputs: Any) -> Any:
        return self._generated("forward_expected", inputs)

    def _laid_out(self, arrays: Any) -> Any:
        if self.contiguous not in (None, "C"):
            raise ValueError(f"contiguous: expected None or 'C', got {self.contiguous!r}")
        return arrays if self.contiguous else _as_noncontiguous_array(arrays)

    def _forward(self, xs: Any) -> Any:
        with self.backend_config:
            ys = self.forward(xs, self.backend_config.device)
        check_variables(ys, self.backend_config.device, "forward", FunctionTestError)
        return ys


class FunctionTestCase(FunctionTestBase, unittest.TestCase):
    """A test of a function, under `inject_backend_tests`: define `generate_inputs`, `forward`, `forward_expected`."""

    def test_forward(self, backend_config: Any) -> None:
        """Test the outputs."""
        self.run_test_forward(backend_config)

    def test_backward(self, backend_config: Any) -> None:
        """Test the gradients."""
        self.run_test_backward(backend_config)

    def test_double_backward(self, backend_config: Any) -> None:
        """Test the gradients of gradients."""
        self.run_test_double_backward(backend_config)
