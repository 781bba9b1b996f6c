"""One random program of each family, run in two ways; each check returns None, or the difference."""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from array_api_compat import torch as torch_xp
from tests.fuzz.programs import FOREIGN, Made, Program
from tests.fuzz.spectral import SPECTRAL, rectangular, symmetric

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed
from xpgrad_conformance.checks.concurrent_calls import run_concurrently

COPIES: tuple[Callable[[Variable], Variable], ...] = (
    copy.copy,
    copy.deepcopy,
    lambda v: copy.deepcopy({"v": [v]})["v"][0],
    lambda v: xp.asarray(v, copy=True),
    lambda v: v.copy(),
    lambda v: v.__array_namespace__().astype(v, v.dtype, copy=True),
)

MIDDLES = "copy", "taken", "hook", "none"
"""Third-party code in the middle: a copy, an extracted number, a hook that writes to its gradient, no code."""


class Interrupted(Program):
    """A program over two arrays with third-party code in the middle.

    Parameters
    ----------
    rng : numpy.random.Generator
    middle : str
        One of `MIDDLES`.
    leaves : list of host arrays, optional
    """

    def __init__(self, rng: np.random.Generator, middle: str, leaves: list[Any] | None = None) -> None:
        self.middle, self.factor = middle, float(rng.choice([0.0, 0.5, -2.0]))
        shape = tuple(int(n) for n in rng.integers(1, 4, 2))
        self.leaves = [rng.normal(size=shape), rng.normal(size=(1, shape[1]))] if leaves is None else leaves
        super().__init__(rng, [x.shape for x in self.leaves], most=10, changes=int(middle != "none"), without=FOREIGN)
        self.cotangent = rng.normal()

    def total(self, xp: Any, leaves: list[Any], made: Made, middle: Callable[[Any, Any], Any] | None = None) -> Any:
        """Return the loss, a 0-d array; ``middle(a, b)`` returns a replacement for `a`."""
        ys = self.run(xp, leaves, made, None if middle is None else lambda kind, a, b: middle(a, b))
        return sum(xp.sum(y) for y in ys) * self.cotangent


def differs(got: Any, wanted: Any, tolerance: float) -> str | None:
    """Return the difference of `got` and `wanted`, or None if within `tolerance` of the largest element."""
    got, wanted = np.asarray(on_host(got), float), np.asarray(wanted, float)
    scale = 1 + np.max(np.abs(wanted), initial=0)
    if got.shape == wanted.shape and np.allclose(got, wanted, rtol=0, atol=tolerance * scale):
        return None
    return f"got {got.tolist()}, expected {wanted.tolist()}"


def _torch(program: Interrupted) -> tuple[Any, list[Any]]:
    """Return loss and gradients by PyTorch; None for a leaf that does not matter."""
    leaves = [torch.tensor(x, requires_grad=True) for x in program.leaves]

    def middle(a: Any, b: Any) -> Any:
        if program.middle == "taken":
            return a * b.sum().detach()
        if program.middle == "hook" and a.requires_grad:
            a = a * 1
            a.register_hook(lambda g: g * program.factor)
        return a

    loss = program.total(torch_xp, leaves, torch.asarray, middle)
    grads = torch.autograd.grad(loss, leaves, allow_unused=True) if loss.requires_grad else [None] * len(leaves)
    return loss.detach().numpy(), [None if g is None else g.numpy() for g in grads]


def _jax(program: Interrupted) -> tuple[Any, list[Any]]:
    """Return loss and gradients by JAX."""
    import jax

    def middle(a: Any, b: Any) -> Any:
        return a * jax.lax.stop_gradient(jax.numpy.sum(b)) if program.middle == "taken" else a

    with jax.enable_x64(True):
        loss, grads = jax.value_and_grad(lambda leaves: program.total(jax.numpy, leaves, jax.numpy.asarray, middle))(
            [jax.numpy.asarray(x) for x in program.leaves]
        )
        return np.asarray(loss), [np.asarray(g) for g in grads]


def graph(rng: np.random.Generator, device: xpgrad.Device) -> str | None:
    """A program with a copy, a number taken out, or a hook that writes, in the Variable interface and in `grad`."""
    program = Interrupted(rng, str(rng.choice(MIDDLES)))
    peer = _jax if program.middle != "hook" and rng.random() < 0.05 else _torch
    loss, grads = peer(program)
    copied = COPIES[rng.integers(len(COPIES))]
    in_place = not device.backend.immutable and rng.random() < 0.7

    warned: list[bool] = []

    def middle(a: Variable, b: Variable) -> Variable:
        if program.middle == "copy":
            return copied(a * 1 if any(a is x for x in leaves) else a)  # a copy of a leaf is a separate leaf
        if program.middle == "taken":
            warned.append(b.requires_grad)
            return a * float(b.sum())
        if program.middle == "hook" and a.requires_grad:
            a = a * 1

            def hook(g: Variable) -> Any:
                if not in_place:
                    return g * program.factor
                g.array[...] *= program.factor
                return None

            a.register_hook(hook)
        return a

    def made(values: Any) -> Any:
        return placed(values, device)

    leaves = [Variable(placed(x, device)) for x in program.leaves]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = program.total(xp, leaves, made, middle)
    if y.requires_grad:
        y.backward()
    unwarned = any(warned) and not caught
    wrong = [differs(y.array, loss, 1e-9)]
    for x, g in zip(leaves, grads, strict=True):
        wrong.append(
            differs(np.zeros(x.shape) if x.grad is None else x.grad, np.zeros(x.shape) if g is None else g, 1e-9)
        )
    if any(wrong):
        return f"{program} of {peer.__name__}: {wrong}"
    return f"{program}: no warning" if unwarned else _in_a_transform(program, grads, made, middle, leaves)


def _in_a_transform(
    program: Interrupted, grads: list[Any], made: Made, middle: Any, leaves: list[Variable]
) -> str | None:
    for number, g in enumerate(grads):

        def loss(x: Any, number: int = number) -> Any:
            given = [each.array for each in leaves]
            given[number] = x
            variables = [v if isinstance(v, Variable) else Variable(v, requires_grad=False) for v in given]
            return program.total(xp, variables, made, middle)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                constant = g is None or not np.any(g)
                found = xpgrad.transforms.grad(loss, allow_constant=constant)(leaves[number].array)
            except xpgrad.GradientError as error:
                return f"{program} in grad: {error}"
        if wrong := differs(found, np.zeros(leaves[number].shape) if g is None else g, 1e-9):
            return f"{program} in grad: {wrong}"
    return None


def threads(rng: np.random.Generator, device: xpgrad.Device) -> str | None:
    """Two threads sweep two programs over the same leaves, some of the time through a shared part of the graph."""
    first = Interrupted(rng, "none")
    second = Interrupted(rng, "none", first.leaves)
    shared = rng.random() < 0.5
    leaves = [torch.tensor(x, requires_grad=True) for x in first.leaves]
    middle = [torch.tanh(x) for x in leaves] if shared else leaves
    for program in (first, second):
        if (loss := program.total(torch_xp, list(middle), torch.asarray)).requires_grad:
            loss.backward(retain_graph=True)
    mine = [Variable(placed(x, device)) for x in first.leaves]
    given = [xp.tanh(x) for x in mine] if shared else mine
    losses = [program.total(xp, list(given), lambda x: placed(x, device)) for program in (first, second)]

    def sweep(y: Variable) -> None:
        for _ in range(3 if y.requires_grad else 0):
            y.backward()

    run_concurrently([partial(sweep, y) for y in losses])
    for x, t in zip(mine, leaves, strict=True):
        wanted = np.zeros(x.shape) if t.grad is None else 3 * t.grad.numpy()
        if wrong := differs(np.zeros(x.shape) if x.grad is None else x.grad, wanted, 1e-9):
            return f"{first}, {second}, shared {shared}: {wrong}"
    return None


def ties(rng: np.random.Generator, device: xpgrad.Device) -> str | None:
    """A function of a matrix with equal or nearly equal values, using a decomposition: first and second derivatives."""
    size = int(rng.integers(1, 5))
    kind = str(rng.choice(["eigh", "svd", "values"]))
    picked = [SPECTRAL[i] for i in rng.integers(0, len(SPECTRAL), rng.integers(1, 3))]
    x = rectangular(rng, size) if kind == "svd" else symmetric(rng, size)
    weights = [rng.normal(size=x.shape) for _ in picked]
    if kind == "eigh":
        weights = [w + w.T for w in weights]

    def ours(v: Variable) -> Variable:
        if kind == "svd":
            u, s, vh = xp.linalg.svd(v, full_matrices=False)
            terms = [xp.matmul(u * h(xp, s), vh) for h, _ in picked]
        elif kind == "eigh":
            w, q = xp.linalg.eigh(v)
            terms = [xp.matmul(q * h(xp, w), xp.matrix_transpose(q)) for h, _ in picked]
        else:
            w = xp.linalg.eigvalsh(v)
            return sum(c * xp.sum(h(xp, w)) for c, (h, _) in zip([1.0, -0.7], picked, strict=False))  # type: ignore[return-value]
        return sum(xp.sum(term * placed(w, device)) for term, w in zip(terms, weights, strict=True))  # type: ignore[return-value]

    def theirs(t: Any) -> Any:
        if kind == "svd":
            polar = t @ torch.linalg.inv(square_root_of(t.mT @ t))
            root = square_root_of(t.mT @ t)
            terms = [polar @ h(torch, root) for _, h in picked]
        else:
            terms = [h(torch, (t + t.mT) / 2) for _, h in picked]
        if kind == "values":
            return sum(c * torch.trace(term) for c, term in zip([1.0, -0.7], terms, strict=False))
        return sum((term * torch.tensor(w)).sum() for term, w in zip(terms, weights, strict=True))

    from tests.fuzz.spectral import square_root

    def square_root_of(x: Any) -> Any:
        return square_root(torch, x)

    t = torch.tensor(x, requires_grad=True)
    (g,) = torch.autograd.grad(theirs(t), t, create_graph=True)
    v = Variable(placed(x, device))
    twice = rng.random() < 0.3
    (mine,) = xpgrad.grad([ours(v)], [v], enable_double_backprop=twice)
    assert mine is not None
    where = f"{kind} of {x.tolist()} by {[SPECTRAL.index(p) for p in picked]}"
    if wrong := differs(symmetrized(on_host(mine.array), kind), symmetrized(g.detach().numpy(), kind), 1e-5):
        return f"{where}: {wrong}"
    if not twice or not mine.requires_grad:
        return None
    direction = rng.normal(size=x.shape)
    if kind != "svd":
        direction = direction + direction.T
    wanted = np.zeros(x.shape)
    if g.requires_grad:
        (gg,) = torch.autograd.grad((g * torch.tensor(direction)).sum(), t, allow_unused=True)
        wanted = wanted if gg is None else gg.numpy()
    (found,) = xpgrad.grad([xp.sum(mine * placed(direction, device))], [v])
    got = np.zeros(x.shape) if found is None else on_host(found.array)
    if np.all(np.isnan(got)):
        return None  # not silent
    gaps = -np.diff(np.linalg.svd(x, compute_uv=False)) / np.linalg.norm(x, 2)
    if np.any((gaps > 1e-8) & (gaps < 1e-6)):
        return None  # where division loses digits of second derivatives, as documented
    if wrong := differs(symmetrized(got, kind), symmetrized(wanted, kind), 1e-3):
        return f"{where}, second derivative: {wrong}"
    return None


def symmetrized(g: np.ndarray, kind: str) -> np.ndarray:
    """Return the part of a gradient that symmetric matrices can have."""
    return g if kind == "svd" else (g + g.T) / 2


def half(rng: np.random.Generator, device: xpgrad.Device) -> str | None:
    """A reduction of 100,000 numbers of half precision, against double precision."""
    shape = [(100_000,), (400, 250), (2, 50_000), (100_000, 1)][rng.integers(4)]
    x = rng.uniform(0.5, 2, size=shape).astype(np.float16)
    axis = None if rng.random() < 0.5 else int(np.argmax(shape))
    inner = rng.integers(4)
    outer = rng.integers(6)

    def program(m: Any, v: Any) -> Any:
        a = [lambda: v, lambda: m.tanh(v), lambda: v * v, lambda: m.exp(-v)][inner]()
        options = {} if axis is None else {"axis": axis}
        y = [
            lambda: m.mean(a, **options),
            lambda: m.var(a, **options),
            lambda: m.std(a, **options),
            lambda: m.mean((a - 1) * (a - 1), **options),
            lambda: m.mean(m.sqrt(a), **options),
            lambda: m.mean(m.astype(a, v.dtype), **options, keepdims=True),
        ][outer]()
        return m.sum(y * 1.5)

    t = torch.tensor(x.astype(np.float64), requires_grad=True)
    (wanted,) = torch.autograd.grad(program(torch_xp, t), t)
    v = Variable(placed(x, device))
    program(xp, v).backward()
    got, g = np.asarray(on_host(v.grad), np.float64), wanted.numpy()
    error = np.linalg.norm(got - g) / np.linalg.norm(g)
    return None if error < 0.05 else f"{shape}, axis {axis}, program {inner} {outer}: relative error {error:.2g}"
