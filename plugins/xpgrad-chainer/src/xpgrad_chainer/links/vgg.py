"""Networks of the Visual Geometry Group (Simonyan and Zisserman, 2014) with 16 and 19 layers."""

from pathlib import Path
from typing import Any, ClassVar

from xpgrad import functions as F
from xpgrad import links as L
from xpgrad.initializers import Normal
from xpgrad_chainer.links.vision import Steps, VisionLayers, available

__all__ = ["VGG16Layers", "VGG19Layers", "VGGLayers", "available", "prepare"]
WIDTHS = (64, 128, 256, 512, 512)
COUNTS = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGGLayers(VisionLayers):
    """VGG with `n_layers` layers; ``pretrained_model`` is "auto", the path of a file, or None for random weights."""

    mean = (103.939, 116.779, 123.68)
    extracted: ClassVar[str] = "fc7"

    def __init__(self, pretrained_model: str | Path | None = "auto", n_layers: int = 16) -> None:
        super().__init__()
        if n_layers not in COUNTS:
            raise ValueError(f"VGGLayers: expected n_layers of 16 or 19, got {n_layers}")
        path = self.weights(pretrained_model, f"VGG_ILSVRC_{n_layers}_layers.npz")
        self._counts = COUNTS[n_layers]
        options: dict[str, Any] = {"initialW": Normal(0.01) if path is None else 0, "initial_bias": 0}
        channels = 3
        with self.init_scope():
            for block, (width, count) in enumerate(zip(WIDTHS, self._counts, strict=True), 1):
                for index in range(1, count + 1):
                    setattr(self, f"conv{block}_{index}", L.Convolution2D(channels, width, 3, 1, 1, **options))
                    channels = width
            self.fc6 = L.Linear(512 * 7 * 7, 4096, **options)
            self.fc7 = L.Linear(4096, 4096, **options)
            self.fc8 = L.Linear(4096, 1000, **options)
        self.load(path)

    @property
    def functions(self) -> Steps:
        """Functions applied one after the other, by name of the layer."""
        steps: Steps = {}
        for block, count in enumerate(self._counts, 1):
            for index in range(1, count + 1):
                name = f"conv{block}_{index}"
                steps[name] = [self[name], F.relu]
            steps[f"pool{block}"] = [lambda x: F.max_pooling_2d(x, 2, 2)]
        steps |= {name: [self[name], F.relu, F.dropout] for name in ("fc6", "fc7")}
        return steps | {"fc8": [self.fc8], "prob": [F.softmax]}


class VGG16Layers(VGGLayers):
    """VGG with 16 layers."""

    def __init__(self, pretrained_model: str | Path | None = "auto") -> None:
        super().__init__(pretrained_model, 16)


class VGG19Layers(VGGLayers):
    """VGG with 19 layers."""

    def __init__(self, pretrained_model: str | Path | None = "auto") -> None:
        super().__init__(pretrained_model, 19)


prepare = VGGLayers.prepare
