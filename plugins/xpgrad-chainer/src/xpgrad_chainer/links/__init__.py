"""Links of Chainer that xpgrad itself does not have: models for images, whose weights are published as files."""

from xpgrad_chainer.links.googlenet import GoogLeNet
from xpgrad_chainer.links.resnet import ResNet50Layers, ResNet101Layers, ResNet152Layers
from xpgrad_chainer.links.vgg import VGG16Layers, VGG19Layers

__all__ = ["GoogLeNet", "ResNet50Layers", "ResNet101Layers", "ResNet152Layers", "VGG16Layers", "VGG19Layers"]
