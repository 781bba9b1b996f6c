"""dask arrays as a backend of xpgrad: ``@dask``, gradients in chunks, larger than memory, on a cluster."""
