"""`Link`: parameters, and other values to save, with the function that uses them; `Running` shows arrays."""

import copy
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import copyto
from xpgrad.boundary import reworded
from xpgrad.errors import ShapeError, StructureError, XpgradError
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.undo import undone_by_errors
from xpgrad.graph.variable import Variable
from xpgrad.hints import OF_LINKS, bind
from xpgrad.models.link_hook import ForwardPostprocessArgs, ForwardPreprocessArgs, LinkHook, get_link_hooks
from xpgrad.models.plan import plan_of
from xpgrad.models.residence import Resident
from xpgrad.types import Array
from xpgrad.utils.pictures import drawer

Mode = Literal["share", "copy", "init"]
MODES = "share", "copy", "init"


class Link(Resident):
    """A part of a model: parameters, persistent values, and a method `forward` that uses them.

    A `Parameter` becomes the link's by assignment to an attribute within ``with self.init_scope():``. Calls go through
    link hooks to `forward`, which derived classes define. A link is a tree whose leaves are its parameters, so that it
    can be an argument of the functions in `xpgrad.transforms`.

    Parameters
    ----------
    **params : shape, or tuple of shape and dtype
        Parameters to add; deprecated, use `init_scope`.

    Attributes
    ----------
    name : str or None
        Its name in the chain that it belongs to.
    """

    _sequential: ClassVar[type]
    """The class that `repeat` makes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of `forward`, and call the link hooks before and after."""
        if not self._link_ready:
            raise self._not_initialized()
        hooks = get_link_hooks()
        if self._local_link_hooks:
            hooks = hooks | self._local_link_hooks
        if not hooks:
            try:
                return self.forward(*args, **kwargs)
            except XpgradError:  # the error already names the function that the link calls
                raise
            except Exception as error:
                found = reworded(error, type(self).__name__, self.forward, args, kwargs)
                try:
                    if found is error:
                        raise
                    raise found from error
                finally:
                    del found  # see `bounded`
        before = ForwardPreprocessArgs(self, "forward", args, kwargs)
        for hook in hooks.values():
            hook.forward_preprocess(before)
        out = self.forward(*args, **kwargs)
        after = ForwardPostprocessArgs(self, "forward", args, kwargs, out)
        for hook in hooks.values():
            hook.forward_postprocess(after)
        return out

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs of the link; derived classes define it."""
        mixed_in: Any = getattr(super(), "__call__", None)  # noqa: B004 - of a class after Link, if any
        if mixed_in is None:
            raise NotImplementedError(f"{type(self).__name__}: define a method forward, which a call of the link runs")
        return mixed_in(*args, **kwargs)

    # Contents

    def _child_at(self, name: str) -> "Link":
        """Return a child link by its name."""
        found: Link = self.__dict__[name]
        return found

    def children(self) -> Iterator["Link"]:
        """Yield the child links."""
        for _, child in self._named_children():
            yield child

    def links(self, skipself: bool = False) -> Iterator["Link"]:
        """Yield this link and all below it, each once."""
        seen: set[int] = set()
        for _, link in self.namedlinks(skipself):
            if id(link) not in seen:
                seen.add(id(link))
                yield link

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, "Link"]]:
        """Yield this link and all below it, with their paths: ``/``, ``/predictor``, ``/predictor/l1``."""
        if not skipself:
            yield "/", self
        for name, child in self._named_children():
            yield f"/{name}", child
            for path, link in child.namedlinks(skipself=True):
                yield f"/{name}{path}", link

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters of this link and of all links below; shared parameters once."""
        found: dict[int, Parameter] = {}
        self._collect(found, include_uninit)
        return iter(found.values())

    def _collect(self, found: dict[int, Parameter], include_uninit: bool) -> None:
        """Add the parameters to a dictionary by their ids, in the order of `namedparams`."""
        if type(self).namedparams is not Link.namedparams:  # a derived class adds or omits some
            found.update((id(parameter), parameter) for _, parameter in self.namedparams(include_uninit))
            return
        attributes = self.__dict__
        for name in sorted(self._params):
            parameter = attributes[name]
            if include_uninit or getattr(parameter, "_array", parameter) is not None:
                found[id(parameter)] = parameter
        for _, child in self._named_children():
            child._collect(found, include_uninit)

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters of this link and of all below it, with their paths: ``/predictor/l1/W``."""
        for name in sorted(self._params):
            parameter = self.__dict__[name]
            if include_uninit or getattr(parameter, "_array", parameter) is not None:
                yield f"/{name}", parameter
        for name, child in self._named_children():
            for path, parameter in child.namedparams(include_uninit):
                yield f"/{name}{path}", parameter

    def count_params(self) -> int:
        """Return the number of elements of all parameters; uninitialised parameters give a warning and do not count."""
        if waiting := [path for path, parameter in self.namedparams() if parameter._array is None]:
            text = f"count_params: parameters are uninitialised, and do not count: {', '.join(waiting)}"
            warnings.warn(text, stacklevel=2)
        return sum(parameter.size for parameter in self.params(include_uninit=False))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Yield names and values that `repr` shows; derived classes define it."""
        yield from ()

    def __str__(self) -> str:
        specs = ", ".join(f"{name}={value}" for name, value in self.printable_specs)
        return f"{type(self).__name__}({specs})"

    __repr__ = __str__
    _repr_html_ = drawer.html("models")

    # Copies

    def copy(self, mode: Mode = "share") -> Self:
        """Return a copy of the link and of all below it.

        Parameters
        ----------
        mode : {"share", "copy", "init"}
            Parameters over the same arrays, with separate gradients; copies of all arrays; or copies with newly
            initialised parameters. Parameters without an initializer keep their values.
        """
        _check_mode("copy", mode)
        if mode == "share":
            plan = plan_of(self)
            named = dict(self.namedparams())
            copies = [copy.copy(named[path]) for path in plan.paths]
            for parameter in copies:
                parameter.cleargrad()
            made: Self = plan.build(copies)
            for link in made.links():
                link.__dict__.pop("_ties", None)
            made.name = None
        else:
            made = copy.deepcopy(self)
            if mode == "init":
                for parameter in made.params(include_uninit=False):
                    if parameter.initializer is not None:
                        parameter.initialize(parameter.shape)
        return made

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        own = {name: set(self.__dict__[name]) for name in ("_params", "_persistent") if name in self.__dict__}
        made.__dict__.update(self.__dict__, **own)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = memo[id(self)] = object.__new__(type(self))
        for name, value in self.__dict__.items():
            made.__dict__[name] = copy.deepcopy(value, memo)
        return made

    def repeat(self, n_repeat: int, mode: Mode = "init") -> Any:
        """Return a `Sequential` of this many copies, made as `copy` does with `mode`."""
        _check_mode("repeat", mode)
        return self._sequential(*(self.copy(mode) for _ in range(n_repeat)))

    def copyparams(self, link: "Link", copy_persistent: bool = True) -> None:
        """Copy the values of all parameters, and of persistent values, from a link of the same structure.

        If a value cannot be copied, no value is copied.
        """
        source = dict(link.namedparams())
        what = "copyparams: the other link has no parameter"
        pairs = [(path, x, _at(source, path, what)) for path, x in self.namedparams()]
        for path, x, other in pairs:
            if x._array is not None and other._array is not None and x.shape != other.shape:
                raise ShapeError(f"copyparams: {path} has shape {x.shape}, but {other.shape} in the other link")
        others = dict(link.namedlinks())
        with undone_by_errors((self, link)) as journal:  # `copydata` may initialise the source
            for _, x, other in pairs:
                journal.keep(x._array)
                x.copydata(other)
            for path, own in self.namedlinks() if copy_persistent else ():
                for name in sorted(own._persistent):
                    other = _at(others, path, "copyparams: the other link has no child").__dict__
                    value, held = _at(other, name, f"copyparams: the other link has, at {path}, no"), own.__dict__[name]
                    journal.keep(held._array if isinstance(held, Variable) else held)
                    own._copy_persistent(name, value)

    def _copy_persistent(self, name: str, value: Any) -> None:
        own = self.__dict__[name]
        if isinstance(own, Variable) and isinstance(value, Variable):
            own.copydata(value)
        elif device_of(own) is not None and device_of(value) is not None and not plugins.backend_of(own).immutable:
            copyto(own, value)
        else:
            self.__dict__[name] = copy.deepcopy(value)

    # Gradients and updates

    def cleargrads(self) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.params():
            parameter.cleargrad()

    def zerograds(self) -> None:
        """Fill the gradients of all parameters with zeros. Deprecated: use `cleargrads`."""
        warnings.warn("zerograds is deprecated; use cleargrads", DeprecationWarning, stacklevel=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            for parameter in self.params():
                parameter.zerograd()

    def addgrads(self, link: "Link") -> None:
        """Add the gradients of a link of the same structure to this link; on an error, no gradient is changed."""
        source = dict(link.namedparams())
        pairs: dict[int, tuple[Parameter, Parameter]] = {}
        for path, parameter in self.namedparams():
            other = _at(source, path, "addgrads: the other link has no parameter")
            pairs.setdefault(id(parameter), (parameter, other))
        with undone_by_errors(self):
            for parameter, other in pairs.values():
                parameter.addgrad(other)

    def enable_update(self) -> None:
        """Let the update rules change the parameters."""
        self._set_enabled(True)

    def disable_update(self) -> None:
        """Keep the update rules from changing the parameters."""
        self._set_enabled(False)

    def _set_enabled(self, enabled: bool) -> None:
        for parameter in self.params():
            if parameter.update_rule is not None:
                parameter.update_rule.enabled = enabled

    @property
    def update_enabled(self) -> bool:
        """Whether the update rule of any parameter is enabled."""
        rules = (parameter.update_rule for parameter in self.params())
        return any(rule is not None and rule.enabled for rule in rules)

    # Saving

    def serialize(self, serializer: Any) -> None:
        """Save or load parameters and persistent values by a serializer: ``serializer(name, value)``."""
        for name in sorted(self._params):
            parameter = self.__dict__[name]
            loaded = serializer(name, parameter.array)
            if loaded is parameter.array or device_of(loaded) is None:
                continue
            if parameter.array is None:
                parameter.initialize(tuple(loaded.shape))
                parameter.array = serializer(name, parameter.array)
            else:
                parameter.array = loaded
        for name in sorted(self._persistent):
            value = self.__dict__.get(name)
            if isinstance(value, Variable):
                value.array = serializer(name, value.array)
            else:
                self.__dict__[name] = serializer(name, value)
        for name, child in self._named_children():
            child.serialize(serializer[name])

    # Hooks

    @property
    def local_link_hooks(self) -> dict[str, LinkHook]:
        """Dictionary from names to the hooks of this link."""
        return self._local_link_hooks

    def add_hook(self, hook: LinkHook, name: str | None = None) -> Self:
        """Call `hook` at each call of this link, and return the link."""
        if not isinstance(hook, LinkHook):
            raise TypeError(f"add_hook: expected a LinkHook, got {type(hook).__name__}")
        name = hook.name if name is None else name
        if name in self._local_link_hooks:
            raise KeyError(f"add_hook: {type(self).__name__} has a link hook {name!r} already")
        hook.added(self)
        self._local_link_hooks[name] = hook
        return self

    def delete_hook(self, name: str) -> None:
        """Remove a hook of this link."""
        if name not in self._local_link_hooks:
            raise KeyError(f"delete_hook: {type(self).__name__} has no link hook {name!r}")
        self._local_link_hooks[name].deleted(self)
        del self._local_link_hooks[name]


def _check_mode(operation: str, mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"{operation}: expected the mode 'share', 'copy' or 'init', got {mode!r}")


def _at(found: dict[str, Any], key: str, what: str) -> Any:
    try:
        return found[key]
    except KeyError:
        raise StructureError(f"{what} {key}; it has {', '.join(sorted(found)) or 'none'}") from None


bind(Link, OF_LINKS)


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
