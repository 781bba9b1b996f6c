"""Computation of Jacobians in batches of rows or columns, or element by element."""
