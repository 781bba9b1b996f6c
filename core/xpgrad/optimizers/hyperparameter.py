"""Hyperparameters: numbers of an optimizer, which each parameter can override."""

from typing import Any


class Hyperparameter:
    """A set of numbers by name, which falls back on its parent.

    Parameters
    ----------
    parent : Hyperparameter, optional
        Parent that supplies unset values; update rules have the optimizer's hyperparameters as parent.

    Notes
    -----
    A value may be a schedule: a function of the number of steps made before, see `xpgrad.optimizers.schedules`.
    """

    def __init__(self, parent: "Hyperparameter | None" = None) -> None:
        self.__dict__["_parent"] = parent

    def __getattr__(self, name: str) -> Any:
        parent = None if name.startswith("_") else self._parent
        if parent is None:
            raise AttributeError(f"Hyperparameter: expected one that was set, got {name!r}; set it first", name=name)
        return getattr(parent, name)

    def __repr__(self) -> str:
        return f"Hyperparameter({', '.join(f'{name}={value!r}' for name, value in sorted(self.get_dict().items()))})"

    @property
    def parent(self) -> "Hyperparameter | None":
        """Parent that supplies unset values."""
        found: Hyperparameter | None = self.__dict__["_parent"]
        return found

    def get_dict(self) -> dict[str, Any]:
        """Return a dictionary of all values, including the values of parents."""
        return {name: value for name, value in self.values().items() if not name.startswith("_")}

    def values(self) -> dict[str, Any]:
        """Return a dictionary of all values, including values that only the formulas of an optimizer use."""
        found = {**({} if self._parent is None else self._parent.values()), **self.__dict__}
        del found["_parent"]
        return found

    def at(self, t: int) -> dict[str, Any]:
        """Return a dictionary of all values in step `t`, counted from 1, with schedules evaluated."""
        return {name: value(t - 1) if callable(value) else value for name, value in self.values().items()}


class HyperparameterProxy:
    """An attribute of an optimizer that reads and sets one of its hyperparameters.

    Parameters
    ----------
    attr_name : str
    """

    def __init__(self, attr_name: str) -> None:
        self._name = attr_name
        self.__doc__ = f"The hyperparameter `{attr_name}`: a number, or a schedule."

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else getattr(owner.hyperparam, self._name)

    def __set__(self, owner: Any, value: Any) -> None:
        setattr(owner.hyperparam, self._name, value)
