"""Kernels of MLX, by chapter."""
