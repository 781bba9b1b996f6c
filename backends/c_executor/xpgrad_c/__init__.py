"""The executor ``c``: C source of fused groups, and its compilation, cache, loading and calls."""
