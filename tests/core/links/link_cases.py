"""The table of links: how each is made and called, and its parameters as Chainer stores them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L

COUNTS = [5, 3, 2, 1]
TREE = ((1, 2), (0, 3))
LANES = {"w": (5, 3), "b": (5,)}


class Case(NamedTuple):
    """A link, how it is called, and its parameters as Chainer stores them.

    Attributes
    ----------
    name : str
        Name of the class.
    make : callable
        Returns the link.
    inputs : tuple
        Shapes of real inputs, lists of shapes, arrays of int, or None.
    stored : dict
        Shapes of parameters and persistent values by path.
    lazy : callable or None
        Returns the link without the size of its inputs.
    steps : int
        Calls in a step of training.
    """

    name: str
    make: Callable[[], Any]
    inputs: tuple[Any, ...]
    stored: dict[str, Any]
    lazy: Callable[[], Any] | None = None
    steps: int = 1


def linear(name, out, size, bias=True):
    return {f"{name}/W": (out, size)} | ({f"{name}/b": (out,)} if bias else {})


def n_step(layers, parts, both=False):
    found = {}
    for part in range(layers * (1 + both)):
        of_x = 3 if part < 1 + both else 2 * (1 + both)
        for k in range(parts):
            found |= {f"{part}/w{k}": (2, of_x if k < parts // 2 else 2), f"{part}/b{k}": (2,)}
    return found


BATCH = {"gamma": (3,), "beta": (3,), "avg_mean": (3,), "avg_var": (3,), "N": ()}
IDS = np.array([0, 3, 1], "i")
XS = [(3, 3), (2, 3), (4, 3)]
GRU = {k: v for n in ("W", "W_r", "W_z") for k, v in (linear(n, 2, 3) | linear(n.replace("W", "U"), 2, 2)).items()}
LSTM = linear("upward", 8, 3) | linear("lateral", 8, 2, False)
PEEPHOLE = LSTM | {f"peep_{g}/W": (2, 2) for g in "ifo"}
INCEPTION = {
    "conv1": (2, 3, 1),
    "proj3": (1, 3, 1),
    "conv3": (2, 1, 3),
    "proj5": (1, 3, 1),
    "conv5": (2, 1, 5),
    "projp": (1, 3, 1),
}
INCEPTION_BN = {
    "conv1": (2, 3, 1),
    "proj3": (2, 3, 1),
    "conv3": (2, 2, 3),
    "proj33": (2, 3, 1),
    "conv33a": (2, 2, 3),
    "conv33b": (2, 2, 3),
    "poolp": (2, 3, 1),
}

CASES = [
    Case("Linear", lambda: L.Linear(3, 2), ((4, 3),), {"W": (2, 3), "b": (2,)}, lambda: L.Linear(2)),
    Case("Linear", lambda: L.Linear(3, 2, nobias=True), ((4, 3),), {"W": (2, 3)}, lambda: L.Linear(None, 2, True)),
    Case(
        "Convolution1D",
        lambda: L.Convolution1D(3, 2, 3),
        ((2, 3, 6),),
        {"W": (2, 3, 3), "b": (2,)},
        lambda: L.Convolution1D(2, 3),
    ),
    Case(
        "Convolution2D",
        lambda: L.Convolution2D(4, 6, (3, 2), 2, 1, groups=2),
        ((2, 4, 6, 5),),
        {"W": (6, 2, 3, 2), "b": (6,)},
        lambda: L.Convolution2D(None, 6, (3, 2), 2, 1, groups=2),
    ),
    Case(
        "Convolution3D",
        lambda: L.Convolution3D(3, 2, 2),
        ((2, 3, 3, 3, 3),),
        {"W": (2, 3, 2, 2, 2), "b": (2,)},
        lambda: L.Convolution3D(2, 2),
    ),
    Case(
        "ConvolutionND",
        lambda: L.ConvolutionND(2, 3, 2, 3, 2, 1, cover_all=True, dilate=2),
        ((2, 3, 6, 7),),
        {"W": (2, 3, 3, 3), "b": (2,)},
        lambda: L.ConvolutionND(2, None, 2, 3, 2, 1, cover_all=True, dilate=2),
    ),
    Case(
        "Deconvolution1D",
        lambda: L.Deconvolution1D(3, 2, 3),
        ((2, 3, 4),),
        {"W": (3, 2, 3), "b": (2,)},
        lambda: L.Deconvolution1D(2, 3),
    ),
    Case(
        "Deconvolution2D",
        lambda: L.Deconvolution2D(4, 6, 3, 2, groups=2, outsize=(10, 8)),
        ((2, 4, 4, 3),),
        {"W": (4, 3, 3, 3), "b": (6,)},
        lambda: L.Deconvolution2D(None, 6, 3, 2, groups=2, outsize=(10, 8)),
    ),
    Case(
        "Deconvolution3D",
        lambda: L.Deconvolution3D(3, 2, 2),
        ((1, 3, 2, 2, 2),),
        {"W": (3, 2, 2, 2, 2), "b": (2,)},
        lambda: L.Deconvolution3D(2, 2),
    ),
    Case(
        "DeconvolutionND",
        lambda: L.DeconvolutionND(2, 3, 2, 2, 2),
        ((2, 3, 3, 3),),
        {"W": (3, 2, 2, 2), "b": (2,)},
        lambda: L.DeconvolutionND(2, 2, 2, stride=2),
    ),
    Case(
        "DilatedConvolution2D",
        lambda: L.DilatedConvolution2D(3, 2, 2, 1, 0, 2),
        ((2, 3, 5, 5),),
        {"W": (2, 3, 2, 2), "b": (2,)},
        lambda: L.DilatedConvolution2D(None, 2, 2, 1, 0, 2),
    ),
    Case(
        "DepthwiseConvolution2D",
        lambda: L.DepthwiseConvolution2D(3, 2, 2),
        ((2, 3, 4, 4),),
        {"W": (2, 3, 2, 2), "b": (6,)},
        lambda: L.DepthwiseConvolution2D(None, 2, 2),
    ),
    Case(
        "LocalConvolution2D",
        lambda: L.LocalConvolution2D(3, 2, (5, 4), 2, 1),
        ((2, 3, 5, 4),),
        {"W": (2, 4, 3, 3, 2, 2), "b": (2, 4, 3)},
        lambda: L.LocalConvolution2D(None, 2, None, 2),
    ),
    Case(
        "DeformableConvolution2D",
        lambda: L.DeformableConvolution2D(3, 2, 3, 1, 1, offset_initialW=0.05),
        ((2, 3, 5, 5),),
        {"offset_conv/W": (18, 3, 3, 3), "offset_conv/b": (18,), "deform_conv/W": (2, 3, 3, 3), "deform_conv/b": (2,)},
        lambda: L.DeformableConvolution2D(None, 2, 3, 1, 1),
    ),
    Case("EmbedID", lambda: L.EmbedID(4, 2, ignore_label=-1), (np.array([[0, 3], [-1, 3]], "i"),), {"W": (4, 2)}),
    Case("Bias", lambda: L.Bias(1, (3,)), ((2, 3, 4),), {"b": (3,)}),
    Case("Scale", lambda: L.Scale(1, (3,), bias_term=True), ((2, 3, 4),), {"W": (3,), "bias/b": (3,)}),
    Case(
        "Bilinear",
        lambda: L.Bilinear(3, 2, 4),
        ((5, 3), (5, 2)),
        {"W": (3, 2, 4), "V1": (3, 4), "V2": (2, 4), "b": (4,)},
    ),
    Case("Parameter", lambda: L.Parameter(np.arange(3.0, dtype="f")), (), {"W": (3,)}),
    Case("Maxout", lambda: L.Maxout(3, 2, 4), ((5, 3),), linear("linear", 8, 3), lambda: L.Maxout(None, 2, 4)),
    Case("Highway", lambda: L.Highway(3), ((5, 3),), linear("plain", 3, 3) | linear("transform", 3, 3)),
    Case("PReLU", lambda: L.PReLU((3,)), ((2, 3, 4),), {"W": (3,)}),
    Case("Swish", lambda: L.Swish((3,)), ((2, 3),), {"beta": (3,)}, lambda: L.Swish(None)),
    Case(
        "SimplifiedDropconnect",
        lambda: L.SimplifiedDropconnect(3, 2),
        ((4, 3),),
        {"W": (2, 3), "b": (2,)},
        lambda: L.SimplifiedDropconnect(None, 2),
    ),
    Case(
        "BatchNormalization",
        lambda: L.BatchNormalization(3),
        ((4, 3, 2),),
        BATCH,
        lambda: L.BatchNormalization(axis=(0, 2)),
        2,
    ),
    Case("BatchRenormalization", lambda: L.BatchRenormalization(3, 1.1, 0.1), ((4, 3, 2),), BATCH, None, 2),
    Case(
        "DecorrelatedBatchNormalization",
        lambda: L.DecorrelatedBatchNormalization(4, groups=2),
        ((6, 4),),
        {"avg_mean": (2, 2), "avg_projection": (2, 2, 2), "N": ()},
        None,
        2,
    ),
    Case(
        "LayerNormalization",
        lambda: L.LayerNormalization(3),
        ((4, 3),),
        {"gamma": (3,), "beta": (3,)},
        L.LayerNormalization,
    ),
    Case(
        "GroupNormalization",
        lambda: L.GroupNormalization(2, 4),
        ((3, 4, 2),),
        {"gamma": (4,), "beta": (4,)},
        lambda: L.GroupNormalization(2),
    ),
    Case("LSTM", lambda: L.LSTM(3, 2), ((4, 3),), LSTM, lambda: L.LSTM(2), 2),
    Case("StatelessLSTM", lambda: L.StatelessLSTM(3, 2), ((4, 2), (4, 2), (4, 3)), LSTM, lambda: L.StatelessLSTM(2)),
    Case(
        "StatefulPeepholeLSTM",
        lambda: L.StatefulPeepholeLSTM(3, 2),
        ((4, 3),),
        PEEPHOLE,
        lambda: L.StatefulPeepholeLSTM(None, 2),
        2,
    ),
    Case(
        "StatefulZoneoutLSTM",
        lambda: L.StatefulZoneoutLSTM(3, 2),
        ((4, 3),),
        LSTM,
        lambda: L.StatefulZoneoutLSTM(None, 2),
        2,
    ),
    Case("StatelessGRU", lambda: L.StatelessGRU(3, 2), ((4, 2), (4, 3)), GRU, lambda: L.StatelessGRU(None, 2)),
    Case("StatefulGRU", lambda: L.StatefulGRU(3, 2), ((4, 3),), GRU, lambda: L.StatefulGRU(None, 2), 2),
    Case("GRU", lambda: L.GRU(3, 2), ((4, 3),), GRU, lambda: L.GRU(None, 2), 2),
    Case("StatelessMGU", lambda: L.StatelessMGU(3, 2), ((4, 2), (4, 3)), linear("W_f", 2, 5) | linear("W_h", 2, 5)),
    Case("StatefulMGU", lambda: L.StatefulMGU(3, 2), ((4, 3),), linear("W_f", 2, 5) | linear("W_h", 2, 5), None, 2),
    Case(
        "ChildSumTreeLSTM",
        lambda: L.ChildSumTreeLSTM(3, 2),
        ((4, 2), None, (4, 2), (4, 2), (4, 3)),
        linear("W_x", 8, 3) | linear("W_h_aio", 6, 2, False) | linear("W_h_f", 2, 2, False),
    ),
    Case(
        "NaryTreeLSTM",
        lambda: L.NaryTreeLSTM(3, 2, 2),
        ((4, 2), (4, 2), (4, 2), (4, 2), (4, 3)),
        linear("W_x", 10, 3) | linear("W_h1", 10, 2, False) | linear("W_h2", 10, 2, False),
    ),
    Case("NStepRNNTanh", lambda: L.NStepRNNTanh(2, 3, 2, 0.3), (None, XS), n_step(2, 2)),
    Case("NStepRNNReLU", lambda: L.NStepRNNReLU(1, 3, 2, 0.0), ((1, 3, 2), XS), n_step(1, 2)),
    Case("NStepGRU", lambda: L.NStepGRU(2, 3, 2, 0.0), (None, XS), n_step(2, 6)),
    Case("NStepLSTM", lambda: L.NStepLSTM(1, 3, 2, 0.0), ((1, 3, 2), (1, 3, 2), XS), n_step(1, 8)),
    Case("NStepBiRNNTanh", lambda: L.NStepBiRNNTanh(1, 3, 2, 0.0), (None, XS), n_step(1, 2, True)),
    Case("NStepBiRNNReLU", lambda: L.NStepBiRNNReLU(1, 3, 2, 0.0), (None, XS), n_step(1, 2, True)),
    Case("NStepBiGRU", lambda: L.NStepBiGRU(1, 3, 2, 0.0), (None, XS), n_step(1, 6, True)),
    Case("NStepBiLSTM", lambda: L.NStepBiLSTM(2, 3, 2, 0.0), (None, None, XS), n_step(2, 8, True)),
    Case(
        "MultiHeadAttention",
        lambda: L.MultiHeadAttention(2, 4, 3, 3),
        ((2, 3, 4), (2, 5, 3)),
        linear("query", 4, 4) | linear("out", 4, 4) | linear("key", 4, 3) | linear("value", 4, 3),
        lambda: L.MultiHeadAttention(2, 4),
    ),
    Case(
        "Classifier",
        lambda: L.Classifier(L.Linear(3, 4)),
        ((3, 3), IDS),
        linear("predictor", 4, 3),
        lambda: L.Classifier(L.Linear(4)),
    ),
    Case("NegativeSampling", lambda: L.NegativeSampling(2, COUNTS, 3), ((3, 2), IDS), {"W": (4, 2)}),
    Case("BlackOut", lambda: L.BlackOut(2, COUNTS, 3), ((3, 2), IDS), {"W": (4, 2)}),
    Case("BinaryHierarchicalSoftmax", lambda: L.BinaryHierarchicalSoftmax(2, TREE), ((3, 2), IDS), {"W": (3, 2)}),
    Case("CRF1d", lambda: L.CRF1d(4), ([(3, 4), (2, 4)], [IDS, IDS[:2]]), {"cost": (4, 4)}),
    Case(
        "MLPConvolution2D",
        lambda: L.MLPConvolution2D(3, (4, 2), 2),
        ((2, 3, 4, 4),),
        {"0/W": (4, 3, 2, 2), "0/b": (4,), "1/W": (2, 4, 1, 1), "1/b": (2,)},
        lambda: L.MLPConvolution2D((4, 2), 2),
    ),
    Case(
        "Inception",
        lambda: L.Inception(3, 2, 1, 2, 1, 2, 1),
        ((2, 3, 5, 5),),
        {k: v for n, (m, c, w) in INCEPTION.items() for k, v in ((f"{n}/W", (m, c, w, w)), (f"{n}/b", (m,)))},
        lambda: L.Inception(None, 2, 1, 2, 1, 2, 1),
    ),
    Case(
        "InceptionBN",
        lambda: L.InceptionBN(3, 2, 2, 2, 2, 2, "avg", 2),
        ((2, 3, 5, 5),),
        {
            k: v
            for n, (m, c, w) in INCEPTION_BN.items()
            for k, v in ((f"{n}/W", (m, c, w, w)), *((f"{n}n/{p}", () if p == "N" else (m,)) for p in BATCH))
        },
        lambda: L.InceptionBN(None, 2, 2, 2, 2, 2, "avg", 2),
    ),
]


def inputs_of(case, device=None):
    rng = np.random.default_rng(1)

    def made(spec):
        if isinstance(spec, list):
            return [made(each) for each in spec]
        if spec is None:
            return None
        array = rng.standard_normal(spec).astype("f") if isinstance(spec, tuple) else spec
        return array if device is None else device.send(array)

    return [made(spec) for spec in case.inputs]


def outputs_of(link, case, inputs):
    """Return the outputs of all steps, as a flat list."""
    if hasattr(link, "reset_state"):
        link.reset_state()
    found = []
    for _ in range(case.steps):
        waiting = [link(*inputs)]
        while waiting:
            y = waiting.pop(0)
            if isinstance(y, (list, tuple)):
                waiting = [*y, *waiting]
            else:
                found.append(y)
    if hasattr(link, "reset_state"):
        link.reset_state()
    return found


def loss_of(link, case, inputs):
    return sum(F.sum(F.sin(y * 2)) for y in outputs_of(link, case, inputs))


def state_of(link):
    """Return parameters and persistent values by path."""
    found = {path[1:]: parameter.array for path, parameter in link.namedparams()}
    for path, child in link.namedlinks():
        for name in child._persistent:
            found[f"{path}/{name}".lstrip("/")] = getattr(child, name)
    return found


def on_host(x):
    return np.asarray(x if isinstance(x, int) else xpgrad.get_device("@numpy").send(x))
