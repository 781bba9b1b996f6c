import functools
import importlib
import inspect
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.processes import output_of

from xpgrad import array_api
from xpgrad.backend.kernels import Declaration, KernelNamespace, KernelTable, check_kernels, kernel, table
from xpgrad.backend.plugins import plugins
from xpgrad.errors import PluginError


def double(xp: Any, x: Any, /, factor: Any = 2) -> Any:
    return xp.multiply(x, factor)


class Toy:
    """Backend with the attributes that a KernelNamespace needs."""

    name = "toy"

    def __init__(self, **overrides: Any) -> None:
        self.own = overrides
        self.late: dict[str, Any] = {}
        self.namespace = SimpleNamespace(multiply=lambda x, y: x * y, square=lambda x: x * x, tanh=np.tanh)
        self.xp = KernelNamespace(self)  # type: ignore[arg-type]  # as much of a backend as is needed here

    def overrides(self) -> Any:
        return self.own

    def follow(self, function: Any) -> Any:
        return function

    def lazy_override(self, name: str) -> Any:
        return self.late.get(name)

    def has_values(self, array: Any) -> bool:
        return True

    def handle_of(self, array: Any) -> str:
        return "here"

    def spec(self, array: Any) -> Any:
        return SimpleNamespace(shape=array.shape)


@pytest.fixture
def declared() -> Iterator[None]:
    kernel(arrays=1, parameters=("factor",))(double)
    yield
    del table.declared["double"]


def test_a_name_is_declared_once() -> None:
    own = KernelTable()
    own.declare(Declaration("f", 1, (), None))
    with pytest.raises(PluginError, match="kernel 'f' is declared twice; choose another name"):
        own.declare(Declaration("f", 2, (), None))


def test_the_default_body_computes_with_kernels_and_the_librarys_names(declared: None) -> None:
    xp = Toy(multiply=lambda x, y: x * y + 0.5).xp
    assert xp.double(3.0, factor=2) == 6.5
    assert xp.square(3.0) == 9.0


def test_in_the_body_of_a_kernel_its_own_name_is_the_librarys_function() -> None:
    toy = Toy(tanh=lambda x: "faster")
    assert toy.xp.tanh(0.0) == "faster"
    assert Toy().xp.tanh(0.0) == 0.0


def test_the_first_provider_that_accepts_replaces_a_kernel(declared: None) -> None:
    toy = Toy(double=lambda x, factor: "own")
    assert toy.xp.double(1.0, factor=2) == "own"
    picky = {"double": lambda x, factor: "picky" if x > 0 else NotImplemented}
    toy.xp.set_providers([("picky", picky), ("never", {"double": lambda x, factor: NotImplemented})])
    assert toy.xp.double(1.0, factor=2) == "picky"
    assert toy.xp.double(-1.0, factor=2) == "own"
    assert list(toy.xp.providers("double")) == ["picky", "never", "toy"]
    toy.xp.set_providers([])
    assert toy.xp.double(1.0, factor=2) == "own"


def test_a_late_kernel_serves_where_the_backend_has_no_other(declared: None) -> None:
    toy = Toy()
    toy.late["double"] = lambda x, factor: "late"
    assert toy.xp.double(1.0, factor=2) == "late"
    assert list(toy.xp.providers("double")) == ["toy"]
    toy.own["double"] = lambda x, factor: "own"
    assert Toy(**toy.own).xp.double(1.0, factor=2) == "own"


@pytest.mark.parametrize("name", ["linalg.inv", "fft.rfft", "special.erf"])
def test_a_kernel_of_an_extension_is_reached_by_its_prefix(name: str) -> None:
    extension, _, function = name.partition(".")
    importlib.import_module("xpgrad.special.catalogue" if extension == "special" else f"xpgrad.array_api.{extension}")
    toy = Toy()
    toy.own[name] = lambda x, **parameters: "faster"
    assert getattr(getattr(toy.xp, extension), function)(1.0) == "faster"


def test_default_bodies_of_extensions_use_the_library() -> None:
    toy = Toy()
    toy.own |= {"linalg.det": lambda x: "never", "linalg.svd": lambda x, full_matrices=True: "never"}
    toy.namespace = np
    assert toy.xp.linalg.cofactors(np.asarray([[2.0]]), np.asarray(2.0)) == 1.0
    assert toy.xp.linalg.norm(np.asarray([3.0, 4.0])) == 5.0  # names that are not kernels come from the library


def test_rules_of_transforms_use_the_backends_kernels() -> None:
    calls = []

    def rfft(x: Any, **parameters: Any) -> Any:
        calls.append("rfft")
        return np.fft.rfft(x, **parameters)

    toy = Toy()
    toy.namespace, toy.own["fft.rfft"] = np, rfft
    rule = array_api.fft.hfft.definition.rules["x"]
    spec = plugins.backend_of(np.zeros(1)).spec(np.zeros(3, complex))
    assert rule(toy.xp, np.ones(4), spec, -1, "backward").shape == (3,)
    assert calls == ["rfft"]


def test_when_all_decline_the_default_body_runs(declared: None) -> None:
    toy = Toy()
    toy.xp.set_providers([("never", {"double": lambda x, factor: NotImplemented})])
    assert toy.xp.double(3.0, factor=2) == 6.0


def test_plans_are_forgotten_when_providers_change(declared: None) -> None:
    plans = array_api.tanh.definition.plans
    plans[Toy] = "plan"
    Toy().xp.set_providers([])
    assert plans == {}


def test_a_kernel_without_a_body_must_be_given() -> None:
    with pytest.raises(PluginError, match="toy: the backend has no kernel 'scatter_add', which has no default"):
        _ = Toy().xp.scatter_add


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = Toy().xp.nonsense
    with pytest.raises(AttributeError):
        _ = Toy().xp.__wrapped__


def test_kernels_of_an_extension_that_loads_late_are_known() -> None:
    code = """
import sys, xpgrad
from xpgrad.backend.kernels import check_kernels
late = "xpgrad.special.catalogue"
assert late not in sys.modules
check_kernels({"special.erf": abs}, "me 1.0", "toy")
assert late in sys.modules
"""
    assert output_of("-c", code) == ""


def test_vjp_kernel_takes_the_cotangent_and_the_arguments_of_its_rule() -> None:
    assert table.declared["tanh.x"].arrays == 3
    check_kernels({"tanh.x": lambda gy, x, y: gy}, "me 1.0", "toy")
    with pytest.raises(PluginError, match=r"kernel 'tanh.x' must take \(array1, array2, array3\)"):
        check_kernels({"tanh.x": lambda gy: gy}, "me 1.0", "toy")


def test_accumulate_returns_the_sum() -> None:
    assert Toy().xp.accumulate(2.0, 3.0) == 5.0


FORMS: tuple[Any, ...] = (
    lambda: 0, lambda a: 0, lambda a, /: 0, lambda a, b: 0, lambda a, /, p: 0, lambda a, /, *, p: 0, lambda a, p=1: 0,
    lambda a, p, /: 0, lambda a, b, /, p, q=2: 0, lambda a, *, p=1, q: 0, lambda a, b=1, /, p=2: 0,
    lambda a, b, c=1, /: 0, lambda a=1, b=2, /, *, p=3: 0, lambda a, p, *, q=1: 0, lambda a, b, p, *r, q: 0,
    lambda p, a: 0, lambda *a, p: 0, lambda a, **k: 0, functools.partial(lambda a, p, b: 0, p=1),
    functools.wraps(lambda a: 0)(lambda *a: 0), np.negative, np.add, np.matmul, np.sum, len,
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_kernel_is_accepted_if_and_only_if_its_signature_takes_the_arguments(form: Any) -> None:
    for arrays in range(4):
        for parameters in ((), ("p",), ("q",), ("p", "q"), ("a",), ("b",)):
            declaration = Declaration("toy", arrays, parameters, None)
            try:
                inspect.signature(form).bind(*[None] * arrays, **dict.fromkeys(parameters))
            except TypeError:
                with pytest.raises(PluginError, match="must take"):
                    declaration.check(form, "me")
            except ValueError:  # without a signature
                declaration.check(form, "me")
            else:
                declaration.check(form, "me")
