"""Tests, certificates, examples and timings on a GPU, in one command and one report: ``python -m benchmarks.gpu``."""
