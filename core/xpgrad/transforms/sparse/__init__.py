"""Sparse Jacobians: colouring of a sparsity pattern, compressed products, and the check of the pattern."""
