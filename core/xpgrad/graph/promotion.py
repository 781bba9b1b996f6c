"""`warn_of_promotion`: an array that changes the dtype of a computation with a gradient."""

import warnings
from collections.abc import Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import PromotionWarning
from xpgrad.graph.methods.ending import caller
from xpgrad.graph.variable import Variable


def warn_of_promotion(name: str, operands: Sequence[Any], result: Spec) -> None:
    """Warn, once for each line, if an array promotes the result of a Variable that requires a gradient."""
    own, by_array = result, False
    for x in operands:
        if not isinstance(x, Variable):
            by_array = by_array or (type(x) in plugins.by_type and x.dtype == result.dtype)
        elif x._node.requires_grad and x._node.spec.dtype != result.dtype:
            own = x._node.spec
    if own is result or not by_array or own.complex != result.complex or not own.differentiable:
        return
    frame, dtype_name = caller(), own.backend.dtype_name
    if frame is not None:
        narrow, names = dtype_name(own.dtype), frame.f_globals
        text = (
            f"{name.strip('_')}: an array of {dtype_name(result.dtype)} promotes the result of a Variable of {narrow} "
            f"that requires a gradient; cast it by xpgrad.array_api.astype(array, {narrow!r}), or ignore "
            "xpgrad.errors.PromotionWarning"
        )
        place = frame.f_code.co_filename, frame.f_lineno, str(names.get("__name__"))
        warnings.warn_explicit(text, PromotionWarning, *place, names.setdefault("__warningregistry__", {}))
