"""The executor ``host``: fused groups block by block, by the library's own functions, shared among threads."""

from xpgrad.transforms.trace.executors.host.blocks import host_factory

__all__ = ["host_factory"]
