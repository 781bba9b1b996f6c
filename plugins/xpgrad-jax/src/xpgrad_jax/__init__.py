"""jax arrays as a backend of xpgrad: ``@jax``, ``@jax:cpu:1``, ``@jax:gpu:0``."""
