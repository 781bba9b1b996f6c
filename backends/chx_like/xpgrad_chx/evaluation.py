"""Evaluation on buffers: every operator, function and kernel of chx arrays runs through this module.

The forms for one and for two arrays need a single frame; `evaluate` handles all other arguments. Arrays in a graph
are passed to `graph.record`.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad
from xpgrad.plugin import Spec, class_name
from xpgrad.types import Kernel
from xpgrad_chx import backprop, graph
from xpgrad_chx.backprop import anygraph
from xpgrad_chx.device import Device
from xpgrad_chx.errors import ChainerxError, DeviceError, DtypeError, raise_translated
from xpgrad_chx.memory import Memory, over

new, carry, modes = object.__new__, graph.carry, backprop.modes.get
Host = np.ndarray
KINDS = "buifc"
"""Kinds of dtypes; each holds the values of those before it."""
SCALARS = frozenset((bool, int, float, complex))
BOOL = np.dtype(bool)
_OF_NUMBERS = "add subtract sub divide truediv floor_divide floordiv remainder mod pow negative neg fmod"
OF_NUMBERS = frozenset(_OF_NUMBERS.split())
"""Arithmetic functions and operators that do not support booleans, which may only be multiplied."""
OF_POSITIONS = {"repeat": (list, tuple), "take": (int, list, tuple)}
"""Functions whose second argument may be an integer or nested lists, and the types that become an array."""


def unary(kernel: Kernel, name: str) -> Kernel:
    """Return a kernel of one array."""

    def run(x: Any, /) -> Any:
        data = x._data
        device = x._device
        out = kernel(data) if device.on_host else device.kernel(name)(data)
        if type(out) is not Host:
            if out is NotImplemented:
                return out
            out = device.buffers.restore(out)
        if out is data:
            return x
        y = new(type(x))
        y._data = out
        y._device = device
        y._graph = None
        return y

    return run


def binary(kernel: Kernel, name: str) -> Kernel:
    """Return a kernel of two arrays, or of an array and a scalar."""

    def run(x1: Any, x2: Any, /) -> Any:
        try:
            left = x1._data
            right = x2._data
            device = x1._device
        except AttributeError:  # a scalar
            return evaluate(kernel, name, (x1, x2), {}, None)
        out = kernel(left, right) if device.on_host else device.kernel(name)(left, right)
        if type(out) is not Host:
            if out is NotImplemented:
                return out
            out = device.buffers.restore(out)
        y = new(type(x1))
        y._data = out
        y._device = device
        y._graph = None
        return y

    return run


def parameterised(kernel: Kernel, name: str) -> Kernel:
    """Return a kernel of one array and of parameters that contain no arrays, specs or devices."""

    def run(x: Any, /, *args: Any, **parameters: Any) -> Any:
        data = x._data
        device = x._device
        out = (kernel if device.on_host else device.kernel(name))(data, *args, **parameters)
        if type(out) is not Host:
            if out is NotImplemented:
                return out
            out = device.buffers.restore(out)
        if out is data:
            return x
        y = new(type(x))
        y._data = out
        y._device = device
        y._graph = None
        return y

    return run


def anything(kernel: Kernel, name: str, kind: type[Any]) -> Kernel:
    """Return a kernel with any arguments and results: arrays in lists and indices, specs, several results.

    Where no argument is an array, as in kernels that take a spec, results are arrays of class `kind`.
    """

    def run(*args: Any, **parameters: Any) -> Any:
        return evaluate(kernel, name, args, parameters, kind)

    return run


def evaluate(kernel: Kernel, name: str, args: Any, parameters: dict[str, Any], kind: Any) -> Any:
    """Return the results of a kernel on buffers, as arrays, with class `kind` if no argument is an array."""
    found: list[Any] = []
    places: list[Device] = []
    bare = [_bare(x, found, places) for x in args]
    bare_parameters = {key: _bare(x, found, places) for key, x in parameters.items()}
    _check(name, (), found, places, some=False)
    device = places[0]
    out = (kernel if device.on_host else device.kernel(name))(*bare, **bare_parameters)
    return _dressed(out, device, found, type(found[0]) if found else kind)


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of the function `name` of the standard on arrays, in a graph if an argument is in a graph."""
    if name in OF_POSITIONS and len(args) > 1 and isinstance(args[1], OF_POSITIONS[name]):
        args = args[0], _positions(name, *args[:2]), *args[2:]
    found: list[Any] = []
    places: list[Device] = []
    bare = [_bare(x, found, places) for x in args]
    bare_kwargs = {key: _bare(x, found, places) for key, x in kwargs.items()} if kwargs else kwargs
    _check(name, args, found, places)
    if name in OF_NUMBERS:
        refuse_booleans(name, *found)
    device = places[0]
    try:
        for x in found:
            if x._graph is not None:
                return graph.record(name, args, kwargs)
        return _dressed(device.function(name)(*bare, **bare_kwargs), device, found, type(found[0]))
    except (TypeError, ValueError) as error:
        raise_translated(error, name, *found)


def through(function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the results of a function of Variables on arrays, as arrays; `name` is its name in messages."""
    found: list[Any] = []
    places: list[Device] = []
    _bare((*args, *kwargs.values()), found, places)
    plain = [x for x in graph.leaves(args) if not isinstance(x, xpgrad.Variable)]  # the function takes those itself
    _check(name, plain, found, places)
    try:
        return graph.recorded(function, args, kwargs)
    except (TypeError, ValueError) as error:
        raise_translated(error, name, *found)


def refuse_booleans(name: str, *operands: Any) -> None:
    """Raise DtypeError if an array is of booleans."""
    for x in operands:
        if x.dtype == BOOL:
            raise DtypeError(f"{name}: expected numbers, got an array of dtype bool; cast it with astype")


def infix(name: str, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return the operator ``__name__`` of two operands, or its reflected form; both defer to Variables."""
    function: Callable[[Any, Any], Any] = getattr(operator, name)
    method = f"__r{name.strip('_')}__" if reflected else f"__{name.strip('_')}__"
    of_numbers = name in OF_NUMBERS

    def forward(self: Any, other: Any, /) -> Any:
        try:
            kind = type(other)
            device = self._device
            own = self._graph
            data = self._data
            if of_numbers and data.dtype is BOOL:
                refuse_booleans(method, self)
            if kind is type(self):
                right = other._data
                if of_numbers and right.dtype is BOOL:
                    refuse_booleans(method, other)
                if other._device is device:
                    if own is None is other._graph:
                        out = (function if device.on_host else device.follow(function))(data, right)
                        if type(out) is not Host:
                            out = device.buffers.restore(out)
                        y = new(kind)
                        y._data = out
                        y._device = device
                        y._graph = None
                        return y
                    if not modes():
                        left = self if own is None else own.variable
                        return carry(function(left, other if other._graph is None else other._graph.variable))
            elif kind in SCALARS:
                if own is None:
                    out = (function if device.on_host else device.follow(function))(data, other)
                    if type(out) is not Host:
                        out = device.buffers.restore(out)
                    return over(type(self), out, device)
                if not modes():
                    return carry(function(own.variable, other))
            return _infix(function, method, False, self, other)
        except (TypeError, ValueError) as error:
            raise_translated(error, method, self, other)

    def backward(self: Any, other: Any, /) -> Any:
        try:
            if of_numbers and self._data.dtype is BOOL:
                refuse_booleans(method, self)
            if self._graph is None and type(other) in SCALARS:
                device = self._device
                out = (function if device.on_host else device.follow(function))(other, self._data)
                if type(out) is not Host:
                    out = device.buffers.restore(out)
                return over(type(self), out, device)
            return _infix(function, method, True, self, other)
        except (TypeError, ValueError) as error:
            raise_translated(error, method, other, self)

    return backward if reflected else forward


def _infix(function: Any, method: str, reflected: bool, self: Any, other: Any) -> Any:
    """Run an operator on operands other than two arrays of one device."""
    if isinstance(other, xpgrad.Variable) or not (isinstance(other, (Memory, np.generic)) or type(other) in SCALARS):
        if isinstance(other, np.ndarray):
            raise xpgrad.BackendMismatch(
                f"{method}: arrays of two libraries, chx on {self.device} and numpy; make it one with asarray(...)"
            )
        return NotImplemented
    if isinstance(other, np.generic):
        other = other.item()
    if isinstance(other, Memory):
        _check(method, (), [self, other], [self._device, other._device])
    if self._graph is None and (not isinstance(other, Memory) or other._graph is None):
        right = other._data if isinstance(other, Memory) else other
        operands = (right, self._data) if reflected else (self._data, right)
        out = self._device.follow(function)(*operands)
        return over(type(self), self._device.buffers.restore(out), self._device)
    return graph.record_operator(function, (other, self) if reflected else (self, other))


def prefix(name: str) -> Callable[[Any], Any]:
    """Return an operator of one operand."""
    function: Callable[[Any], Any] = getattr(operator, name)

    def apply(self: Any, /) -> Any:
        if name in OF_NUMBERS:
            refuse_booleans(f"__{name}__", self)
        if self._graph is not None:
            return graph.record_operator(function, (self,))
        device = self._device
        out = (function if device.on_host else device.follow(function))(self._data)
        return over(type(self), device.buffers.restore(out), device)

    return apply


def _bare(x: Any, found: list[Any], places: list[Device]) -> Any:
    """Return an argument for the library of the buffers; collect arrays and the device of the result."""
    if isinstance(x, xpgrad.Variable) and isinstance(xpgrad.as_array(x), Memory):
        x = xpgrad.as_array(x)  # a parameter that takes part without a gradient
    if isinstance(x, Memory):
        found.append(x)
        places.append(x._device)
        return x._data
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([_bare(item, found, places) for item in x])
    if isinstance(x, Spec):
        places.append(x.device)
        return x.device.buffers.spec_for(x.shape, x.dtype, x.device.handle)
    if isinstance(x, Device):
        places.append(x)
        return x.handle
    return x.item() if isinstance(x, np.generic) else x


def _positions(name: str, x: Any, values: Any) -> Any:
    """Return an integer, or nested lists of integers, as an array on the device of `x`."""
    positions = np.asarray(values)
    if positions.dtype.kind not in "iu" and positions.size:
        raise DtypeError(f"{name}: expected integers, got {values!r}")
    device = x.device
    data = device.function("asarray")(positions.tolist(), dtype=device.buffers.namespace.int64, device=device.handle)
    return over(type(x), data, device)


def _dressed(out: Any, device: Device, found: list[Any], kind: type[Any]) -> Any:
    """Return a result with the library's arrays as chx arrays; a result that is an input is the same object."""
    if isinstance(out, device.buffers.array_types + device.buffers.scalar_types):
        for x in found:
            if out is x._data:
                return x
        return over(kind, device.buffers.restore(out), device)
    if isinstance(out, (tuple, list)):
        items = [_dressed(item, device, found, kind) for item in out]
        return type(out)(*items) if hasattr(out, "_fields") else type(out)(items)
    return out


def _check(name: str, args: Any, found: list[Any], places: list[Device], some: bool = True) -> None:
    """Raise an error if no argument is an array, or one is from another device or library."""
    for x in graph.leaves(args):
        if hasattr(x, "__array_namespace__") and not isinstance(x, (Memory, np.generic, type)):
            raise xpgrad.BackendMismatch(
                f"{name}: expected chx arrays, got {class_name(type(x))}; "
                "make it one with asarray(...), or use xpgrad's function for Variables"
            )
    if some and not found:
        kinds = ", ".join(type(x).__name__ for x in args) or "nothing"
        raise xpgrad.UnknownArray(f"{name}: expected at least one chx array, got {kinds}")
    for place in places[1:]:
        if place is not places[0]:
            raise DeviceError(f"{name}: arrays of two devices, {places[0]} and {place}; move one with to_device")


def getitem(x: Any, index: Any) -> Any:
    """Return ``x[index]``: a view for a basic index, as the library of the buffers has it."""
    if x._graph is not None:
        return graph.record_operator(operator.getitem, (x, index))
    found: list[Any] = [x]
    places = [x._device]
    bare = _bare(index, found, places)
    _check("__getitem__", (), found, places)
    device = x._device
    out = x._data[bare] if device.on_host else device.follow(operator.getitem)(x._data, bare)
    return over(type(x), device.buffers.restore(out), device)


def assign(function: Callable[..., Any], name: str, x: Any, *args: Any) -> Any:
    """Run an operator that writes into `x`, and return `x`; raise an error while a graph is recorded there.

    Raises
    ------
    ChainerxError
        `x` or another operand is in a graph.
    DtypeError
        The values are of a kind that the dtype cannot hold.
    """
    found: list[Any] = [x]
    places = [x._device]
    bare = [_bare(item, found, places) for item in args]
    _check(name, args, found, places)
    for each in found:
        if each._graph is not None and each.is_backprop_required(anygraph):
            which = "output array requiring grad" if each is x else "an array requiring grad into another"
            raise ChainerxError(
                f"{name}: in-place assignment to {which} is not allowed; compute a new array, use no_backprop_mode(), "
                "or as_grad_stopped()"
            )
    values = bare[-1]
    dtype = getattr(values, "dtype", None)
    if dtype is None and type(values) not in SCALARS:
        raise xpgrad.UnknownArray(
            f"{name}: expected a chx array or a number, got {class_name(type(values))}; make it one with asarray(...)"
        )
    kind = dtype.kind if dtype is not None else "bifc"[(bool, int, float, complex).index(type(values))]
    if dtype is None and kind == "i" and x.dtype.kind == "u":
        kind = "u"  # a Python number has no dtype; the library checks its range
    if KINDS.find(kind) > KINDS.find(x.dtype.kind) >= 0:  # dtypes added to NumPy, as bfloat16, are of another kind
        raise DtypeError(
            f"{name}: values of dtype {dtype or type(values).__name__} do not fit into {x.dtype}; cast them"
        )
    try:
        x._device.follow(function)(x._data, *bare)
    except (TypeError, ValueError) as error:
        raise_translated(error, name, x, args[-1])
    return x


def inplace(name: str) -> Callable[[Any, Any], Any]:
    """Return an operator that writes into its first operand."""
    function: Callable[[Any, Any], Any] = getattr(operator, name)

    def apply(self: Any, other: Any, /) -> Any:
        if isinstance(other, xpgrad.Variable) or not (hasattr(other, "dtype") or type(other) in SCALARS):
            return NotImplemented  # a Variable rebinds the name
        if name[1:] in OF_NUMBERS:
            refuse_booleans(f"__{name}__", *(x for x in (self, other) if isinstance(x, Memory)))
        return assign(function, f"__{name}__", self, other)

    return apply
