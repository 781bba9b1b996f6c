"""Chainer's tools for authors of functions and links (`chainer.utils`)."""

import collections.abc as collections_abc

from xpgrad_chainer.utils.argument import assert_kwargs_empty, check_unexpected_kwargs, parse_kwargs
from xpgrad_chainer.utils.arrays import _format_array_props as _format_array_props
from xpgrad_chainer.utils.arrays import (
    as_mat,
    as_vec,
    empty_like,
    force_array,
    force_type,
    get_order,
    oversample,
    size_of_shape,
    sum_to,
    tempdir,
)
from xpgrad_chainer.utils.convolution import get_conv_outsize, get_deconv_outsize
from xpgrad_chainer.utils.decorators import cached_property, enable_final, experimental, final, nondeterministic
from xpgrad_chainer.utils.walker_alias import WalkerAlias

__all__ = [
    "WalkerAlias", "as_mat", "as_vec", "assert_kwargs_empty", "cached_property", "check_unexpected_kwargs",
    "collections_abc", "empty_like", "enable_final", "experimental", "final", "force_array", "force_type",
    "get_conv_outsize", "get_deconv_outsize", "get_order", "nondeterministic", "oversample", "parse_kwargs",
    "size_of_shape", "sum_to", "tempdir",
]  # fmt: skip
