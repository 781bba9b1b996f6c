"""Kernels that are better in jax than the default bodies."""
