"""Executors: what makes a function that runs a program."""

from xpgrad.transforms.trace.executors.choice import EXECUTORS, check_executor, chosen, executor_for, wait
from xpgrad.transforms.trace.executors.options import Options

__all__ = ["EXECUTORS", "Options", "check_executor", "chosen", "executor_for", "wait"]
