"""`distribution_unittest`: a class whose methods define a distribution, and SciPy's of the same parameters."""

import functools
import math
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad import Variable
from xpgrad.backends.cuda import to_gpu
from xpgrad.testing import assert_allclose
from xpgrad_chainer.testing import marks

OF_SAMPLES = {
    "cdf": ("cdf", "cdf"),
    "log_cdf": ("log_cdf", "logcdf"),
    "survival": ("survival_function", "sf"),
    "log_survival": ("log_survival_function", "logsf"),
}
"""Functions of samples: the methods of the distribution and of SciPy's."""
MOMENTS = {"mean": "mean", "variance": "var", "stddev": "std", "entropy": "entropy"}
"""Attributes of the distribution, and the methods of SciPy's."""
TARGETS = {*OF_SAMPLES, *MOMENTS, "batch_shape", "event_shape", "support", "icdf", "prob", "log_prob", "sample"}
DRAWS = 100000


def skip_not_in_test_target(test_target: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of a test that is skipped unless `test_target` is among the class's `test_targets`."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def targeted(self: Any, *args: Any, **kwargs: Any) -> None:
            if test_target not in self.test_targets:
                self.skipTest(f"{test_target!r} does not exist in test_targets.")
            test(self, *args, **kwargs)

        return targeted

    return decorate


class distribution_unittest(unittest.TestCase):  # noqa: N801 - Chainer's name of a base class
    """A test of a distribution: define `setUp_configure` and `sample_for_test`.

    `setUp_configure` sets `dist`, `scipy_dist`, `params`, `scipy_params`, `test_targets`, and differences from the
    defaults of `support`, `event_shape`, `continuous` and `options`. `shape`, `sample_shape` and `is_variable` are
    parameters of the class. With `scipy_onebyone`, SciPy's takes one set of parameters at a time.
    """

    scipy_onebyone = False

    def setUp(self) -> None:
        """Configure the test."""
        values: Any = self
        values.support, values.continuous, values.test_targets, values.options = "real", True, set(), {}
        values.event_shape = getattr(self, "event_shape", ())
        values.setUp_configure()
        unknown = values.test_targets - TARGETS
        if unknown:
            raise ValueError(f"invalid target(s): {unknown}")
        if values.is_variable:
            values.params = {name: Variable(value) for name, value in values.params.items()}

    def scipy_onebyone_params_iter(self: Any) -> Iterator[dict[str, Any]]:
        """Return the parameters of each distribution of the batch."""
        return ({k: v[i] for k, v in self.scipy_params.items()} for i in np.ndindex(self.shape))

    @property
    def cpu_dist(self: Any) -> Any:
        """The distribution."""
        return self.dist(**self.params, **self.options)

    @property
    def gpu_dist(self: Any) -> Any:
        """The distribution with parameters on a GPU."""
        params = {
            name: Variable(to_gpu(value.array)) if self.is_variable else to_gpu(value)
            for name, value in self.params.items()
        }
        return self.dist(**params, **self.options)

    def _found(self: Any, is_gpu: bool, name: str, *samples: Any) -> Any:
        """Return an attribute of the distribution, or the result of its method for samples, as an array."""
        value = getattr(self.gpu_dist if is_gpu else self.cpu_dist, name)
        if samples:
            value = value(*map(to_gpu, samples) if is_gpu else samples)
        return value.array

    def _each(self: Any, method: str, shape: tuple[int, ...]) -> Any:
        """Return a moment of SciPy's distribution, one for each batch element if `scipy_onebyone`."""
        function = getattr(self.scipy_dist, method)
        if not self.scipy_onebyone:
            return function(**self.scipy_params)
        return np.vstack([function(**params) for params in self.scipy_onebyone_params_iter()]).reshape(shape)

    def check_batch_shape(self: Any, is_gpu: bool) -> None:
        """Compare the shape of the batch."""
        assert (self.gpu_dist if is_gpu else self.cpu_dist).batch_shape == self.shape

    def check_event_shape(self: Any, is_gpu: bool) -> None:
        """Compare the shape of an event."""
        assert (self.gpu_dist if is_gpu else self.cpu_dist).event_shape == self.event_shape

    def check_support(self: Any, is_gpu: bool) -> None:
        """Compare the support."""
        assert (self.gpu_dist if is_gpu else self.cpu_dist).support == self.support

    def check_icdf(self: Any, is_gpu: bool) -> None:
        """Compare quantiles."""
        p = np.random.uniform(1e-5, 1 - 1e-5, self.sample_shape + self.shape).astype(np.float32)
        assert_allclose(self._found(is_gpu, "icdf", p), self.scipy_dist.ppf(p, **self.scipy_params))

    def check_prob(self: Any, is_gpu: bool) -> None:
        """Compare densities or probabilities."""
        x = self.sample_for_test()
        expected = getattr(self.scipy_dist, "pdf" if self.continuous else "pmf")(x, **self.scipy_params)
        assert_allclose(self._found(is_gpu, "prob", x), expected)

    def check_log_prob(self: Any, is_gpu: bool) -> None:
        """Compare logarithms of densities or probabilities."""
        x = self.sample_for_test()
        function = getattr(self.scipy_dist, "logpdf" if self.continuous else "logpmf")
        if not self.scipy_onebyone:
            expected = function(x, **self.scipy_params)
        else:
            lead = len(self.sample_shape)
            expected = np.empty(self.sample_shape + self.shape)
            for index, params in zip(np.ndindex(self.shape), self.scipy_onebyone_params_iter(), strict=True):
                place = (slice(None),) * lead + index
                expected[place] = np.reshape(function(x[place], **params), self.sample_shape)
        assert_allclose(self._found(is_gpu, "log_prob", x), expected)

    def check_sample(self: Any, is_gpu: bool) -> None:
        """Compare means and standard deviations of many samples."""
        size = (DRAWS, *self.sample_shape)
        found = (self.gpu_dist if is_gpu else self.cpu_dist).sample(sample_shape=size).array
        if not self.scipy_onebyone:
            expected = self.scipy_dist.rvs(size=size + self.shape, **self.scipy_params)
        else:
            drawn = [self.scipy_dist.rvs(size=size, **params) for params in self.scipy_onebyone_params_iter()]
            event = self.cpu_dist.event_shape
            apart = np.stack(
                [np.reshape(each, (DRAWS, math.prod(self.sample_shape), *event)) for each in drawn], axis=2
            )
            expected = apart.reshape(size + self.shape + event)
        for name in ("mean", "std"):
            assert_allclose(getattr(found, name)(axis=0), getattr(expected, name)(axis=0), atol=0.03, rtol=0.03)


def _check_of_samples(name: str, scipy_name: str) -> Callable[..., None]:
    def check(self: Any, is_gpu: bool) -> None:
        x = self.sample_for_test()
        assert_allclose(self._found(is_gpu, name, x), getattr(self.scipy_dist, scipy_name)(x, **self.scipy_params))

    return check


def _check_moment(name: str, scipy_name: str) -> Callable[..., None]:
    def check(self: Any, is_gpu: bool) -> None:
        shape = self.shape if name == "entropy" else self.shape + self.cpu_dist.event_shape
        assert_allclose(self._found(is_gpu, name), self._each(scipy_name, shape))

    return check


def _test(target: str, is_gpu: bool) -> Callable[..., None]:
    def test(self: Any) -> None:
        getattr(self, f"check_{target}")(is_gpu)

    targeted = skip_not_in_test_target(target)(test)
    return marks.gpu(targeted) if is_gpu else targeted


for target, names in OF_SAMPLES.items():
    setattr(distribution_unittest, f"check_{target}", _check_of_samples(*names))
for target, method in MOMENTS.items():
    setattr(distribution_unittest, f"check_{target}", _check_moment(target, method))
for target in sorted(TARGETS):
    setattr(distribution_unittest, f"test_{target}_cpu", _test(target, False))
    setattr(distribution_unittest, f"test_{target}_gpu", _test(target, True))
