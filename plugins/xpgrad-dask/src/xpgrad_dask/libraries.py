"""The libraries that this plugin uses, typed as namespaces, because their annotations are incomplete."""

import importlib

from xpgrad.types import Namespace

dask: Namespace = importlib.import_module("dask")
da: Namespace = importlib.import_module("dask.array")
compat: Namespace = importlib.import_module("array_api_compat.dask.array")
host: Namespace = importlib.import_module("array_api_compat.numpy")
"""The backend that computes on chunks."""
