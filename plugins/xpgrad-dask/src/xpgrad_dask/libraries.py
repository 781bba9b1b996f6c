"""The libraries that this plugin stands on, as namespaces: their own annotations are partial, or call names unknown."""

import importlib

from xpgrad.types import Namespace

dask: Namespace = importlib.import_module("dask")
da: Namespace = importlib.import_module("dask.array")
compat: Namespace = importlib.import_module("array_api_compat.dask.array")
host: Namespace = importlib.import_module("array_api_compat.numpy")
"""What computes inside chunks."""
