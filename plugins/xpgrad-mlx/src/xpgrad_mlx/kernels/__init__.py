"""Kernels of MLX, by chapter of the standard."""
