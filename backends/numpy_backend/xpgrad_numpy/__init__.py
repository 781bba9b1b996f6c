"""NumPy as a backend of xpgrad: the default backend, registered like any other."""
