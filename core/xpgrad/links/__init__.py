"""Chainer's links (``import xpgrad.links as L``): parameters with the functions that use them."""

# fmt: off
# isort: off
from xpgrad.links.activation import Highway, Maxout, PReLU, Swish
from xpgrad.links.attention import MultiHeadAttention
from xpgrad.links.batch_normalization import BatchNormalization, BatchRenormalization, DecorrelatedBatchNormalization
from xpgrad.links.blocks import Inception, InceptionBN, MLPConvolution2D
from xpgrad.links.classifier import Classifier
from xpgrad.links.connection import Bias, Bilinear, Parameter, Scale, SimplifiedDropconnect
from xpgrad.links.convolution import (
    Convolution1D, Convolution2D, Convolution3D, ConvolutionND, Deconvolution1D, Deconvolution2D, Deconvolution3D,
    DeconvolutionND, DepthwiseConvolution2D, DilatedConvolution2D,
)
from xpgrad.links.classifier import CRF1d
from xpgrad.links.connection import EmbedID
from xpgrad.links.gru import GRU, StatefulGRU, StatefulMGU, StatelessGRU, StatelessMGU
from xpgrad.links.sampling import BinaryHierarchicalSoftmax
from xpgrad.links.connection import Linear
from xpgrad.links.local_convolution import DeformableConvolution2D, LocalConvolution2D
from xpgrad.links.lstm import LSTM, StatefulPeepholeLSTM, StatefulZoneoutLSTM, StatelessLSTM
from xpgrad.links.n_step import (
    NStepBiGRU, NStepBiLSTM, NStepBiRNNReLU, NStepBiRNNTanh, NStepGRU, NStepLSTM, NStepRNNReLU, NStepRNNTanh,
)
from xpgrad.links.normalization import GroupNormalization, LayerNormalization
from xpgrad.links.sampling import BlackOut, NegativeSampling
from xpgrad.links.tree_lstm import ChildSumTreeLSTM, NaryTreeLSTM
# isort: on
# fmt: on
from xpgrad.listing import listed as _listed

__all__ = [
    "GRU", "LSTM", "BatchNormalization", "BatchRenormalization", "Bias", "Bilinear", "BinaryHierarchicalSoftmax",
    "BlackOut", "CRF1d", "ChildSumTreeLSTM", "Classifier", "Convolution1D", "Convolution2D", "Convolution3D",
    "ConvolutionND", "Deconvolution1D", "Deconvolution2D", "Deconvolution3D", "DeconvolutionND",
    "DecorrelatedBatchNormalization", "DeformableConvolution2D", "DepthwiseConvolution2D", "DilatedConvolution2D",
    "EmbedID", "GroupNormalization", "Highway", "Inception", "InceptionBN", "LayerNormalization", "Linear",
    "LocalConvolution2D", "MLPConvolution2D", "Maxout", "MultiHeadAttention", "NStepBiGRU", "NStepBiLSTM",
    "NStepBiRNNReLU", "NStepBiRNNTanh", "NStepGRU", "NStepLSTM", "NStepRNNReLU", "NStepRNNTanh", "NaryTreeLSTM",
    "NegativeSampling", "PReLU", "Parameter", "Scale", "SimplifiedDropconnect", "StatefulGRU", "StatefulMGU",
    "StatefulPeepholeLSTM", "StatefulZoneoutLSTM", "StatelessGRU", "StatelessLSTM", "StatelessMGU", "Swish",
]  # fmt: skip
__getattr__, __dir__ = _listed(__name__, __all__)
