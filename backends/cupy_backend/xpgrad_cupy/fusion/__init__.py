"""Fused groups of a program as the source of CUDA kernels; nothing here imports CuPy."""
