"""The checks of the case table can fail: the intended check catches each seeded fault."""

from collections.abc import Callable
from fnmatch import fnmatchcase

import numpy as np
import pytest
from tests.devices import device_or_skip

from xpgrad import FunctionNode, Variable, config, elementwise, force_backprop_mode, primitive
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.reasons import REFUSED, SKIPPED
from xpgrad_conformance.table.scenario import Scenario, dtypes_of, host_inputs
from xpgrad_conformance.table.small_assertions import outcome
from xpgrad_conformance.table.table import assertions_of, run
from xpgrad_conformance.table.variants import small_variants, variants_of

SLOPE = lambda xp, gy, x: gy * (2 * x)  # noqa: E731 - the rule of the square


def squared(rule: Callable[..., object], body: Callable[..., object] | None = None, **options: object) -> Case:
    """A case of the square with this rule, and ``body(xp, x)`` if it is another."""

    def fault(xp, x, /):
        return x * x if body is None else body(xp, x)

    function = elementwise(x=rule)(fault)
    return Case("fault", lambda xp, x: function(x), lambda x: x * x, elementwise=True, **({"keeps": ("x",)} | options))


def right() -> Case:
    return squared(SLOPE, complex=True)


def keeps_too_much() -> Case:
    def fault(xp, x, /):
        return xp.exp(x)

    function = elementwise(x=lambda xp, gy, x: gy * xp.exp(x))(fault)
    return Case("fault", lambda xp, x: function(x), np.exp, keeps=("y",))


def product(backward: Callable[..., object], outputs: tuple[int, ...] = ()) -> Case:
    """A case of a product whose node keeps its inputs and these outputs, with ``backward(indexes, gy, x1, x2)``."""

    class Product(FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0, 1))
            self.retain_outputs(outputs)
            return (inputs[0] * inputs[1],)

        def backward(self, indexes, gys):
            return backward(indexes, gys[0], *self.get_retained_inputs())

    return Case(
        "fault", lambda xp, a, b: Product().apply((a, b))[0], np.multiply, (Input(), Input()), keeps=("x0", "x1")
    )


def _writes_to_its_input(xp, x):
    y = x * x
    x[...] = y
    return y


def _writes_to_what_is_kept(xp, gy, x):
    x *= 2
    return gy * x


def _writes_to_the_cotangent(xp, gy, x):
    gy *= 2 * x
    return gy


def _gives_what_is_kept(xp, gy, x):
    if isinstance(x, Variable):
        return gy * (2 * x)
    x *= gy
    x *= 2
    return x


def graph_in_no_backprop_mode() -> Case:
    def call(xp, x):
        with force_backprop_mode():
            return xp.square(x)

    return Case("fault", call, lambda x: x * x)


def rule_of_the_rule_cuts_the_graph() -> Case:
    def cube(xp, x, /):
        return x * x * x

    def fault(xp, x, /):
        return x * x * x * x

    inner = elementwise(x=lambda xp, gy, x: gy * 3 * getattr(x, "array", x) ** 2)(cube)
    function = elementwise(x=lambda xp, gy, x: gy * 4 * (inner(x) if isinstance(x, Variable) else x * x * x))(fault)
    return Case("fault", lambda xp, x: function(x), lambda x: x**4, keeps=("x",), rtol={"float32": 1e-3})


def gradient_not_summed_over_broadcast_axes() -> Case:
    def fault(xp, x1, x2, /):
        return x1 * x2

    function = primitive(x1=lambda xp, gy, x2: gy * x2, x2=lambda xp, gy, x1: gy * x1)(fault)
    return Case(
        "fault", lambda xp, a, b: function(a, b), np.multiply, (Input(), Input()), keeps=("x1", "x2"), elementwise=True
    )


def no_graph_at_all() -> Case:
    def fault(xp, x, /):
        return x * x

    function = elementwise()(fault)
    return Case("fault", lambda xp, x: function(x), lambda x: x * x)


def missing_conjugate() -> Case:
    def fault(xp, x, /):
        return xp.conj(x)

    function = elementwise(x=lambda xp, gy: gy)(fault)
    return Case("fault", lambda xp, x: function(x), np.conj, keeps=(), complex=True)


MADE: dict[str, Callable[[], Case]] = {
    "wrong_sign": lambda: squared(lambda xp, gy, x: -gy * (2 * x)),
    "missing_factor": lambda: squared(lambda xp, gy, x: gy * x),
    "right_for_ones_only": lambda: squared(lambda xp, gy, x: gy * gy * (2 * x)),
    "size_of_cotangent_ignored": lambda: squared(lambda xp, gy, x: xp.sign(gy) * (2 * x)),
    "keeps_too_much": keeps_too_much,
    "keeps_for_an_input_that_needs_nothing": lambda: product(
        lambda indexes, gy, x1, x2: tuple((gy * x2, gy * x1)[i] for i in indexes), outputs=(0,)
    ),
    "float64_from_float32": lambda: squared(SLOPE, lambda xp, x: xp.astype(x, xp.float64) * xp.astype(x, xp.float64)),
    "result_on_the_default_device": lambda: squared(
        SLOPE, lambda xp, x: x * x if x.ndim else xp.ones((), dtype=x.dtype) * 4
    ),
    "rule_forgets_the_device": lambda: squared(lambda xp, gy, x: gy * (2 * x) * xp.ones((), dtype=x.dtype)),
    "scalar_becomes_one_dimensional": lambda: squared(
        SLOPE, lambda xp, x: xp.reshape(x * x, (1,)) if x.ndim == 0 else x * x
    ),
    "body_writes_to_its_input": lambda: squared(lambda xp, gy, y: gy * (2 * y**0.5), _writes_to_its_input),
    "rule_writes_to_what_is_kept": lambda: squared(_writes_to_what_is_kept),
    "rule_writes_to_the_cotangent": lambda: squared(_writes_to_the_cotangent),
    "gradient_is_what_is_kept": lambda: squared(_gives_what_is_kept),
    "body_takes_memory_for_contiguous": lambda: squared(
        SLOPE, lambda xp, x: np.asarray(x).ravel(order="K").reshape(x.shape) ** 2
    ),
    "sweeps_round_differently": lambda: squared(
        lambda xp, gy, x: (gy * x) * 3 / 1.5 if isinstance(gy, Variable) else gy * (2 * x)
    ),
    "other_value_in_debug_mode": lambda: squared(SLOPE, lambda xp, x: x * x * (1 + 1e-13 * config.debug)),
    "other_gradient_in_debug_mode": lambda: squared(lambda xp, gy, x: gy * (2 * x) * (1 + 1e-13 * config.debug)),
    "graph_in_no_backprop_mode": graph_in_no_backprop_mode,
    "rule_cuts_the_graph": lambda: squared(lambda xp, gy, x: gy * (2 * getattr(x, "array", x))),
    "rule_of_the_rule_cuts_the_graph": rule_of_the_rule_cuts_the_graph,
    "gradient_not_summed_over_broadcast_axes": gradient_not_summed_over_broadcast_axes,
    "wrong_gradient_for_one_input_alone": lambda: product(
        lambda indexes, gy, x1, x2: (gy * x2, gy * x1)[: len(indexes)]
    ),
    "graph_of_a_step_function": lambda: Case("fault", lambda xp, x: xp.square(x), lambda x: x * x, order=0),
    "no_graph_at_all": no_graph_at_all,
    "missing_conjugate": missing_conjugate,
    "wrong_value": lambda: Case("fault", lambda xp, x: xp.square(x) + 1e-9, lambda x: x * x),
    "raw_array_comes_back": lambda: Case("fault", lambda xp, x: xp.square(x).array, lambda x: x * x),
}
FAULTS = [
    ("wrong_sign", "@numpy", "float64", "gradient", "along a random direction"),
    ("wrong_sign", "@strict:device1", "float32", "gradient", "along a random direction"),
    ("missing_factor", "@numpy", "float32", "gradient", "along a random direction"),
    ("right_for_ones_only", "@numpy", "float64", "gradient", "along a random direction"),
    ("size_of_cotangent_ignored", "@numpy", "float64", "gradient", "along a random direction"),
    ("keeps_too_much", "@numpy", "float64", "keeps", "keeps x, but the case declares y"),
    ("keeps_for_an_input_that_needs_nothing", "@numpy", "float64", "keeps", "but the case declares x0, x1"),
    ("float64_from_float32", "@numpy", "float32", "value", "dtype float64, expected float32"),
    ("result_on_the_default_device", "@strict:device1", "float64", "value", "is on @strict:cpu"),
    ("rule_forgets_the_device", "@strict:device1", "float64", "gradient", "device"),
    ("scalar_becomes_one_dimensional", "@numpy", "float64", "value", r"0-d\]: value: output 0 has shape \(1,\)"),
    ("body_writes_to_its_input", "@numpy", "float64", "value", "input 0 has been written to"),
    ("rule_writes_to_what_is_kept", "@numpy", "float64", "gradient", "input 0 has been written to"),
    ("rule_writes_to_the_cotangent", "@numpy", "float64", "gradient", "cotangent 0 before and after"),
    ("gradient_is_what_is_kept", "@numpy", "float64", "aliasing", "gradient of input 0 shares memory with input 0"),
    ("body_takes_memory_for_contiguous", "@numpy", "float64", "value", "transposed"),
    ("sweeps_round_differently", "@numpy", "float64", "recorded", "raw and of the recorded"),
    ("other_value_in_debug_mode", "@numpy", "float64", "modes", "output 0 with debug mode and without"),
    ("other_gradient_in_debug_mode", "@numpy", "float64", "modes", "gradient 0 with debug mode and without"),
    ("graph_in_no_backprop_mode", "@numpy", "float64", "modes", "has a creator in no_backprop_mode"),
    ("rule_cuts_the_graph", "@numpy", "float64", "second_order", "of order 2"),
    ("rule_cuts_the_graph", "@strict:device1", "float64", "second_order", "of order 2"),
    ("rule_of_the_rule_cuts_the_graph", "@numpy", "float64", "third_order", "of order 3"),
    ("gradient_not_summed_over_broadcast_axes", "@numpy", "float64", "gradient", "shape of gradients"),
    ("wrong_gradient_for_one_input_alone", "@numpy", "float64", "gradient", "alone requires one"),
    ("graph_of_a_step_function", "@numpy", "float64", "gradient", "order 0"),
    ("no_graph_at_all", "@numpy", "float64", "gradient", "no output requires a gradient"),
    ("missing_conjugate", "@numpy", "complex128", "gradient", "along a random direction"),
    ("wrong_value", "@numpy", "float64", "value", "output 0 differs at"),
    ("raw_array_comes_back", "@numpy", "float64", "value", "no Variable but ndarray"),
]

OF_ONE_SIZE = {
    "cov-weights",
    *("F.as_strided", "F.as_strided-offset", "F.connectionist_temporal_classification-lengths"),
    *("F.deconvolution_2d-outsize", "F.deconvolution_nd", "F.deformable_convolution_2d_sampler"),
    *("F.deformable_convolution_2d_sampler-options", "F.lstm-fewer", "F.slstm", "F.tree_lstm"),
    *("F.n_step_bigru", "F.n_step_bilstm", "F.n_step_birnn", "F.n_step_gru", "F.n_step_lstm", "F.n_step_rnn"),
    *("F.n_step_rnn-relu", "F.spatial_transformer_grid", "F.spatial_transformer_grid-line"),
    *("getitem-arrays", "getitem-broadcast", "interp-one"),
}
"""Cases that reject all small inputs: sizes of their inputs depend on each other, or on parameters of the call."""


@pytest.mark.parametrize(("fault", "device", "dtype", "check", "text"), FAULTS)
def test_seeded_fault_is_caught(fault: str, device: str, dtype: str, check: str, text: str) -> None:
    place = device_or_skip(device)
    case = MADE[fault]()
    with pytest.raises(Exception, match=text) as caught:
        run(case, place, dtype, check)
    said = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert f"fault[{device}, {dtype}, " in said
    assert check in said


@pytest.mark.parametrize(
    "fault", ["keeps_too_much", "rule_cuts_the_graph", "rule_of_the_rule_cuts_the_graph", "missing_conjugate"]
)
def test_faults_are_caught_by_no_check_before(fault: str) -> None:
    place, case = device_or_skip("@numpy"), MADE[fault]()
    for check in ("value", "gradient"):
        run(case, place, "float64", check)


@pytest.mark.exhaustive(1)
def test_function_without_fault_passes_every_check(device) -> None:
    case = right()
    for dtype in dtypes_of(case):
        for check in assertions_of(case, dtype):
            run(case, device, dtype, check)


def test_inputs_are_distinct_in_range_and_the_same_at_each_call() -> None:
    case = Case("f", lambda xp, a, b: a, lambda a, b: a, (Input(low=0.5, high=3.0), Input((5,), low=0.5, high=3.0)))
    values = host_inputs(case, "float64")
    everything = np.sort(np.concatenate([v.ravel() for v in values]))
    assert np.diff(everything).min() > 0.02
    assert 0.5 < everything[0] < everything[-1] < 3.0
    for one, two in zip(values, host_inputs(case, "float64"), strict=True):
        np.testing.assert_array_equal(one, two)


def test_inputs_follow_kinds_and_given_values() -> None:
    inputs = (Input(kind="int", low=0, high=2), Input(kind="bool"), Input(values=[[1, 2]]), Input(kind="real"))
    case = Case("f", lambda xp, *x: x[0], lambda *x: x[0], inputs, complex=True)
    integers, booleans, given, real = host_inputs(case, "complex64")
    assert (integers.dtype, booleans.dtype, given.dtype, real.dtype) == ("int64", "bool", "complex64", "float32")
    assert set(integers.ravel()) == {0, 1, 2}
    assert set(booleans.ravel()) == {False, True}
    np.testing.assert_array_equal(given, [[1, 2]])


def test_variants_of_an_elementwise_case() -> None:
    case = Case("f", lambda xp, a, b: a, lambda a, b: a, (Input(), Input()), elementwise=True)
    names = [v.name for v in variants_of(case)]
    assert names[:6] == ["plain", "strided", "transposed", "0-d", "empty", "size-1"]
    assert "(2, 1, 4) (3, 1)" in names
    assert names[-1] == "same"


def test_strided_inputs_are_not_contiguous() -> None:
    case = Case("f", lambda xp, a: a, lambda a: a)
    place = device_or_skip("@numpy")
    for variant in variants_of(case)[1:]:
        (array,) = Scenario(case, place, "float64", variant).arrays()
        assert not array.flags.c_contiguous
        np.testing.assert_array_equal(array, host_inputs(case, "float64")[0])


@pytest.mark.exhaustive(2)
def test_every_case_accepts_some_small_inputs_unless_its_size_is_fixed() -> None:
    place, found = device_or_skip("@numpy"), {}
    for case in CASES:
        if variants := small_variants(case):
            found[case.name] = {outcome(Scenario(case, place, "float64", variant)) for variant in variants}
    assert set[str]().union(*found.values()) == {"value", "own", "refused", "skipped"}
    assert {name for name, outcomes in found.items() if not outcomes & {"value", "own"}} == OF_ONE_SIZE


@pytest.mark.parametrize("pattern", [*REFUSED, *SKIPPED])
def test_each_reason_is_met_by_a_case(pattern: str) -> None:
    names = (f"{case.name}: {variant.name}" for case in CASES for variant in small_variants(case))
    assert any(fnmatchcase(name, pattern) for name in names)
