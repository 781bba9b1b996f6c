"""sparse as a backend of xpgrad: imported when the first of its arrays, or the device ``@sparse``, is met."""

from importlib.util import find_spec

from xpgrad.plugin import ArrayAPIBackend, Backend, BackendUnavailable, Capabilities, hookimpl

xpgrad_api = (1, 1)

CAPABILITIES = Capabilities(
    missing={
        "several_devices": "its arrays are in the memory of the host",
        "asynchronous": "sparse computes when a function is called",
        "memory_used": "nobody counts the bytes of sparse's arrays",
        "dlpack_export": "DLPack has no sparse layouts",
        "dlpack_import": "DLPack has no sparse layouts",
        "dlpack_shares_memory": "DLPack has no sparse layouts",
        "from_dlpack": "DLPack has no sparse layouts",
        "index_assignment": "sparse.COO has no __setitem__",
        "in_place_update": "sparse.COO has no __setitem__",
        "linalg": "sparse has no factorizations",
        "fft": "sparse has no Fourier transforms: their results are dense",
    },
    expected={"D06[*": "sparse computes with uint64 and a Python number in float64: x & 6 is a TypeError"},
)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend, or say how to install its library."""
    if find_spec("sparse") is None:
        raise BackendUnavailable("sparse: the library is not installed; pip install sparse")
    import numpy as np
    import sparse

    from xpgrad_sparse import namespace
    from xpgrad_sparse.positions import array_of, dense, getitem, scatter_add, setitem

    return ArrayAPIBackend(
        name="sparse",
        namespace=namespace,
        module=sparse,
        array_types=(sparse.COO,),
        scalar_types=(np.generic,),
        devices={"cpu": "cpu"},
        scatter_add=scatter_add,
        kernels={"getitem": getitem, "setitem": setitem, "affine": namespace.affine},
        immutable=True,
        to_host=dense,
        from_host=lambda array, device: array_of(array),
        capabilities=CAPABILITIES,
    )
