"""Links of convolutions, beyond the case table."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L

X = np.random.default_rng(0).standard_normal((2, 4, 6, 5)).astype("f")


def test_options_reach_the_functions():
    link = L.ConvolutionND(2, 4, 2, 3, (2, 1), (1, 0), cover_all=True)
    expected = F.convolution_nd(X, link.W, link.b, (2, 1), (1, 0), True)
    np.testing.assert_array_equal(link(X).array, expected.array)
    link = L.DilatedConvolution2D(4, 2, 2, dilate=2)
    np.testing.assert_array_equal(link(X).array, F.dilated_convolution_2d(X, link.W, link.b, dilate=2).array)
    link = L.DepthwiseConvolution2D(4, 3, 2, 2, 1)
    np.testing.assert_array_equal(link(X).array, F.depthwise_convolution_2d(X, link.W, link.b, 2, 1).array)
    link = L.LocalConvolution2D(4, 3, (6, 5), 2, 2)
    np.testing.assert_array_equal(link(X).array, F.local_convolution_2d(X, link.W, link.b, 2).array)


def test_attributes():
    link = L.Convolution2D(4, 2, 3, 2, (1, 0))
    assert (link.ksize, link.stride, link.pad, link.dilate, link.groups) == (3, (2, 2), (1, 0), (1, 1), 1)
    assert link.out_channels == 2


@pytest.mark.parametrize(("kind", "which"), [(L.Convolution2D, "input"), (L.Deconvolution2D, "input")])
def test_channels_are_a_multiple_of_groups(kind, which):
    with pytest.raises(ValueError, match=f"number of {which} channels must be a multiple of groups 2, got 3"):
        kind(3, 4, 2, groups=2)
    with pytest.raises(ValueError, match="number of output channels must be a multiple of groups 2, got 3"):
        kind(4, 3, 2, groups=2)


def test_deformable_convolution_starts_as_a_convolution():
    link = L.DeformableConvolution2D(4, 2, 3, pad=1)
    expected = F.convolution_2d(X, link.deform_conv.W, link.deform_conv.b, pad=1)
    np.testing.assert_allclose(link(X).array, expected.array, rtol=1e-4, atol=1e-5)


def test_upsampling_filter_enlarges_pictures():
    initial = xpgrad.initializers.UpsamplingDeconvFilter()
    link = L.Deconvolution2D(1, 1, 4, 2, 1, nobias=True, initialW=initial)
    y = link(np.ones((1, 1, 4, 4), "f")).array
    np.testing.assert_allclose(y[0, 0, 1:-1, 1:-1], np.ones((6, 6)), rtol=1e-6)


def test_parameters_of_given_arrays():
    link = L.Convolution2D(4, 6, (3, 2), 2, 1, groups=2)
    other = L.Convolution2D.from_params(link.W, link.b, 2, 1, groups=2)
    np.testing.assert_array_equal(other(X).array, link(X).array)
    other = L.ConvolutionND.from_params(link.W, link.b, 2, 1, cover_all=True, groups=2)
    link.cover_all = True
    assert (other.ksize, other.cover_all) == ((3, 2), True)
    np.testing.assert_array_equal(other(X).array, L.ConvolutionND.forward(link, X).array)
    line, window = L.Convolution1D(4, 2, 3, dilate=2), L.DilatedConvolution2D(4, 2, 3, dilate=2)
    for link, x in ((line, X[..., 0]), (window, X)):
        other = type(link).from_params(link.W, link.b, dilate=2)
        np.testing.assert_array_equal(other(x).array, link(x).array)
    link = L.Deconvolution2D(4, 6, 3, 2, groups=2, nobias=True)
    other = L.Deconvolution2D.from_params(link.W, stride=2, groups=2, nobias=True)
    np.testing.assert_array_equal(other(X).array, link(X).array)


def test_text():
    shown = "in_channels=4, out_channels=2, ksize=3, stride=(2, 2), pad=(1, 0), nobias=True, dilate=(1, 1), groups=1"
    assert repr(L.Convolution2D(4, 2, 3, 2, (1, 0), True)) == f"Convolution2D({shown})"
    shown = "in_channels=4, channel_multiplier=2, ksize=3, stride=(1, 1), pad=(0, 0), nobias=False"
    assert repr(L.DepthwiseConvolution2D(4, 2, 3)) == f"DepthwiseConvolution2D({shown})"
    assert "size=(3,), decay=0.9, eps=2e-05, axis=None" in str(L.BatchNormalization(3))
    assert str(L.EmbedID(3, 2)) == "EmbedID(in_size=3, out_size=2, ignore_label=None)"
