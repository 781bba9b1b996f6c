"""The executor of compiled functions: `jax.jit` of a program as a whole.

XLA compiles at the first run, which takes about a tenth of a millisecond to several milliseconds for each call of the
program. It fuses calls, so results are eager's to rounding.
"""

import functools
from typing import TYPE_CHECKING, Any

import jax

from xpgrad.interop import fallback
from xpgrad_jax.places import TRACED

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program

MAX_CALLS = 5_000
"""Number of calls from which on XLA takes minutes or fails: its time grows faster than their number."""
MIN_BYTES = 2**14
"""Size from which on constants are arguments: XLA would compute with their values while it compiles."""
falling_back = functools.partial(fallback.falling_back, "xpgrad-jax: jax.jit")


def executor(program: "Program") -> Any:
    """Return `jax.jit` of a program, or a text, the reason why it is declined."""
    if len(program.calls) > MAX_CALLS or any(call.draws or call.writes for call in program.calls):
        return "it is too long, draws, or writes to arrays"
    opened, constants = program.with_constants_as_inputs(MIN_BYTES)
    devices = {id(value.spec.device): value.spec.device for value in opened.values()}
    if any(device is TRACED for device in devices.values()) or len(set(devices.values())) != 1:
        return "its arrays are traced, or on several devices"
    (device,) = set(devices.values())
    options: dict[str, Any] = {}
    if isinstance(device, jax.Device):
        if device != jax.local_devices()[0]:  # outputs that depend on no argument would be on the default device
            options["out_shardings"] = jax.sharding.SingleDeviceSharding(device)
    elif not opened.inputs:
        return "it has no arguments"
    function = opened.function()
    compiled = jax.jit(function, **options)
    struct: Any = jax.ShapeDtypeStruct
    try:
        given = [struct(value.spec.shape, value.spec.dtype) for value in opened.inputs]
        found = jax.eval_shape(compiled, *given)
    except Exception:  # functions of jax or other plugins raise any exception for tracers
        return "jax cannot trace it"
    for item, got in zip(program.outputs, found, strict=True):
        wanted = getattr(item, "spec", item)
        if wanted.shape != got.shape or wanted.dtype != got.dtype:
            return "jax gives other shapes or dtypes"
    return falling_back(compiled, function, constants, program.name)
