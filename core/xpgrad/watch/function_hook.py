"""`FunctionHook`: sees every function as it runs, forward and backward."""

from typing import Any

from xpgrad.config import set_hooks, switches

Function = Any
"""A `FunctionNode`, a class of the layer above; hooks may annotate it so."""


class FunctionHook:
    """Base class of function hooks.

    ``with hook:`` registers it for all functions that this thread applies or sweeps; ``f.add_hook(hook)`` for one
    function. Derive from this class and override the methods that you need. All methods get tuples of arrays, with
    None for arrays that were not kept; scalar operands are not arrays and are left out.

    If `backward_preprocess` writes into the gradients that it receives, this affects only this function;
    `backward_postprocess` is too late for that. In a recorded sweep writing is an error. Hooks may build separate
    graphs and call `grad` and `backward` on these.

    Attributes
    ----------
    name : str
        Two hooks of one name cannot be active together.
    """

    name = "FunctionHook"

    def __repr__(self) -> str:
        active = ", active" if switches().hooks.get(self.name) is self else ""
        return f"<{type(self).__name__} {self.name!r}{active}>"

    def __enter__(self) -> "FunctionHook":
        active = switches().hooks
        if self.name in active:
            raise KeyError(f"function hook {self.name!r} is active already")
        try:
            set_hooks({**active, self.name: self})
            self.added(None)
        except BaseException:
            set_hooks(active)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._leave()
        except BaseException:  # a KeyboardInterrupt
            self._leave()
            raise
        self.deleted(None)

    def _leave(self) -> None:
        set_hooks({name: hook for name, hook in switches().hooks.items() if name != self.name})

    def added(self, function: Function | None) -> None:
        """Called when the hook is registered, with the function it was added to, or None for a thread."""

    def deleted(self, function: Function | None) -> None:
        """Called when the hook is removed."""

    def computed(self, function: Function, which: str, results: tuple[Any, ...]) -> None:
        """Called with the results of a computation, before its postprocess; `which` is "forward" or "backward".

        A result may be None, and in a backward computation it may be a Variable, or not computed yet.
        """

    def forward_preprocess(self, function: Function, in_data: tuple[Any, ...]) -> None:
        """Called before a forward computation."""

    def forward_postprocess(self, function: Function, in_data: tuple[Any, ...]) -> None:
        """Called after a forward computation."""

    def backward_preprocess(self, function: Function, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Called before a backward computation."""

    def backward_postprocess(self, function: Function, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Called after a backward computation."""


def get_function_hooks() -> dict[str, FunctionHook]:
    """Return this thread's active function hooks by name."""
    return switches().hooks
