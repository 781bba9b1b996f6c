"""The namespace that rules use in a recorded sweep: the same names as in a raw sweep, on Variables."""

import functools
from operator import attrgetter
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import LazyNamespace, table, with_extensions
from xpgrad.backend.spec import Spec
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable
from xpgrad.types import DeviceHandle


class RecordedNamespace(LazyNamespace):
    """Every primitive by the name of its kernel, and the other names in the differentiable namespace of a backend.

    So a rule may call ``xp.linalg.cofactors(x, d)`` or ``getattr(xp, "module:f")(x)`` both with the arrays of a raw
    sweep and with the Variables of a recorded sweep.

    Attributes
    ----------
    backend : Backend
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__(with_extensions(self._named))
        self.backend = backend

    def device_of(self, x: Any) -> DeviceHandle:
        """Return the device of `x`, a Variable or an array, in the notation of its library."""
        return x._node.spec.device if isinstance(x, Variable) else self.backend.handle_of(x)

    def spec_of(self, x: Any) -> Spec:
        """Return shape, dtype and device of `x`, a Variable or an array."""
        return x._node.spec if isinstance(x, Variable) else self.backend.spec(x)

    def _named(self, name: str) -> Any:
        definition: Any = table.definition(name)
        if definition is not None:
            return definition.paths["public"]
        try:
            return attrgetter(name)(slot.functions.namespace(self.backend))
        except AttributeError:
            if table.find(name) is not None and table.definition(name) is not None:  # its module was imported just now
                return self._named(name)
            raise AttributeError(
                f"xp.{name}: neither a primitive nor the namespace of {self.backend.name} Variables has this name; "
                'a rule finds a primitive of another package as getattr(xp, "module:function")'
            ) from None


recorded_namespace = functools.cache(RecordedNamespace)
