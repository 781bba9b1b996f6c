"""Two CPU devices and 64 bits for the tests, and a part of what takes jax long to compile."""

import os
from collections import Counter
from pathlib import Path

# Before jax is imported, which reads them once.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2".strip()
os.environ["JAX_ENABLE_X64"] = "1"

import pytest

HERE = Path(__file__).parent
ONE_IN = 40
"""Of the thousands of runs of one check of the conformance suite, which compile each operation for each shape."""
MANY = 400


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Thin out checks of the conformance suite that go through the whole case table, unless everything is asked for."""
    if os.environ.get("XPGRAD_JAX_EVERYTHING"):
        return
    own = [item for item in items if item.path.name == "test_conformance.py" and item.path.parent == HERE]
    counts = Counter(item.originalname for item in own if isinstance(item, pytest.Function))
    dropped = set()
    for name in (name for name, count in counts.items() if count > MANY):
        group = [item for item in own if getattr(item, "originalname", None) == name]
        dropped |= {item for number, item in enumerate(group) if number % ONE_IN}
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]
