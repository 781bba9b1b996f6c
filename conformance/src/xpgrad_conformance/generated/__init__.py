"""Generated inputs: sizes around thresholds, values of every kind, memory layouts, and the functions to call."""
