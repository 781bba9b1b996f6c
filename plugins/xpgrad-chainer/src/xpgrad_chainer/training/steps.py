"""Steps of updaters as programs, which `chainer.config.compile` and the environment variable XPGRAD_COMPILE turn on."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad import CompileWarning, Variable, compile, get_array_types
from xpgrad.optimizer import GradientMethod, UpdateRule

KINDS = 3
"""So many kinds of batches have programs; with more, or with so many times three steps without one, none has."""
LARGE = 2**14
"""The elements of a parameter that is updated apart from a program with the numbers of plain steps."""
PLAIN = (bool, int, float, str, bytes, type(None))


class Step:
    """A step of an optimizer: a program for each kind of batch, or `optimizer.update` where that is not possible.

    Parameters
    ----------
    optimizer : Optimizer
    loss : callable
        It is called with arrays, as by `Optimizer.update`.
    **options
        As for `xpgrad.compile`.
    """

    def __init__(self, optimizer: Any, loss: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self.optimizer, self.loss, self.options = optimizer, loss, options
        self.given_up = False
        self._program: Any = None

    def __call__(self, *args: Any, **kwds: Any) -> None:
        """Do a step."""
        initialised = self._program is not None or all(p.is_initialized for p in self.optimizer.target.params())
        if self.given_up or not (initialised and _has_formulas(self.optimizer) and _is_readable((args, kwds))):
            self.optimizer.update(self.loss, *args, **kwds)
            return
        if self._program is None:
            loss = _of_arrays(self.loss)
            if self.options.get("exact") and _has_large_parameters(self.optimizer):
                self._program = Apart(self.optimizer, loss, self.options)
            else:
                self._program = self.optimizer.compile(loss, keep_grads=True, **self.options)
        self._program(*args, **kwds)
        found = [each.function.cache_info() for each in self._program.programs.values()]
        kinds = sum(info.size for info in found)
        if kinds > KINDS:
            warnings.warn(
                f"compile: steps of {type(self.optimizer).__name__} run without programs from now on, since they had "
                f"{kinds} kinds of batches, parameters or hooks; pad batches to at most {KINDS} shapes, or set "
                "chainer.config.compile = False",
                CompileWarning,
                stacklevel=6,  # of the caller of `update`
            )
        if kinds > KINDS or sum(info.misses for info in found) > 3 * KINDS:
            self.given_up, self._program = True, None


class Apart:
    """A program for the gradients, and `Optimizer.update`, whose compiled code updates large parameters in one pass.

    Attributes
    ----------
    programs : dict
        As of a compiled step: of objects with the attribute `function`.
    """

    def __init__(self, optimizer: Any, loss: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self.optimizer = optimizer

        def gradients(*args: Any, **kwds: Any) -> None:
            result = loss(*args, **kwds)
            optimizer.target.cleargrads()
            result.backward()

        gradients.__name__ = gradients.__qualname__ = loss.__name__
        self.function = compile(gradients, **options)
        self.programs = {None: self}

    def __call__(self, *args: Any, **kwds: Any) -> None:
        """Do a step; the gradients of the step before are freed first."""
        self.optimizer.target.cleargrads()
        self.function(*args, **kwds)
        self.optimizer.update()


def _has_large_parameters(optimizer: Any) -> bool:
    """Return whether an exact program would take longer for the update of a parameter than `Optimizer.update`."""
    return optimizer._scale is None and any(param.size > LARGE for param in optimizer.target.params())


def _of_arrays(loss: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `loss` with arrays in place of Variables, as which a program takes arrays."""

    def call(*args: Any, **kwds: Any) -> Any:
        return loss(*_arrays(args), **_arrays(kwds))

    call.__name__ = call.__qualname__ = getattr(loss, "__name__", type(loss).__name__)
    return call


def _arrays(tree: Any) -> Any:
    if isinstance(tree, Variable):
        return tree.array
    if isinstance(tree, dict):
        return {key: _arrays(each) for key, each in tree.items()}
    return type(tree)(map(_arrays, tree)) if type(tree) in (list, tuple) else tree


def _has_formulas(optimizer: Any) -> bool:
    """Return whether `Optimizer.update` and the update rules are xpgrad's."""
    if not isinstance(optimizer, GradientMethod) or "update" in vars(optimizer):
        return False
    params = [*optimizer.target.params()]
    if len({id(param) for param in params}) < len(params):  # those of shared links are updated several times
        return False
    rules = (param.update_rule for param in params)
    return type(optimizer).update is GradientMethod.update and all(
        rule is None or (type(rule) is UpdateRule and rule.formula is not None) for rule in rules
    )


def _is_readable(tree: Any) -> bool:
    """Return whether a batch consists of arrays and plain values only."""
    if type(tree) in (list, tuple):
        return all(map(_is_readable, tree))
    if type(tree) is dict:
        return all(map(_is_readable, tree.values()))
    return isinstance(tree, (*PLAIN, *get_array_types()))
