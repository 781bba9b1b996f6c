"""NumPy as a backend of xpgrad: the embedded default, registered like anybody's."""
