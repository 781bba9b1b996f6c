"""Faults in pickles, copies, and random numbers."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method, planted_by
from tests.faults.testbed import DEVICES, Testbed, change

from xpgrad.backend.plugins import plugins

DRAWS = (
    ("random_uniform", lambda g, shape: g.random(shape)),
    ("random_normal", lambda g, shape: g.standard_normal(shape)),
)


# Pickles and copies


def _again(backend: str, values: Any, device: str) -> Any:
    """Return a pretend array that was pickled."""
    library: Any = plugins.backend(backend).namespace
    return library.array(values, device)


def _reduces(bed: Testbed, values: Callable[[Any], Any], device: Callable[[Any], str]) -> None:
    """Let a pickle hold ``values(x)`` of an array's values, on ``device(array)``."""
    name = bed.backend.name
    change(bed.library.Array, __reduce__=lambda self: (_again, (name, values(self.inner), device(self))))


@fault("pickle goes by text with 8 digits", "R")
def pickle_narrows(bed: Testbed) -> None:
    def values(x: Any) -> Any:
        with np.errstate(over="ignore"):
            return x.astype(np.float32).astype(x.dtype) if x.dtype == np.float64 else x

    _reduces(bed, values, lambda array: array.device)


@giving_method("Array.__reduce__", "pickle is declared, and arrays refuse it", "R")
def pickle_refused(self: Any) -> Any:
    raise TypeError("cannot pickle this array")


@fault("devices are listed in another order than they are called", "RV")
def device_names_swapped(bed: Testbed) -> None:
    first, second = bed.backend.default_device, list(bed.backend.devices())[1]
    device = bed.backend.device
    change(bed.backend, device=lambda index: {"0": second, "1": first}.get(str(index), device(index)))


# Random numbers


def _draws(bed: Testbed, function: Callable[..., Any]) -> None:
    """Let ``function(draw, shape, device, generator)`` give the values; ``draw(generator, shape)`` would be right."""
    for name, draw in DRAWS:

        def kernel(shape: Any, dtype: Any, device: Any, generator: Any, draw: Any = draw) -> Any:
            return bed.library.array(np.asarray(function(draw, shape, device, generator), dtype), device)

        bed.kernels[name] = kernel


def _uniform(bed: Testbed, function: Callable[..., Any]) -> None:
    """Let ``function(generator, shape, dtype)`` give uniform numbers."""
    bed.kernels["random_uniform"] = lambda shape, dtype, device, generator: bed.library.array(
        np.asarray(function(generator, shape, dtype)).astype(dtype), device
    )


def _normal(bed: Testbed, function: Callable[..., Any]) -> None:
    """Let ``function(generator, shape)`` give normal numbers."""
    bed.kernels["random_normal"] = lambda shape, dtype, device, generator: bed.library.array(
        np.asarray(function(generator, shape)).astype(dtype), device
    )


@planted_by(_draws, "seed gives another stream per device", "R")
def seed_by_device(draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    return draw(np.random.default_rng([int(generator.integers(2**32)), DEVICES.index(device)]), shape)


@fault("random numbers come from a stream of the library's own, whatever the seed", "R")
def seed_ignored(bed: Testbed) -> None:
    own = np.random.default_rng(5)
    _draws(bed, lambda draw, shape, device, generator: draw(own, shape))


@planted_by(_draws, "the library's generator takes its seed at the first call, and not again", "R", memory=dict)
def seed_taken_once(streams: dict[str, Any], draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    if device not in streams:
        streams[device] = np.random.default_rng(int(generator.integers(2**32)))
    return draw(streams[device], shape)


@planted_by(_draws, "each call starts the stream anew", "R")
def seed_each_call(draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    return draw(np.random.default_rng(generator.bit_generator.state["state"]["inc"] % 2**32), shape)


@planted_by(_draws, "all devices draw from one stream", "R", memory=list)
def one_stream_for_all_devices(held: list[Any], draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    held.append(generator)
    return draw(held[0], shape)


@fault("all threads draw on from where the first one is", "R")
def one_stream_for_all_threads(bed: Testbed) -> None:
    first = threading.main_thread()
    latest: dict[str, Any] = {}

    def values(draw: Any, shape: Any, device: Any, generator: Any) -> Any:
        if threading.current_thread() is first:
            latest[device] = generator
        return draw(latest.get(device, generator), shape)

    _draws(bed, values)


@planted_by(_draws, "numbers are drawn ahead, so that a state brought back comes too late", "R", memory=dict)
def numbers_drawn_ahead(ahead: dict[Any, Any], draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    count = int(np.prod(shape, dtype=int))
    key = id(generator), device, draw
    if key not in ahead or len(ahead[key][1]) < count:
        ahead[key] = generator, draw(generator, (count + 256,))
    mine, ahead[key] = ahead[key][1][:count], (generator, ahead[key][1][count:])
    return mine.reshape(shape)


@planted_by(_normal, "of a pair of normal numbers the spare one is kept over a state brought back", "R", memory=dict)
def spare_normal_kept(spare: dict[int, Any], generator: Any, shape: Any) -> Any:
    count = int(np.prod(shape, dtype=int))
    kept = spare.pop(id(generator), [])
    made = [*kept, *generator.standard_normal(count + count % 2).tolist()]
    if len(made) > count:
        spare[id(generator)] = made[count : count + 1]
    return np.asarray(made[:count]).reshape(shape)


@fault("random numbers are drawn on the default device", "RV")
def random_on_the_first(bed: Testbed) -> None:
    for name, draw in DRAWS:
        bed.kernels[name] = lambda shape, dtype, device, generator, draw=draw: bed.library.array(
            np.asarray(draw(generator, shape), dtype), DEVICES[0]
        )


@fault("random numbers are float64, whatever was asked for", "R")
def random_in_float64(bed: Testbed) -> None:
    for name, draw in DRAWS:
        bed.kernels[name] = lambda shape, dtype, device, generator, draw=draw: bed.library.array(
            np.asarray(draw(generator, shape)), device
        )


@planted_by(_draws, "no random numbers at all are an error", "R")
def random_empty_refused(draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    if 0 in shape:
        raise ValueError("expected a positive number of elements")
    return draw(generator, shape)


@planted_by(
    _draws, "a call for an odd number of numbers takes another from the stream after the first", "R", memory=set
)
def stream_moves_by_two(used: set[int], draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    if int(np.prod(shape, dtype=int)) % 2 and id(generator) in used:
        generator.random()
    used.add(id(generator))
    return draw(generator, shape)


@fault("a pickled part of a row comes back as the memory's beginning", "R")
def pickle_loses_the_offset(bed: Testbed) -> None:
    def values(x: Any) -> Any:
        row = x.ndim == 1 and x.flags.c_contiguous and isinstance(x.base, np.ndarray)
        return x.base.ravel()[: x.size] if row else x

    _reduces(bed, values, lambda array: array.device)


@fault("a pickled part of a vector comes back as the vector's beginning", "R")
def pickle_begins_a_vector_anew(bed: Testbed) -> None:
    def values(x: Any) -> Any:
        part = x.ndim == 1 and isinstance(x.base, np.ndarray) and x.base.ndim == 1
        return x.base[: x.size] if part else x

    _reduces(bed, values, lambda array: array.device)


@fault("pickle loses the device", "R")
def pickle_loses_the_device(bed: Testbed) -> None:
    _reduces(bed, lambda x: x, lambda array: DEVICES[0])


@fault("a pickled view comes back with the memory's order", "R")
def pickle_loses_strides(bed: Testbed) -> None:
    (_reduces(bed, lambda x: x.ravel(order="A").reshape(x.shape) if x.ndim == 2 else x, lambda array: array.device))


@fault("a pickled float32 array comes back as float64", "R")
def pickle_widens(bed: Testbed) -> None:
    (_reduces(bed, lambda x: x.astype(float) if x.dtype == np.float32 else x, lambda array: array.device))


@fault("copy returns another array over the same memory", "R")
def copy_shares(bed: Testbed) -> None:
    change(bed.backend, copy=lambda array: bed.library.array(array.inner, array.device))


@fault("float32 uniform numbers are float64 ones rounded, and reach 1", "R")
def uniform_reaches_one(bed: Testbed) -> None:
    _uniform(bed, lambda generator, shape, dtype: generator.random(shape))


@fault("uniform numbers are from [-1, 1)", "R")
def uniform_from_minus_one(bed: Testbed) -> None:
    _uniform(bed, lambda generator, shape, dtype: 2 * generator.random(shape) - 1)


@fault("uniform numbers are squared somewhere", "R")
def uniform_uneven(bed: Testbed) -> None:
    _uniform(bed, lambda generator, shape, dtype: (generator.random(shape) // 2**-24 * 2**-24) ** 2)


@fault("normal numbers have half the variance", "R")
def normal_half_variance(bed: Testbed) -> None:
    _normal(bed, lambda generator, shape: generator.standard_normal(shape) / np.sqrt(2))


@fault("normal numbers are uniform ones of the same mean and variance", "R")
def normal_is_uniform(bed: Testbed) -> None:
    _normal(bed, lambda generator, shape: (generator.random(shape) - 0.5) * np.sqrt(12))


@fault("each row of normal numbers is the first one", "R")
def normal_rows_repeat(bed: Testbed) -> None:
    (_normal(bed, lambda generator, shape: np.broadcast_to(generator.standard_normal(shape[-1:]), shape)))


@giving_method("backend.dtype_name", "dtype_name does not know the types that the namespace has for dtypes", "R")
def dtype_types_unnamed(dtype: Any) -> Any:
    return str(dtype).rpartition(".")[2]


@fault("a single random number has shape (1,)", "R")
def random_0_d_is_1_d(bed: Testbed) -> None:
    _draws(bed, lambda draw, shape, device, generator: draw(generator, shape or (1,)))
