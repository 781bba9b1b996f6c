"""PyData's sparse arrays as a backend of xpgrad."""
