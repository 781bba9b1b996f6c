"""Functions that Chainer defines outside of `chainer.functions`."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad import Variable, as_array, as_variable, config, functions
from xpgrad.array_api import divide as div
from xpgrad.array_api import floor_divide as floordiv
from xpgrad.array_api import multiply as mul
from xpgrad.array_api import negative as neg
from xpgrad.array_api import pow as pow
from xpgrad.array_api import subtract as sub
from xpgrad.graph.application import Application
from xpgrad_chainer.distributions import gumbel
from xpgrad_chainer.siblings import of_one_node, related

__all__ = [
    "argmax", "argmax_crf1d", "argmin", "broadcast", "broadcast_to", "ceil", "classification_summary", "div",
    "dropout", "f1_score", "fbeta_score", "fix", "floor", "floordiv", "gumbel_softmax", "lstm", "mul",
    "n_step_gru_base", "n_step_lstm_base", "n_step_rnn_base", "neg", "pow", "precision", "rdiv", "recall", "reshape",
    "rfloordiv", "rmatmul", "rpow", "rsub", "separate", "slstm", "softmax_cross_entropy", "split_axis", "sub",
    "transpose_sequence", "tree_lstm", "where",
]  # fmt: skip


def argmax(x: Any, axis: Any = None) -> Variable:
    """Return the indices of the maxima as int32."""
    return functions.cast(functions.argmax(x, axis=_one(axis)), "int32")


def argmin(x: Any, axis: Any = None) -> Variable:
    """Return the indices of the minima as int32."""
    return functions.cast(functions.argmin(x, axis=_one(axis)), "int32")


def _one(axis: Any) -> Any:
    if axis is not None and not hasattr(axis, "__index__"):
        raise TypeError(f"axis must be None or int, got {axis!r}")
    return axis


def argmax_crf1d(cost: Any, xs: Any) -> Any:
    """Return the largest score and the best path as int32 arrays; see `xpgrad.functions.argmax_crf1d`."""
    score, path = functions.argmax_crf1d(cost, xs)
    return score, [as_array(functions.cast(labels, "int32")) for labels in path]


_members = {"__slots__": (), "label": "Dropout", "_impl_name": "Dropout", "mask": property(lambda node: node.second)}
_Dropout: Any = type("Dropout", (Application,), _members)
"""The class of the node of a product with a mask, which is the node of `dropout`."""


def _probabilities(node: Any) -> Any:
    """Return the exponentials of cached scores, or None."""
    rest = getattr(node, "rest", None)  # absent for float16, whose last node is a cast
    score = rest.get("score") if isinstance(rest, dict) else None
    return None if score is None else as_array(functions.exp(score))


_CrossEntropy: Any = type("SoftmaxCrossEntropy", (Application,), {"__slots__": (), "y": property(_probabilities)})
"""The class of the node of `softmax_cross_entropy`."""


def dropout(x: Any, ratio: float = 0.5, **kwargs: Any) -> Any:
    """Set random elements to 0; the creator has the attribute `mask`. See `xpgrad.functions.dropout`."""
    y = functions.dropout(x, ratio, **kwargs)
    node = (y[0] if isinstance(y, tuple) else y).creator_node
    if config.train and type(node) is Application:
        node.__class__ = _Dropout
    return y


def softmax_cross_entropy(
    x: Any,
    t: Any,
    normalize: bool = True,
    cache_score: bool = True,
    class_weight: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Return the cross entropy of scores and labels, whose creator has the attribute `y`, the probabilities.

    Soft targets have no gradient and no weights of classes. In debug mode, a label that is not a class is a ValueError.
    """
    if "float" in str(as_array(t).dtype):
        t, class_weight = as_array(t), None
    try:
        loss = functions.softmax_cross_entropy(x, t, normalize, cache_score, class_weight, *args, **kwargs)
    except IndexError as error:
        if config.debug:
            raise ValueError(*error.args) from error
        raise
    if type(loss.creator_node) is Application:
        loss.creator_node.__class__ = _CrossEntropy
    return loss


def where(condition: Any, x: Any, y: Any) -> Variable:
    """Return the elements of `x` where `condition` is nonzero, else of `y`."""
    return functions.where(condition, x, y)


def split_axis(x: Any, indices_or_sections: Any, axis: int, force_tuple: bool = True) -> Any:
    """Split an array; in debug mode, indices must be sorted. See `xpgrad.functions.split_axis`."""
    if config.debug and not hasattr(indices_or_sections, "__index__"):
        cuts = list(indices_or_sections)
        if cuts != sorted(cuts):
            raise ValueError(f"split_axis: indices_or_sections must be sorted, got {cuts}")
    return related(functions.split_axis(x, indices_or_sections, axis, force_tuple))


broadcast = of_one_node(functions.broadcast)
lstm = of_one_node(functions.lstm)
separate = of_one_node(functions.separate)
slstm = of_one_node(functions.slstm)
transpose_sequence = of_one_node(functions.transpose_sequence)
tree_lstm = of_one_node(functions.tree_lstm)


def _unless_of_that_shape(function: Callable[[Any, Any], Variable]) -> Callable[[Any, Any], Variable]:
    @functools.wraps(function)
    def call(x: Any, shape: Any) -> Variable:
        x = as_variable(x)
        return x if x.shape == shape else function(x, shape)

    return call


broadcast_to = _unless_of_that_shape(functions.broadcast_to)
reshape = _unless_of_that_shape(functions.reshape)


def rsub(x: Any, other: Any) -> Variable:
    """Return ``other - x``."""
    return sub(other, x)


def rdiv(x: Any, other: Any) -> Variable:
    """Return ``other / x``."""
    return div(other, x)


def rfloordiv(x: Any, other: Any) -> Variable:
    """Return ``other // x``."""
    return floordiv(other, x)


def rpow(x: Any, other: Any) -> Variable:
    """Return ``other ** x``."""
    return pow(other, x)


def rmatmul(x: Any, other: Any) -> Variable:
    """Return ``other @ x``."""
    return functions.matmul(other, x)


def _in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(y: Any, *args: Any, **kwargs: Any) -> Any:
        return function(functions.cast(y, "float64"), *args, **kwargs)

    return call


classification_summary = _in_float64(functions.classification_summary)
precision, recall, f1_score = map(_in_float64, (functions.precision, functions.recall, functions.f1_score))


def _also_of_integers(function: Callable[[Any], Variable]) -> Callable[[Any], Variable]:
    @functools.wraps(function)
    def call(x: Any) -> Variable:
        return as_variable(x) if "int" in str(as_array(x).dtype) else function(x)

    return call


ceil, fix, floor = map(_also_of_integers, (functions.ceil, functions.fix, functions.floor))


def fbeta_score(y: Any, t: Any, label_num: int | None = None, beta: float = 1.0, ignore_label: int = -1) -> Any:
    """Return the F-beta scores and the support of each label."""
    _, _, score, support = classification_summary(y, t, label_num, beta, ignore_label)
    return score, support


def gumbel_softmax(log_pi: Any, tau: Any = 0.1, axis: int = 1) -> Variable:
    """Return nearly one-hot samples of a categorical distribution; see `xpgrad.functions.gumbel_softmax`."""
    x = as_variable(log_pi)
    noise = gumbel(x, x.shape) if x.ndim else None
    return functions.gumbel_softmax(x, tau, axis) if noise is None else functions.softmax((x + noise) / tau, axis=axis)


def n_step_rnn_base(
    n_layers: int, dropout_ratio: float, hx: Any, ws: Any, bs: Any, xs: Any, activation: str, use_bi_direction: bool
) -> Any:
    """Return `n_step_birnn` or `n_step_rnn` of the other arguments."""
    function = functions.n_step_birnn if use_bi_direction else functions.n_step_rnn
    return function(n_layers, dropout_ratio, hx, ws, bs, xs, activation)


def n_step_gru_base(
    n_layers: int, dropout_ratio: float, hx: Any, ws: Any, bs: Any, xs: Any, use_bi_direction: bool, **kwargs: Any
) -> Any:
    """Return `n_step_bigru` or `n_step_gru` of the other arguments."""
    function = functions.n_step_bigru if use_bi_direction else functions.n_step_gru
    return function(n_layers, dropout_ratio, hx, ws, bs, xs, **kwargs)


def n_step_lstm_base(
    n_layers: int, dropout_ratio: float, hx: Any, cx: Any, ws: Any, bs: Any, xs: Any, use_bi_direction: bool,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return `n_step_bilstm` or `n_step_lstm` of the other arguments."""
    function = functions.n_step_bilstm if use_bi_direction else functions.n_step_lstm
    return function(n_layers, dropout_ratio, hx, cx, ws, bs, xs, **kwargs)
