"""Generated programs and call sequences: steps of Python that run over the tested backend and over NumPy."""
