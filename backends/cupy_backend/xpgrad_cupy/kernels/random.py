"""Random numbers drawn on the GPU: each is a function of a seed and its position, so there is no state between calls.

The seed is drawn from the host's stream for the thread and device, which `xpgrad.random` seeds, saves and restores. The
generator is Philox-4x32 with ten rounds (Salmon and others: Parallel random numbers: as easy as 1, 2, 3; 2011).
"""

from typing import Any

import cupy

from xpgrad.types import Array, DeviceHandle, Dtype, Shape
from xpgrad_cupy.kernels.loops import loop

PHILOX = """
struct Bits { unsigned int a, b, c, d; };

__device__ inline Bits philox(unsigned long long seed, unsigned long long place) {
    unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
    Bits v = {(unsigned int)place, (unsigned int)(place >> 32), 0u, 0u};
    for (int round = 0; round < 10; ++round) {
        unsigned long long p = 0xD2511F53ull * v.a, q = 0xCD9E8D57ull * v.c;
        Bits w = {(unsigned int)(q >> 32) ^ v.b ^ k0, (unsigned int)q, (unsigned int)(p >> 32) ^ v.d ^ k1,
                  (unsigned int)p};
        v = w;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return v;
}

__device__ inline double unit53(unsigned int high, unsigned int low) {
    return (double)((((unsigned long long)high << 32) | low) >> 11) * 1.1102230246251565e-16;
}
"""
"""Four 32-bit words for a position, and a number from [0, 1) from two of them."""

_UNIFORM = "Bits r = philox(seed, (unsigned long long)i); "
_uniform = {
    "d": loop("uniform64", "uint64 seed", "T y", _UNIFORM + "y = T(unit53(r.a, r.b));", PHILOX),
    "f": loop("uniform32", "uint64 seed", "T y", _UNIFORM + "y = T((float)(r.a >> 8) * 5.9604645e-08f);", PHILOX),
    "e": loop("uniform16", "uint64 seed", "T y", _UNIFORM + "y = T((float)(r.a >> 21) * 4.8828125e-04f);", PHILOX),
}
_normal = loop(
    "normal",
    "uint64 seed",
    "T y",
    """
    Bits r = philox(seed, (unsigned long long)i);
    double radius = sqrt(-2.0 * log(1.0 - unit53(r.a, r.b)));
    y = T(radius * cospi(2.0 * unit53(r.c, r.d)));
    """,
    PHILOX,
)


def random_uniform(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    """Return numbers from [0, 1), on an equidistant grid as fine as the dtype allows."""
    return _drawn(_uniform[cupy.dtype(dtype).char], shape, dtype, device, generator)


def random_normal(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    """Return normal random numbers with mean 0 and variance 1 (Box-Muller)."""
    return _drawn(_normal, shape, dtype, device, generator)


def _drawn(kernel: Any, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    seed = int(generator.integers(2**63))
    with cupy.cuda.Device(int(device)):
        return kernel(seed, cupy.empty(shape, dtype))


RANDOM = {"random_normal": random_normal, "random_uniform": random_uniform}
