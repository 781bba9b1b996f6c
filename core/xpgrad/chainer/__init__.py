"""Chainer's face: what programs that were written against Chainer import, and call by its names."""
