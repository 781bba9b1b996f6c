"""Hyperparameters that change."""

from types import SimpleNamespace

import pytest
from tests.core.stores import Store

from xpgrad.serializers import DictionarySerializer, NpzDeserializer
from xpgrad.training import extensions

SCHEDULES = [
    (lambda o: extensions.ExponentialShift("lr", 0.5, optimizer=o), [8, 4, 2, 1, 0.5]),
    (lambda o: extensions.ExponentialShift("lr", 0.5, init=2, target=0.3, optimizer=o), [2, 1, 0.5, 0.3, 0.3]),
    (lambda o: extensions.ExponentialShift("lr", 2, target=20, optimizer=o), [8, 16, 20, 20, 20]),
    (lambda o: extensions.InverseShift("lr", 1, 2, optimizer=o), [8, 2, 8 / 9, 0.5, 8 / 25]),
    (lambda o: extensions.StepShift("lr", 0.5, 2, optimizer=o), [8, 8, 4, 4, 2]),
    (lambda o: extensions.MultistepShift("lr", 0.1, [1, 3], 2.0, optimizer=o), [2, 0.2, 0.2, 0.02, 0.02]),
    (lambda o: extensions.PolynomialShift("lr", 2, 4, optimizer=o), [8, 4.5, 2, 0.5, 0]),
    (lambda o: extensions.PolynomialShift("lr", 1, 2, target=3, optimizer=o), [8, 4, 3, 3, 3]),
    (lambda o: extensions.LinearShift("lr", (1, 3), (1, 3), optimizer=o), [1, 1, 2, 3, 3]),
    (lambda o: extensions.WarmupShift("lr", 0, 2, 1.0, optimizer=o), [0, 0.5, 1, 1, 1]),
]


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize(("make", "expected"), SCHEDULES)
def test_a_schedule_has_its_values_also_after_it_was_saved(make, expected, resumed) -> None:
    optimizer = SimpleNamespace(lr=8.0)
    schedule, found = make(optimizer), []
    schedule.initialize(None)
    for _ in expected:
        found.append(optimizer.lr)
        schedule(None)
        if resumed and len(found) == 2:
            store = Store()
            schedule.serialize(store)
            optimizer.lr = 8.0
            schedule = make(optimizer)
            schedule.serialize(store.loaded())
            schedule.initialize(None)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("make", "expected"), SCHEDULES[-5:-4] + SCHEDULES[-1:])
def test_schedules_resume_from_the_entries_that_chainer_saves(make, expected) -> None:
    optimizer = SimpleNamespace(lr=8.0)
    schedule, store = make(optimizer), DictionarySerializer()
    schedule.initialize(None)
    for _ in range(2):
        schedule(None)
    schedule.serialize(store)
    chainers = {"_t": 2} | ({"_current_step": 1} if isinstance(schedule, extensions.MultistepShift) else {})
    assert chainers.items() <= store.target.items()
    for name in store.target.keys() - chainers.keys():
        del store.target[name]
    schedule = make(optimizer)
    schedule.serialize(NpzDeserializer(store.target))
    optimizer.lr = 8.0
    schedule.initialize(None)
    assert optimizer.lr == pytest.approx(expected[2])


def test_the_optimizer_is_the_main_one_of_the_updater() -> None:
    main = SimpleNamespace(alpha=1.0)
    trainer = SimpleNamespace(updater=SimpleNamespace(get_optimizer={"main": main}.get))
    schedule = extensions.ExponentialShift("alpha", 0.1)
    schedule.initialize(trainer)
    schedule(trainer)
    assert main.alpha == pytest.approx(0.1)


def test_a_negative_rate_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^ExponentialShift: rate must not be negative, got -1$"):
        extensions.ExponentialShift("lr", -1)
    with pytest.raises(ValueError, match=r"^InverseShift: gamma must not be negative, got -1$"):
        extensions.InverseShift("lr", -1, 1)
