"""Updaters with several models (`training.updaters`)."""

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad import config, force_backprop_mode, using_device
from xpgrad.dataset import concat_examples
from xpgrad.training import updaters
from xpgrad.training.updaters import call
from xpgrad_chainer.training.steps import Step

__all__ = ["MultiprocessParallelUpdater", "ParallelUpdater", "StandardUpdater"]


class StandardUpdater(updaters.StandardUpdater):
    """The updater of xpgrad, whose optimizers count epochs only by ``new_epoch(auto=True)``."""

    __doc__ = updaters.StandardUpdater.__doc__

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.loss_scale = inspect.signature(super().__init__).bind(*args, **kwargs).arguments.get("loss_scale")
        for optimizer in self.get_all_optimizers().values() if self.auto_new_epoch else ():
            optimizer.use_auto_new_epoch = True

    def update_core(self) -> None:
        """Do one step, with `config.compile` as a program."""
        compiled = self.compiled
        self.compiled = compiled or getattr(config, "compile", False)  # the entry is there after `install`
        try:
            super().update_core()
        finally:
            self.compiled = compiled

    def _compiled(self, optimizer: Any, loss: Callable[..., Any]) -> Callable[..., Any]:
        if self._step is None:
            options = dict(self.compiled) if isinstance(self.compiled, Mapping) else {"exact": True}
            self._step = Step(optimizer, loss, options)
        return self._step


class ParallelUpdater(StandardUpdater):
    """A step on several devices of one process: each model has a part of the batch, and their gradients are added.

    Parameters
    ----------
    iterator, optimizer, converter, loss_func, loss_scale, auto_new_epoch
        As for `StandardUpdater`.
    models : dict of Link, optional
        One of them is the target of the optimizer.
    devices : dict of device specifiers, optional
        Of each model; without `models`, copies of the target are made, and "main" is its device.
    """

    def __init__(
        self,
        iterator: Any,
        optimizer: Any,
        converter: Callable[..., Any] = concat_examples,
        models: Mapping[str, Any] | None = None,
        devices: Mapping[str, Any] | None = None,
        loss_func: Callable[..., Any] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        super().__init__(
            iterator, optimizer, converter, loss_func=loss_func, loss_scale=loss_scale, auto_new_epoch=auto_new_epoch
        )
        target = self.get_optimizer("main").target
        if models is None:
            if devices is None:
                raise ValueError("either models or devices must be specified")
            if "main" not in devices:
                raise KeyError("'devices' must contain a 'main' key.")
            models = {name: target if name == "main" else copy.deepcopy(target) for name in devices}
            for name, model in models.items():
                model.to_device(devices[name])
        self._models, self._devices, self._loss_scale = dict(models), devices, loss_scale

    def connect_trainer(self, trainer: Any) -> None:
        """Observe values that the other models report, under the models' names."""
        target = self.get_optimizer("main").target
        for name, model in self._models.items():
            if model is not target:
                trainer.reporter.add_observer(name, model)

    def update_core(self) -> None:
        """Do one step."""
        optimizer, iterator = self.get_optimizer("main"), self.get_iterator("main")
        target, batch = optimizer.target, iterator.next()
        others = [model for model in self._models.values() if model is not target]
        devices = self._devices or {name: model.device for name, model in self._models.items()}
        names = list(self._models)
        parts = {name: self.converter(batch[i :: len(names)], devices[name]) for i, name in enumerate(names)}
        for model in self._models.values():
            model.cleargrads()
        losses = []
        for name, model in self._models.items():
            with force_backprop_mode(), using_device(model.device):
                losses.append(call(self.loss_func or model, parts[name]))
        for model in self._models.values():  # parameters that were initialised now
            model.cleargrads()
        for loss in losses:
            loss.backward(loss_scale=self._loss_scale)
        for model in others:
            target.addgrads(model)
        optimizer.update()
        for model in others:
            model.copyparams(target)
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(optimizer.use_auto_new_epoch)


class MultiprocessParallelUpdater(StandardUpdater):
    """Chainer's updater of several GPUs by NCCL, which is not available: see `available`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "MultiprocessParallelUpdater: not available, as in Chainer without NCCL; use ParallelUpdater, or "
            "one process for each device"
        )

    @staticmethod
    def available() -> bool:
        """Return False."""
        return False
