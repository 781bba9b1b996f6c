"""One step: the conversion of a batch, and the function that is called."""

import numpy as np
import pytest

import xpgrad as chainer
from xpgrad import links as L
from xpgrad.iterators import SerialIterator
from xpgrad.training import StandardUpdater, Updater


class Optimizer:
    """Optimizer that keeps the arguments of its calls."""

    use_auto_new_epoch = False

    def __init__(self):
        self.target, self.calls, self.epochs, self.scale = L.Linear(1, 1), [], 0, None

    def update(self, function, *args, **kwargs):
        self.calls.append((function, args, kwargs))

    def new_epoch(self, auto=False):
        self.epochs += 1

    def set_loss_scale(self, scale):
        self.scale = scale


@pytest.mark.parametrize(
    ("example", "args", "keywords"),
    [((1, 2), ([1, 1], [2, 2]), {}), ({"x": 1}, (), {"x": [1, 1]}), (np.array(3), ([3, 3],), {})],
)
def test_members_of_a_batch_are_arguments(example, args, keywords) -> None:
    optimizer = Optimizer()
    updater = StandardUpdater(SerialIterator([example] * 2, 2), optimizer, loss_scale=8.0)
    updater.update()
    function, found, names = optimizer.calls[0]
    assert function is optimizer.target
    for actual, expected in zip([*found, *names.values()], [*args, *keywords.values()], strict=True):
        np.testing.assert_array_equal(actual, expected)
    assert (list(names), updater.iteration, optimizer.epochs, optimizer.scale) == (list(keywords), 1, 1, 8.0)


def test_another_loss_and_several_iterators_and_optimizers_can_be_given() -> None:
    optimizers = {"main": Optimizer(), "other": Optimizer()}
    iterators = {"main": SerialIterator([1, 2, 3], 2, shuffle=False), "second": SerialIterator([4], 1)}
    updater = StandardUpdater(iterators, optimizers, loss_func=len, auto_new_epoch=False)
    updater.update()
    assert updater.get_optimizer("main").calls[0][0] is len
    assert updater.get_iterator("second") is iterators["second"]
    assert (updater.epoch, updater.is_new_epoch, updater.epoch_detail, updater.previous_epoch_detail) == (
        0,
        False,
        2 / 3,
        0,
    )
    updater.update()
    assert (updater.epoch, updater.is_new_epoch, optimizers["main"].epochs) == (1, True, 0)


def test_models_and_batches_are_sent_to_the_device(device) -> None:
    optimizer = Optimizer()
    updater = StandardUpdater(SerialIterator([(np.ones(1, np.float32),)], 1), optimizer, device=device)
    updater.update()
    assert chainer.backend.get_device_from_array(optimizer.calls[0][1][0]) == device
    assert optimizer.target.W.device == device


@pytest.mark.parametrize(
    ("device", "expected"), [("@numpy", -1), ("native:0", chainer.get_device("native:0")), (None, None)]
)
def test_a_plain_converter_gets_the_number_of_a_cpu(device, expected) -> None:
    seen = []
    updater = StandardUpdater(SerialIterator([1], 1), Optimizer(), lambda batch, where: seen.append(where) or 1, device)
    updater.update()
    assert seen == [expected]


def test_a_subclass_without_required_methods_raises() -> None:
    with pytest.raises(NotImplementedError, match=r"^Updater: define update$"):
        Updater().update()
    with pytest.raises(NotImplementedError, match=r"^Updater: define get_all_optimizers$"):
        Updater().get_optimizer("main")
