"""Generated inputs: sizes around thresholds, values of every kind, layouts; the functions that they are given to."""
