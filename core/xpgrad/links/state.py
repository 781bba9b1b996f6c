"""`Stateful`: links that remember Variables from one call to the next."""

from typing import Any, ClassVar

from xpgrad.graph.variable import Variable
from xpgrad.models import Chain


class Stateful(Chain):
    """Base of links with a state, which is None before the first call.

    The state is in the graph: `backward` runs through all steps since `reset_state`, or since `unchain_backward`.
    A function for `compile`, or another transformation, resets it before the first step and after the last, or takes
    the model as an argument, because Variables of a call of such a function end with the call.
    """

    states: ClassVar[tuple[str, ...]] = ("h",)

    def reset_state(self) -> None:
        """Forget the state."""
        for name in self.states:
            setattr(self, name, None)

    def _set_state(self, *values: Any) -> None:
        for name, x in zip(self.states, values, strict=True):
            if not isinstance(x, Variable):
                raise TypeError(f"{type(self).__name__}.set_state: expected {name} a Variable, got {type(x).__name__}")
            x.to_device(self.device)
            setattr(self, name, x)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle, with the state detached from its graph."""
        kept = {name: getattr(self, name) for name in self.states}
        return self.__dict__ | {name: None if x is None else Variable(x.array) for name, x in kept.items()}

    def device_resident_accept(self, visitor: Any) -> None:
        """Pass the state to the visitor that moves the link; a state that moves leaves its graph."""
        super().device_resident_accept(visitor)
        for name in self.states:
            x = getattr(self, name)
            if x is not None:
                setattr(self, name, Variable(visitor.visit_array(x.array)))
