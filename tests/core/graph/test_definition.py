"""The names of primitives: defined by a user, by a module, or defined again."""

import gc
import importlib
import pickle
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.devices import device_or_skip
from tests.processes import output_of
from tests.threads import for_each

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Variable, elementwise, primitive
from xpgrad.backend.kernels import check_kernels, table
from xpgrad.errors import PluginError, UnknownArray
from xpgrad.testing.arrays import on_host, placed

CELL = """
from xpgrad import elementwise

@elementwise(x=lambda xp, gy, x: gy * {n} * x ** ({n} - 1))
def {name}(xp, x, /):
    return x ** {n}
"""


def run(cell: str, module: str = "__main__", **names: Any) -> dict[str, Any]:
    """The names of a module in which a cell was run."""
    space = {"__name__": module} | names
    exec(cell, space)
    return space


def defined(n: int, name: str = "power", module: str = "__main__") -> Callable[..., Variable]:
    """The n-th power, as the module `module` defines it under a name."""
    return run(CELL.format(n=n, name=name), module)[name]


def gradient(function: Callable[..., Variable], device: xpgrad.Device, at: float = 2.0) -> tuple[Any, Any, Any]:
    """Value, gradient and second derivative of an elementwise function."""
    x = Variable(placed(np.asarray([at]), device))
    y = function(x)
    y.backward(enable_double_backprop=True)
    first = x.grad_var
    x.cleargrad()
    first.backward()
    return tuple(float(on_host(a)[0]) for a in (y.array, first.array, x.grad))


def test_a_cell_that_defines_a_primitive_can_be_run_again_with_another_formula(device) -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    for n in (2, 2, 3, 4):
        exec(CELL.format(n=n, name="power"), space)
        assert gradient(space["power"], device) == (2.0**n, n * 2.0 ** (n - 1), n * (n - 1) * 2.0 ** (n - 2))


@pytest.mark.parametrize(
    "name", ["logsumexp", "std", "tanh", "add", "sum", "softmax", "accumulate", "scatter_add", "sum_to"]
)
def test_a_primitive_may_share_a_name_with_xpgrad_without_side_effects(device, name) -> None:
    before = {key: value for key, value in table.declared.items() if ":" not in key}
    own = defined(3, name)
    assert gradient(own, device) == (8.0, 12.0, 12.0)
    x = Variable(placed(np.asarray([0.5, 1.5, 0.25]), device))
    (xp.std(x) + xp.logsumexp(x) + xp.sum(xp.tanh(x) + x[0]) + xp.sum(F.softmax(x[None, :]) ** 2)).backward()
    assert x.grad is not None
    assert {key: table.declared[key] for key in before} == before
    assert {key for key in table.declared if ":" in key} >= {f"__main__:{name}", f"__main__:{name}.x"}


def test_names_that_xpgrad_declares_later_are_free_too() -> None:
    program = CELL.format(n=2, name="logsumexp") + textwrap.dedent("""
        import numpy as np
        import xpgrad
        v = xpgrad.Variable(np.arange(3.0))
        assert np.std(v).array == np.std(np.arange(3.0))
        import xpgrad.ops, xpgrad.functions
        assert abs(xpgrad.ops.logsumexp(v).array - np.log(np.exp(np.arange(3.0)).sum())) < 1e-14
        assert logsumexp(v).array.tolist() == [0.0, 1.0, 4.0]
        """)
    output_of("-c", program)


def power_of(n: int) -> Callable[..., Variable]:
    @elementwise(x=lambda xp, gy, x: gy * n * x ** (n - 1))
    def power(xp, x, /):
        return x**n

    return power


def test_two_primitives_defined_by_one_function_are_independent(device) -> None:
    square, cube = power_of(2), power_of(3)
    for _ in range(2):
        assert gradient(square, device) == (4.0, 4.0, 2.0)
        assert gradient(cube, device) == (8.0, 12.0, 12.0)
        table.forget_plans()  # as when a plugin with kernels is loaded in between


def test_two_modules_of_one_name_are_both_right(device) -> None:
    first, second = defined(2, module="layers"), defined(3, module="layers")
    table.forget_plans()
    assert gradient(first, device) == (4.0, 4.0, 2.0)
    assert gradient(second, device) == (8.0, 12.0, 12.0)


def test_a_module_can_be_reloaded(device, tmp_path, monkeypatch) -> None:
    path = tmp_path / "layers_to_reload.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path.write_text(CELL.format(n=2, name="power"))
    module = importlib.import_module("layers_to_reload")
    assert gradient(module.power, device) == (4.0, 4.0, 2.0)
    path.write_text(CELL.format(n=3, name="power") + "# longer, so that no cache is taken for it")
    importlib.invalidate_caches()
    importlib.reload(module)
    assert gradient(module.power, device) == (8.0, 12.0, 12.0)
    del sys.modules["layers_to_reload"]


def test_a_graph_made_before_keeps_its_formula() -> None:
    space = run(CELL.format(n=2, name="power"))
    x = Variable(np.asarray([3.0]))
    y = space["power"](x)
    exec(CELL.format(n=3, name="power"), space)
    y.backward()
    assert x.grad == 6.0
    assert space["power"](x).array == 27.0


# Kernels of plugins


@pytest.fixture
def given() -> Iterator[Callable[..., None]]:
    """A function that provides kernels for the backend of NumPy, as a loaded plugin does."""
    kernels = device_or_skip("@numpy").backend.xp
    before = kernels._providers

    def give(**named: Any) -> None:
        renamed = {f"layers:{name.replace('_', '.')}": kernel for name, kernel in named.items()}
        check_kernels(renamed, "a plugin", "numpy")
        kernels.set_providers([("a plugin", renamed), *before])

    yield give
    kernels.set_providers(before)


def test_a_plugin_replaces_the_kernels_of_a_users_primitive_by_its_module(given) -> None:
    power, x = defined(2, module="layers"), Variable(np.asarray([3.0]))
    given(power=lambda x: x * 100, power_x=lambda gy, x: gy * 1000)
    y = power(x)
    y.backward()
    assert (y.array, x.grad) == (300.0, 1000.0)
    assert gradient(power, device_or_skip("@numpy"))[1:] == (4.0, 2.0)  # a recorded sweep takes the formula


@pytest.mark.parametrize("inputs", ["ab", "abc"])
def test_one_kernel_gives_all_gradients_of_a_users_primitive(given, inputs) -> None:
    others = {x: [each for each in inputs if each != x] for x in inputs}
    formulas = {x: f"gy * {' * '.join(rest)}" for x, rest in others.items()}
    rules = [f"{x}=lambda xp, gy, {', '.join(others[x])}: {formula}" for x, formula in formulas.items()]
    every = f"together=lambda xp, gy, {', '.join(inputs)}: ({', '.join(formulas.values())})"
    cell = (
        f"@primitive({', '.join(rules)}, {every})\ndef product(xp, {', '.join(inputs)}, /): return {' * '.join(inputs)}"
    )
    product = run(cell, "layers", primitive=primitive)["product"]

    def gradients(constant: str = "", recorded: bool = False) -> list[float]:
        xs = [Variable(np.asarray(float(i)), requires_grad=x != constant) for i, x in enumerate(inputs, 2)]
        product(*xs).backward(enable_double_backprop=recorded)
        return [float(x.grad) for x in xs if x.requires_grad]

    right = [float(np.prod([n for n in range(2, 2 + len(inputs)) if n != i])) for i in range(2, 2 + len(inputs))]
    given(product_together=lambda gy, *xs: tuple(10 * x for x in xs))
    assert gradients() == [20.0, 30.0, 40.0][: len(inputs)]
    assert gradients(recorded=True) == right
    assert gradients(constant="a") == right[1:]
    given(product_together=lambda gy, *xs: NotImplemented)
    assert gradients() == right


def test_a_new_definition_does_not_inherit_kernels_of_the_old_definition(given) -> None:
    old = defined(2, module="layers")
    given(power=lambda x: x * 100, power_x=lambda gy, x: gy * 1000)
    new = defined(3, module="layers")
    table.forget_plans()
    for function, n in ((old, 2), (new, 3)):
        x = Variable(np.asarray([2.0]))
        y = function(x)
        y.backward()
        assert (y.array, x.grad) == (2.0**n, n * 2.0 ** (n - 1))
    given(power=lambda x: x * 100)
    assert new(x).array == 200.0
    assert old(x).array == 4.0


def test_a_kernel_of_a_module_that_is_not_there_is_an_unknown_name(given) -> None:
    with pytest.raises(PluginError, match="a plugin: unknown kernel 'layers:nothing' for backend numpy"):
        given(nothing=lambda x: x)


def test_xpgrads_own_kernels_are_declared_once() -> None:
    with pytest.raises(PluginError, match="kernel 'tanh' is declared twice"):
        run(CELL.format(n=2, name="tanh"), "xpgrad.another_module")


# Names


class Activations:
    @staticmethod
    @elementwise(x=lambda xp, gy, x: gy * 2 * x)
    def square(xp, x, /):
        return x * x


@primitive(x=lambda xp, gy: gy * 2)
def twice(xp, x, /):
    return x + x


def test_a_primitive_of_a_module_or_a_class_can_be_pickled() -> None:
    for function in (twice, Activations.square):
        assert pickle.loads(pickle.dumps(function)) is function
    assert Activations.square.definition.kernel.name == f"{__name__}:Activations.square"


def test_messages_and_pictures_have_the_short_name() -> None:
    power = defined(2, module="package.layers")
    y = power(Variable(np.ones(2)))
    assert y.creator.label == "power"
    with pytest.raises(UnknownArray, match=r"^power: "):
        power("no array")


def test_a_module_without_a_name_is_main() -> None:
    space: dict[str, Any] = {}
    exec(CELL.format(n=2, name="power"), space)
    assert space["power"].definition.kernel.name in ("__main__:power", "builtins:power")
    assert space["power"](Variable(np.asarray([3.0]))).array == 9.0


# Memory and threads


@pytest.mark.usefixtures("few_objects")
def test_ten_thousand_definitions_leave_no_state_behind() -> None:
    space = run(CELL.format(n=2, name="power"))
    gc.collect()
    declared, planned = dict(table.declared), len(table._planned)
    cell = compile(CELL.format(n=2, name="power"), "cell", "exec")
    x = Variable(np.ones(2))
    for number in range(10_000):
        exec(cell, space)
        if number % 100 == 0:
            space["power"](x).sum().backward()  # with plans
    gc.collect()
    assert len(table._planned) == planned
    assert table.declared.keys() == declared.keys()


@pytest.mark.usefixtures("few_objects")
def test_local_definition_is_declared_while_it_exists() -> None:
    name = f"{__name__}:power_of.<locals>.power"
    power = power_of(2)
    power(Variable(np.ones(1)))
    assert name in table.declared
    del power
    gc.collect()
    assert name not in table.declared


def test_threads_that_define_one_name_use_separate_definitions() -> None:
    def work(n: int) -> None:
        for _ in range(50):
            found = gradient(defined(n), xpgrad.get_device("@numpy"))[:2]
            assert found == (2.0**n, n * 2.0 ** (n - 1))

    for_each(work, range(2, 10))
