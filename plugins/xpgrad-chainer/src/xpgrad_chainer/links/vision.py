"""Base class of models for images: named layers, pre-trained weights, and prediction of classes."""

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from xpgrad import Chain, Variable, no_backprop_mode, using_config
from xpgrad import functions as F
from xpgrad.dataset import concat_examples
from xpgrad.serializers import load_npz
from xpgrad_chainer.datasets.download import get_dataset_directory

available = importlib.util.find_spec("PIL") is not None
"""Whether Pillow, which `prepare` requires, is installed."""
Steps = dict[str, list[Callable[..., Any]]]


class VisionLayers(Chain):
    """A classifier of images whose layers have names; subclasses define `functions`, and `mean` in order BGR."""

    mean: ClassVar[tuple[float, float, float]]
    extracted: ClassVar[str]
    branches: ClassVar[dict[str, str]] = {}
    """Layers that continue from another layer than the one before, by name."""

    @property
    def functions(self) -> Steps:
        """Functions applied one after the other, by name of the layer."""
        raise NotImplementedError(f"{type(self).__name__}.functions: define it in the subclass")

    @property
    def available_layers(self) -> list[str]:
        """Names of the layers, in the order of computation."""
        return list(self.functions)

    @classmethod
    def weights(cls, pretrained: str | Path | None, filename: str) -> Path | None:
        """Return the path of a file of weights; "auto" means `filename` in the directory of models.

        Raises
        ------
        FileNotFoundError
            With "auto", if the directory has no such file.
        """
        if pretrained != "auto":
            return None if pretrained is None else Path(pretrained)
        directory = Path(get_dataset_directory("pfnet/chainer/models", create_directory=False))
        path = directory / filename
        if not path.exists():
            raise FileNotFoundError(
                f"{cls.__name__}: expected the weights in {path}, which does not exist; put {filename} into "
                f"{directory}, or pass pretrained_model=PATH for another file, None for random weights"
            )
        return path

    def load(self, path: Path | None) -> None:
        """Load an npz file of weights; None keeps random weights."""
        if path is not None:
            load_npz(path, self)

    def forward(self, x: Any, layers: Sequence[str] | None = None) -> dict[str, Variable]:
        """Return the outputs of `layers`, by default of "prob", by name; later layers are not computed.

        Raises
        ------
        ValueError
            If a name is not in `available_layers`.
        """
        wanted = ["prob"] if layers is None else list(layers)
        steps = self.functions
        if unknown := [name for name in wanted if name not in steps]:
            name = type(self).__name__
            raise ValueError(f"{name}: expected layers of {list(steps)}, got {unknown}; see available_layers")
        outputs: dict[str, Variable] = {}
        starts: dict[str, Any] = {}
        for name, functions in steps.items():
            if len(outputs) == len(set(wanted)):
                break
            x = starts.get(self.branches.get(name, ""), x)
            for function in functions:
                x = function(x)
            if name in wanted:
                outputs[name] = x
            if name in self.branches.values():
                starts[name] = x
        return outputs

    def extract(
        self, images: Iterable[Any], layers: Sequence[str] | None = None, size: tuple[int, int] = (224, 224)
    ) -> dict[str, Variable]:
        """Return outputs of `layers` for images of any size, without training mode and without a graph."""
        x = concat_examples([self.prepare(image, size) for image in images])
        with no_backprop_mode(), using_config("train", False):
            return self.forward(self.device.send(x), [self.extracted] if layers is None else layers)

    def predict(self, images: Iterable[Any], oversample: bool = True) -> Variable:
        """Return probabilities of the classes; with `oversample`, means over ten crops of each image."""
        x = concat_examples([self.prepare(image, (256, 256)) for image in images])
        x = crops(x, 224) if oversample else x[:, :, 16:240, 16:240]
        with no_backprop_mode(), using_config("train", False):
            y = self.forward(self.device.send(x))["prob"]
            return F.mean(F.reshape(y, (-1, 10, y.shape[1])), axis=1) if oversample else y

    @classmethod
    def prepare(cls, image: Any, size: tuple[int, int] | None = (224, 224)) -> np.ndarray[Any, Any]:
        """Return an image as an array of shape (3, height, width), BGR, float32, minus the mean of the training data.

        Parameters
        ----------
        image : PIL.Image or array, shape (height, width), (height, width, channels) or (channels, height, width)
        size : tuple of width and height, as in Pillow, or None for the size of the image
        """
        if not available:
            raise ImportError(f"{cls.__name__}.prepare: expected Pillow, which is not installed; pip install pillow")
        from PIL import Image

        if isinstance(image, np.ndarray):
            if image.ndim == 3 and image.shape[0] in (1, 3):
                image = image[0] if image.shape[0] == 1 else image.transpose(1, 2, 0)
            elif image.ndim == 3 and image.shape[2] == 1:
                image = image[:, :, 0]
            image = Image.fromarray(image.astype(np.uint8))
        image = image.convert("RGB")
        if size is not None:
            image = image.resize(size)
        pixels = np.asarray(image, np.float32)[:, :, ::-1] - np.array(cls.mean, np.float32)
        return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def crops(x: Any, size: int) -> Any:
    """Return crops of the corners and of the center, and their mirror images: ten for each image, in sequence."""
    height, width = x.shape[2] - size, x.shape[3] - size
    corners = [(0, 0), (0, width), (height, 0), (height, width), (height // 2, width // 2)]
    parts = [x[:, :, top : top + size, left : left + size] for top, left in corners]
    parts += [part[:, :, :, ::-1] for part in parts]
    return np.stack(parts, axis=1).reshape(-1, x.shape[1], size, size)
