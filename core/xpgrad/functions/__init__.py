"""Chainer's functions (``import xpgrad.functions as F``), by area, built on `xpgrad.array_api`."""
