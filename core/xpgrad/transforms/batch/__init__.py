"""Batches: arrays with a hidden leading axis, on which a function computes for all elements of a batch."""
