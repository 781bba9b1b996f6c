"""The assertion about small inputs of every case: one element, none, and arrays without axes."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad import Variable, no_backprop_mode
from xpgrad.backend.plugins import plugins
from xpgrad.errors import AxisError, ShapeError, XpgradError
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.table.assertions import assert_gradient, assert_recorded, assert_value
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.order_assertions import assert_second_order
from xpgrad_conformance.table.reasons import refusal, skipped
from xpgrad_conformance.table.scenario import Scenario


def assert_small(s: Scenario) -> None:
    """Compare with the reference's value and derivatives; if it has none, with the function on NumPy.

    If neither has a value, or `reasons` explains why the function rejects inputs of its reference, the function must
    raise a clear error, or its sweeps must run. For some shapes in `reasons`, NumPy returns a value and other libraries
    raise an error.
    """
    if skipped(s.case, s.variant) is not None:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of an empty array
        error, judge = _tried(lambda: s.call(s.variables(s.arrays()))), _judge(s)
        if error is not None:
            _assert_refused(s, error, judge)
            return
        if judge is None and _tried(lambda: [on_host(y) for y in s.call(s.variables(s.arrays()))]) is not None:
            return  # some libraries raise their errors when values are read
        try:
            _assert_derivatives(s, judge)
        except (AxisError, ShapeError):  # for errors that differ between calls, such as the members of a batch
            if refusal(s.case, s.variant) is None:
                raise


def _assert_derivatives(s: Scenario, judge: Scenario | None) -> None:
    """Compare value and derivatives with the scenario whose reference has a value, if it exists."""
    if judge is not None:
        assert_value(judge)
        assert_gradient(judge)
    if s.case.order > 0:
        assert_recorded(s)
    if s.case.order > 1 and judge is not None and all(map(_finite, judge.reference(judge.inputs))):
        assert_second_order(judge)


def outcome(s: Scenario) -> str:
    """Return the outcome of a case with small inputs, in one or two words.

    "value" means that its reference has a value, "own" that only the function on NumPy has a value; "refused" says that
    no reference has one either. The remaining outcomes are faults: "alone" is a value without a reference, "refused
    alone" the opposite.
    """
    if skipped(s.case, s.variant) is not None:
        return "skipped"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        error, judge = _tried(lambda: s.call(s.variables(s.arrays()))), _judge(s)
    if error is not None:
        return "refused" if judge is None else "refused alone"
    return "value" if judge is s else "own" if judge is not None else "alone"


def _judge(s: Scenario) -> Scenario | None:
    """Return the scenario whose reference has a value: the case's reference, or the function on NumPy; None if neither.

    The result is also None if the function on NumPy rejects inputs that `reasons` lists.
    """
    known = _tried(lambda: s.reference(s.inputs)) is None
    if known and refusal(s.case, s.variant) is None:
        return s
    case = replace(s.case, reference=_on_numpy(s.case, s.dtype))
    judge = Scenario(case, s.device, s.dtype, s.variant, seed=s.seed, capabilities=s.capabilities)
    if _tried(lambda: judge.reference(judge.inputs)) is not None:
        return None
    return s if known else judge


def _on_numpy(case: Case, dtype: str) -> Callable[..., Any]:
    host = Scenario(case, plugins.host.default_device, dtype)

    def reference(*arrays: Any) -> Any:
        with no_backprop_mode():
            return [on_host(y) for y in host.call([Variable(np.asarray(each)) for each in arrays])]

    return reference


def _assert_refused(s: Scenario, error: Exception, judge: Scenario | None) -> None:
    if s.missing(error) is not None:
        raise error
    name = s.case.function.rpartition(".")[2]
    clear = isinstance(error, XpgradError) or re.match(r"[\w.]+: ", str(error))
    message = f"{type(error).__name__}: {error}"
    assert clear, f"raised {message}; expected an error that names the arguments that {name} accepts"
    by_shape = isinstance(error, (IndexError, ShapeError)) and refusal(s.case, s.variant) is not None
    if judge is not None and not by_shape:
        source = "the reference" if judge is s else "the function on NumPy"
        raise AssertionError(f"raised {message}; but {source} has a value for these inputs")


def _finite(y: Any) -> bool:
    return y.dtype.kind not in "fc" or bool(np.isfinite(y).all())


def _tried(call: Callable[[], Any]) -> Exception | None:
    """Return the error that a call raises, or None."""
    try:
        call()
    except Exception as error:
        return error
    return None
