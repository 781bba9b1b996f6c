"""C source of fused groups, and what compiles, keeps, loads and calls it."""
