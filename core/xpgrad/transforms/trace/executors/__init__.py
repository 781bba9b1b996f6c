"""Executors: what makes a function that runs a program."""

from xpgrad.transforms.trace.executors.choice import EXECUTORS, checked_executor, chosen, executor_for, wait
from xpgrad.transforms.trace.executors.options import Options

__all__ = ["EXECUTORS", "Options", "checked_executor", "chosen", "executor_for", "wait"]
