"""The cross entropy of logits and labels in host memory; rare cases and other devices use the default bodies."""

import torch

from xpgrad.plugin import Spec
from xpgrad.types import Array, Kernel
from xpgrad_torch.kernels.elementwise import extreme
from xpgrad_torch.kernels.neural import DOMINANT, HALF


def cross_entropy(
    x: Array, t: Array, score: Array | None, weight: Array | None, /, normalize: bool, ignore_label: int, reduce: str
) -> Array:
    """Return the cross entropy: picks the scores of the labels, without a temporary of the size of `x`."""
    labels = _labels(x, t, weight, ignore_label)
    if labels is None:
        return NotImplemented
    log_p: torch.Tensor = torch.log_softmax(x, 1) if score is None else score
    losses = log_p.gather(1, labels).squeeze(1).neg_()
    if reduce == "no":
        return losses
    return (losses.sum(dtype=torch.float32 if x.dtype in HALF else None) / _count(t, normalize)).to(x.dtype)


def cross_entropy_x(
    gy: Array, x: Array, t: Array, score: Array | None, weight: Array | None, x_spec: Spec, normalize: bool,
    ignore_label: int, reduce: str, /,
) -> Array:  # fmt: skip
    """Return the gradient of the cross entropy: the exponentials of the kept scores, changed in place."""
    labels = _labels(x if score is None else score, t, weight, ignore_label)
    if labels is None:
        if weight is not None or x_spec.device.type != "cpu" or not t.numel():
            return NotImplemented
        return _of_some(gy, x, t, score, normalize, ignore_label, reduce)
    gx = torch.exp(torch.log_softmax(x, 1) if score is None else score)
    _subtract_one(gx, labels)
    return gx.mul_(gy.unsqueeze(1) if reduce == "no" else gy / _count(t, normalize))


def _subtract_one(p: torch.Tensor, labels: torch.Tensor) -> None:
    """Subtract 1 from the probabilities of the labels; if p is nearly 1, 1 - p is the sum of the rest."""
    chosen = p.gather(1, labels)
    most = extreme(chosen, torch.amax)
    if most is not None and most <= DOMINANT:
        p.scatter_(1, labels, chosen - 1)
        return
    sure = chosen > DOMINANT
    rest = p.scatter_(1, labels, torch.where(sure, 0.0, chosen)).sum(1, keepdim=True)
    p.scatter_(1, labels, torch.where(sure, -rest, chosen - 1))


def _of_some(
    gy: Array, x: Array, t: Array, score: Array | None, normalize: bool, ignore_label: int, reduce: str
) -> Array:
    """Return the gradient where some labels are ignored, or the labels' values are unknown.

    A compiled program calls this kernel with other labels than in its recording, so it does not decline.
    """
    counted = t != ignore_label
    labels = torch.where(counted, t, 0).to(torch.int64).unsqueeze(1)
    log_p: torch.Tensor = torch.log_softmax(x, 1) if score is None else score
    if not torch.compiler.is_compiling():
        low, high = map(int, torch.aminmax(labels))
        if low < 0 or high >= log_p.shape[1]:
            return NotImplemented
    gx = torch.exp(log_p)
    _subtract_one(gx, labels)
    count = counted.sum().clamp(min=1) if normalize else t.shape[0]
    gx.mul_(gy.unsqueeze(1) if reduce == "no" else gy / count)
    return gx.masked_fill_(~counted.unsqueeze(1), 0)


def _labels(x: torch.Tensor, t: torch.Tensor, weight: Array | None, ignore_label: int) -> torch.Tensor | None:
    """Return the labels as an index along axis 1, None if a label is ignored or no class, or values are unknown."""
    if weight is not None or x.device.type != "cpu" or not t.numel() or torch.compiler.is_compiling():
        return None
    low, high = map(int, torch.aminmax(t))
    if low < 0 or high >= x.shape[1] or low <= ignore_label <= high:
        return None
    return t.to(torch.int64).unsqueeze(1)


def _count(t: torch.Tensor, normalize: bool) -> int:
    return t.numel() if normalize else t.shape[0]


LOSSES: dict[str, Kernel] = {"cross_entropy": cross_entropy, "cross_entropy.x": cross_entropy_x}
