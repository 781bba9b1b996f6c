"""`Running`: an attribute of a link that shows an array, kept in a Variable that functions may update."""

from typing import Any

from xpgrad.graph.variable import Variable
from xpgrad.models.link import Link
from xpgrad.types import Array


class Running:
    """A persistent array that changes as the link is used, such as a running mean.

    A class of links declares it: ``avg_mean = Running()``. The attribute is the array, and assignment changes it;
    ``link.__dict__["avg_mean"]`` is the Variable that holds it, which `variable` returns. Copies of the link that
    `xpgrad.transforms` make share the Variable, so that updates within them are seen outside.
    """

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, link: Any, owner: type | None = None) -> Any:
        if link is None:
            return self
        x = link.__dict__.get(self.name)
        if x is None and self.name not in link.__dict__:
            raise AttributeError(f"{type(link).__name__} has no {self.name} yet; assign an array first", name=self.name)
        return None if x is None else x.array

    def __set__(self, link: Any, array: Array | None) -> None:
        x = link.__dict__.get(self.name)
        if x is None:
            x = link.__dict__[self.name] = None if array is None else Variable(array, requires_grad=False)
        else:
            x.array = array
        link.register_persistent(self.name)

    def variable(self, link: Link) -> Variable | None:
        """Return the Variable that holds the array."""
        found: Variable | None = link.__dict__.get(self.name)
        return found
