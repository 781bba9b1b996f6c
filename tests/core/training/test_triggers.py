"""When triggers are true, also after they were saved and loaded."""

import pytest
from tests.core.stores import Store
from tests.core.training.steps import trainer

from xpgrad.serializers import NpzDeserializer
from xpgrad.training import get_trigger
from xpgrad.training.triggers import (
    BestValueTrigger,
    EarlyStoppingTrigger,
    IntervalTrigger,
    ManualScheduleTrigger,
    MaxValueTrigger,
    MinValueTrigger,
    OnceTrigger,
    TimeTrigger,
)


def fired(tmp_path, make, steps=12, values=None, resumed_at=None):
    """Return the iterations at which a trigger is true; `resumed_at` replaces it by a trigger that loads its state."""
    loop, trigger, found = trainer(tmp_path), make(), []
    for i in range(1, steps + 1):
        loop.updater.iteration = i
        loop.observation = {} if values is None else {"x": float(values[i - 1])}
        if trigger(loop):
            found.append(i)
        if i == resumed_at:
            store = Store()
            trigger.serialize(store)
            trigger = make()
            trigger.serialize(store.loaded())
    return found


@pytest.mark.parametrize("resumed_at", [None, 5])
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: IntervalTrigger(5, "iteration"), [5, 10]),
        (lambda: IntervalTrigger(1, "epoch"), [4, 8, 12]),
        (lambda: IntervalTrigger(0.5, "epoch"), [2, 4, 6, 8, 10, 12]),
        (lambda: ManualScheduleTrigger([2, 7], "iteration"), [2, 7]),
        (lambda: ManualScheduleTrigger(1.5, "epoch"), [6]),
        (OnceTrigger, [1]),
    ],
)
def test_a_trigger_is_true_at_its_times(tmp_path, make, expected, resumed_at) -> None:
    assert fired(tmp_path, make, resumed_at=resumed_at) == expected


def test_once_may_be_once_for_each_run(tmp_path) -> None:
    assert fired(tmp_path, lambda: OnceTrigger(call_on_resume=True), resumed_at=5) == [1, 6]


@pytest.mark.parametrize(
    ("make", "fires_at"),
    [
        (lambda: IntervalTrigger(5, "iteration"), (5, 10)),
        (lambda: IntervalTrigger(1, "epoch"), (8, 12)),
        (lambda: ManualScheduleTrigger([2, 7], "iteration"), (7,)),
        (OnceTrigger, ()),
    ],
)
def test_a_trigger_loaded_from_a_file_without_its_state_assumes_a_call_at_each_iteration(
    tmp_path, make, fires_at
) -> None:
    loop, trigger = trainer(tmp_path), make()
    with pytest.warns(UserWarning, match="the file has no .*: this value starts anew"):
        trigger.serialize(NpzDeserializer({}))
    found = []
    for loop.updater.iteration in range(5, 13):
        if trigger(loop):
            found.append(loop.updater.iteration)
    assert found == list(fires_at)


@pytest.mark.parametrize("resumed_at", [None, 5])
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: MaxValueTrigger("x", (2, "iteration")), [2, 6, 12]),
        (lambda: MinValueTrigger("x", (2, "iteration")), [2, 4, 8]),
        (lambda: BestValueTrigger("x", lambda best, new: abs(new) > abs(best), (2, "iteration")), [2, 6, 8, 12]),
    ],
)
def test_the_best_mean_of_an_interval_is_found(tmp_path, make, expected, resumed_at) -> None:
    values = [1, 3, 1, 1, 3, 3, -6, -6, 0, 0, 9, 7]
    assert fired(tmp_path, make, values=values, resumed_at=resumed_at) == expected


@pytest.mark.parametrize("resumed_at", [None, 5, 7])
def test_training_stops_when_a_value_is_no_better(tmp_path, capsys, resumed_at) -> None:
    def make():
        return EarlyStoppingTrigger((2, "iteration"), "x", patience=2, verbose=True, max_trigger=(50, "iteration"))

    values = [5, 5, 4, 4, 6, 6, 3, 3, 4, 4, 4, 4]
    assert fired(tmp_path, make, values=values, resumed_at=resumed_at) == [12]
    assert capsys.readouterr().out == "epoch 3: x is no better for 2 checks\n"
    assert make().get_training_length() == (50, "iteration")


def test_accuracies_are_to_be_large_and_training_ends_in_any_case(tmp_path) -> None:
    def make():
        return EarlyStoppingTrigger((1, "iteration"), "accuracy", patience=1, max_trigger=(3, "iteration"))

    loop, trigger = trainer(tmp_path), make()
    for i, (value, expected) in enumerate([(0.1, False), (0.2, False), (0.15, True)], 1):
        loop.updater.iteration, loop.observation = i, {"accuracy": value}
        assert trigger(loop) is expected
    with pytest.raises(ValueError, match=r"mode must be 'auto', 'max' or 'min', got 'best'"):
        EarlyStoppingTrigger(mode="best")


def test_a_value_that_was_not_reported_is_an_error(tmp_path) -> None:
    for trigger in (MaxValueTrigger("y", (1, "iteration")), EarlyStoppingTrigger((1, "iteration"), "y")):
        loop = trainer(tmp_path)
        loop.updater.iteration, loop.observation = 1, {"x": 1.0}
        with pytest.raises(KeyError, match=r"Trigger: 'y' was not reported in the interval; now is: x"):
            trigger(loop)


def test_time_is_the_training_time(tmp_path) -> None:
    loop, trigger = trainer(tmp_path), TimeTrigger(10)
    found = []
    for seconds in (5, 10, 19, 35, 36):
        loop._seconds = seconds
        found.append(trigger(loop))
    assert found == [False, True, False, True, True]


def test_pairs_functions_and_none_are_triggers(tmp_path) -> None:
    loop = trainer(tmp_path)
    assert get_trigger(None)(loop) is False
    assert get_trigger(len) is len
    assert isinstance(get_trigger((1, "epoch")), IntervalTrigger)
    with pytest.raises(
        ValueError, match=r"^get_trigger: IntervalTrigger: unit must be 'epoch' or 'iteration', got 'day'$"
    ):
        get_trigger((1, "day"))
