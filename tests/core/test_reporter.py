"""Values that models report, and their means."""

from contextlib import suppress

import numpy as np
import pytest
from tests.core.stores import Store
from tests.threads import in_thread

import xpgrad
from xpgrad import reporter as module
from xpgrad.errors import GraphError
from xpgrad.reporter import DictSummary, Reporter, Summary, get_current_reporter, report, report_scope
from xpgrad.serializers import NpzDeserializer


def test_observers_are_prefixes_and_values_without_one_have_none() -> None:
    reporter, model, part = Reporter(), object(), object()
    reporter.add_observer("main", model)
    reporter.add_observers("main", [("/part", part)])
    observation: dict = {}
    with reporter.scope(observation):
        report({"loss": 1}, model)
        report({"loss": 2}, part)
        report({"epoch": 3})
    assert observation == {"main/loss": 1, "main/part/loss": 2, "epoch": 3}


def test_without_a_current_reporter_reports_are_dropped_and_asking_for_it_is_an_error() -> None:
    report({"loss": 1}, object())
    with pytest.raises(GraphError, match=r"^get_current_reporter: no reporter is current; enter one"):
        get_current_reporter()


def test_an_observer_that_is_not_registered_is_an_error() -> None:
    with Reporter(), pytest.raises(KeyError, match="report: dict is not registered"):
        report({"loss": 1}, {})


def test_scopes_nest_and_are_restored_after_an_error() -> None:
    outer: dict = {}
    inner: dict = {}
    with Reporter().scope(outer):
        with suppress(ZeroDivisionError), report_scope(inner):
            report({"x": 1})
            raise ZeroDivisionError
        report({"y": 2})
    assert (outer, inner) == ({"y": 2}, {"x": 1})


def test_reporters_belong_to_a_thread() -> None:
    with Reporter() as none, Reporter().scope({}):
        assert none is None
        assert in_thread(lambda: list(module._CURRENT.reporters)) == []


def test_variables_are_stored_without_their_graph_unless_requested(device) -> None:
    x = xpgrad.Variable(device.send(np.ones((), np.float32)))
    y, reporter = x * 2, Reporter()
    reporter.report({"y": y})
    assert reporter.observation["y"].array is y.array
    assert not reporter.observation["y"].requires_grad
    with xpgrad.using_config("keep_graph_on_report", True):
        reporter.report({"y": y})
    assert reporter.observation["y"] is y


def test_a_compiled_function_reports_at_each_run(device) -> None:
    model = object()

    @xpgrad.compile
    def f(x):
        y = xpgrad.functions.sum(x * x)
        report({"y": y, "three": 3, "weighted": (y, 2)}, model)
        return y

    reporter = Reporter()
    reporter.add_observer("main", model)
    for i in range(8):
        with reporter.scope(observation := {}):
            f(device.send(np.full(2, float(i), np.float32)))
        assert observation["main/y"].item() == 2 * i * i
        assert observation["main/y"].device == device
        assert observation["main/three"] == 3
        assert (observation["main/weighted"][0].item(), observation["main/weighted"][1]) == (2 * i * i, 2)
    f(device.send(np.ones(2, np.float32)))  # and without a reporter, no report


def test_values_of_a_batch_element_are_not_reported() -> None:
    def f(x):
        report({"x": x})
        return x * 2

    with Reporter().scope(observation := {}):
        xpgrad.transforms.vmap(f)(np.ones(3))
    assert observation == {}


def test_means_and_deviations_agree_with_numpy(device) -> None:
    values, weights = [1.0, 2.5, 4.0], [1.0, 2.0, 3.0]
    summary = DictSummary()
    for value, weight in zip(values, weights, strict=True):
        array = device.send(np.asarray(value, np.float32))
        summary.add({"array": xpgrad.Variable(array), "number": value, "weighted": (value, weight), "text": "no",
                     "vector": device.send(np.ones(2))})  # fmt: skip
    found = summary.make_statistics()
    assert set(found) == {f"{key}{end}" for key in ("array", "number", "weighted") for end in ("", ".std")}
    for key in ("array", "number"):
        assert float(found[key]) == np.mean(values)
        assert found[f"{key}.std"] == pytest.approx(np.std(values))
    assert found["weighted"] == pytest.approx(np.average(values, weights=weights))


@pytest.mark.parametrize("name", ["@numpy", "native:0"])
def test_sums_of_half_precision_values_do_not_overflow(name) -> None:
    summary, device = Summary(), xpgrad.get_device(name)
    for _ in range(4):
        summary.add(device.send(np.asarray(40_000.0, np.float16)))
    assert float(summary.compute_mean()) == 40_000.0


def test_sums_of_many_single_precision_values_on_the_host_are_exact() -> None:
    summary, value = Summary(), np.asarray(0.1, np.float32)
    for _ in range(20_000):
        summary.add(value)
    mean, std = summary.make_statistics()
    assert mean == pytest.approx(float(value), rel=1e-10)
    assert std < 1e-6


def test_a_summary_resumes_where_it_was_saved() -> None:
    one, store = DictSummary(), Store()
    one.add({"x": 1.0, "y": 5.0})
    one.serialize(store)
    other = DictSummary()
    other.serialize(store.loaded())
    other.add({"x": 3.0})
    assert other.compute_mean() == {"x": 2.0, "y": 5.0}
    part = one._summaries["x"]
    for summary in (part, one):
        with pytest.warns(UserWarning, match="the file has no '_.*: this value starts anew"):
            summary.serialize(NpzDeserializer({}))
    assert (part.count, one.compute_mean()) == (0, {})
