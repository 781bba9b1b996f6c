"""Chainer's tools for tests (`chainer.testing`): parameters, devices, and test cases of functions and links."""

from xpgrad_chainer.testing.backends import BackendConfig, inject_backend_tests
from xpgrad_chainer.testing.bundle import make_decorator
from xpgrad_chainer.testing.checks import FunctionTestError, LinkTestError
from xpgrad_chainer.testing.checks import _as_noncontiguous_array as _as_noncontiguous_array
from xpgrad_chainer.testing.distribution_cases import distribution_unittest, skip_not_in_test_target
from xpgrad_chainer.testing.fixtures import (
    generate_matrix,
    get_trainer_with_mock_updater,
    save_and_load,
    save_and_load_hdf5,
    save_and_load_npz,
)
from xpgrad_chainer.testing.function_cases import FunctionTestBase, FunctionTestCase
from xpgrad_chainer.testing.helpers import assert_warns, patch, run_module, with_requires, without_requires
from xpgrad_chainer.testing.link_cases import InitializerArgument, LinkInitializersTestCase, LinkTestCase
from xpgrad_chainer.testing.marks import check_available, get_error, is_available
from xpgrad_chainer.testing.parameterized import (
    from_pytest_parameterize,
    parameterize,
    parameterize_pytest,
    product,
    product_dict,
)
from xpgrad_chainer.testing.seeds import do_setup, do_teardown, fix_random, generate_seed
from xpgrad_chainer.testing.unary import unary_math_function_unittest

__all__ = [
    "BackendConfig",
    "FunctionTestBase",
    "FunctionTestCase",
    "FunctionTestError",
    "InitializerArgument",
    "LinkInitializersTestCase",
    "LinkTestCase",
    "LinkTestError",
    "assert_warns",
    "check_available",
    "distribution_unittest",
    "do_setup",
    "do_teardown",
    "fix_random",
    "from_pytest_parameterize",
    "generate_matrix",
    "generate_seed",
    "get_error",
    "get_trainer_with_mock_updater",
    "inject_backend_tests",
    "is_available",
    "make_decorator",
    "parameterize",
    "parameterize_pytest",
    "patch",
    "product",
    "product_dict",
    "run_module",
    "save_and_load",
    "save_and_load_hdf5",
    "save_and_load_npz",
    "skip_not_in_test_target",
    "unary_math_function_unittest",
    "with_requires",
    "without_requires",
]  # fmt: skip
