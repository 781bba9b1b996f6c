"""Capabilities that MLX lacks, with reasons."""

import mlx.core as mx

from xpgrad.plugin import Capabilities

MISSING = {
    "several_devices": "all of MLX's devices share one memory, and an array is not on any of them",
    "complex128": "MLX has complex64 only",
    "checked_index_arrays": "MLX does not check indices: one out of range reads or writes other memory",
    "threads": "what is not yet computed can only be computed by the thread that asked for it",
    "dlpack_shares_memory": "MLX copies what comes in by DLPack",
}
ON_CPU = {"memory_used": "MLX counts the memory of GPUs only"}
ON_GPU = {"float64": "MLX computes in float64 on the CPU only"}
REFLECTED = "MLX's arrays have no reflected bitwise operators: 1 & x is a TypeError"
NARROW = "MLX's complex numbers, and so its Fourier transforms, have the digits of float32"
AS_FLOAT32 = "MLX pickles float64 as float32"
OF_FLOAT64 = "fft.rfft", "fft.rfftn", "fft.ihfft", "linalg.eig", "linalg.eigvals"
"""Functions with complex results of real numbers."""
EXPECTED = {
    "D06[*": REFLECTED,
    "K01[operator-shift-scalar,*": REFLECTED,
    "R03[*": AS_FLOAT32,
    "R21[*": AS_FLOAT32,
    "R23[*": AS_FLOAT32,
    "K01[F.fft,float64,*": NARROW,
    "K01[F.ifft,float64,*": NARROW,
    "H01[F.fft,float64,*": NARROW,
    "H01[F.ifft,float64,*": NARROW,
}


def capabilities() -> Capabilities:
    """Return the features that MLX lacks on its default device."""
    there = ON_GPU if mx.default_device().type == mx.gpu else ON_CPU
    return Capabilities(
        missing=MISSING | there | {f"{name}[float64]": NARROW for name in OF_FLOAT64}, expected=EXPECTED
    )
