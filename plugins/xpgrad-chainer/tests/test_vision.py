"""Models for images: names of layers, shapes, weights from files."""

import numpy as np
import pytest


def test_resnet_extracts_layers_and_predicts_classes() -> None:
    import chainer
    import chainer.links as L

    model = L.ResNet50Layers(pretrained_model=None)
    assert model.available_layers == ["conv1", "pool1", "res2", "res3", "res4", "res5", "pool5", "fc6", "prob"]
    image = np.random.default_rng(0).integers(0, 255, (40, 30, 3)).astype(np.uint8)
    assert model.extract([image])["pool5"].shape == (1, 2048)
    y = model.predict([image], oversample=False)
    assert y.shape == (1, 1000)
    np.testing.assert_allclose(y.array.sum(), 1, rtol=1e-4)
    with chainer.using_config("train", False), pytest.raises(ValueError, match="see available_layers"):
        model(np.zeros((1, 3, 224, 224), np.float32), layers=["pool9"])


def test_googlenet_has_the_layers_of_the_paper() -> None:
    import chainer.functions as F
    import chainer.links as L

    model = L.GoogLeNet(pretrained_model=None)
    assert model.available_layers[-3:] == ["prob", "loss1_fc2", "loss2_fc2"]
    layers = ["conv2", "pool3", "inception_4a", "inception_4e", "pool5", "loss1_fc2", "loss2_fc2"]
    outputs = model(np.random.default_rng(0).random((1, 3, 224, 224), np.float32), layers=layers)
    x = F.relu(model.loss1_conv(F.average_pooling_2d(outputs.pop("inception_4a"), 5, 3)))
    np.testing.assert_allclose(
        outputs["loss1_fc2"].array, model.loss1_fc2(F.relu(model.loss1_fc1(x))).array, rtol=1e-4, atol=1e-6
    )
    shapes = {name: y.shape[1:] for name, y in outputs.items()}
    assert shapes == {
        "conv2": (192, 56, 56), "pool3": (480, 14, 14), "inception_4e": (832, 14, 14), "pool5": (1024, 1, 1),
        "loss1_fc2": (1000,), "loss2_fc2": (1000,),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file"),
    [("VGG16Layers", "VGG_ILSVRC_16_layers.npz"), ("ResNet101Layers", "ResNet-101-model.npz"),
     ("GoogLeNet", "bvlc_googlenet.npz")],
)  # fmt: skip
def test_missing_weights_raise_with_directory_and_file(name, file, tmp_path, monkeypatch) -> None:
    import chainer.links as L

    monkeypatch.setattr("xpgrad_chainer.datasets.download._root", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"{name}: expected the weights in .*{file}, which does not exist"):
        getattr(L, name)()


def test_weights_of_a_path_and_of_the_cache_are_loaded(tmp_path, monkeypatch) -> None:
    import chainer
    import chainer.links as L

    monkeypatch.setattr("xpgrad_chainer.datasets.download._root", str(tmp_path))
    file = tmp_path / "pfnet" / "chainer" / "models" / "bvlc_googlenet.npz"
    file.parent.mkdir(parents=True)
    model = L.GoogLeNet(pretrained_model=None)
    chainer.serializers.save_npz(file, model)
    for pretrained in ("auto", str(file)):
        np.testing.assert_array_equal(L.GoogLeNet(pretrained).inc5b.conv1.W.array, model.inc5b.conv1.W.array)


def test_prepare_is_bgr_minus_the_mean() -> None:
    from chainer.links.model.vision import vgg

    x = vgg.prepare(np.full((5, 4, 3), (10, 20, 30), np.uint8), size=(3, 2))
    assert (x.shape, x.dtype) == ((3, 2, 3), np.float32)
    np.testing.assert_allclose(x[:, 0, 0], np.array([30, 20, 10]) - np.array([103.939, 116.779, 123.68]), rtol=1e-5)
    assert vgg.VGG16Layers.extracted == "fc7"
