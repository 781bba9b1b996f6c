"""The CuPy backend of xpgrad: arrays on NVIDIA GPUs (`@cupy:0`, `gpu`)."""
