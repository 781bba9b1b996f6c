"""Batches: arrays with a hidden leading axis, on which a function computes for all members of a batch at once."""
