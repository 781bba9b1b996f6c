"""Loops whose backward pass recomputes carries instead of keeping them, and functions based on these loops."""
