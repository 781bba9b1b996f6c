"""Loops whose backward pass computes carries again instead of keeping them, and what is built on them."""
