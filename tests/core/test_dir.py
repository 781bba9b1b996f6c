"""The top-level namespace: the names in `dir`, and the error for a missing name."""

import importlib
import inspect
import subprocess
import sys

import pytest

import xpgrad

ROOT = """
AbstractSerializer AllocationError AnomalyError AxisError BackendMismatch BackendUnavailable BatchError BatchWarning
Chain ChainList ChangedArray CompileWarning DebugMode Deserializer Device DeviceMismatch DictSummary Distribution
DtypeError EscapedArray Function FunctionAdapter FunctionHook FunctionNode GradientError GradientMethod GraphEndWarning
GraphError Initializer IterationError Link LinkHook NotANumber Optimizer Parameter PluginError Reporter Scatter
Sequential SerializationError Serializer ShapeError SingularMatrix SparsityError SpecifierError StaleProgramWarning
StructureError Summary TraceError UnknownArray UpdateRule Variable VariableNode XpgradError __version__
anomaly_detection array_api as_array as_variable backend backends backward compile computational_graph config
configuration cross_entropy cuda dataset datasets debug_print distributions drawing elementwise fft force_backprop_mode
function function_hook function_hooks function_node functions get_array_module get_array_types get_cpu_array_types
get_current_reporter get_device get_device_from_array get_dtype get_function_hooks global_config grad gradient_check
initializers is_arrays_compatible is_debug iterators kl_divergence linalg link link_hooks links load_program mixed16
models no_backprop_mode ops optimizer optimizer_hooks optimizers plugin primitive print_runtime_info random register_kl
report report_scope reporter scipy serializers set_debug special testing training transforms use using_config
using_device utils variable
"""
LATE = """
backends computational_graph cuda dataset datasets distributions drawing fft function_hooks functions gradient_check
initializers iterators linalg link_hooks links models ops optimizer optimizer_hooks optimizers plugin reporter scipy
serializers special testing training transforms
"""
DOORS = """
xpgrad xpgrad.array_api xpgrad.array_api.fft xpgrad.array_api.linalg xpgrad.backend xpgrad.backend.random
xpgrad.backends xpgrad.backends.cuda xpgrad.computational_graph xpgrad.dataset xpgrad.datasets xpgrad.distributions
xpgrad.drawing xpgrad.fft
xpgrad.function_hooks xpgrad.functions xpgrad.initializers xpgrad.iterators xpgrad.linalg xpgrad.link_hooks xpgrad.links
xpgrad.models xpgrad.ops xpgrad.optimizer xpgrad.optimizer_hooks xpgrad.optimizers xpgrad.plugin xpgrad.reporter
xpgrad.scipy xpgrad.serializers xpgrad.special xpgrad.testing xpgrad.training xpgrad.transforms xpgrad.utils
"""
IMPLIED = {"array_api", "__array_api_version__", "__array_namespace_info__", "__version__"}


def test_dir_of_the_root_lists_exactly_the_existing_names() -> None:
    assert dir(xpgrad) == sorted(ROOT.split())


def test_late_modules_are_attributes_that_are_imported_when_read() -> None:
    program = f"""
import sys, xpgrad
listed = dir(xpgrad)
for name in {LATE.split()!r}:
    assert name in listed, name
    if name != "cuda":
        assert f"xpgrad.{{name}}" not in sys.modules, name
for name in {LATE.split()!r}:
    assert type(getattr(xpgrad, name)).__name__ == "module", name
assert dir(xpgrad) == listed
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("door", DOORS.split())
def test_listed_names_exist_and_are_public(door: str) -> None:
    module = importlib.import_module(door)
    listed = dir(module)
    assert listed == sorted(set(listed))
    assert set(module.__all__) <= set(listed)
    for name in listed:
        value = getattr(module, name)
        assert not name.startswith("_") or name in IMPLIED, name
        known = *module.__all__, *LATE.split(), "backend", "lib"
        assert not inspect.ismodule(value) or name in known or value is xpgrad, name  # Chainer's names for the root
        assert getattr(value, "__module__", None) != "typing", name


def test_types_list_their_aliases() -> None:
    assert dir(xpgrad.types) == sorted(xpgrad.types.__all__)
    assert {"AnyArray", "Array", "Dtype", "Shape"} < set(dir(xpgrad.types))
    assert {"Any", "Callable", "sys"}.isdisjoint(dir(xpgrad.types))


@pytest.mark.parametrize("name", ["__array_namespace__", "linalg", "fft"])
def test_the_namespace_of_a_variable_lists_no_tools(device, name: str) -> None:
    namespace = xpgrad.Variable(device.backend.namespace.ones(2)).__array_namespace__()
    module = namespace if name == "__array_namespace__" else getattr(namespace, name)
    assert [each for each in dir(module) if each.startswith("_") and each not in IMPLIED] == []
    assert all(hasattr(module, each) for each in dir(module))
    assert set(module.__name__.split(".")) <= {"xpgrad", "array_api", device.backend.name, "linalg", "fft"}


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_members_of_a_variable_can_be_listed(device, shape: tuple[int, ...]) -> None:
    v = xpgrad.Variable(device.backend.namespace.ones(shape))
    found = dict(inspect.getmembers(v))
    assert ("mT" in found) is (len(shape) >= 2)
    assert "chx_array" not in found or device.backend.name == "chx"
    assert found["imag"].shape == shape


@pytest.mark.parametrize(
    ("door", "name", "close"),
    [
        ("xpgrad", "gard", "grad"),
        ("xpgrad", "Varible", "Variable"),
        ("xpgrad", "summ", "array_api.sum"),
        ("xpgrad", "qqqqqq", None),
        ("xpgrad.functions", "relux", "relu"),
        ("xpgrad.functions", "sigmod", "sigmoid"),
        ("xpgrad.array_api", "tanhh", "tanh"),
        ("xpgrad.array_api.linalg", "nv", "inv"),
        ("xpgrad.array_api.fft", "ftt", "fft"),
        ("xpgrad.linalg", "nrm", "norm"),
        ("xpgrad.ops", "einsm", "einsum"),
        ("xpgrad.special", "gamm", "gamma"),
        ("xpgrad.transforms", "jacfdw", "jacfwd"),
        ("xpgrad.backend", "GpuDevce", "GpuDevice"),
    ],
)
def test_a_misspelt_name_gets_the_closest_suggestion(door: str, name: str, close: str | None) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(importlib.import_module(door), name)
    question = f"; did you mean {close!r}?" if close else ""
    assert str(caught.value) == f"module {door!r} has no attribute {name!r}{question}"
    assert caught.value.name == name


@pytest.mark.parametrize("name", ["sum", "tensordot", "transpose", "linalg.norm", "linalg.det", "fft.fft2", "max"])
def test_numpy_names_have_a_docstring_and_are_not_listed_at_the_root(name: str) -> None:
    chapter, _, short = name.rpartition(".")
    module = importlib.import_module(f"xpgrad.{chapter}") if chapter else xpgrad
    function = getattr(module, short)
    assert f"`numpy.{name}` of Variables" in function.__doc__
    assert (function.__module__, function.__qualname__) == (module.__name__, short)
    assert "object at 0x" not in str(inspect.signature(function))
    assert chapter or short not in dir(xpgrad)
