"""The names of the API in documents exist: names of modules and classes exactly, other names in any class."""

import builtins
import functools
import importlib
import inspect
import keyword
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.docs.documents import ROOT

import xpgrad
import xpgrad.functions
import xpgrad.plugin
import xpgrad.transforms
import xpgrad_c
import xpgrad_chx
import xpgrad_conformance
import xpgrad_fusion
import xpgrad_numpy
from xpgrad.backend.kernels import table

PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("design/*.md")),
    *sorted((ROOT / "docs").glob("howto/*.md")),
    *sorted(ROOT.glob("plugins/*/README.md")),
]
CLASSES = {
    name: value
    for module in (xpgrad, xpgrad.plugin, xpgrad.transforms)
    for name, value in vars(module).items()
    if inspect.isclass(value) and name in module.__all__
}
ROOTS: dict[str, Any] = CLASSES | {
    "xpgrad": xpgrad,
    "xpgrad_conformance": xpgrad_conformance,
    "F": xpgrad.functions,
    "xp": xpgrad.array_api,
    "chx": xpgrad_chx,
    "np": np,
    "numpy": np,
}
GROUPS = {"xpgrad.backends", "xpgrad.array_modules", "xpgrad.devices", "xpgrad.executors"}
"""Of entry points: no modules."""
OTHERS = {"autograd", "chainer", "da", "dask", "distributed", "jax", "jnp", "nn", "scipy", "sklearn", "torch", "xarray"}
"""Libraries whose names are not looked up."""
WORDS = {
    "CONTRIBUTING.md": "make xp.sech exhaustive part_of half_of slow",  # the example of a new function, and turns
    "autograd.md": "install meta_path pth sys test_autodiff test_interface test_rfftn_odd_not_implemented"
    " xpgrad_autograd xpgrad_autograd_stand_in",
    "backends.md": "boxed generator integers xpgrad_npu",
    "certification.md": "boxed chx conformance cpu dask dpnp jax json make mlx numpy schema soak strict torch",
    "chainer.md": "CaffeFunction DaliIterator GoogLeNet GRUBase MultiprocessParallelUpdater ReLUGrad2 ResNet50Layers"
    " TheanoFunction VGG16Layers _backprop_utils memory_layouts AsLayout mask autotune cudnn_deterministic use_cudnn"
    " use_ideep static_graph elapsed_time xpgrad_chainer chainerx",
    "compile.md": "cc clang cupy gcc logging monitoring settrace sys",
    "design": "cpu cupy gpu native protocol.py xp.device_of xp.spec_of",
    "devices.md": "available",
    "drawing.md": "Source",  # graphviz.Source
    "executors.md": "xpgrad_npu",
    "half-a-standard.md": "lean builtins concatenate transpose fine lean.gather operator.add expected",
    "howto": "array_api_strict array_namespace dependencies fsum jax_enable_x64 xpgrad_npu",
    "interop.md": "xp.array xpgrad.interop.spam xpgrad.interop.from_spam",  # missing names, and names of an example
    "xpgrad-autograd": "VSpace integrate misc odeint register stats test_util trace tracer uninstall xpgrad_autograd",
    "xpgrad-chainer": "Softmax dataset tabular uninstall xpgrad_chainer",
    "xpgrad-dask": "compute_chunk_sizes persist",  # methods of dask's arrays
    "xpgrad-jax": "Auto Explicit donate_argnums",
    "xpgrad-mlx": "mx compile eval set_default_device xpgrad_mlx namespace",
    "xpgrad-sparse": "sparse COO GCXS tocoo todense xpgrad_sparse",
    "xpgrad-strict": "CPU_DEVICE device2",
    "xpgrad-torch": "cpu detach meta requires_grad_ _backward avg_pool2d avg_pool2d_backward clamp convolution_backward"
    " hardtanh_backward index_add_ index_select leaky_relu_backward max_pool2d_with_indices native_batch_norm"
    " _log_softmax_backward_data _softmax_backward_data native_group_norm native_group_norm_backward"
    " native_layer_norm native_layer_norm_backward sigmoid_backward silu silu_backward softplus_backward"
    " threshold_backward logsigmoid",
    "models.md": "model.named_parameters model.state_dict named_parameters state_dict",  # PyTorch's
    "port-from-chainer.md": "xpgrad.training.triggers.Interval",  # a name that the command breaks
    "scaling.md": "freeze gc",
    "tutorial.md": "xp.device_of xp.spec_of",  # arguments of rules
    "transforms.md": "aux least_squares resize_ sol",
}
"""Other text in code font on a page: values, words of files, names of other libraries."""
OF_THEIR_LIBRARIES = {"interop.md", *(f"port-from-{name}.md" for name in ("autograd", "chainer", "jax", "pytorch"))}
"""Their bare names are functions of other libraries, which tests/examples and test_howto.py run."""
DOTTED = re.compile(r"(?<![\w./@-])([A-Za-z_]\w*+)((?:\.[A-Za-z_]\w*+)++)(?![*{-])")  # no start of names: F.max_*
IN_CODE_FONT = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\([^`]*\))?`(?!`)")
BLOCKS = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def modules(*packages: ModuleType) -> Iterator[ModuleType]:
    """All modules of these packages."""
    for package in packages:
        yield package
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


def parameters(function: Any) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # not a function, or a function without a signature
        return set()


@functools.cache
def vocabulary() -> frozenset[str]:
    """Every name of a module, class, function, attribute, parameter, kernel or fact."""
    known = {*xpgrad.backend._CLASSES, "__torch_function__"}  # of backends that may not be here
    known |= {*dir(builtins), *keyword.kwlist, *dir(np), *dir(np.ndarray), *dir(np.linalg), *xpgrad.plugin.FACTS}
    for module in modules(xpgrad, xpgrad_conformance, xpgrad_c, xpgrad_chx, xpgrad_fusion, xpgrad_numpy):
        known.update(module.__name__.split("."), dir(module))
        for value in list(vars(module).values()):
            known |= parameters(value)
            if inspect.isclass(value) and value.__module__.startswith("xpgrad"):
                known.update(dir(value), getattr(value, "__annotations__", ()))
                known.update(*(parameters(each) for each in vars(value).values()))
    known.update(*(name.split(".") for name in table.declared), xpgrad.config._entries())
    return frozenset(known)


def exists(root: str, path: str) -> bool:
    """Whether ``root.path`` exists: a module, or an attribute of a module, a class or its instances."""
    found = ROOTS[root]
    for name in path.split("."):
        if name in getattr(found, "__annotations__", {}):
            return True
        try:
            found = getattr(found, name)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{name}")
            except (AttributeError, ImportError):
                return False
        if not isinstance(found, ModuleType | type):
            break
    return True


def unknown(text: str, words: set[str], bare: bool = True) -> set[str]:
    """The names in a page that do not exist."""
    names = {
        f"{root}{path}"
        for root, path in DOTTED.findall(text)
        if root in ROOTS and path != ".md" and f"{root}{path}" not in GROUPS | words and not exists(root, path[1:])
    }
    for name in IN_CODE_FONT.findall(BLOCKS.sub("", text)) if bare else ():
        first, *rest = name.split(".")
        if first not in ROOTS and first not in OTHERS and not (rest and rest[-1] in ("py", "toml", "md")):
            names |= {name} if not {first, *rest} - {""} <= vocabulary() | words and not name.isupper() else set()
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_in_the_documents_exist(page: Path) -> None:
    own = WORDS.get(page.name, "") + " " + WORDS.get(page.parent.name, "")
    assert not unknown(page.read_text(), set(own.split()), page.name not in OF_THEIR_LIBRARIES)


@pytest.mark.parametrize(
    "name",
    ["xpgrad.gradiant", "xpgrad.transforms.gradd", "F.softmaxx", "xp.linalg.dett", "Variable.back", "`to_devise`",
     "chx.zeroes", "Device.sendd", "`Variabel(x)`", "`backwards_all()`"],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_found(name: str) -> None:
    assert unknown(f"Call {name} for it.", set())


@pytest.mark.parametrize(
    "name",
    ["xpgrad.grad", "xpgrad.scipy.hess", "F.softmax", "xp.linalg.det", "Variable.grad_var", "`retain_grad`",
     "`enable_double_backprop`", "`Variable(x)`", "xpgrad.config.debug", "`pyproject.toml`", "`XPGRAD_DEVICE`"],
)  # fmt: skip
def test_existing_names_are_not_unknown(name: str) -> None:
    assert not unknown(f"Call {name} for it.", set())
