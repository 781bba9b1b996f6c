"""Computation of Jacobians: by batches of rows or of columns, or element by element."""
