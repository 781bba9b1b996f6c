"""The standard's elementwise functions, a file for each kind."""
