"""Classes whose methods define a link and its expected outputs: they test outputs, derivatives and initializers."""

import unittest
from typing import Any

import numpy as np

from xpgrad import Link, Parameter, Variable, get_device, initializers
from xpgrad.testing.gradient_check import check_backward
from xpgrad_chainer.initializers import _check_is_initializer_like
from xpgrad_chainer.testing.checks import (
    LinkTestError,
    _as_noncontiguous_array,
    check_arrays,
    check_equal,
    check_types,
    check_variables,
    random_like,
    until_differentiable,
)


class InitializerArgument:
    """An argument of a link, and the initializer that the argument selects.

    Parameters
    ----------
    argument_value : object
    expected_initializer : initializer, number or array
    """

    def __init__(self, argument_value: Any, expected_initializer: Any) -> None:
        if expected_initializer is None:
            raise ValueError("InitializerArgument: expected an initializer, got None")
        _check_is_initializer_like(expected_initializer)
        self.argument_value, self.expected_initializer = argument_value, expected_initializer


def _checked(initializer: Any) -> Any:
    if isinstance(initializer, InitializerArgument):
        initializer = initializer.expected_initializer
    elif initializer is None:
        raise ValueError("a None among initializers is passed as an InitializerArgument")
    _check_is_initializer_like(initializer)
    return initializer


def _argument(initializer: Any) -> Any:
    return initializer.argument_value if isinstance(initializer, InitializerArgument) else initializer


class LinkTestBase:
    """Attributes and methods that a test of a link defines.

    Attributes
    ----------
    param_names : sequence of str
        The parameters that are tested.
    contiguous : None or "C"
        By default no input is contiguous.
    """

    backend_config: Any = None
    contiguous: str | None = None
    param_names: Any = ()
    check_forward_options: Any = None

    def before_test(self, test_name: str) -> None:
        """Prepare a test; called before each."""

    def generate_params(self) -> Any:
        """Return initializers, one for each argument that takes an initializer."""
        raise NotImplementedError("generate_params is not implemented.")

    def generate_inputs(self) -> Any:
        """Return arrays of NumPy."""
        raise NotImplementedError("generate_inputs is not implemented.")

    def create_link(self, initializers: Any) -> Any:
        """Return the link."""
        raise NotImplementedError("create_link is not implemented.")

    def forward(self, link: Any, inputs: Any, device: Any) -> Any:
        """Return the outputs of the link for Variables."""
        outputs = link(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def check_forward_outputs(self, outputs: Any, expected_outputs: Any) -> None:
        """Raise unless the outputs are those expected."""
        check_types(outputs, expected_outputs)
        check_equal(outputs, expected_outputs, LinkTestError, **self.check_forward_options)

    def _start(self, name: str, backend_config: Any) -> None:
        self.backend_config = backend_config
        self.before_test(name)

    def _generate_params(self) -> Any:
        found = self.generate_params()
        if not isinstance(found, (tuple, list)):
            raise TypeError("`generate_params` must return a tuple or a list.")
        for each in found:
            _checked(each)
        return found

    def _inputs(self) -> tuple[Any, Any]:
        """Return inputs on the host, and on the device."""
        inputs = self.generate_inputs()
        check_arrays(inputs, "generate_inputs")
        return inputs, self._laid_out(self.backend_config.get_array(inputs))

    def _link(self, given: Any) -> Any:
        link = self.create_link(given)
        if not isinstance(link, Link):
            raise TypeError("`create_link` must return a chainer.Link object.")
        link.to_device(self.backend_config.device)
        return link

    def _initialized(self, given: Any) -> tuple[Any, Any, Any]:
        """Return a link that was called once, its inputs and outputs."""
        link = self._link([_argument(each) for each in given])
        _, xs = self._inputs()
        ys = self._forward(link, [Variable(x) for x in xs])
        link.cleargrads()
        return link, xs, [y.array for y in ys]

    def _parameters(self, link: Any) -> list[Parameter]:
        found = []
        for name in self.param_names:
            value = getattr(link, name, None)
            if not isinstance(value, Parameter):
                raise TypeError(f"{type(link).__name__} has no parameter {name!r}")
            found.append(value)
        return found

    def _laid_out(self, arrays: Any) -> Any:
        return arrays if self.contiguous == "C" else _as_noncontiguous_array(arrays)

    def _forward(self, link: Any, xs: Any) -> Any:
        with self.backend_config:
            ys = self.forward(link, xs, self.backend_config.device)
        check_variables(ys, self.backend_config.device, "forward", LinkTestError)
        return ys


class LinkTestCase(LinkTestBase, unittest.TestCase):
    """A test of a link's outputs and gradients, under `inject_backend_tests`.

    Define `generate_params`, `create_link`, `generate_inputs` and `forward_expected`.
    """

    check_backward_options: Any = None
    skip_forward_test = False
    skip_backward_test = False
    dodge_nondifferentiable = False
    numerical_grad_dtype: Any = np.float64

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.check_forward_options = {}
        self.check_backward_options = {}
        super().__init__(*args, **kwargs)

    def forward_expected(self, link: Any, inputs: Any) -> Any:
        """Return the expected outputs for arrays of NumPy."""
        raise NotImplementedError("forward_expected() is not implemented.")

    def generate_grad_outputs(self, outputs_template: Any) -> Any:
        """Return gradients of the outputs."""
        return random_like(outputs_template)

    def test_forward(self, backend_config: Any) -> None:
        """Test the outputs."""
        if self.skip_forward_test:
            raise unittest.SkipTest("skip_forward_test is set")
        self._start("test_forward", backend_config)
        link = self._link(self._generate_params())
        inputs, xs = self._inputs()
        ys = self._forward(link, tuple(Variable(x) for x in xs))
        link.to_device("@numpy")
        expected = self.forward_expected(link, inputs)
        check_arrays(expected, "forward_expected")
        self.check_forward_outputs(tuple(y.array for y in ys), expected)

    def test_backward(self, backend_config: Any) -> None:
        """Test the gradients of inputs and parameters against finite differences."""
        if self.skip_backward_test:
            raise unittest.SkipTest("skip_backward_test is set")
        self._start("test_backward", backend_config)

        def check() -> None:
            given = self._generate_params()
            link, xs, ys = self._initialized(given)
            params = self._laid_out([p.array for p in self._parameters(link)])
            gys = self.generate_grad_outputs([get_device("@numpy").send(y) for y in ys])
            check_arrays(gys, "generate_grad_outputs")
            gys = self._laid_out(tuple(backend_config.get_array(gy) for gy in gys))
            other, _, _ = self._initialized(given)

            def forward(*values: Any) -> Any:
                with other.init_scope():
                    for name, value in zip(self.param_names, values[len(xs) :], strict=True):
                        setattr(other, name, value)
                return self._forward(other, values[: len(xs)])

            with LinkTestError.raise_if_fail("backward is not implemented correctly"):
                check_backward(
                    forward, (*xs, *params), gys, dtype=self.numerical_grad_dtype,
                    detect_nondifferentiable=self.dodge_nondifferentiable, **self.check_backward_options,
                )  # fmt: skip

        until_differentiable(check, self.dodge_nondifferentiable)


class LinkInitializersTestCase(LinkTestBase, unittest.TestCase):
    """A test of a link's initializers, under `inject_backend_tests`.

    Define `generate_params`, `create_link`, `generate_inputs` and `get_initializers`.
    """

    check_initializers_options: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.check_initializers_options = {}
        super().__init__(*args, **kwargs)

    def get_initializers(self) -> Any:
        """Return for each argument the initializers that are tested."""
        raise NotImplementedError("get_initializers is not implemented.")

    def test_initializers(self, backend_config: Any) -> None:
        """Test the initial values of each parameter with each of its initializers."""
        self._start("test_initializers", backend_config)
        tested = self.get_initializers()
        if not isinstance(tested, (tuple, list)) or not all(isinstance(each, (tuple, list)) for each in tested):
            raise TypeError("`get_initializers` must return a tuple or a list of tuples or lists.")
        for position, choices in enumerate(tested):
            given = list(self._generate_params())
            for choice in choices:
                expected = _checked(choice)
                given[position] = choice
                link, _, _ = self._initialized(given)
                value = get_device("@numpy").send(self._parameters(link)[position].array)
                wanted = np.empty_like(value)
                initializers._get_initializer(expected)(wanted)
                check_equal((value,), (wanted,), LinkTestError, **self.check_initializers_options)
