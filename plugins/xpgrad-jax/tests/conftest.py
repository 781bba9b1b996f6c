"""Two CPU devices and 64 bits for the tests."""

import os

# Before jax is imported, which reads them once.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2".strip()
os.environ["JAX_ENABLE_X64"] = "1"
