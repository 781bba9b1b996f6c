"""The executor ``host``: fused groups block by block, by the library's own functions, shared among threads."""

from xpgrad.transforms.trace.executors.host.blocks import host_factory
from xpgrad.transforms.trace.executors.host.executor import host_executor

__all__ = ["host_executor", "host_factory"]
