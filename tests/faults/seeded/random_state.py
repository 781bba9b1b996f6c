"""Faults in pickles, copies, and random numbers."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_method, planted_by, uniform
from tests.faults.testbed import DEVICES, Testbed, change

from xpgrad_conformance.pretend import _unpickled

DRAWS = (
    ("random_uniform", lambda g, shape: g.random(shape)),
    ("random_normal", lambda g, shape: g.standard_normal(shape)),
)


# Pickles and copies


def _pickled(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let a pickle hold ``values(x)`` of an array's values."""
    name = bed.backend.name
    change(bed.library.Array, __reduce__=lambda self: (_unpickled, (name, values(self.inner), self.device)))


@giving_method("Array.__reduce__", "pickle is declared, and arrays refuse it", "R")
def pickle_refused(self: Any) -> Any:
    raise TypeError("cannot pickle this array")


@changing("backend.device", "devices are listed in another order than they are called", "RV", of_bed=True)
def device_names_swapped(bed: Testbed, right: Any, index: Any) -> Any:
    first, second = bed.backend.default_device, list(bed.backend.devices())[1]
    return {"0": second, "1": first}.get(str(index), right(index))


pickle_narrows = planted_by(_pickled, "pickle goes by text with 8 digits", "R")(
    lambda x: x.astype(np.float32).astype(x.dtype) if x.dtype == np.float64 else x
)


# Random numbers


def _draws(bed: Testbed, function: Callable[..., Any]) -> None:
    """Let ``function(draw, shape, device, generator)`` give the values; ``draw(generator, shape)`` would be right."""
    for name, draw in DRAWS:

        def kernel(shape: Any, dtype: Any, device: Any, generator: Any, draw: Any = draw) -> Any:
            return bed.library.array(np.asarray(function(draw, shape, device, generator), dtype), device)

        bed.kernels[name] = kernel


def _normal(bed: Testbed, function: Callable[..., Any]) -> None:
    """Let ``function(generator, shape)`` give normal numbers."""
    bed.kernels["random_normal"] = lambda shape, dtype, device, generator: bed.library.array(
        np.asarray(function(generator, shape)).astype(dtype), device
    )


@planted_by(_draws, "seed gives another stream per device", "R")
def seed_by_device(draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    return draw(np.random.default_rng([int(generator.integers(2**32)), DEVICES.index(device)]), shape)


@planted_by(_draws, families="R", memory=lambda: np.random.default_rng(5))
def seed_ignored(own: Any, draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    """random numbers come from a stream of the library's own, whatever the seed"""
    return draw(own, shape)


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


@planted_by(_draws, "all threads draw on from where the first one is", "R", memory=dict)
def one_stream_for_all_threads(latest: dict[str, Any], draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    if threading.current_thread() is threading.main_thread():
        latest[device] = generator
    return draw(latest.get(device, generator), shape)


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


@fault("random numbers are drawn on the default device", "R")
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


@planted_by(_draws, families="R", memory=set)
def stream_moves_by_two(used: set[int], draw: Any, shape: Any, device: Any, generator: Any) -> Any:
    """a call for an odd number of numbers takes another from the stream after the first"""
    if int(np.prod(shape, dtype=int)) % 2 and id(generator) in used:
        generator.random()
    used.add(id(generator))
    return draw(generator, shape)


@planted_by(_pickled, "a pickled part of a row comes back as the memory's beginning", "R")
def pickle_loses_the_offset(x: Any) -> Any:
    row = x.ndim == 1 and x.flags.c_contiguous and isinstance(x.base, np.ndarray)
    return x.base.ravel()[: x.size] if row else x


pickle_loses_strides = planted_by(_pickled, "a pickled view comes back with the memory's order", "R")(
    lambda x: x.ravel(order="A").reshape(x.shape) if x.ndim == 2 else x
)
pickle_loses_the_device = giving_method("Array.__reduce__", "pickle loses the device", "R", of_bed=True)(
    lambda bed, self: (_unpickled, (bed.backend.name, self.inner, DEVICES[0]))
)
pickle_widens = planted_by(_pickled, "a pickled float32 array comes back as float64", "R")(
    lambda x: x.astype(float) if x.dtype == np.float32 else x
)
copy_shares = giving_method("backend.copy", "copy returns another array over the same memory", "RA", of_bed=True)(
    lambda bed, array: bed.library.array(array.inner, array.device)
)
uniform_reaches_one = planted_by(uniform, "float32 uniform numbers are float64 ones rounded, and reach 1", "R")(
    lambda generator, shape, dtype: generator.random(shape)
)
uniform_from_minus_one = planted_by(uniform, "uniform numbers are from [-1, 1)", "R")(
    lambda generator, shape, dtype: 2 * generator.random(shape) - 1
)
uniform_uneven = planted_by(uniform, "uniform numbers are squared somewhere", "R")(
    lambda generator, shape, dtype: (generator.random(shape) // 2**-24 * 2**-24) ** 2
)
normal_half_variance = planted_by(_normal, "normal numbers have half the variance", "R")(
    lambda generator, shape: generator.standard_normal(shape) / np.sqrt(2)
)
normal_is_uniform = planted_by(_normal, "normal numbers are uniform ones of the same mean and variance", "R")(
    lambda generator, shape: (generator.random(shape) - 0.5) * np.sqrt(12)
)
normal_rows_repeat = planted_by(_normal, "each row of normal numbers is the first one", "R")(
    lambda generator, shape: np.broadcast_to(generator.standard_normal(shape[-1:]), shape)
)
random_0_d_is_1_d = planted_by(_draws, "a single random number has shape (1,)", "R")(
    lambda draw, shape, device, generator: draw(generator, shape or (1,))
)
pickle_begins_a_vector_anew = planted_by(
    _pickled, "a pickled part of a vector comes back as the vector's beginning", "R"
)(lambda x: x.base[: x.size] if (x.ndim == 1 and isinstance(x.base, np.ndarray) and x.base.ndim == 1) else x)
