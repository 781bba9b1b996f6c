"""A fake CuPy over NumPy with two simulated GPUs, so that the backend's Python code runs without a GPU.

It has exactly the names of CuPy 14 (names.txt), checks the rules that the backend must keep (it rejects NumPy arrays
and arrays of a GPU that is not current), and runs the source of elementwise kernels, compiled as C++. It tests the
arithmetic of that source and the Python code around it, but no GPU.
"""

import ctypes
import math
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
from tests.backends.cupy import host_code
from tests.backends.cupy.host_code import CompileException, compiled

GPUS = 2
HERE = Path(__file__).parent
_current = threading.local()
ANYWHERE = {"reshape", "transpose", "view", "squeeze", "ravel", "swapaxes", "copy", "get", "item", "tolist", "diagonal"}
VIEWS = {"transpose", "reshape", "broadcast_to", "expand_dims", "squeeze", "swapaxes", "moveaxis", "diagonal"}
LETTERS = {"f": "float", "d": "double", "l": "long long", "q": "long long", "i": "int", "L": "unsigned long long"}
LETTERS |= {"Q": "unsigned long long", "I": "unsigned int", "h": "short", "b": "signed char", "B": "unsigned char"}
LETTERS |= {"H": "unsigned short", "?": "bool"}
FIXED = {name: np.dtype(name).type for name in ("bool", "float32", "float64")}
FIXED |= {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)}


def names() -> dict[str, set[str]]:
    """Return the public names of CuPy by module."""
    found: dict[str, set[str]] = {}
    section = ""
    for line in (HERE / "names.txt").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = set()
        elif not line.startswith("#"):
            found[section] |= set(line.split())
    return found


NAMES = names()


def current() -> int:
    return getattr(_current, "number", 0)


class CUDARuntimeError(RuntimeError):
    """Errors of the CUDA runtime."""


class Device:
    """Fake device object of CuPy: no hash, and a separate stack for `with`."""

    __module__ = "cupy.cuda.device"
    __hash__ = None  # type: ignore[assignment]  # as in CuPy

    def __init__(self, device: Any = None) -> None:
        self.id = current() if device is None else int(device)
        if not 0 <= self.id < GPUS:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self._stack: list[int] = []

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __enter__(self) -> "Device":
        self._stack.append(current())
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        _current.number = self._stack.pop()

    def use(self) -> None:
        _current.number = self.id

    def synchronize(self) -> None:
        pass


class ndarray(np.ndarray):
    """NumPy's array on a pretended GPU."""

    __module__ = "cupy"
    _number: int
    _fresh: bool = False

    def __array_finalize__(self, other: Any) -> None:
        self._number = getattr(other, "_number", current())
        self._fresh = False

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_"):
            return value
        if name not in NAMES["cupy.ndarray"]:
            raise AttributeError(f"CuPy's arrays have no {name!r}")
        if not isinstance(value, types.BuiltinFunctionType) or name in ANYWHERE:
            return value
        return lambda *args, **kwargs: _out(value(*_in((self, *args))[1:], **_in(kwargs)))

    @property
    def device(self) -> Device:  # type: ignore[override]  # NumPy returns "cpu"
        return Device(self._number)

    @property
    def data(self) -> Any:
        return types.SimpleNamespace(device_id=self._number)

    @property
    def base(self) -> Any:
        return None if self._fresh or self.flags.owndata else self

    @property
    def real(self) -> Any:
        return self.view(np.ndarray).real.view(ndarray)._at(self._number)

    @property
    def imag(self) -> Any:
        return self.view(np.ndarray).imag.view(ndarray)._at(self._number)

    def _at(self, number: int) -> Any:
        self._number = number
        return self

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._number

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        host = np.array(self.view(np.ndarray), order=order)
        if out is None:
            return host
        assert blocking or getattr(out, "pinned", False), "asynchronous copies go into pinned memory"
        out[...] = host
        return out

    def copy(self, order: str = "C") -> Any:
        assert self._number == current() or self.flags.c_contiguous or self.flags.f_contiguous
        return _out(np.array(self.view(np.ndarray), order=order))

    def __getitem__(self, index: Any) -> Any:
        items = index if type(index) is tuple else (index,)
        if not any(item is Ellipsis for item in items) and not any(isinstance(item, np.ndarray) for item in items):
            items = (*items, Ellipsis)
        for item in items:
            assert not isinstance(item, np.ndarray) or type(item) is ndarray, "CuPy refuses NumPy's arrays"
        got = np.ndarray.__getitem__(self.view(np.ndarray), _plain(items))
        return _owned(got, self._number) if got.base is None else got.view(ndarray)._at(self._number)

    def __setitem__(self, index: Any, value: Any) -> None:
        assert self._number == current(), "work on a GPU that is not the current one"
        np.ndarray.__setitem__(self.view(np.ndarray), _plain(index), _in(value))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if out is not None:
            getattr(ufunc, method)(*_in(inputs), out=_in(out), **_in(kwargs))
            return out[0]
        return _out(getattr(ufunc, method)(*_in(inputs), **_in(kwargs)))


def _plain(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(map(_plain, index))
    return index.view(np.ndarray) if type(index) is ndarray else index


def _owned(array: Any, number: int) -> ndarray:
    made = np.asarray(array).view(ndarray)
    made._number, made._fresh = number, True
    return made


def _in(x: Any) -> Any:
    if type(x) is ndarray:
        if x._number != current():
            raise CUDARuntimeError(f"an array of GPU {x._number} is used while GPU {current()} is the current one")
        return x.view(np.ndarray)
    if isinstance(x, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if type(x) in (list, tuple):
        return type(x)(map(_in, x))
    return {k: _in(v) for k, v in x.items()} if type(x) is dict else x


def _out(x: Any) -> Any:
    if isinstance(x, np.generic):
        return _owned(np.asarray(x), current())
    if isinstance(x, np.ndarray):
        made = _owned(x, current())
        made._fresh = x.base is None
        return made
    if isinstance(x, tuple):
        return x._make(map(_out, x)) if hasattr(x, "_make") else tuple(map(_out, x))
    return list(map(_out, x)) if type(x) is list else x


def wrapped(function: Any, view: bool = False) -> Any:
    """Return a function of NumPy as one of CuPy; to make a view, no GPU is needed."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if view and type(args[0]) is ndarray:
            with Device(args[0]._number):
                return _out(function(*_in(args), **_in(kwargs)))
        out = kwargs.pop("out", None)
        if out is not None:
            function(*_in(args), out=_in(out), **_in(kwargs))
            return out
        return _out(function(*_in(args), **_in(kwargs)))

    call.__name__ = getattr(function, "__name__", "call")
    return call


def array(obj: Any, dtype: Any = None, copy: Any = True, order: str = "K", **_: Any) -> ndarray:
    if copy is not True and type(obj) is ndarray and obj._number == current() and dtype in (None, obj.dtype):
        return obj
    if type(obj) is ndarray:
        return _out(np.array(obj.view(np.ndarray), dtype, order=order))
    obj = [x.view(np.ndarray) if type(x) is ndarray else x for x in obj] if type(obj) is list else obj
    return _out(np.array(obj, dtype, order=order))


def asarray(obj: Any, dtype: Any = None, **_: Any) -> ndarray:
    return array(obj, dtype, copy=None)


class ElementwiseKernel:
    """Fake ElementwiseKernel, with its source compiled as C++ and run over contiguous copies."""

    def __init__(self, in_params: str, out_params: str, operation: str, name: str = "kernel", **options: Any) -> None:
        self.ins, self.outs = _parameters(in_params), _parameters(out_params)
        self.operation, self.name = operation, name
        self.preamble = options.pop("preamble", "")
        assert options.pop("options", ()) == ("--fmad=false",)
        assert not options

    def __call__(self, *args: Any, size: int | None = None) -> Any:
        _, kinds = self._prepared(args)
        given = args[len(self.ins) :]
        arrays = [_in(x) for x in args[: len(self.ins)]]
        shapes = [np.shape(a) for a, p in zip((*arrays, *given), (*self.ins, *self.outs), strict=False) if not p.raw]
        if not shapes and size is None:
            raise ValueError("Loop size is undecided.")
        shape = np.broadcast_shapes(*shapes) if size is None else (size,)
        out = given or [_owned(np.empty(shape, kinds[p.kind]), current()) for p in self.outs]
        lines = [
            np.ascontiguousarray(_in(x)) if p.raw else np.empty(shape, x.dtype)
            for x, p in zip(out, self.outs, strict=True)
        ]
        values = []
        for a, p in zip(arrays, self.ins, strict=True):
            whole = np.asarray(a, kinds[p.kind])
            values.append(np.ascontiguousarray(whole if p.raw else np.broadcast_to(whole, shape)))
        run = compiled(self._source(kinds))
        pointers = [ctypes.c_void_p(v.ctypes.data) for v in (*values, *lines)]
        run(ctypes.c_longlong(math.prod(shape)), *pointers)
        for x, line in zip(out, lines, strict=True):
            _in(x)[...] = line
        return out[0] if len(out) == 1 else tuple(out)

    def _prepared(self, args: Any) -> Any:
        kinds: dict[str, Any] = dict(FIXED)
        for a, p in zip(args, (*self.ins, *self.outs)[: len(args)], strict=True):
            if type(a) is ndarray:
                known = kinds.setdefault(p.kind, a.dtype.type)
                if np.dtype(known) != a.dtype:
                    raise TypeError(f"Type is mismatched. {p.name} {a.dtype} {known}")
            elif isinstance(a, (np.ndarray, np.generic)):
                raise TypeError(f"Unsupported type {type(a)}")
        for p in (*self.ins, *self.outs):
            if p.kind not in kinds:
                raise TypeError(f"{self.name}: the type {p.kind} is unknown")
        return args, kinds

    def _source(self, kinds: dict[str, Any]) -> str:
        types_ = "".join(f"typedef {letter(t)} {k};\n" for k, t in kinds.items() if k not in FIXED)
        params = [*[(p, "const ") for p in self.ins], *[(p, "") for p in self.outs]]
        heads = ", ".join(f"{const}{p.c}* _{p.name}" for p, const in params)
        names = "".join(
            f"{const}{p.c}{'*' if p.raw else '&'} {p.name} = _{p.name}{'' if p.raw else '[i]'};\n"
            for p, const in params
        )
        return (
            f"{host_code.HEAD}"
            f"static double cospi(double x) {{ return cos(3.141592653589793 * x); }}\n{types_}{self.preamble}\n"
            f'extern "C" void run(long long n, {heads}) {{\n'
            f"for (long long i = 0; i < n; ++i) {{\n{names}{self.operation};\n}}\n}}\n"
        )


class ReductionKernel:
    """Fake ReductionKernel: for sums NumPy adds the terms of the compiled source; other reductions are compiled."""

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: str,
        name: str, reduce_type: str | None = None, preamble: str = "", options: Any = (),
    ) -> None:  # fmt: skip
        self.nin, result = in_params.count(",") + 1, out_params.split()[-1]
        self.each: Any = None
        if reduce_type is None:
            assert (reduce_expr, post_map_expr, identity) == ("a + b", f"{result} = a", "0")
            self.each = ElementwiseKernel(in_params, out_params, f"{result} = {map_expr}", name, options=options)
            return
        # Element i of the result reduces `length` elements, which are at i of arrays with the reduced axes in front.
        ins = _parameters(in_params)
        inputs = ", ".join(f"raw {p.kind} _{p.name}" for p in ins)
        elements = " ".join(f"const {p.c} {p.name} = _{p.name}[k * n + i];" for p in ins)
        text = (
            f"{reduce_type} total = {identity}; for (long long k = 0; k < length[0]; ++k) {{ {elements}"
            f"const {reduce_type} a = total, b = {map_expr}; total = {reduce_expr}; }}"
            f"const {reduce_type} a = total; {post_map_expr}"
        )
        self.whole = ElementwiseKernel(
            f"raw int64 length, {inputs}", out_params, text, name, preamble=preamble, options=options
        )

    def __call__(self, *args: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if self.each is not None:
            return _out(np.sum(_in(self.each(*args)), axis=axis, keepdims=keepdims))
        assert axis == 0, "others are not emulated"
        arrays = [_out(x.copy()) for x in np.broadcast_arrays(*(_in(x) for x in args[: self.nin]))]
        assert len(args) == self.nin + 1
        assert args[-1].shape == arrays[0].shape[1:]
        return self.whole(_out(np.array([len(arrays[0])])), *arrays, args[-1])


class RawKernel:
    """Fake RawKernel, with its source compiled as C++; the threads of a block run in order and then backwards."""

    def __init__(self, code: str, name: str, options: Any = ()) -> None:
        assert options == ("--fmad=false",)
        self.source = host_code.program_of(code, name)

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
        assert all(type(x) is ndarray and x.flags.c_contiguous for x in args)
        assert math.prod(block) <= 1024
        pointers = (ctypes.c_void_p * len(args))(*(_in(x).ctypes.data for x in args))
        lanes, slots = (*block, 1)[:2]
        for backwards in 0, 1:
            status = compiled(self.source)(pointers, ctypes.c_longlong(*grid), lanes, slots, backwards)
            assert not status, "a thread ended while others waited at a barrier"


def letter(kind: Any) -> str:
    """Return the type in C of one of NumPy."""
    return LETTERS[np.dtype(kind).char]


class _Parameter:
    def __init__(self, text: str) -> None:
        *raw, self.kind, self.name = text.split()
        self.raw = raw == ["raw"]
        self.c = letter(FIXED[self.kind]) if self.kind in FIXED else self.kind


def _parameters(text: str) -> list[_Parameter]:
    return [_Parameter(each) for each in text.split(",") if text]


class Event:
    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.recorded = False


class Stream:
    def synchronize(self) -> None:
        pass

    def record(self, event: Any = None) -> Any:
        event = event or Event()
        event.recorded = True
        return event

    def wait_event(self, event: Event) -> None:
        assert event.recorded


class Pinned(np.ndarray):
    """Host memory that CuPy calls pinned."""

    pinned = True


class Pool:
    freed = 0

    def used_bytes(self) -> int:
        return 1024 * (current() + 1)

    def free_all_blocks(self) -> None:
        self.freed += 1


def scatter_add(a: ndarray, slices: Any, value: Any) -> None:
    """Function of CuPy, with its limits."""
    if a.dtype.char not in "eflLiIqQ":
        raise TypeError(f"scatter_add supports no {a.dtype}")
    np.add.at(_in(a), _in(slices), _in(value))


def from_dlpack(obj: Any, **_: Any) -> ndarray:
    if obj.__dlpack_device__()[0] != 2:
        raise TypeError(
            "CPU arrays cannot be directly imported to CuPy. Use cupy.array(numpy.from_dlpack(input)) instead."
        )
    return obj.__dlpack__().view(ndarray)._at(obj.__dlpack_device__()[1])


def _module(name: str, source: Any, only: set[str], own: dict[str, Any]) -> Any:
    made = types.ModuleType(name)
    for each in only:
        if each in own:
            continue
        found = getattr(source, each, types)
        if isinstance(found, types.ModuleType):
            continue  # including names that NumPy lacks
        plain = isinstance(found, type) or not callable(found)
        setattr(made, each, found if plain else wrapped(found, each in VIEWS))
    vars(made).update(own)
    made.__all__ = [
        each for each in vars(made) if not each.startswith("_") and each not in ("abs", "max", "min", "round")
    ]
    sys.modules[name] = made
    return made


def install() -> Any:
    """Make ``import cupy`` return the fake module, and return it; for a process that does not need CuPy."""
    globals()["__name__"] = "cupy.fake"  # `compile` does not follow the code of array libraries
    import importlib.machinery

    import scipy.special

    runtime = types.SimpleNamespace(
        getDevice=current, getDeviceCount=lambda: GPUS, deviceCanAccessPeer=lambda a, b: 1,
        deviceEnablePeerAccess=lambda peer: None, CUDARuntimeError=CUDARuntimeError,
    )  # fmt: skip
    cuda = types.ModuleType("cupy.cuda")
    vars(cuda).update(
        Device=Device, Event=Event, Stream=Stream, runtime=runtime, is_available=lambda: True,
        get_current_stream=lambda: Stream(), compiler=types.SimpleNamespace(CompileException=CompileException),
    )  # fmt: skip
    device = types.ModuleType("cupy.cuda.device")
    device.Device = Device  # type: ignore[attr-defined]  # a module that is being made
    sys.modules |= {"cupy.cuda": cuda, "cupy.cuda.device": device}
    pools = Pool(), Pool()
    loops = {name: _unary(name) for name in ("exp", "log")}  # by the library that the kernels have: bits are compared
    own: dict[str, Any] = {
        "ndarray": ndarray, "array": array, "asarray": asarray, "cuda": cuda, "ElementwiseKernel": ElementwiseKernel,
        "ReductionKernel": ReductionKernel, "from_dlpack": from_dlpack, "RawKernel": RawKernel,
        "get_default_memory_pool": lambda: pools[0],
        "get_default_pinned_memory_pool": lambda: pools[1], **loops,
    }  # fmt: skip
    own["linalg"] = _module("cupy.linalg", np.linalg, NAMES["cupy.linalg"], {})
    own["fft"] = _module("cupy.fft", np.fft, NAMES["cupy.fft"], {})
    made = _module("cupy", np, NAMES["cupy"], own)
    made.__version__ = "14.2.0"
    made.__path__ = []
    special = _module("cupyx.scipy.special", scipy.special, NAMES["cupyx.scipy.special"], {})
    scipy_ = types.ModuleType("cupyx.scipy")
    scipy_.special = special  # type: ignore[attr-defined]
    cupyx = types.ModuleType("cupyx")
    vars(cupyx).update(scatter_add=scatter_add, empty_pinned=lambda s, d: np.empty(s, d).view(Pinned), scipy=scipy_)
    sys.modules |= {"cupyx": cupyx, "cupyx.scipy": scipy_}
    for name in ("cupy", "cupyx"):
        sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
    _introduce(made)
    return made


def _introduce(made: Any) -> None:
    """Let array_api_compat accept the fake arrays, which are also NumPy arrays, as CuPy arrays."""
    import array_api_compat.common._aliases as aliases
    import array_api_compat.common._linalg as linalg

    def namespace_of(*arrays: Any, **options: Any) -> Any:
        pretended = any(type(x) is ndarray for x in arrays)
        return sys.modules["array_api_compat.cupy"] if pretended else original(*arrays, **options)

    original = aliases.array_namespace
    for module in (aliases, linalg):
        vars(module).update(array_namespace=namespace_of)
    aliases._get_device = lambda x: x.device


def _unary(name: str) -> Any:
    kernel = ElementwiseKernel("T x", "T y", f"y = {name}(x)", name, options=("--fmad=false",))
    plain = wrapped(getattr(np, name))
    return lambda x, **kwargs: (
        kernel(x) if type(x) is ndarray and x.dtype.char in "fd" and not kwargs else plain(x, **kwargs)
    )
