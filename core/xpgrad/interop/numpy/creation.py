"""NumPy's functions that create arrays, for ``like=v``: new Variables of the library and on the device of `v`.

NumPy does not dispatch on the fill value of `full`, so ``np.full(3, v)`` without `like` raises when it converts `v`.
"""

from collections.abc import Callable
from typing import Any

from xpgrad.graph.variable import Variable

NAMES = "arange", "array", "asanyarray", "asarray", "empty", "eye", "full", "identity", "ones", "zeros"


def creator(name: str, lead: Variable) -> Callable[..., Any] | None:
    """Return NumPy's creation function `name` for arrays like `lead`; None if it is not a creation function."""
    return getattr(_Creators(lead), name) if name in NAMES else None


class _Creators:
    """NumPy's creation functions in the namespace of a Variable."""

    def __init__(self, lead: Variable) -> None:
        self.lead, self.xp = lead, lead.__array_namespace__()

    def _place(self, dtype: Any, order: Any, device: Any) -> dict[str, Any]:
        if order not in (None, "C", "K", "A"):
            raise TypeError(f"numpy: order={order!r} is not for Variables; omit order")
        return {"dtype": dtype, "device": device or self.lead.device}

    def zeros(self, shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
        return self.xp.zeros(shape, **self._place(dtype, order, device))

    def ones(self, shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
        return self.xp.ones(shape, **self._place(dtype, order, device))

    def empty(self, shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
        return self.xp.empty(shape, **self._place(dtype, order, device))

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
        return self.xp.full(shape, fill_value, **self._place(dtype, order, device))

    def eye(
        self, N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: Any = "C", *, device: Any = None
    ) -> Any:
        return self.xp.eye(N, M, k=k, **self._place(dtype, order, device))

    def identity(self, n: int, dtype: Any = None) -> Any:
        return self.xp.eye(n, **self._place(dtype, None, None))

    def arange(self, *args: Any, dtype: Any = None, device: Any = None, **limits: Any) -> Any:
        return self.xp.arange(*args, **limits, **self._place(dtype, None, device))

    def array(
        self, object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0
    ) -> Any:
        y = self.asarray(object, dtype, order, copy=bool(copy) or None)
        return y.reshape((1,) * max(ndmin - y.ndim, 0) + y.shape) if y.ndim < ndmin else y

    def asarray(self, a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None) -> Any:
        return self.xp.asarray(a, copy=copy, **self._place(dtype, order, device))

    asanyarray = asarray
