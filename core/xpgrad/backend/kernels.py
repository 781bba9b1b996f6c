"""Kernels: named functions of raw arrays, each with a default body in standard calls that a backend may replace.

`f` is the forward of the function `f`; ``f.x`` is the vjp of `f` for its input `x`, for raw sweeps only. Names are
declared by the functions that use them; backends and other packages provide faster bodies by name. Names of xpgrad's
kernels are short; names of primitives defined in other packages begin with their module, ``module:f`` and
``module:f.x``.
"""

import functools
import importlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from operator import attrgetter
from types import FunctionType
from typing import Any, NamedTuple, Protocol

from xpgrad.errors import MissingFunction, PluginError
from xpgrad.types import Array, DeviceHandle, Kernel, Namespace

STANDARD = ("linalg", "fft")
"""The standard's extensions, which are modules of the library, too."""
EXTENSIONS = (*STANDARD, "special")
"""Prefixes of kernel names: rules call the kernel ``linalg.inv`` as ``xp.linalg.inv``."""
PACKAGE = __name__.partition(".")[0]
OWNER = ":"
"""Separates the module from the rest of the kernel name of a primitive that is not xpgrad's own."""
MAX_WINDOWS = 2**20  # maximum number of elements of the windows of a convolution in memory at a time


def full_name(body: Callable[..., Any], extension: str | None) -> str:
    """Return the name of the kernel with the default `body`: the function's name, preceded by its extension."""
    return f"{extension}.{body.__name__}" if extension else body.__name__


def qualified_name(body: Callable[..., Any]) -> str:
    """Return the name of a function within its module, with the classes and functions that enclose it."""
    return f"{''.join(body.__qualname__.rpartition('.')[:2])}{body.__name__}"


def is_own(body: Callable[..., Any]) -> bool:
    """Return whether a function is defined in this package."""
    return str(body.__module__).partition(".")[0] == PACKAGE


def kernel_name(body: Callable[..., Any], extension: str | None) -> str:
    """Return the name of the kernel of a primitive: short in xpgrad, ``module:function`` in other packages."""
    if is_own(body):
        return full_name(body, extension)
    prefix = f"{extension}." if extension else ""
    return f"{body.__module__ or '__main__'}{OWNER}{prefix}{qualified_name(body)}"


class Declaration(NamedTuple):
    """A kernel's name, its parameters (arrays by position, the rest by name), and its default body, if any.

    Every backend must provide a kernel without a body, unless it is only a faster form of a gradient rule (`optional`);
    `rule` is then the formula that tests compare it with.
    """

    name: str
    arrays: int
    parameters: tuple[str, ...]
    body: Callable[..., Any] | None
    optional: bool = False
    rule: Callable[..., Any] | None = None

    def check(self, kernel: Kernel, provider: str) -> None:
        """Raise `PluginError` if `kernel` cannot be called with the arguments of this declaration."""
        if not callable(kernel):
            raise PluginError(f"{provider}: kernel {self.name!r} is {type(kernel).__name__}, expected a function")
        if self._suits(kernel):
            return
        import inspect  # needed for few kernels

        try:
            signature = inspect.signature(kernel)
        except (TypeError, ValueError):
            return  # many compiled functions have no signature
        try:
            signature.bind(*[None] * self.arrays, **dict.fromkeys(self.parameters))
        except TypeError as error:
            wanted = ", ".join([*(f"array{i + 1}" for i in range(self.arrays)), *(f"{p}=" for p in self.parameters)])
            raise PluginError(
                f"{provider}: kernel {self.name!r} must take ({wanted}), but has {signature}: {error}"
            ) from None

    def _suits(self, kernel: Kernel) -> bool:
        """Return whether a plain function or a ufunc takes the arguments; `inspect.signature` takes 20 µs for each."""
        if type(kernel) is not FunctionType:
            return not self.parameters and getattr(kernel, "nin", None) == self.arrays
        if vars(kernel):  # a wrapped function or a signature
            return False
        code, optional = kernel.__code__, len(kernel.__defaults__ or ())
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        required = {*arguments[self.arrays : code.co_argcount - optional], *arguments[code.co_argcount :]}
        required -= (kernel.__kwdefaults__ or {}).keys()
        given = set(self.parameters)
        named = arguments[max(self.arrays, code.co_posonlyargcount) :]
        return self.arrays <= code.co_argcount and required <= given and given.issubset(named)


class Planned(Protocol):
    """An object that resolves kernels once and caches the result."""

    plans: dict[Any, Any]


class KernelTable:
    """All declared kernels, and the primitives that cache plans resolved from these kernels.

    Attributes
    ----------
    declared : dict from name to Declaration
    late : dict
        The module that declares the kernels of an extension, by extension.
    late_packages : list of str
        Packages that declare kernels without an extension when they are imported.
    meant : dict from name to list of kernels
        The kernels provided for the current definition of a primitive of another package.
    """

    def __init__(self) -> None:
        self.declared: dict[str, Declaration] = {}
        self.late: dict[str, str] = {}
        self.late_packages: list[str] = []
        self.meant: dict[str, list[Kernel]] = {}
        self._planned: dict[int, weakref.ref[Planned]] = {}
        self._defined: dict[str, weakref.ref[Planned]] = {}
        self._numbers = count()

    def __repr__(self) -> str:
        return f"<{len(self.declared)} declared kernels>"

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration; raise `PluginError` if the name is already declared."""
        if declaration.name in self.declared:
            raise PluginError(f"kernel {declaration.name!r} is declared twice; choose another name")
        self.declared[declaration.name] = declaration

    def define(self, planned: Planned, declarations: Sequence[Declaration]) -> None:
        """Declare the kernels of a primitive, whose plans are cleared whenever a provider of kernels is added.

        A primitive of another package replaces an earlier primitive of the same name; kernels provided for the earlier
        primitive, which has another formula, are removed. It is declared as long as it exists.
        """
        number = next(self._numbers)
        if OWNER not in declarations[0].name:
            for declaration in declarations:
                self.declare(declaration)
            self._planned[number] = self._defined[declarations[0].name] = weakref.ref(planned)
            return
        for declaration in declarations:
            self.declared[declaration.name] = declaration
            self.meant.pop(declaration.name, None)
        reference = weakref.ref(planned, functools.partial(self._forget, number, declarations))
        self._planned[number] = self._defined[declarations[0].name] = reference

    def _forget(self, number: int, declarations: Sequence[Declaration], reference: object) -> None:
        self._planned.pop(number, None)
        if self._defined.get(declarations[0].name) is reference:
            del self._defined[declarations[0].name]
        for declaration in declarations:
            if self.declared.get(declaration.name) is declaration:
                del self.declared[declaration.name]
                self.meant.pop(declaration.name, None)

    def is_current(self, declaration: Declaration) -> bool:
        """Return whether a primitive has not been replaced by another one of the same name."""
        return OWNER not in declaration.name or self.declared.get(declaration.name) is declaration

    def find(self, name: str) -> Declaration | None:
        """Return the declaration of a kernel or None; the module that declares it is imported if necessary."""
        extension = name.partition(".")[0]
        for module in [self.late[extension]] if extension in self.late else self.late_packages:
            if name in self.declared:
                break
            importlib.import_module(module)
        return self.declared.get(name)

    def definition(self, name: str) -> Planned | None:
        """Return the primitive whose kernel is named `name`, or None."""
        reference = self._defined.get(name)
        return None if reference is None else reference()

    def forget_plans(self) -> None:
        """Clear all cached plans, so that kernels added since take effect."""
        for reference in tuple(self._planned.values()):
            planned = reference()
            if planned is not None:
                planned.plans.clear()


table = KernelTable()


class Library(Protocol):
    """The part of a backend that its namespace of kernels uses."""

    name: str
    namespace: Namespace

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the backend's own kernels by name."""
        ...

    def lazy_override(self, name: str) -> Kernel | None:
        """Return the backend's own kernel `name`, created at its first use, or None."""
        ...

    def follow(self, function: Kernel) -> Kernel:
        """Return `function` wrapped to compute on the device of its arrays."""
        ...

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        ...

    def spec(self, array: Array) -> Any:
        """Return the `Spec` of `array`: shape, dtype and device."""
        ...


class LazyNamespace:
    """A namespace whose names are looked up at their first use, then stored as attributes.

    Parameters
    ----------
    find : callable
        Returns the object with a name, or raises AttributeError.
    """

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find

    def __repr__(self) -> str:
        return "<names looked up at their first use>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._find(name)
        if OWNER not in name:  # a user's primitive may be defined again, under the same name
            self.__dict__[name] = value
        return value


def with_extensions(find: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a look-up that finds the names of extensions, as ``linalg.inv``, in namespaces of these."""
    return lambda name: LazyNamespace(lambda function: find(f"{name}.{function}")) if name in EXTENSIONS else find(name)


class KernelNamespace(LazyNamespace):
    """The namespace that gradient rules use: the library's names, and the best implementations of all declared kernels.

    Attributes are resolved at their first use and cached until another provider of kernels is added.

    Attributes
    ----------
    backend : Backend
    device_of, spec_of : callable
        Return the library's device object of an array, for `device=` of other functions, and its `Spec`.
    """

    def __init__(self, backend: Library) -> None:
        super().__init__(with_extensions(self._named))
        self.backend, self.device_of, self.spec_of = backend, backend.handle_of, backend.spec
        self._providers: list[tuple[str, Mapping[str, Kernel]]] = []
        self._permanent = frozenset((*self.__dict__, "_permanent"))

    def __repr__(self) -> str:
        return f"<the names and kernels of {getattr(self.__dict__.get('backend'), 'name', 'no backend')}>"

    def _named(self, name: str) -> Any:
        """Return the kernel `name`, or else the library's function, dtype or constant of this name."""
        if name in table.declared:
            return self.kernel(name)
        try:
            return _followed(self.backend, name)
        except MissingFunction:
            if table.find(name) is None:  # not declared by a module that is imported late, either
                raise
            return self.kernel(name)

    def _in_body(self, own: str) -> LazyNamespace:
        """Return the namespace for the default body of the kernel `own`.

        In it, `own` and all functions of the standard's extensions are the library's functions.
        """

        def resolved(name: str) -> Any:
            if name in STANDARD:
                return LazyNamespace(lambda function: library_function(self.backend, f"{name}.{function}"))
            return library_function(self.backend, name) if name == own else getattr(self, name)

        return LazyNamespace(resolved)

    def set_providers(self, providers: list[tuple[str, Mapping[str, Kernel]]]) -> None:
        """Set the providers whose kernels take precedence over the backend's kernels, in order of preference."""
        self._providers = providers
        for name in tuple(self.__dict__):  # one by one, because another thread may be computing
            if name not in self._permanent:
                self.__dict__.pop(name, None)
        table.forget_plans()

    def find(self, name: str) -> Kernel | None:
        """Return the best replacement of the kernel `name`, or None."""
        own = self.backend.overrides().get(name)
        given = [kernels[name] for _, kernels in self._providers if name in kernels]
        titles = [provider for provider, kernels in self._providers if name in kernels]
        if OWNER in name:
            meant = table.meant.get(name, ())
            own, given = own if own in meant else None, [each for each in given if each in meant]
            titles = [provider for provider, kernels in self._providers if kernels.get(name) in given]
        elif own is None:
            own = self.backend.lazy_override(name)
        if not given:
            return own
        declaration = table.declared[name]
        last = own if own is not None else self._default(declaration)
        pure = table.definition(name) is not None and declaration.body is not None  # other kernels may write to arrays
        checks = [_FirstResult(f"{title}: kernel {name!r}", last if pure else None) for title in titles]
        return _first_that_accepts(list(zip(given, checks, strict=True)), last)

    def foreign(self) -> Iterator[tuple[str, Declaration, Kernel]]:
        """Yield provider, declaration and kernel of the kernels that other plugins give for this backend."""
        for provider, kernels in self._providers:
            for name, given in kernels.items():
                if (declaration := table.find(name)) is not None:
                    yield provider, declaration, given

    def reference(self, declaration: Declaration) -> Kernel | None:
        """Return the default body of a kernel, or the gradient rule that it replaces, or None."""
        return self._default(declaration) if declaration.rule is None else functools.partial(declaration.rule, self)

    def replacement(self, declaration: Declaration) -> Kernel | None:
        """Return the best replacement of a kernel, or None; a primitive that has been redefined has none."""
        return self.find(declaration.name) if table.is_current(declaration) else None

    def kernel(self, name: str) -> Kernel:
        """Return the kernel `name`: a replacement, or the default body with this namespace."""
        return self.kernel_of(table.declared[name])

    def kernel_of(self, declaration: Declaration) -> Kernel:
        """Return a kernel by its declaration, even if its name has been declared again since."""
        found = self.replacement(declaration)
        if found is None:
            found = self._default(declaration)
        if found is None:
            raise PluginError(
                f"{self.backend.name}: the backend has no kernel {declaration.name!r}, which has no default"
            )
        return self.backend.follow(found)

    def default(self, name: str) -> Kernel | None:
        """Return the default body of the kernel `name` with this namespace, or None without a body."""
        return self._default(table.declared[name])

    def providers(self, name: str) -> Iterator[str]:
        """Yield the providers of the kernel `name` in order of preference."""
        for provider, kernels in self._providers:
            if name in kernels:
                yield provider
        if name in self.backend.overrides() or self.backend.lazy_override(name) is not None:
            yield self.backend.name

    def _default(self, declaration: Declaration) -> Kernel | None:
        if declaration.body is None:
            return None
        return functools.partial(declaration.body, self._in_body(declaration.name))


def library_function(backend: Library, name: str) -> Any:
    """Return `name`, such as ``linalg.det`` or ``complex64``, of the library's namespace; raise `MissingFunction`."""
    try:
        return attrgetter(name)(backend.namespace)
    except AttributeError:
        raise MissingFunction(backend.name, name) from None


def missing_name(error: BaseException, namespace: Namespace) -> str | None:
    """Return the name missing in a library's namespace, such as ``linalg.det``, if the error reports one; or None."""
    if isinstance(error, MissingFunction):
        return error.function
    if not isinstance(error, AttributeError) or error.name is None or error.obj is None:
        return None
    if error.obj is namespace:
        return error.name
    return next((f"{n}.{error.name}" for n in STANDARD if error.obj is getattr(namespace, n, None)), None)


def _followed(backend: Library, name: str) -> Any:
    """Return `name` of the library's namespace; a function is wrapped to compute on the device of its arrays."""
    found = library_function(backend, name)
    return backend.follow(found) if callable(found) and not isinstance(found, type) else found


def check_kernels(kernels: Mapping[str, Kernel], provider: str, backend: str) -> None:
    """Raise `PluginError` if a name is unknown, or a function cannot be called with the arguments of its kernel."""
    if not isinstance(kernels, Mapping):
        raise PluginError(f"{provider}: expected a dict of kernels for backend {backend}, got {kernels!r}")
    for name, function in kernels.items():
        declaration = table.find(name)
        if declaration is None:
            import difflib  # only for a message

            close = difflib.get_close_matches(name, table.declared) or sorted(table.declared)
            raise PluginError(f"{provider}: unknown kernel {name!r} for backend {backend}; known: {', '.join(close)}")
        declaration.check(function, provider)
        if OWNER in name:
            table.meant.setdefault(name, []).append(function)


class _FirstResult:
    """Compares the first result of a third-party kernel with the result of the kernel that it replaces."""

    def __init__(self, title: str, usual: Kernel | None) -> None:
        self.title, self.usual = title, usual

    def check(self, result: Any, arrays: Sequence[Any], parameters: Mapping[str, Any]) -> None:
        """Raise `PluginError` if the first result has another type, shape or dtype; later results are not checked."""
        if self.usual is None or not any(hasattr(array, "shape") for array in arrays):
            return
        usual, self.usual = self.usual, None
        try:
            expected = usual(*arrays, **parameters)
        except Exception:  # it supports more than the usual kernel
            return
        if (found := difference(result, expected)) is not None:
            self.usual = usual
            raise PluginError(f"{self.title} gave {found}; remove the plugin, or repair the kernel")


def difference(result: Any, expected: Any) -> str | None:
    """Return how the type, shape or dtype of a kernel's result differs from the expected result, or None."""
    if not hasattr(expected, "shape") or not hasattr(expected, "dtype"):
        return None
    if not hasattr(result, "shape") or not hasattr(result, "dtype"):
        return f"{type(result).__name__}, expected {type(expected).__name__}"
    if (tuple(result.shape), result.dtype) == (tuple(expected.shape), expected.dtype):
        return None
    return f"{result.dtype} {tuple(result.shape)}, expected {expected.dtype} {tuple(expected.shape)}"


def _first_that_accepts(given: list[tuple[Kernel, _FirstResult]], last: Kernel | None) -> Kernel:
    """Return a kernel that tries `given` in order, then `last`; a kernel declines by returning `NotImplemented`."""

    def call(*arrays: Any, **parameters: Any) -> Any:
        for kernel, first in given:
            result = kernel(*arrays, **parameters)
            if result is not NotImplemented:
                if first.usual is not None:
                    first.check(result, arrays, parameters)
                return result
        return NotImplemented if last is None else last(*arrays, **parameters)

    return call


def kernel(
    arrays: int, parameters: tuple[str, ...] = (), *, extension: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a kernel that belongs to no differentiable function; the decorated function is its default body."""

    def declare(body: Callable[..., Any]) -> Callable[..., Any]:
        table.declare(Declaration(full_name(body, extension), arrays, parameters, body))
        return body

    return declare


@kernel(arrays=2)
def accumulate(xp: Namespace, total: Array, g: Array, /) -> Array:
    """Return ``total + g``; may write to `total`, which is not used again."""
    return total + g


@kernel(arrays=2)
def convolve_full(xp: Namespace, a: Array, v: Array, /) -> Array:
    """Return the full convolution of two vectors: windows of the longer vector times the reversed shorter vector."""
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    n, m = a.shape[0], v.shape[0]
    dtype = xp.result_type(a.dtype, v.dtype)
    device = xp.device_of(a)
    zeros = xp.zeros((m - 1,), dtype=dtype, device=device)
    padded, reverse = xp.concat([zeros, xp.astype(a, dtype), zeros]), xp.astype(xp.flip(v), dtype)
    rows = max(1, MAX_WINDOWS // m)
    parts = []
    for start in range(0, n + m - 1, rows):
        stop = min(start + rows, n + m - 1)
        places = xp.arange(start, stop, device=device)[:, None] + xp.arange(m, device=device)[None, :]
        windows = xp.take(padded, xp.reshape(places, (-1,)), axis=0)
        parts.append(xp.matmul(xp.reshape(windows, (stop - start, m)), reverse))
    return parts[0] if len(parts) == 1 else xp.concat(parts)


table.declare(Declaration("scatter_add", 2, (), None))
