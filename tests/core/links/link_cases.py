"""The table of links: how each is made and called, and its parameters as Chainer stores them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L

COUNTS = [5, 3, 2, 1]
TREE = ((1, 2), (0, 3))


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


def of(name, args, inputs, stored, lazy=None, steps=1, **options):
    """Return the case of a link that is made with `args`, and with `lazy` for lack of the size of its inputs."""
    without = None if lazy is None else lambda: getattr(L, name)(*lazy, **options)
    return Case(name, lambda: getattr(L, name)(*args, **options), inputs, stored, without, steps)


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
    of("Linear", (3, 2), ((4, 3),), {"W": (2, 3), "b": (2,)}, (2,)),
    Case("Linear", lambda: L.Linear(3, 2, nobias=True), ((4, 3),), {"W": (2, 3)}, lambda: L.Linear(None, 2, True)),
    of("Convolution1D", (3, 2, 3), ((2, 3, 6),), {"W": (2, 3, 3), "b": (2,)}, (2, 3)),
    of("Convolution2D", (4, 6, (3, 2), 2, 1), ((2, 4, 6, 5),), {"W": (6, 2, 3, 2), "b": (6,)}, (None, 6, (3, 2), 2, 1),
        groups=2),
    of("Convolution3D", (3, 2, 2), ((2, 3, 3, 3, 3),), {"W": (2, 3, 2, 2, 2), "b": (2,)}, (2, 2)),
    of("ConvolutionND", (2, 3, 2, 3, 2, 1), ((2, 3, 6, 7),), {"W": (2, 3, 3, 3), "b": (2,)}, (2, None, 2, 3, 2, 1),
        cover_all=True, dilate=2),
    of("Deconvolution1D", (3, 2, 3), ((2, 3, 4),), {"W": (3, 2, 3), "b": (2,)}, (2, 3)),
    of("Deconvolution2D", (4, 6, 3, 2), ((2, 4, 4, 3),), {"W": (4, 3, 3, 3), "b": (6,)}, (None, 6, 3, 2), groups=2,
        outsize=(10, 8)),
    of("Deconvolution3D", (3, 2, 2), ((1, 3, 2, 2, 2),), {"W": (3, 2, 2, 2, 2), "b": (2,)}, (2, 2)),
    Case("DeconvolutionND", lambda: L.DeconvolutionND(2, 3, 2, 2, 2), ((2, 3, 3, 3),), {"W": (3, 2, 2, 2), "b": (2,)},
        lambda: L.DeconvolutionND(2, 2, 2, stride=2)),
    of("DilatedConvolution2D", (3, 2, 2, 1, 0, 2), ((2, 3, 5, 5),), {"W": (2, 3, 2, 2), "b": (2,)},
        (None, 2, 2, 1, 0, 2)),
    of("DepthwiseConvolution2D", (3, 2, 2), ((2, 3, 4, 4),), {"W": (2, 3, 2, 2), "b": (6,)}, (None, 2, 2)),
    of("LocalConvolution2D", (3, 2, (5, 4), 2, 1), ((2, 3, 5, 4),), {"W": (2, 4, 3, 3, 2, 2), "b": (2, 4, 3)},
        (None, 2, None, 2)),
    Case("DeformableConvolution2D", lambda: L.DeformableConvolution2D(3, 2, 3, 1, 1, offset_initialW=0.05),
        ((2, 3, 5, 5),),
        {"offset_conv/W": (18, 3, 3, 3), "offset_conv/b": (18,), "deform_conv/W": (2, 3, 3, 3), "deform_conv/b": (2,)},
        lambda: L.DeformableConvolution2D(None, 2, 3, 1, 1)),
    of("EmbedID", (4, 2), (np.array([[0, 3], [-1, 3]], "i"),), {"W": (4, 2)}, ignore_label=-1),
    of("Bias", (1, (3,)), ((2, 3, 4),), {"b": (3,)}),
    of("Scale", (1, (3,)), ((2, 3, 4),), {"W": (3,), "bias/b": (3,)}, bias_term=True),
    of("Bilinear", (3, 2, 4), ((5, 3), (5, 2)), {"W": (3, 2, 4), "V1": (3, 4), "V2": (2, 4), "b": (4,)}),
    Case("Parameter", lambda: L.Parameter(np.arange(3.0, dtype="f")), (), {"W": (3,)}),
    of("Maxout", (3, 2, 4), ((5, 3),), linear("linear", 8, 3), (None, 2, 4)),
    of("Highway", (3,), ((5, 3),), linear("plain", 3, 3) | linear("transform", 3, 3)),
    of("PReLU", ((3,),), ((2, 3, 4),), {"W": (3,)}),
    of("Swish", ((3,),), ((2, 3),), {"beta": (3,)}, (None,)),
    of("SimplifiedDropconnect", (3, 2), ((4, 3),), {"W": (2, 3), "b": (2,)}, (None, 2)),
    Case("BatchNormalization", lambda: L.BatchNormalization(3), ((4, 3, 2),), BATCH,
        lambda: L.BatchNormalization(axis=(0, 2)), 2),
    of("BatchRenormalization", (3, 1.1, 0.1), ((4, 3, 2),), BATCH, None, 2),
    of("DecorrelatedBatchNormalization", (4,), ((6, 4),), {"avg_mean": (2, 2), "avg_projection": (2, 2, 2), "N": ()},
        None, 2, groups=2),
    of("LayerNormalization", (3,), ((4, 3),), {"gamma": (3,), "beta": (3,)}, ()),
    of("GroupNormalization", (2, 4), ((3, 4, 2),), {"gamma": (4,), "beta": (4,)}, (2,)),
    of("LSTM", (3, 2), ((4, 3),), LSTM, (2,), 2),
    of("StatelessLSTM", (3, 2), ((4, 2), (4, 2), (4, 3)), LSTM, (2,)),
    of("StatefulPeepholeLSTM", (3, 2), ((4, 3),), PEEPHOLE, (None, 2), 2),
    of("StatefulZoneoutLSTM", (3, 2), ((4, 3),), LSTM, (None, 2), 2),
    of("StatelessGRU", (3, 2), ((4, 2), (4, 3)), GRU, (None, 2)),
    of("StatefulGRU", (3, 2), ((4, 3),), GRU, (None, 2), 2),
    of("GRU", (3, 2), ((4, 3),), GRU, (None, 2), 2),
    of("StatelessMGU", (3, 2), ((4, 2), (4, 3)), linear("W_f", 2, 5) | linear("W_h", 2, 5)),
    of("StatefulMGU", (3, 2), ((4, 3),), linear("W_f", 2, 5) | linear("W_h", 2, 5), None, 2),
    of("ChildSumTreeLSTM", (3, 2), ((4, 2), None, (4, 2), (4, 2), (4, 3)),
        linear("W_x", 8, 3) | linear("W_h_aio", 6, 2, False) | linear("W_h_f", 2, 2, False)),
    of("NaryTreeLSTM", (3, 2, 2), ((4, 2), (4, 2), (4, 2), (4, 2), (4, 3)),
        linear("W_x", 10, 3) | linear("W_h1", 10, 2, False) | linear("W_h2", 10, 2, False)),
    of("NStepRNNTanh", (2, 3, 2, 0.3), (None, XS), n_step(2, 2)),
    of("NStepRNNReLU", (1, 3, 2, 0.0), ((1, 3, 2), XS), n_step(1, 2)),
    of("NStepGRU", (2, 3, 2, 0.0), (None, XS), n_step(2, 6)),
    of("NStepLSTM", (1, 3, 2, 0.0), ((1, 3, 2), (1, 3, 2), XS), n_step(1, 8)),
    of("NStepBiRNNTanh", (1, 3, 2, 0.0), (None, XS), n_step(1, 2, True)),
    of("NStepBiRNNReLU", (1, 3, 2, 0.0), (None, XS), n_step(1, 2, True)),
    of("NStepBiGRU", (1, 3, 2, 0.0), (None, XS), n_step(1, 6, True)),
    of("NStepBiLSTM", (2, 3, 2, 0.0), (None, None, XS), n_step(2, 8, True)),
    of("MultiHeadAttention", (2, 4, 3, 3), ((2, 3, 4), (2, 5, 3)),
        linear("query", 4, 4) | linear("out", 4, 4) | linear("key", 4, 3) | linear("value", 4, 3), (2, 4)),
    Case("Classifier", lambda: L.Classifier(L.Linear(3, 4)), ((3, 3), IDS), linear("predictor", 4, 3),
        lambda: L.Classifier(L.Linear(4))),
    of("NegativeSampling", (2, COUNTS, 3), ((3, 2), IDS), {"W": (4, 2)}),
    of("BlackOut", (2, COUNTS, 3), ((3, 2), IDS), {"W": (4, 2)}),
    of("BinaryHierarchicalSoftmax", (2, TREE), ((3, 2), IDS), {"W": (3, 2)}),
    of("CRF1d", (4,), ([(3, 4), (2, 4)], [IDS, IDS[:2]]), {"cost": (4, 4)}),
    of("MLPConvolution2D", (3, (4, 2), 2), ((2, 3, 4, 4),),
        {"0/W": (4, 3, 2, 2), "0/b": (4,), "1/W": (2, 4, 1, 1), "1/b": (2,)}, ((4, 2), 2)),
    of("Inception", (3, 2, 1, 2, 1, 2, 1), ((2, 3, 5, 5),),
        {k: v for n, (m, c, w) in INCEPTION.items() for k, v in ((f"{n}/W", (m, c, w, w)), (f"{n}/b", (m,)))},
        (None, 2, 1, 2, 1, 2, 1)),
    of(
        "InceptionBN",
        (3, 2, 2, 2, 2, 2, "avg", 2),
        ((2, 3, 5, 5),),
        {
            k: v
            for n, (m, c, w) in INCEPTION_BN.items()
            for k, v in ((f"{n}/W", (m, c, w, w)), *((f"{n}n/{p}", () if p == "N" else (m,)) for p in BATCH))
        },
        (None, 2, 2, 2, 2, 2, "avg", 2),
    ),
]  # fmt: skip


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
