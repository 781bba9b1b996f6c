"""Tests on each of several devices, with the configuration that chooses their kernels."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import xpgrad
from xpgrad import Device
from xpgrad.backend import GpuDevice, get_device
from xpgrad_chainer.testing import marks
from xpgrad_chainer.testing.bundle import make_decorator

PROPERTIES: dict[str, Any] = {
    "use_chainerx": False,
    "chainerx_device": None,
    "use_cuda": False,
    "cuda_device": None,
    "use_cudnn": "never",
    "cudnn_deterministic": False,
    "autotune": False,
    "cudnn_fast_batch_normalization": False,
    "use_ideep": "never",
}
ENTRIES = "use_cudnn", "cudnn_deterministic", "autotune", "use_ideep"
"""The properties that are entries of the configuration."""


class BackendConfig:
    """A device and entries of the configuration; as a context manager it makes both current.

    Parameters
    ----------
    params : dict
        Values of `PROPERTIES`, each of which is an attribute.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        if not isinstance(params, Mapping):
            raise TypeError(f"BackendConfig: expected a dictionary, got {type(params).__name__}")
        unknown = next((name for name in params if name not in PROPERTIES), None)
        if unknown is not None:
            raise ValueError(f"BackendConfig: unknown property {unknown!r}; expected one of {', '.join(PROPERTIES)}")
        vars(self).update(PROPERTIES, **params)
        self._stacks: list[ExitStack] = []
        values: Any = vars(self)
        if values["use_cuda"] and values["cuda_device"] is None:
            values["cuda_device"] = 0
        if values["use_chainerx"] and not isinstance(values["chainerx_device"], str):
            raise AssertionError("BackendConfig: expected chainerx_device, such as 'native:0', for use_chainerx")

    @property
    def device(self) -> Device:
        """The device."""
        values = vars(self)
        if values["use_cuda"]:
            return GpuDevice.from_device_id(values["cuda_device"])
        if values["use_chainerx"]:
            return get_device(values["chainerx_device"])
        return get_device("@intel64" if values["use_ideep"] != "never" else "@numpy")

    @property
    def xp(self) -> Any:
        """The array module of the device."""
        return self.device.xp

    def __enter__(self) -> "BackendConfig":
        with ExitStack() as stack:
            for name in ENTRIES:
                stack.enter_context(xpgrad.using_config(name, vars(self)[name]))
            stack.enter_context(xpgrad.using_device(self.device))
            self._stacks.append(stack.pop_all())
        return self

    def __exit__(self, *error: Any) -> None:
        self._stacks.pop().__exit__(*error)

    def __repr__(self) -> str:
        return f"<BackendConfig {' '.join(f'{name}={vars(self)[name]!r}' for name in PROPERTIES)}>"

    def get_func_str(self) -> str:
        """Return a text for names of functions."""
        texts = {True: "true", False: "false"}
        values = vars(self)
        return "__".join(f"{name}_{texts.get(values[name], values[name])}" for name in PROPERTIES)

    def get_pytest_marks(self) -> list[Any]:
        """Return the marks of tests on this device."""
        values: dict[str, Any] = vars(self)
        found: list[Any] = []
        if values["use_chainerx"]:
            found.append(marks.chainerx)
            if values["chainerx_device"].startswith("cuda"):
                found.append(marks.gpu)
        elif values["use_cuda"]:
            found.append(marks.multi_gpu(values["cuda_device"] + 1))
            if values["use_cudnn"] != "never":
                found.append(marks.cudnn)
        elif values["use_ideep"] != "never":
            found.append(marks.ideep)
        return found

    def get_array(self, np_array: Any) -> Any:
        """Return an array, or each of a sequence, on the device."""
        return self.device.send(np_array)


def inject_backend_tests(method_names: Iterable[str] | None, params: Sequence[Mapping[str, Any]]) -> Any:
    """Return a decorator that makes a class of tests for each device.

    Parameters
    ----------
    method_names : list of str or None
        The methods that have a parameter for the `BackendConfig`; by default all whose names begin with ``test_``.
        Other methods are in the first class only.
    params : list of dict
        As for `BackendConfig`.
    """
    if not isinstance(params, (list, tuple)):
        raise TypeError(f"inject_backend_tests: expected params as a list or tuple, got {type(params).__name__}")
    names = None if method_names is None else list(method_names)
    configs = [BackendConfig(each) for each in params]

    def generate(cls: type) -> Iterator[tuple[str, dict[str, Any], Any]]:
        tests = [name for name in dir(cls) if name.startswith("test_") and callable(getattr(cls, name))]
        chosen = tests if names is None else names
        for i, config in enumerate(configs):
            members: dict[str, Any] = {name: _given(getattr(cls, name), config) for name in chosen}
            if i:
                members |= dict.fromkeys(name for name in tests if name not in chosen)
            yield f"{cls.__name__}_backend_{i}", members, None

    return make_decorator(generate)


def _given(method: Callable[..., Any], config: BackendConfig) -> Callable[..., Any]:
    """Return a method with the config as its next argument, marked for its device."""

    @functools.wraps(method)
    def test(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, BackendConfig({name: vars(config)[name] for name in PROPERTIES}), *args, **kwargs)

    del test.__wrapped__  # else pytest takes the argument for a fixture
    for mark in config.get_pytest_marks():
        test = mark(test)
    return test
