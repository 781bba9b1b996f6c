"""GoogLeNet (Szegedy et al., 2014)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from xpgrad import functions as F
from xpgrad import links as L
from xpgrad.initializers import LeCunUniform
from xpgrad_chainer.links.vision import Steps, VisionLayers, available

__all__ = ["GoogLeNet", "available", "prepare"]
INCEPTIONS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}
"""Channels of the input and of the convolutions, in the order of the arguments of `Inception`."""


class GoogLeNet(VisionLayers):
    """GoogLeNet; ``pretrained_model`` is "auto", the path of a file, or None for random weights."""

    mean = (104.0, 117.0, 123.0)
    extracted = "pool5"
    branches: ClassVar[dict[str, str]] = {"loss1_fc2": "inception_4a", "loss2_fc2": "inception_4d"}

    def __init__(self, pretrained_model: str | Path | None = "auto") -> None:
        super().__init__()
        path = self.weights(pretrained_model, "bvlc_googlenet.npz")
        options: dict[str, Any] = {"initialW": LeCunUniform(1.0)}
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 64, 7, 2, 3, **options)
            self.conv2_reduce = L.Convolution2D(64, 64, 1, **options)
            self.conv2 = L.Convolution2D(64, 192, 3, 1, 1, **options)
            for name, channels in INCEPTIONS.items():
                setattr(self, f"inc{name}", L.Inception(*channels))
            self.loss3_fc = L.Linear(1024, 1000, **options)
            for number, width in ((1, 512), (2, 528)):
                setattr(self, f"loss{number}_conv", L.Convolution2D(width, 128, 1, **options))
                setattr(self, f"loss{number}_fc1", L.Linear(2048, 1024, **options))
                setattr(self, f"loss{number}_fc2", L.Linear(1024, 1000, **options))
        self.load(path)

    @property
    def functions(self) -> Steps:
        """Functions applied one after the other, by name of the layer."""
        stages = {stage: {f"inception_{n}": [self[f"inc{n}"]] for n in INCEPTIONS if n[0] == stage} for stage in "345"}
        return {
            "conv1": [self.conv1, F.relu],
            "pool1": [_pool, _normalize],
            "conv2_reduce": [self.conv2_reduce, F.relu],
            "conv2": [self.conv2, F.relu, _normalize],
            "pool2": [_pool],
            **stages["3"],
            "pool3": [_pool],
            **stages["4"],
            "pool4": [_pool],
            **stages["5"],
            "pool5": [lambda x: F.average_pooling_2d(x, 7, 1)],
            "loss3_fc": [lambda x: F.dropout(x, 0.4), self.loss3_fc],
            "prob": [F.softmax],
            "loss1_fc2": self._loss(1),
            "loss2_fc2": self._loss(2),
        }

    def _loss(self, number: int) -> list[Callable[..., Any]]:
        """Return the layers of a classifier in the middle, whose loss is used in training."""
        conv, fc1, fc2 = (self[f"loss{number}_{name}"] for name in ("conv", "fc1", "fc2"))
        return [lambda x: F.average_pooling_2d(x, 5, 3), conv, F.relu, fc1, F.relu, fc2]


def _pool(x: Any) -> Any:
    return F.max_pooling_2d(x, 3, 2)


def _normalize(x: Any) -> Any:
    return F.local_response_normalization(x, n=5, k=1, alpha=1e-4 / 5)


prepare = GoogLeNet.prepare
