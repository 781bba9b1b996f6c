"""Residual networks (He, Zhang, Ren and Sun, 2015) with 50, 101 and 152 layers."""

from pathlib import Path
from typing import Any

from xpgrad import Chain
from xpgrad import functions as F
from xpgrad import links as L
from xpgrad.initializers import HeNormal
from xpgrad_chainer.links.vision import Steps, VisionLayers, available
from xpgrad_chainer.utils.argument import parse_kwargs

__all__ = [
    "BottleneckA", "BottleneckB", "BuildingBlock", "ResNet50Layers", "ResNet101Layers", "ResNet152Layers",
    "ResNetLayers", "available", "prepare",
]  # fmt: skip
BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class BottleneckB(Chain):
    """Three convolutions, added to their input."""

    def __init__(self, in_channels: int, mid_channels: int, initialW: Any = None) -> None:
        super().__init__()
        self._main(in_channels, mid_channels, in_channels, (1, 1), initialW)

    def _main(self, inputs: int, mid: int, outputs: int, strides: tuple[int, int], weights: Any) -> None:
        options: dict[str, Any] = {"initialW": weights, "nobias": True}
        with self.init_scope():
            self.conv1 = L.Convolution2D(inputs, mid, 1, strides[0], 0, **options)
            self.bn1 = L.BatchNormalization(mid)
            self.conv2 = L.Convolution2D(mid, mid, 3, strides[1], 1, **options)
            self.bn2 = L.BatchNormalization(mid)
            self.conv3 = L.Convolution2D(mid, outputs, 1, 1, 0, **options)
            self.bn3 = L.BatchNormalization(outputs)

    def shortcut(self, x: Any) -> Any:
        """Return what is added to the convolutions."""
        return x

    def forward(self, x: Any) -> Any:
        """Return the rectified sum."""
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        return F.relu(self.bn3(self.conv3(h)) + self.shortcut(x))


class BottleneckA(BottleneckB):
    """Three convolutions, added to a fourth one of the input; the stride is at the second with `downsample_fb`."""

    def __init__(
        self,
        in_channels: int,
        mid_channels: int,
        out_channels: int,
        stride: int = 2,
        initialW: Any = None,
        downsample_fb: bool = False,
    ) -> None:
        Chain.__init__(self)
        strides = (1, stride) if downsample_fb else (stride, 1)
        self._main(in_channels, mid_channels, out_channels, strides, initialW)
        with self.init_scope():
            self.conv4 = L.Convolution2D(in_channels, out_channels, 1, stride, 0, initialW=initialW, nobias=True)
            self.bn4 = L.BatchNormalization(out_channels)

    def shortcut(self, x: Any) -> Any:
        """Return what is added to the convolutions."""
        return self.bn4(self.conv4(x))


class BuildingBlock(Chain):
    """One `BottleneckA` and ``n_layers - 1`` `BottleneckB`."""

    def __init__(
        self,
        n_layers: Any = None,
        in_channels: Any = None,
        mid_channels: Any = None,
        out_channels: Any = None,
        stride: Any = None,
        initialW: Any = None,
        downsample_fb: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        (n_layers,) = parse_kwargs(kwargs, ("n_layer", n_layers))  # the older name
        self._forward = ["a", *(f"b{index}" for index in range(1, n_layers))]
        with self.init_scope():
            self.a = BottleneckA(in_channels, mid_channels, out_channels, stride, initialW, downsample_fb)
            for name in self._forward[1:]:
                setattr(self, name, BottleneckB(out_channels, mid_channels, initialW))

    def forward(self, x: Any) -> Any:
        """Return the output of the last one."""
        for name in self._forward:
            x = self[name](x)
        return x


class ResNetLayers(VisionLayers):
    """ResNet with `n_layers` layers; ``pretrained_model`` is "auto", the path of a file, or None for random weights."""

    mean = (103.063, 115.903, 123.152)
    extracted = "pool5"

    def __init__(self, pretrained_model: str | Path | None, n_layers: int, downsample_fb: bool = False) -> None:
        super().__init__()
        if n_layers not in BLOCKS:
            raise ValueError(f"ResNetLayers: expected n_layers of 50, 101 or 152, got {n_layers}")
        path = self.weights(pretrained_model, f"ResNet-{n_layers}-model.npz")
        weights = HeNormal(1.0)
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 64, 7, 2, 3, initialW=weights)
            self.bn1 = L.BatchNormalization(64)
            channels, width = 64, 64
            for number, count in enumerate(BLOCKS[n_layers], 2):
                stride = 1 if number == 2 else 2
                block = BuildingBlock(count, channels, width, 4 * width, stride, weights, downsample_fb)
                setattr(self, f"res{number}", block)
                channels, width = 4 * width, 2 * width
            self.fc6 = L.Linear(2048, 1000)
        self.load(path)

    @property
    def functions(self) -> Steps:
        """Functions applied one after the other, by name of the layer."""
        return {
            "conv1": [self.conv1, self.bn1, F.relu],
            "pool1": [lambda x: F.max_pooling_2d(x, 3, 2)],
            **{name: [self[name]] for name in ("res2", "res3", "res4", "res5")},
            "pool5": [lambda x: F.mean(x, axis=(2, 3))],
            "fc6": [self.fc6],
            "prob": [F.softmax],
        }


class ResNet50Layers(ResNetLayers):
    """ResNet with 50 layers."""

    def __init__(self, pretrained_model: str | Path | None = "auto", downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 50, downsample_fb)


class ResNet101Layers(ResNetLayers):
    """ResNet with 101 layers."""

    def __init__(self, pretrained_model: str | Path | None = "auto", downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 101, downsample_fb)


class ResNet152Layers(ResNetLayers):
    """ResNet with 152 layers."""

    def __init__(self, pretrained_model: str | Path | None = "auto", downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 152, downsample_fb)


prepare = ResNetLayers.prepare
