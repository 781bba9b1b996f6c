"""Connections: products of inputs or windows with weights, and rows of weights."""

from typing import Any

from xpgrad_chx.routines.network import run

__all__ = ["conv", "conv_transpose", "embed_id", "linear"]

Lengths = int | tuple[int, ...]


def linear(x: Any, W: Any, b: Any = None, n_batch_axes: int = 1) -> Any:
    """Return ``x @ W.T + b``.

    Parameters
    ----------
    x : array, shape (*B, *S)
        The first `n_batch_axes` axes count examples, the remaining axes are features.
    W : array, shape (out, in)
    b : array, shape (out,), optional
    n_batch_axes : int
    """
    return run("linear", x, W, b, n_batch_axes=n_batch_axes)


def conv(x: Any, w: Any, b: Any = None, stride: Lengths = 1, pad: Lengths = 0, cover_all: bool = False) -> Any:
    """Return the convolution (a cross-correlation, as in all networks) of any number of axes.

    Parameters
    ----------
    x : array, shape (N, C, *D)
    w : array, shape (out, C, *K)
    b : array, shape (out,), optional
    stride, pad : int or tuple of int
    cover_all : bool
        Whether windows may extend beyond the end, so that windows cover every element.
    """
    return run("convolution_nd", x, w, b, stride=stride, pad=pad, cover_all=cover_all)


def conv_transpose(
    x: Any, w: Any, b: Any = None, stride: Lengths = 1, pad: Lengths = 0, outsize: tuple[int, ...] | None = None
) -> Any:
    """Return the transposed convolution of any number of axes.

    Parameters
    ----------
    x : array, shape (N, C, *D)
    w : array, shape (C, out, *K)
    b : array, shape (out,), optional
    stride, pad : int or tuple of int
    outsize : tuple of int, optional
        Lengths of the output's axes behind the first two; by default the smallest.
    """
    return run("deconvolution_nd", x, w, b, stride=stride, pad=pad, outsize=outsize)


def embed_id(x: Any, W: Any, ignore_label: int | None = None) -> Any:
    """Return the rows of `W` whose numbers are in `x`, zeros for `ignore_label`."""
    return run("embed_id", x, W, ignore_label=ignore_label)
