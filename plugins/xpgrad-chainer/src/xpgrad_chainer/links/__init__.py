"""Links that xpgrad itself does not have, or whose random numbers are drawn in Chainer's order."""

from xpgrad_chainer.links.googlenet import GoogLeNet
from xpgrad_chainer.links.initial_values import (
    LSTM,
    BlackOut,
    DeformableConvolution2D,
    LSTMBase,
    NegativeSampling,
    StatelessLSTM,
)
from xpgrad_chainer.links.recurrent import (
    CRF1d,
    NStepGRUBase,
    NStepLSTMBase,
    NStepRNNBase,
    argsort_list_descent,
    permutate_list,
)
from xpgrad_chainer.links.resnet import ResNet50Layers, ResNet101Layers, ResNet152Layers
from xpgrad_chainer.links.vgg import VGG16Layers, VGG19Layers

__all__ = [
    "LSTM", "BlackOut", "CRF1d", "DeformableConvolution2D", "GoogLeNet", "LSTMBase", "NStepGRUBase", "NStepLSTMBase",
    "NStepRNNBase", "NegativeSampling", "ResNet50Layers", "ResNet101Layers", "ResNet152Layers", "StatelessLSTM",
    "VGG16Layers", "VGG19Layers", "argsort_list_descent", "permutate_list",
]  # fmt: skip
