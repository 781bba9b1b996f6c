"""Chainer's tools for tests, run as programs use them."""

import unittest

import numpy as np
import pytest

UNIFORM = np.random.default_rng(0).uniform


def outcomes(bundle):
    """Return the results of the tests of a bundle: (run, failed)."""
    result = unittest.TestResult()
    for case in bundle:
        unittest.defaultTestLoader.loadTestsFromTestCase(case.cls).run(result)
    return result.testsRun, len(result.failures) + len(result.errors)


def relu_case(wrong=False):
    import chainer.functions as F
    from chainer import testing

    @testing.parameterize(*testing.product({"shape,dtype": [((1,), "f"), ((2, 3), "d")], "factor": [1, 2]}))
    @testing.fix_random()
    @testing.inject_backend_tests(None, [{}, {"use_chainerx": True, "chainerx_device": "native:0"}])
    class TestReLU(testing.FunctionTestCase):
        dodge_nondifferentiable = True

        def setUp(self):
            self.check_forward_options["atol"] = 1e-4

        def generate_inputs(self):
            return (UNIFORM(-1, 1, self.shape).astype(self.dtype),)

        def forward(self, inputs, device):
            return (F.relu(inputs[0] * self.factor),)

        def forward_expected(self, inputs):
            return (self.factor * inputs[0] * (inputs[0] > 0) + np.asarray(wrong, self.dtype),)

    return TestReLU


def test_function_test_case() -> None:
    assert outcomes(relu_case()) == (2 * 2 * 2 * 3, 0)


def test_function_test_case_finds_wrong_outputs() -> None:
    assert outcomes(relu_case(wrong=True)) == (24, 8)


def test_link_test_cases() -> None:
    import chainer
    from chainer import testing

    class Linear:
        param_names = "W", "b"

        def generate_params(self):
            return UNIFORM(-1, 1, (3, 2)).astype("f"), UNIFORM(-1, 1, 3).astype("f")

        def generate_inputs(self):
            return (UNIFORM(-1, 1, (4, 2)).astype("f"),)

        def create_link(self, initializers):
            return chainer.links.Linear(2, 3, initialW=initializers[0], initial_bias=initializers[1])

    @testing.inject_backend_tests(None, [{}])
    class TestLinear(Linear, testing.LinkTestCase):
        def forward_expected(self, link, inputs):
            return (inputs[0] @ link.W.array.T + link.b.array,)

    @testing.inject_backend_tests(None, [{}])
    class TestInitializers(Linear, testing.LinkInitializersTestCase):
        def get_initializers(self):
            return [chainer.initializers.Constant(2), 3], [testing.InitializerArgument(None, 0), 1]

    assert outcomes(TestLinear) == (2, 0)
    assert outcomes(TestInitializers) == (1, 0)


def test_unary_math_function_unittest() -> None:
    import chainer.functions as F
    from chainer import testing

    @testing.unary_math_function_unittest(F.sin)
    class TestSin(unittest.TestCase):
        pass

    assert outcomes(TestSin)[1] == 0


def test_names_of_cases_are_the_same_in_each_process() -> None:
    from chainer import testing

    @testing.parameterize({"f": outcomes}, {"f": lambda: None})
    class TestNothing(unittest.TestCase):
        pass

    assert not [case.cls.__name__ for case in TestNothing if "0x" in case.cls.__name__]


def test_methods_that_are_not_injected_run_once() -> None:
    from chainer import testing

    @testing.inject_backend_tests(["test_one"], [{}, {"use_cudnn": "always"}])
    class TestPair(unittest.TestCase):
        def test_one(self, backend_config):
            assert backend_config.xp is not None

        def test_other(self):
            pass

    assert outcomes(TestPair) == (3, 0)


def test_retry_passes_once_of_several_times() -> None:
    from chainer.testing import condition

    calls = []

    class TestSometimes(unittest.TestCase):
        @condition.retry(3)
        def test_third(self):
            calls.append(1)
            assert len(calls) > 2

        @condition.repeat(2)
        def test_never(self):
            raise AssertionError

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(TestSometimes).run(result)
    assert (len(calls), len(result.failures)) == (3, 1)


def test_assert_warns() -> None:
    import warnings

    from chainer import testing

    with testing.assert_warns(DeprecationWarning):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    with pytest.raises(AssertionError, match="FutureWarning not triggered"), testing.assert_warns(FutureWarning):
        pass


@pytest.mark.parametrize(("one_by_one", "error"), [(False, 0.0), (True, 0.0), (False, 0.5)])
def test_distribution_unittest(one_by_one, error) -> None:
    stats = pytest.importorskip("scipy.stats")
    import chainer
    from chainer import testing

    class Normal:
        support, event_shape = "real", ()

        def __init__(self, loc, scale):
            self.loc, self.scale = chainer.as_variable(loc), chainer.as_variable(scale)
            self.batch_shape, self.mean = self.loc.shape, self.loc + error

        def log_prob(self, x):
            z = (chainer.as_variable(x) - self.loc) / self.scale
            return -(z**2) / 2 - chainer.functions.log(self.scale * (2 * np.pi) ** 0.5)

        def sample(self, sample_shape):
            drawn = np.random.default_rng(0).standard_normal((*sample_shape, *self.batch_shape)).astype("f")
            return self.loc + self.scale * drawn

    @testing.parameterize(
        *testing.product({"shape": [(3, 2), (2,)], "is_variable": [True, False], "sample_shape": [(2,)]})
    )
    class TestNormal(testing.distribution_unittest):
        scipy_onebyone = one_by_one

        def setUp_configure(self):  # noqa: N802 - Chainer's name
            self.dist, self.scipy_dist = Normal, stats.norm
            self.test_targets = {"batch_shape", "event_shape", "support", "mean", "log_prob", "sample"}
            loc = UNIFORM(-1, 1, self.shape).astype("f")
            self.params = self.scipy_params = {"loc": loc, "scale": np.exp(loc)}

        def sample_for_test(self):
            return UNIFORM(-1, 1, self.sample_shape + self.shape).astype("f")

    run, failed = outcomes(TestNormal)
    assert (run, failed) == (4 * 30, 4 if error else 0)
