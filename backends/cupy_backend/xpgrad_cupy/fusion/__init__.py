"""Fused groups of a program as the source of CUDA kernels; this package does not import CuPy."""
