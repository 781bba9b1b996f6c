"""Evaluation of a model on data that it is not trained with."""

import copy
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from xpgrad.config import no_backprop_mode, using_config
from xpgrad.dataset.convert import concat_examples, device_or_none
from xpgrad.graph.undo import attributes_restored
from xpgrad.reporter import DictSummary, Reporter, report, report_scope
from xpgrad.training.extension import PRIORITY_WRITER, Extension
from xpgrad.training.triggers import serialize_part
from xpgrad.training.updaters import call, convert


class Evaluator(Extension):
    """Means of values reported by a model over a data set, without training mode and without a graph.

    Names are like ``validation/main/loss``; the first part is the extension's name, the second the target's name.

    Parameters
    ----------
    iterator : Iterator, or dict of them
        One that does not repeat.
    target : Link, or dict of them
    converter : Converter or function of batch and device
    device : device specifier, optional
    eval_hook : function of the evaluator, optional
        Called before each evaluation.
    eval_func : function, optional
        Called with each batch; by default the target "main".
    progress_bar : bool
        Whether to show a progress bar, drawn by rich.
    """

    trigger = 1, "epoch"
    priority = PRIORITY_WRITER
    _default_name = "validation"

    def __init__(
        self,
        iterator: Any,
        target: Any,
        converter: Callable[..., Any] = concat_examples,
        device: Any = None,
        eval_hook: Callable[[Any], None] | None = None,
        eval_func: Callable[..., Any] | None = None,
        *,
        progress_bar: bool = False,
    ) -> None:
        self._iterators: dict[str, Any] = dict(iterator) if isinstance(iterator, Mapping) else {"main": iterator}
        self._targets: dict[str, Any] = dict(target) if isinstance(target, Mapping) else {"main": target}
        for name, each in self._iterators.items():
            if getattr(each, "repeat", False) is True:
                text = f"Evaluator: iterator {name!r} repeats, so the evaluation may not end; make it with repeat=False"
                warnings.warn(text, stacklevel=2)
        self.converter, self.device = converter, device_or_none(device)
        self.eval_hook, self.eval_func, self._progress_bar = eval_hook, eval_func, progress_bar

    def get_iterator(self, name: str) -> Any:
        """Return the iterator with this name."""
        return self._iterators[name]

    def get_target(self, name: str) -> Any:
        """Return the target with this name."""
        return self._targets[name]

    def get_all_iterators(self) -> dict[str, Any]:
        """Return the iterators by name."""
        return dict(self._iterators)

    def get_all_targets(self) -> dict[str, Any]:
        """Return the targets by name."""
        return dict(self._targets)

    def __call__(self, trainer: Any = None) -> dict[str, Any]:
        """Return the means, and report them."""
        reporter, prefix = Reporter(), "" if self.name is None else f"{self.name}/"
        for name, target in self._targets.items():
            reporter.add_observer(prefix + name, target)
            reporter.add_observers(prefix + name, target.namedlinks(skipself=True))
        with ExitStack() as stack:
            for iterator in self._iterators.values():
                stack.enter_context(attributes_restored(iterator))
            with reporter, using_config("train", False):
                result = self.evaluate()
            report(result)
        return result

    def evaluate(self) -> dict[str, Any]:
        """Return the means; subclasses may override it."""
        iterator, function = self._iterators["main"], self.eval_func or self._targets["main"]
        if self.eval_hook is not None:
            self.eval_hook(self)
        if hasattr(iterator, "reset"):
            iterator.reset()
        else:
            iterator = copy.copy(iterator)
        summary, batches = DictSummary(), iterator
        if self._progress_bar:
            from rich.progress import track  # takes 50 ms to import

            sized = hasattr(iterator, "dataset") and hasattr(iterator, "batch_size")
            total = -(-len(iterator.dataset) // iterator.batch_size) if sized else None
            batches = track(iterator, self.name or self.default_name, total)
        for batch in batches:
            observation: dict[str, Any] = {}
            with report_scope(observation), no_backprop_mode():
                call(function, convert(self.converter, batch, self.device))
            summary.add(observation)
        return summary.compute_mean()

    def serialize(self, serializer: Any) -> None:
        """Save or load the iterators, whose order samplers may have states."""
        with suppress(KeyError):  # not saved by Chainer
            for name, iterator in self._iterators.items():
                serialize_part(iterator, serializer, f"iterator:{name}")

    def finalize(self) -> None:
        """Finalize the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()
