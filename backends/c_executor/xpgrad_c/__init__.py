"""C source of fused groups, and what compiles, keeps, loads and calls it."""

from xpgrad.transforms.trace.executors.c.executor import c_executor, state, wait

__all__ = ["c_executor", "state", "wait"]
