"""Names of `chainer.backends.cuda` and `chainer.backends.intel64` that have no effect here."""

from xpgrad.chainer import cuda, intel64

_size = cuda.WORKSPACE


def should_use_cudnn_tensor_core(dtype: object) -> bool:
    """Return whether functions should use cuDNN's tensor cores; they never call cuDNN."""
    return False


def set_max_workspace_size(size: int) -> None:
    """Store the workspace size of cuDNN in bytes; only `get_max_workspace_size` reads it."""
    global _size
    _size = size


def get_max_workspace_size() -> int:
    """Return the size passed to `set_max_workspace_size`, or Chainer's default."""
    return _size


def check_ideep_available() -> None:
    """Raise RuntimeError unless there is a backend for iDeep's arrays."""
    if not intel64.is_ideep_available():
        raise RuntimeError("iDeep is not available: no installed backend is called intel64")
