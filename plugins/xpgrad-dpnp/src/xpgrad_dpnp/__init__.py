"""dpnp arrays as a backend of xpgrad: ``@intel64``, ``@dpnp:level_zero:gpu:0``, and every other device of SYCL."""
