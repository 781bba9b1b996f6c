"""What functions say about arguments that they cannot take."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad.errors import AxisError, ShapeError, UnknownArray
from xpgrad.utils import to_coo
from xpgrad.utils.type_check import InvalidType


def ones(*shape: int, dtype: Any = float) -> Any:
    """Return an array of ones."""
    return np.ones(shape, dtype)


def fixed(shape: Sequence[int]) -> Any:
    """Return samples from 0 to 5."""
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape) % 6


def network(f: Callable[..., Any], **change: Any) -> object:
    """Call a recurrent network with arguments that fit, except for `change`."""
    fit = {"n_layers": 1, "dropout_ratio": 0.0, "hx": ones(1, 2, 3), "xs": [ones(2, 4), ones(1, 4)]}
    return f(**fit | {"ws": [[ones(3, 4), ones(3, 3)]], "bs": [[ones(3), ones(3)]]} | change)


def sample(f: Callable[..., Any], **change: Any) -> object:
    """Call a loss of samples with arguments that fit, except for `change`."""
    return f(
        **{"x": ones(3, 4), "t": np.asarray([1, -1, 5]), "W": ones(6, 4), "sampler": fixed, "sample_size": 2} | change
    )


def renormalize(f: Callable[..., Any], x: Any, rmax: float = 2, **averages: Any) -> object:
    """Call a renormalization of three channels."""
    return f(x, ones(3), ones(3), rmax, 1, **averages)


ROWS, INTEGERS, LABELS, LABEL = ones(2, 3), ones(2, 3, dtype=int), np.asarray([0, 1]), ones(1, 1, dtype=int)
IMAGE, IMAGES, FILTERS, EVENTS = ones(1, 1, 4, 4), ones(2, 3, 4, 4), ones(5, 3, 3, 2, 2, 2), ones(2, 4, 3)
THREE, FOUR, SQUARE, EIGHT = ones(3), ones(4), ones(2, 2), ones(2, 8)
STEPS, PATHS = [ones(n, 2) for n in (3, 2, 1)], [ones(n, dtype=int) for n in (3, 2, 1)]
LOGITS = [ones(1, 3), ones(1, 3)]
Q, K, V = ones(3, 4), ones(5, 4), ones(5, 2)
PICTURES, ROIS, INDICES = REGIONS = ones(2, 3, 5, 4), ones(2, 4), np.zeros(2, int)
INSTANCES = ones(2, 3, 2, 2), ones(2, 2, 2, dtype=int)
OUTSIZE = "expected outsize to be an int of at least 1 or a pair"
PAIRED = ("mean_squared_error", "squared_error", "absolute_error", "mean_absolute_error")
LIKELIHOODS = (("gaussian_nll", 2), ("gaussian_kl_divergence", 1), ("bernoulli_nll", 1))
REGIONAL = ("roi_average_align_2d", "roi_average_pooling_2d", "roi_max_align_2d", "roi_max_pooling_2d")
ERRORS: list[tuple[str, type[Exception], str, Callable[[Any], object]]] = [
    ("selu", InvalidType, "performed in: selu (Forward)", lambda f: f(INTEGERS)),
    ("selu", TypeError, "selu: expected real options, got 1j", lambda f: f(ROWS, 1j)),
    ("rsqrt", UnknownArray, "rsqrt: expected an array", lambda f: f(object())),
    ("diagonal", TypeError, "diagonal: the Variable is uninitialised", lambda f: f(Variable(None))),
    ("f1_score", InvalidType, "performed in: f1_score (Forward)", lambda f: f(ROWS, ROWS)),
    ("prelu", InvalidType, "W of the shape of x from axis 1 on, (4,)", lambda f: f(EVENTS, THREE)),
    ("swish", InvalidType, "beta of the shape of x from axis 1 on, (4,)", lambda f: f(EVENTS, THREE)),
    ("maxout", ValueError, "maxout: pool_size must be a positive integer, got 0", lambda f: f(ROWS, 0)),
    ("maxout", ValueError, "maxout: pool_size must be a positive integer, got -1", lambda f: f(ROWS, -1)),
    ("maxout", InvalidType, "x with a multiple of 2 elements along axis 1", lambda f: f(ROWS, 2)),
    ("maxout", AxisError, "x with an axis 2", lambda f: f(ROWS, 1, 2)),
    ("crelu", AxisError, "x with an axis 2", lambda f: f(ROWS, axis=2)),
    ("rrelu", InvalidType, "r of the shape and dtype of x", lambda f: f(THREE, r=FOUR)),
    ("gumbel_softmax", AxisError, "x with an axis 1", lambda f: f(THREE)),
    ("swapaxes", AxisError, "x with an axis 2", lambda f: f(ROWS, 0, 2)),
    ("rollaxis", AxisError, "x with an axis 2", lambda f: f(ROWS, 2)),
    ("rollaxis", AxisError, "x with an axis -3", lambda f: f(ROWS, 1, -3)),
    ("split_axis", AxisError, "x with an axis 2", lambda f: f(ROWS, 2, 2)),
    ("split_axis", ValueError, "3 elements cannot be split into 2 equal parts", lambda f: f(ROWS, 2, 1)),
    ("permutate", AxisError, "x with an axis 2", lambda f: f(ROWS, np.arange(3), 2)),
    ("permutate", InvalidType, "indices of shape (2,)", lambda f: f(ROWS, np.arange(3))),
    ("repeat", AxisError, "x with an axis -3", lambda f: f(ROWS, 2, -3)),
    ("repeat", ValueError, "expected repeats to be an int or 3 ints, each at least 0, got", lambda f: f(THREE, (1, 2))),
    ("repeat", ValueError, "expected repeats to be an int or 3 ints", lambda f: f(THREE, (1, -1, 2))),
    ("repeat", ValueError, "expected repeats to be an int or 3 ints", lambda f: f(THREE, -1)),
    ("repeat", TypeError, "expected an integer or a sequence of integers", lambda f: f(THREE, (1.5, 1, 1))),
    ("select_item", InvalidType, "t of shape", lambda f: f(ones(3, 4), LABELS)),
    ("select_item", InvalidType, "x of shape", lambda f: f(ones(2, 3, 1), LABELS)),
    ("select_item", InvalidType, "x of shape", lambda f: f(ones(2), LABELS)),
    ("select_item", InvalidType, "t of an integer dtype", lambda f: f(ROWS, ones(2))),
    ("hstack", TypeError, "hstack: expected at least one Variable or array, got nothing", lambda f: f([])),
    ("scaled_dot_product_attention", InvalidType, "q of shape (*B, N, C), k of (*B, M, C), v of (*B, M, D)",
     lambda f: f(Q, ones(5, 3), V)),
    ("scaled_dot_product_attention", InvalidType, "q of shape (*B, N, C)", lambda f: f(Q, K, ones(4, 2))),
    ("scaled_dot_product_attention", InvalidType, "q of shape (*B, N, C)", lambda f: f(FOUR, K, V)),
    ("scaled_dot_product_attention", InvalidType, "at least one key", lambda f: f(Q, ones(0, 4), ones(0, 2))),
    ("scaled_dot_product_attention", InvalidType, "axes before the last two that broadcast",
     lambda f: f(ones(2, 3, 4), ones(3, 5, 4), V)),
    ("scaled_dot_product_attention", InvalidType, "a mask that broadcasts to (3, 5)",
     lambda f: f(Q, K, V, ones(4, 5, dtype=bool))),
    ("scaled_dot_product_attention", InvalidType, "a mask that is boolean or real floating-point",
     lambda f: f(Q, K, V, ones(3, 5, dtype=int))),
    ("crf1d", InvalidType, "in descending order of B_t", lambda f: f(SQUARE, STEPS[::-1], PATHS[::-1])),
    ("crf1d", InvalidType, "ys of a label for each row of xs", lambda f: f(SQUARE, STEPS, PATHS[:2])),
    ("crf1d", InvalidType, "cost of shape (K, K)", lambda f: f(SQUARE[:1], STEPS, PATHS)),
    ("crf1d", InvalidType, "cost of shape (K, K)", lambda f: f(SQUARE.astype("f"), STEPS, PATHS)),
    ("crf1d", InvalidType, "ys of an integer dtype", lambda f: f(SQUARE, STEPS, STEPS)),
    ("argmax_crf1d", InvalidType, "at least one step", lambda f: f(SQUARE, [])),
    ("connectionist_temporal_classification", TypeError, "x must be a list or tuple of arrays",
     lambda f: f(np.stack(LOGITS), LABEL, 0)),
    ("connectionist_temporal_classification", ValueError, "blank_symbol must be from 0 to 2, got 3",
     lambda f: f(LOGITS, LABEL, 3)),
    ("connectionist_temporal_classification", ValueError, "reduce must be 'mean' or 'no', got 'sum'",
     lambda f: f(LOGITS, LABEL, 0, reduce="sum")),
    ("connectionist_temporal_classification", InvalidType, "t of shape (B, M) with M > 0",
     lambda f: f(LOGITS, LABEL[0], 0)),
    ("connectionist_temporal_classification", InvalidType, "at least one array", lambda f: f([], LABEL, 0)),
    ("connectionist_temporal_classification", InvalidType, "all of one shape",
     lambda f: f([LOGITS[0], ones(1, 2)], LABEL, 0)),
    ("connectionist_temporal_classification", InvalidType, "label_length of shape (1,)",
     lambda f: f(LOGITS, LABEL, 0, label_length=LABELS)),
    ("recall", ValueError, "label_num cannot be found from t without elements; give it",
     lambda f: f(ROWS[:0], LABELS[:0])),
    ("classification_summary", InvalidType, "t of shape (N, ...)", lambda f: f(ROWS, LABELS[:1])),
    ("classification_summary", InvalidType, "t of shape (N, ...)", lambda f: f(ones(2, 3, 2), LABELS)),
    ("classification_summary", InvalidType, "with C > 0", lambda f: f(ones(2), LABELS)),
    ("classification_summary", InvalidType, "t of an integer dtype", lambda f: f(ROWS, ones(2))),
    ("classification_summary", InvalidType, "y of a real floating-point dtype", lambda f: f(INTEGERS, LABELS)),
    ("binary_accuracy", InvalidType, "t of shape (2, 3), as y", lambda f: f(ROWS, LABELS)),
    ("r2_score", InvalidType, "pred and true of one shape", lambda f: f(ROWS, ROWS[:1])),
    ("r2_score", InvalidType, "sample_weight of shape (2,)", lambda f: f(ROWS, ROWS, ROWS)),
    ("r2_score", ValueError, "multioutput must be 'uniform_average' or 'raw_values', got 'mean'",
     lambda f: f(ROWS, ROWS, multioutput="mean")),
    ("accuracy", InvalidType, "t of shape (2,), one label for each example of y", lambda f: f(ROWS, LABELS[:1])),
    ("accuracy", InvalidType, "t of an integer dtype", lambda f: f(ROWS, ones(2))),
    ("accuracy", InvalidType, "y of a real floating-point dtype", lambda f: f(INTEGERS, LABELS)),
    ("accuracy", InvalidType, "y of shape (N, C, ...) with C > 0", lambda f: f(THREE, np.asarray(1))),
    ("linear", InvalidType,
     "W of shape (out, 3), for the features of x\nActual: x is float64 (2, 3), W is float64 (4, 5)",
     lambda f: f(ROWS, ones(4, 5))),
    ("linear", InvalidType, "W of shape (out, 3)", lambda f: f(ROWS, THREE)),
    ("linear", InvalidType, "b of shape (4,), as W is float64 (4, 3)\nActual: b is float64 (3,)",
     lambda f: f(ROWS, ones(4, 3), THREE)),
    ("linear", InvalidType, "b of shape (4,)", lambda f: f(ROWS, ones(4, 3), ones(1, 4))),
    ("linear", InvalidType, "x with more than 1 axes\nActual: x is float64 (3,)", lambda f: f(THREE, ones(4, 3))),
    ("linear", InvalidType, "x of a real floating-point dtype", lambda f: f(INTEGERS, ROWS)),
    ("linear", InvalidType, "W of a real floating-point dtype", lambda f: f(ROWS, INTEGERS)),
    ("linear", InvalidType, "b of a real floating-point dtype", lambda f: f(ROWS, ROWS, LABELS)),
    ("linear", ValueError, "n_batch_axes must be at least 1, got 0", lambda f: f(ROWS, ROWS, n_batch_axes=0)),
    ("convolution_1d", InvalidType, "x of a floating-point dtype",
     lambda f: f(ones(1, 1, 4, dtype=int), ones(1, 1, 2))),
    ("convolution_1d", InvalidType, "W of a floating-point dtype",
     lambda f: f(ones(1, 1, 4), ones(1, 1, 2, dtype=int))),
    ("convolution_2d", InvalidType, "x of shape (N, C, *D) ", lambda f: f(ones(2, 3, 4), ones(4, 3, 2, 2))),
    ("convolution_2d", InvalidType, "where x has 3 channels and groups is 1", lambda f: f(IMAGES, ones(4, 2, 2, 2))),
    ("convolution_2d", InvalidType, "W of shape (N, C, *D) with 2 axes D", lambda f: f(IMAGES, ones(4, 3, 2))),
    ("convolution_2d", InvalidType, "which gives an output of (0, 3)", lambda f: f(IMAGES, ones(4, 3, 5, 2))),
    ("convolution_2d", InvalidType, "b of shape (4,)", lambda f: f(IMAGES, ones(4, 3, 2, 2), THREE)),
    ("convolution_2d", ValueError, "stride to be an int or 2 ints, each at least 1, got 0",
     lambda f: f(IMAGE, IMAGE, stride=0)),
    ("convolution_2d", ValueError, "pad to be an int or 2 ints, each at least 0",
     lambda f: f(IMAGE, IMAGE, pad=(1, -1))),
    ("convolution_2d", ValueError, "dilate to be an int or 2", lambda f: f(IMAGE, IMAGE, dilate=(1, 1, 1))),
    ("convolution_2d", ValueError, "groups to be at least 1", lambda f: f(IMAGE, IMAGE, groups=0)),
    ("convolution_nd", InvalidType, "with one or more axes D", lambda f: f(ROWS, ones(4, 3))),
    ("deconvolution_1d", InvalidType, "b of shape (5,)", lambda f: f(ones(2, 3, 4), ones(3, 5, 2), THREE)),
    ("deconvolution_2d", InvalidType, "W of shape (C, out / groups, ...)", lambda f: f(IMAGES, ones(4, 3, 2, 2))),
    ("deconvolution_2d", InvalidType, "x with (8, 8) windows in the output of size (9, 9)",
     lambda f: f(IMAGE, ones(1, 1, 2, 2), outsize=(9, 9))),
    ("depthwise_convolution_2d", InvalidType, "W of shape (M, 3, KH, KW)", lambda f: f(IMAGES, ones(2, 4, 2, 2))),
    ("sparse_matmul", ValueError, "expected one sparse matrix, a CooMatrix or one of scipy.sparse", lambda f: f(Q, K)),
    ("sparse_matmul", ValueError, "expected one sparse matrix", lambda f: f(to_coo(Q), to_coo(K))),
    ("sparse_matmul", InvalidType, "dense matrix of", lambda f: f(to_coo(ROWS), ones(2, 2))),
    ("sparse_matmul", InvalidType, "dense matrix of", lambda f: f(to_coo(ROWS), THREE)),
    ("sparse_matmul", InvalidType, "dense matrix of", lambda f: f(to_coo(ROWS), ones(1, 3, 2))),
    ("sparse_matmul", InvalidType, "dense matrix of", lambda f: f(to_coo(ROWS), ones(3, 2, dtype=int))),
    ("bilinear", ValueError, "expected all of V1, V2 and b, or none; V2 and b is None",
     lambda f: f(ROWS, ones(2, 4), ones(3, 4, 5), ones(3, 5))),
    ("bilinear", InvalidType, "W of shape (J, K, L)", lambda f: f(ROWS, ones(2, 4), ones(2, 4, 5))),
    ("bilinear", InvalidType, "V2 of shape (4, 5)",
     lambda f: f(ROWS, ones(2, 4), ones(3, 4, 5), ones(3, 5), ones(3, 5), ones(5))),
    ("bilinear", InvalidType, "e2 of a real floating-point dtype", lambda f: f(ROWS, INTEGERS, ones(3, 3, 5))),
    ("local_convolution_2d", InvalidType, "W of shape (out, OH, OW, 2, KH, KW)",
     lambda f: f(ones(1, 2, 4, 4), FILTERS[0])),
    ("local_convolution_2d", InvalidType, "W of shape (5, 3, 3, 2, 2, 2)",
     lambda f: f(ones(1, 2, 4, 4), FILTERS[:, :2])),
    ("local_convolution_2d", InvalidType, "b of shape (5, 3, 3)",
     lambda f: f(ones(1, 2, 4, 4), FILTERS, ones(3, 3, 5))),
    ("shift", InvalidType, "x with at least 9 channels", lambda f: f(IMAGES)),
    ("shift", ValueError, "shift: ksize must be odd, got 2", lambda f: f(ones(1, 9, 4, 4), 2)),
    ("softmax_cross_entropy", ValueError, "reduce must be 'mean' or 'no', got 'sum'",
     lambda f: f(ROWS, LABELS, reduce="sum")),
    ("softmax_cross_entropy", ValueError, "class_weight must have shape (3,)",
     lambda f: f(ROWS, LABELS, class_weight=ones(2))),
    ("softmax_cross_entropy", ValueError, "class_weight must be an array, not a Variable",
     lambda f: f(ROWS, LABELS, class_weight=xpgrad.Variable(THREE))),
    ("softmax_cross_entropy", ValueError, "soft_target_loss must be 'cross-entropy' or 'kl-divergence'",
     lambda f: f(ROWS, LABELS, soft_target_loss="l2")),
    ("softmax_cross_entropy", InvalidType, "t of shape (2,), one label for each example",
     lambda f: f(ROWS, LABELS[:1])),
    ("softmax_cross_entropy", InvalidType, "t of shape (2,)", lambda f: f(ROWS, LABELS[:, None])),
    ("softmax_cross_entropy", InvalidType, "x of a real floating-point dtype", lambda f: f(INTEGERS, LABELS)),
    ("softmax_cross_entropy", InvalidType, "t of an integer dtype", lambda f: f(ROWS, LABELS > 0)),
    ("softmax_cross_entropy", InvalidType, "t of integers, or real floating-point and of the shape of x",
     lambda f: f(ROWS, ones(2))),
    ("softmax_cross_entropy", InvalidType, "x of shape (N, C, ...) with C > 0", lambda f: f(THREE, np.asarray(1))),
    ("softmax_cross_entropy", InvalidType, "with C > 0", lambda f: f(ROWS[:, :0], LABELS)),
    ("sigmoid_cross_entropy", ValueError, "reduce must be 'mean' or 'no'", lambda f: f(ROWS, INTEGERS, reduce="sum")),
    ("sigmoid_cross_entropy", InvalidType, "t of shape (2, 3), as x", lambda f: f(ROWS, LABELS)),
    ("hinge", ValueError, "hinge: norm must be 'L1' or 'L2', got 'L3'", lambda f: f(ROWS, LABELS, norm="L3")),
    ("hinge", ValueError, "hinge: reduce must be 'mean' or 'no'", lambda f: f(ROWS, LABELS, reduce="sum")),
    ("hinge", InvalidType, "t of an integer dtype", lambda f: f(ROWS, ones(2))),
    ("hinge", InvalidType, "x of shape (N, C) and t of shape (N,)", lambda f: f(ROWS, LABELS[:1])),
    ("contrastive", ValueError, "contrastive: margin must be positive, got 0",
     lambda f: f(ROWS, ROWS, LABELS, margin=0)),
    ("contrastive", ValueError, "contrastive: reduce must be", lambda f: f(ROWS, ROWS, LABELS, reduce="sum")),
    ("contrastive", InvalidType, "x0, x1 of one shape (N, K)", lambda f: f(ROWS, ROWS[:1], LABELS)),
    ("contrastive", InvalidType, "y of shape (2,), one for each pair", lambda f: f(ROWS, ROWS, LABELS[:1])),
    ("triplet", ValueError, "triplet: margin must be positive", lambda f: f(ROWS, ROWS, ROWS, margin=-1.0)),
    ("triplet", InvalidType, "anchor, positive, negative of one shape", lambda f: f(ROWS, ROWS, ROWS.astype("f"))),
    ("decov", ValueError, "decov: reduce must be 'half_squared_sum' or 'no'", lambda f: f(ROWS, "mean")),
    ("decov", InvalidType, "h of shape (N, K)", lambda f: f(THREE)),
    ("cross_covariance", ValueError, "cross_covariance: reduce must be", lambda f: f(ROWS, ROWS, "mean")),
    ("cross_covariance", InvalidType, "y of shape (N, K) and z of shape (N, L)", lambda f: f(ROWS, ROWS[:1])),
    *[("dropout", ValueError, "ratio must be from 0 to below 1", lambda f, r=r: f(THREE, r))
      for r in (-0.1, 1.0, np.nan)],
    ("dropout", InvalidType, "mask of the shape and dtype of x", lambda f: f(THREE, mask=FOUR)),
    ("dropout", InvalidType, "mask of the shape and dtype of x", lambda f: f(THREE, mask=THREE.astype("f"))),
    ("zoneout", InvalidType, "h and x of one shape and dtype", lambda f: f(THREE, FOUR)),
    ("zoneout", ValueError, "zoneout: ratio must be from 0 to 1, got", lambda f: f(THREE, THREE, 1.5)),
    ("gaussian", InvalidType, "ln_var of the shape and dtype of mean", lambda f: f(THREE, FOUR)),
    ("gaussian", InvalidType, "eps of the shape and dtype of mean", lambda f: f(THREE, THREE, eps=THREE.astype("f"))),
    ("simplified_dropconnect", InvalidType, "x of shape (N, ...) and W of shape (M, 3)", lambda f: f(ROWS, ones(4, 2))),
    ("simplified_dropconnect", InvalidType, "x of shape (N, ...)", lambda f: f(THREE, ones(4, 3))),
    ("simplified_dropconnect", InvalidType, "b of shape (4,)", lambda f: f(ROWS, ones(4, 3), THREE)),
    ("simplified_dropconnect", InvalidType, "mask of shape (2, 4, 3)",
     lambda f: f(ROWS, ones(4, 3), None, 0.5, True, ones(4, 3))),
    ("batch_normalization", InvalidType, "gamma of shape (4,), as x is float64 (2, 4, 3)",
     lambda f: f(EVENTS, THREE, FOUR)),
    ("batch_normalization", InvalidType, "x of a real floating-point dtype",
     lambda f: f(EVENTS.astype(int), FOUR, FOUR)),
    ("batch_normalization", ValueError, "expected different axes of an array with 3 axes",
     lambda f: f(EVENTS, FOUR, FOUR, axis=(0, 3))),
    ("fixed_batch_normalization", InvalidType, "var of shape (4,)", lambda f: f(EVENTS, FOUR, FOUR, FOUR, THREE)),
    ("layer_normalization", InvalidType, "x of shape (N, D)", lambda f: f(EVENTS, THREE, THREE)),
    ("group_normalization", ValueError, "4 channels cannot be split into 3 equal groups",
     lambda f: f(EVENTS, 3, FOUR, FOUR)),
    ("group_normalization", TypeError, "groups to be an int, got float", lambda f: f(EVENTS, 2.0, FOUR, FOUR)),
    ("local_response_normalization", ValueError, "n must be at least 1, got 0", lambda f: f(EVENTS, n=0)),
    ("batch_renormalization", TypeError, "running_mean is required", lambda f: renormalize(f, ROWS, running_var=THREE)),
    ("batch_renormalization", TypeError, "running_var is required", lambda f: renormalize(f, ROWS, running_mean=THREE)),
    ("batch_renormalization", ValueError, "expected rmax of at least 1 and dmax of at least 0, got 0.5 and 1",
     lambda f: renormalize(f, ROWS, 0.5, running_mean=THREE, running_var=THREE)),
    ("batch_renormalization", InvalidType, "running_var of shape (3,)",
     lambda f: renormalize(f, ROWS, running_mean=THREE, running_var=FOUR)),
    ("batch_renormalization", InvalidType, "x of a real floating-point dtype",
     lambda f: renormalize(f, INTEGERS, running_mean=THREE, running_var=THREE)),
    ("fixed_batch_renormalization", InvalidType, "beta of shape (3,)", lambda f: f(ROWS, THREE, FOUR, THREE, THREE)),
    ("decorrelated_batch_normalization", ValueError, "4 channels cannot be split into 16 equal", lambda f: f(EVENTS)),
    ("decorrelated_batch_normalization", InvalidType, "x of shape (N, C, ...)", lambda f: f(THREE, groups=1)),
    ("decorrelated_batch_normalization", InvalidType, "x of a real floating-point dtype",
     lambda f: f(EVENTS.astype(int), groups=2)),
    ("decorrelated_batch_normalization", InvalidType, "running_projection of shape (2, 2, 2)",
     lambda f: f(EVENTS, groups=2, running_projection=SQUARE)),
    ("decorrelated_batch_normalization", TypeError, "groups to be an int, got float", lambda f: f(EVENTS, groups=2.0)),
    ("decorrelated_batch_normalization", TypeError, "positional argument", lambda f: f(EVENTS, 2)),
    ("fixed_decorrelated_batch_normalization", InvalidType, "mean of shape (2, 2), as x is float64 (2, 4, 3)",
     lambda f: f(EVENTS, FOUR, ones(2, 2, 2), 2)),
    ("fixed_decorrelated_batch_normalization", InvalidType, "projection of a real floating-point dtype",
     lambda f: f(EVENTS, SQUARE, ones(2, 2, 2, dtype=int), 2)),
    ("max_pooling_2d", InvalidType, "x of a floating-point dtype", lambda f: f(IMAGE.astype(int), 2)),
    ("max_pooling_2d", InvalidType, "x of a real floating-point dtype", lambda f: f(IMAGE.astype(complex), 2)),
    ("max_pooling_2d", ValueError, "ksize to be an int or 2 ints", lambda f: f(IMAGE, (2, 2, 2))),
    ("average_pooling_1d", ShapeError, "with one axis D", lambda f: f(IMAGE, 2)),
    ("average_pooling_2d", InvalidType, "windows of (5, 5) fit", lambda f: f(IMAGE, 5)),
    ("average_pooling_2d", ValueError, "average_pooling_2d: pad_value must be 0 or None, got 1",
     lambda f: f(IMAGE, 2, pad_value=1)),
    ("upsampling_2d", InvalidType, "indexes of the shape of x, (1, 1, 4, 4)",
     lambda f: f(IMAGE, ones(1, 1, 2, 2, dtype=int), 2)),
    ("upsampling_2d", InvalidType, "indexes of an integer dtype", lambda f: f(IMAGE, IMAGE, 2)),
    ("huber_loss", ValueError, "huber_loss: reduce must be 'sum_along_second_axis' or 'no', got 'mean'",
     lambda f: f(ROWS, ROWS, 1.0, reduce="mean")),
    ("huber_loss", InvalidType, "x of shape (N, D, ...)", lambda f: f(THREE, THREE, 1.0)),
    ("huber_loss", InvalidType, "x and t of one shape and dtype", lambda f: f(ROWS, ROWS[:, :1], 1.0)),
    ("n_step_rnn", InvalidType, "xs of shapes (B_t, I), in descending order of B_t",
     lambda f: network(f, xs=[ones(1, 4), ones(2, 4)])),
    ("n_step_rnn", InvalidType, "at least one layer and one step", lambda f: network(f, xs=[])),
    ("n_step_rnn", InvalidType, "at least one layer", lambda f: network(f, n_layers=0)),
    ("n_step_rnn", InvalidType, "xs[0] of a real floating-point dtype",
     lambda f: network(f, xs=[ones(2, 4, dtype=int)])),
    ("n_step_rnn", InvalidType, "hx of shape (1, 2, N)", lambda f: network(f, hx=ones(2, 2, 3))),
    ("n_step_rnn", InvalidType, "states and inputs of one dtype", lambda f: network(f, hx=ones(1, 2, 3, dtype="f"))),
    ("n_step_rnn", InvalidType, "ws of 1 lists of 2 arrays", lambda f: network(f, ws=[[]])),
    ("n_step_rnn", InvalidType, "bs of 1 lists of 2 arrays", lambda f: network(f, bs=[])),
    ("n_step_rnn", InvalidType, "ws[0][1] of shape (3, 3)", lambda f: network(f, ws=[[ones(3, 4), ones(3, 4)]])),
    ("n_step_rnn", InvalidType, "bs[0][1] of shape (3,)", lambda f: network(f, bs=[[THREE, FOUR]])),
    ("n_step_birnn", ValueError, "n_step_birnn: activation must be 'tanh' or 'relu', got 'sigmoid'",
     lambda f: network(f, activation="sigmoid")),
    ("lstm", InvalidType, "x of its dtype and of shape (B, 4 * N, ...)", lambda f: f(SQUARE, ones(2, 6))),
    ("lstm", InvalidType, "a cell of shape", lambda f: f(SQUARE, ones(3, 8))),
    ("lstm", InvalidType, "x of its dtype", lambda f: f(SQUARE, EIGHT.astype("f"))),
    ("slstm", InvalidType, "c_prev2 like c_prev1", lambda f: f(SQUARE, ones(2, 1), EIGHT, EIGHT)),
    ("slstm", InvalidType, "x2 of its dtype", lambda f: f(SQUARE, SQUARE, EIGHT, EIGHT[:1])),
    ("tree_lstm", InvalidType, "cell 1 like cell 0", lambda f: f(SQUARE, SQUARE[:1], ones(2, 10))),
    ("tree_lstm", InvalidType, "shape (B, 4 * N", lambda f: f(SQUARE, ones(2, 10))),
    ("tree_lstm", TypeError, "expected the cells of the children and the sources, got 1 inputs",
     lambda f: f(ones(2, 6))),
    ("embed_id", InvalidType, "x of an integer dtype", lambda f: f(THREE, ROWS)),
    ("embed_id", InvalidType, "W of shape (V, K)", lambda f: f(LABELS, THREE)),
    ("transpose_sequence", InvalidType, "the longest first", lambda f: f(STEPS[::-1])),
    ("pad_sequence", InvalidType, "except for axis 0, one shape", lambda f: f([ROWS, SQUARE])),
    ("pad_sequence", ValueError, "length must be at least 2, as in the longest array; got 1",
     lambda f: f([ones(2)], length=1)),
    ("pad_sequence", ValueError, "expected at least one array", lambda f: f([])),
    ("space2depth", InvalidType, "X of shape (B, C, 2 * H, 2 * W)", lambda f: f(ones(1, 1, 3, 4), 2)),
    ("depth2space", InvalidType, "X of shape (B, 4 * C, H, W)", lambda f: f(ones(1, 6, 3, 4), 2)),
    *[("roi_max_align_2d", TypeError, "expected sampling_ratio to be an int of at least 1 or",
     lambda f, r=r: f(*REGIONS, 2, 1.0, r))
      for r in (0, (1, 0), 1.5)],
    ("roi_pooling_2d", InvalidType, "rois of shape (R, 5)", lambda f: f(*REGIONS[:2], 2, 2, 1.0)),
    ("spatial_transformer_grid", InvalidType, "theta of shape (N, 2, 3)", lambda f: f(ROWS, (2, 2))),
    ("spatial_transformer_grid", ValueError, "spatial_transformer_grid: expected output_shape to be an int or 2 ints",
     lambda f: f(ones(1, 2, 3), (2, 0))),
    ("spatial_transformer_sampler", InvalidType, "grid of shape (N, 2, OH, OW)", lambda f: f(IMAGES, ones(1, 2, 3, 3))),
    ("spatial_transformer_sampler", InvalidType, "grid of shape (N, 2, OH, OW)", lambda f: f(IMAGES, ones(2, 3, 3, 3))),
    ("spatial_transformer_sampler", InvalidType, "grid of shape (N, 2, OH, OW)", lambda f: f(IMAGES, ones(2, 3, 3))),
    ("spatial_transformer_sampler", InvalidType, "grid of a real floating-point dtype",
     lambda f: f(IMAGES, ones(2, 2, 3, 3, dtype=int))),
    ("deformable_convolution_2d_sampler", InvalidType, "offset of shape (2, 8, 3, 3)",
     lambda f: f(IMAGES, ones(2, 2, 3, 3), ones(5, 3, 2, 2))),
    ("deformable_convolution_2d_sampler", InvalidType, "W of shape (out, C, KH, KW)",
     lambda f: f(IMAGES, ones(2, 2, 3, 3), ones(5, 2, 2, 2))),
    ("resize_images", InvalidType, "x of shape (N, C, H, W) with pixels", lambda f: f(IMAGES[0], (2, 2))),
    ("resize_images", ValueError, "mode must be 'bilinear' or 'nearest', got 'cubic'",
     lambda f: f(IMAGES, (2, 2), mode="cubic")),
    ("as_strided", ValueError, "expected elements 0 to 3 of x, got 0 to 4", lambda f: f(FOUR, (2, 2), (1, 3))),
    ("as_strided", ValueError, "expected elements 0 to 3 of x, got -1 to 0", lambda f: f(FOUR, (2,), (-1,))),
    ("as_strided", ValueError, "a shape and as many strides, got (2,) and (1, 1)", lambda f: f(FOUR, (2,), (1, 1))),
    ("negative_sampling", InvalidType, "x of shape (N, D) and W", lambda f: sample(f, x=FOUR)),
    ("negative_sampling", InvalidType, "W of shape (V, D)", lambda f: sample(f, W=ones(6, 2))),
    ("negative_sampling", InvalidType, "of one dtype", lambda f: sample(f, W=ones(6, 4, dtype="f"))),
    ("negative_sampling", InvalidType, "t of shape (3,), one label for each row", lambda f: sample(f, t=LABELS)),
    ("negative_sampling", InvalidType, "t of an integer dtype", lambda f: sample(f, t=THREE)),
    ("negative_sampling", InvalidType, "an array of shape (3, 3) from sampler",
     lambda f: sample(f, sampler=lambda _: fixed((1,)))),
    ("negative_sampling", InvalidType, "what sampler returns of an integer dtype",
     lambda f: sample(f, sampler=np.zeros)),
    ("negative_sampling", ValueError, "negative_sampling: reduce must be 'sum' or 'no', got 'mean'",
     lambda f: sample(f, reduce="mean")),
    ("black_out", ValueError, "black_out: reduce must be 'mean' or 'no', got 'sum'",
     lambda f: f(ROWS, LABELS, ROWS, fixed((2, 2)), "sum")),
    ("black_out", InvalidType, "samples of shape (2, S)", lambda f: f(ROWS, LABELS, ROWS, fixed((3, 2)))),
    ("discriminative_margin_based_clustering_loss", ValueError, "norm must be 1 or 2, got 3",
     lambda f: f(*INSTANCES, 0.5, 1.5, 3, 3)),
    ("discriminative_margin_based_clustering_loss", ValueError, "max_embedding_dim must be positive, got 0",
     lambda f: f(*INSTANCES, 0.5, 1.5, 0)),
    ("discriminative_margin_based_clustering_loss", InvalidType, "embeddings of shape (N, 4, H, W)",
     lambda f: f(*INSTANCES, 0.5, 1.5, 4)),
    ("add", TypeError, "add: expected at least one array", lambda f: f()),
    ("maximum", TypeError, "missing 2 required", lambda f: f()),
    *[("fft", InvalidType, "fft (Forward)", lambda f, x=x: f(x))
      for x in (ROWS, (ROWS,) * 3, (ROWS, THREE), (ROWS, ROWS.astype("f")), (ROWS, INTEGERS))],
    *[(name, *row) for name in PAIRED for row in (
        (InvalidType, "x0 and x1 of one shape and dtype", lambda f: f(ROWS[:, :1], ones(2))),
        (InvalidType, "x1 is float64", lambda f: f(THREE.astype("f"), THREE)),
    )],
    *[(name, *row) for name, n in LIKELIHOODS for row in (
        (InvalidType, "of one dtype", lambda f, n=n: f(*[SQUARE] * n, SQUARE.astype("f"))),
        (InvalidType, "shapes do not broadcast", lambda f, n=n: f(*[SQUARE] * n, THREE)),
        (ValueError, "must be 'sum', 'mean' or 'no', got 'max'", lambda f, n=n: f(*[SQUARE] * (n + 1), reduce="max")),
    )],
    *[(name, *row) for name in REGIONAL for row in (
        (InvalidType, "x of shape (N, C, H, W) with pixels", lambda f: f(PICTURES[0], ROIS, INDICES, 2, 1.0)),
        (InvalidType, "rois of shape (R, 4)", lambda f: f(PICTURES, ROIS[:, :3], INDICES, 2, 1.0)),
        (InvalidType, "rois of a real floating-point dtype", lambda f: f(PICTURES, INDICES, INDICES, 2, 1.0)),
        (InvalidType, "roi_indices of an integer dtype", lambda f: f(PICTURES, ROIS, ROIS[:, 0], 2, 1.0)),
        (InvalidType, "roi_indices of shape (2,)", lambda f: f(PICTURES, ROIS, INDICES[:1], 2, 1.0)),
        *[(TypeError, OUTSIZE, lambda f, size=size: f(*REGIONS, size, 1.0)) for size in (0, (2, -1), 2.0, (1, 2, 3))],
        *[(TypeError, "expected spatial_scale to be a number greater than 0", lambda f, s=s: f(*REGIONS, 2, s))
          for s in (0, -1.0, "1")],
    )],
    *[(name, InvalidType, "Expect: y of", lambda f, y=y, axis=axis: f(EVENTS, y, axis)) for name in ("bias", "scale")
      for y, axis in ((THREE, 1), (ones(3, 1), 2), (ones(2), -3), (FOUR.astype(int), 1))],
    *[("linear_interpolate", InvalidType, "p, x and y of one shape and dtype", lambda f, xs=xs: f(*xs))
      for x in (THREE, ROWS.astype("f")) for xs in ((x, ROWS, ROWS), (ROWS, x, ROWS), (ROWS, ROWS, x))],
    *[(name, InvalidType, "x of shape (M, M)", lambda f, s=s: f(ones(*s)))
      for name in ("cholesky", "det", "inv") for s in ((2, 2, 2), (3, 2))],
    *[(name, InvalidType, "x of shape (B, M, M)", lambda f, s=s: f(ones(*s)))
      for name in ("batch_det", "batch_inv") for s in ((2, 2), (3, 3, 2))],
]  # fmt: skip


@pytest.mark.parametrize("name", dict.fromkeys(row[0] for row in ERRORS))
def test_the_error_says_what_the_function_takes(name: str) -> None:
    for function, kind, text, call in ERRORS:
        if function == name:
            with pytest.raises(kind) as caught:
                call(getattr(F, name))
            assert text in str(caught.value)
            assert re.search(rf"\b{name}\b", str(caught.value).removeprefix(f"{name}: Invalid"))
