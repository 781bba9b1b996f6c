"""Functions of raw jax arrays that are worth doing otherwise than by the default."""
