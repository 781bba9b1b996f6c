"""Fused groups: calls of a program as statements on single elements, which one loop computes together."""
