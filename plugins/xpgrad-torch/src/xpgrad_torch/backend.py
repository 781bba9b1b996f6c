"""The backend of PyTorch: tensors as plain arrays, without PyTorch's own tape."""

from sys import getrefcount
from typing import Any

import torch

import xpgrad
from xpgrad.errors import DtypeError, ShapeError, UnknownArray, XpgradError
from xpgrad.plugin import ArrayAPIBackend, BackendUnavailable, Device, Spec
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape
from xpgrad_torch import devices, exchange
from xpgrad_torch import namespace as standard
from xpgrad_torch.capabilities import capabilities
from xpgrad_torch.kernels import KERNELS, special
from xpgrad_torch.programs import PART, PARTS_FROM, TorchPrograms

IN_PLACE_FROM = 65536
MAX_CONSTANTS = 1024
ABOUT_DTYPES = ("type", "not implemented", "not support", "floating point", "complex", "bool tensor", "ScalarType")
"""What PyTorch says in a RuntimeError about dtypes; other RuntimeErrors about arguments are about shapes."""
ABSENT = (AttributeError, RuntimeError)
"""What counting references raises in versions of PyTorch without the function, and within its transformations."""


def _references(view: torch.Tensor) -> tuple[int, int, int]:
    """Return the references to the tensor of a view, of Python and in all, as by DLPack, and to its storage."""
    base: Any = view._base
    return getrefcount(base), base._use_count(), torch._C._storage_Use_Count(view.untyped_storage()._cdata)


def _of_one_view() -> tuple[int, int, int]:
    try:
        return _references(torch.empty(2).view(2))
    except ABSENT:
        return 0, 0, 0


OF_ONE_VIEW = _of_one_view()
"""References if only the view refers to its tensor, which depends on the versions of Python and PyTorch."""


class TorchBackend(ArrayAPIBackend):
    """Tensors of PyTorch in host memory and on its accelerators.

    Work on an accelerator goes to its current stream, which is waited for only when values are requested.
    """

    in_place_from = IN_PLACE_FROM  # below that a new tensor is as fast as adding in place
    zero_dimensional_widen = False  # float32[3] * float64[] is float32

    def __init__(self) -> None:
        here = devices.present()
        super().__init__(
            name="torch",
            namespace=standard,
            array_types=(torch.Tensor, torch.nn.Parameter),
            devices=here,
            kernels=KERNELS,
            module=torch,
            version=str(torch.__version__),
            capabilities=capabilities(here),
            thresholds={"": (PART * PARTS_FROM // 8, PART * PARTS_FROM // 4)},
        )
        self.programs = TorchPrograms(self)

    def lazy_override(self, name: str) -> Kernel | None:
        """Return PyTorch's special function `name`."""
        return special.find(name)

    # Devices

    def device(self, index: str | None) -> Device:
        """Return the device ``@torch:index``; a kind without a number means the current one of that kind.

        Raises
        ------
        BackendUnavailable
            PyTorch supports the device, but this build or machine lacks it, or its tensors have no values.
        """
        if index is not None and f"@torch:{index}" not in (names := [d.name for d in self.devices()]):
            if index == devices.accelerator():
                return self.device_for(devices.numbered(torch.device(index)))
            reason = devices.why_absent(index, names)
            if reason is not None:
                raise BackendUnavailable(reason)
        return super().device(index)

    def synchronize(self, device: Device) -> None:
        """Wait until all work on an accelerator is done, in every stream."""
        if device.handle.type != "cpu":
            torch.accelerator.synchronize(device.handle)

    def memory_used(self, device: Device) -> int | None:
        """Return how many bytes tensors hold on an accelerator; None for the host's memory."""
        if device.handle.type == "cpu":
            return None
        module = devices.module_of(device.handle)
        if hasattr(module, "memory_allocated"):
            return int(module.memory_allocated(device.handle))
        return int(module.current_allocated_memory()) if hasattr(module, "current_allocated_memory") else None

    def free_memory(self, device: Device) -> None:
        """Give the unused blocks of PyTorch's store back to an accelerator."""
        if device.handle.type != "cpu":
            devices.module_of(device.handle).empty_cache()

    # Arrays

    def check(self, array: Array) -> None:
        """Raise `UnknownArray` for a tensor that requires a gradient, has no values, or has a sparse layout."""
        if array.requires_grad or type(array) is not torch.Tensor:
            kind = "a Parameter" if type(array) is not torch.Tensor else "a tensor with requires_grad"
            raise UnknownArray(f"torch: {kind} carries PyTorch's own tape; give xpgrad its values with detach()")
        if array.layout is not torch.strided:
            layout = str(array.layout).removeprefix("torch.")
            raise UnknownArray(f"torch: expected a dense tensor, got layout {layout}; convert it with to_dense()")
        if array.is_meta:
            raise UnknownArray(f"torch: a tensor on the device meta is refused: {devices.LEFT_OUT['meta']}")

    def _new_spec(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        spec = super()._new_spec(tuple(shape), dtype, device)
        if device.type != "cpu":
            spec.constants = {}  # the constants of `prepare` are in host memory
        return spec

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype` has a kind of the standard's `isdtype`; bfloat16 counts as real floating-point."""
        return bool(standard.isdtype(dtype, kind))

    def default_dtype(self, kind: str) -> Dtype:
        """Return PyTorch's default dtype, float32 unless the program has changed it, its complex dtype, or int64."""
        if kind == "int":
            return torch.int64
        real = torch.get_default_dtype()
        return real if kind == "float" else real.to_complex()

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return a 0-d tensor for a finite float or int that meets floats in host memory: it takes half the time."""
        if type(value) is not float and type(value) is not int:
            return value
        if spec.dtype not in (torch.float32, torch.float64) or spec.device.type != "cpu" or not value:
            return value
        try:
            made = torch.tensor(value, dtype=spec.dtype, device=devices.CPU)
        except (OverflowError, RuntimeError):
            return value
        wrapped = torch._is_functional_tensor(made)  # pyright: ignore[reportPrivateImportUsage]  # there is no other
        if wrapped or not torch.isfinite(made):  # wrapped for one call of a transformed function
            return value
        if len(spec.constants) >= MAX_CONSTANTS:
            spec.constants.clear()
        spec.constants[value] = made
        return made

    def ones(self, spec: Spec) -> Array:
        """Return ones of this shape and dtype on this device."""
        return torch.ones(spec.shape, dtype=spec.dtype, device=spec.device)

    def copy(self, array: Array) -> Array:
        """Return a copy in new memory, in C order."""
        return exchange.copied(array)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy of `array` on another device."""
        return exchange.copied(array, device.handle)

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` as a NumPy array; bfloat16, which NumPy does not have, becomes float32."""
        return exchange.to_host(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of a NumPy array of any strides, on a device."""
        return exchange.from_host(array, device.handle)

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the storage, which all views share, and its size."""
        storage = array.untyped_storage()
        return storage, storage.nbytes()

    def is_view(self, array: Array) -> bool:
        """Return whether `array` may share memory with another tensor; in inference mode PyTorch does not report it.

        The result of `reshape` of a temporary tensor shares it with none, as only the result refers to that tensor.
        """
        if not array._is_view():
            return bool(array.is_inference())
        try:
            storage = array.untyped_storage()  # not resizable if its memory is another library's
            whole = array.is_contiguous() and array.nbytes == storage.nbytes() and storage.resizable()
            return not whole or any(n > most for n, most in zip(_references(array), OF_ONE_VIEW, strict=True))
        except ABSENT:
            return True

    def method(self, name: str) -> Any:
        """Return a method of tensors as a function of Variables, which takes PyTorch's arguments."""
        from xpgrad_torch.functions import call  # the tables, which most programs do not need

        function = getattr(torch.Tensor, name, None)
        return (lambda *args, **options: call(function, args, options)) if callable(function) else None

    def has_nan(self, array: Array) -> bool:
        """Return whether any element is not a number."""
        return (array.is_floating_point() or array.is_complex()) and bool(torch.isnan(array).any())

    def fingerprint(self, array: Array) -> Any:
        """Return a checksum of the values in host memory, or on accelerators PyTorch's version counter, at no cost."""
        if array.device.type == "cpu" or array.is_inference():
            return super().fingerprint(array)
        return array._version, array.data_ptr(), tuple(array.shape), array.dtype

    def refusal(self, error: Exception) -> type[XpgradError] | None:
        """Return the error for a RuntimeError of PyTorch about arguments; None for those about memory and devices."""
        if type(error) is NotImplementedError:
            return DtypeError
        text = str(error)
        if type(error) is not RuntimeError or "alloc" in text or "CUDA" in text:
            return None
        return DtypeError if any(words in text for words in ABOUT_DTYPES) else ShapeError


def device_of_handle(specifier: object) -> Device | None:
    """Return the device that PyTorch calls `specifier`; None if that is no device object."""
    if not isinstance(specifier, torch.device):
        return None
    return xpgrad.get_device(f"@torch:{devices.numbered(specifier)}")
