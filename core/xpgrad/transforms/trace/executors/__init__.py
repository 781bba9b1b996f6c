"""Executors: what makes a function that runs a program."""

from xpgrad.transforms.trace.executors.choice import executor_for

__all__ = ["executor_for"]
