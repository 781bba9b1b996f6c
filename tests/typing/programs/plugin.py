"""A plugin: the backend of an array library that follows the Array API standard, with two additional kernels."""

from collections.abc import Mapping

import numpy as np

from xpgrad import Variable
from xpgrad.plugin import ArrayAPIBackend, Backend, Capabilities, Device, Spec, hookimpl, scatter_add_by_sorting
from xpgrad.types import Array, Kernel

xpgrad_api = (1, 1)

CAPABILITIES = Capabilities(missing={"asynchronous": "this library computes at once"})


class Library:
    """The library's arrays, as far as this file needs them."""

    class Array:
        shape: tuple[int, ...]
        dtype: np.dtype[np.float64]

    @staticmethod
    def tanh(x: Array) -> Array:
        return x


def tanh(x: Array) -> Array:
    return Library.tanh(x)


class OwnBackend(ArrayAPIBackend):
    """The standard's backend, with faster functions of this library."""

    def overrides(self) -> Mapping[str, Kernel]:
        return {**super().overrides(), "tanh": tanh}

    def describe(self, device: Device) -> str:
        return f"{self.name} on {device.name}"


@hookimpl
def xpgrad_backend() -> Backend:
    return OwnBackend(
        name="own",
        namespace=Library,
        array_types=(Library.Array,),
        devices={"cpu": "cpu"},
        scatter_add=scatter_add_by_sorting,
        capabilities=CAPABILITIES,
    )


spec: Spec = Variable(np.ones(3)).node.spec
assert spec.shape == (3,)
assert callable(xpgrad_backend)
