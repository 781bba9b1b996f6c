"""Workloads that compare xpgrad with hand-written NumPy and with its peers, side by side in one run.

`python -m benchmarks [P1 P3 ...] [--quick] [--json FILE]` runs all or some. `/h` is a ratio to the same
formula written by hand in NumPy, forward and backward, `/t` to torch eager; compare only within one run.
"""
