"""PyTorch's functions of Variables: values equal those for tensors, gradients those of PyTorch's autograd."""

import itertools
import operator
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as nn
from tests.turn import part_of

import xpgrad
from xpgrad import Variable, as_array
from xpgrad import array_api as xp
from xpgrad.errors import AxisError, BackendMismatch, DtypeError, ShapeError, UnknownArray
from xpgrad.transforms import hessian, hvp, jacobian, jvp, vmap
from xpgrad_torch.functions import TABLE

X = torch.tensor(
    [[0.31, -1.27, 0.83, 2.11], [1.61, 0.47, -0.59, -1.03], [-0.73, 0.91, 1.43, 0.19]], dtype=torch.float64
)
Y = torch.tensor([[0.73, 0.41, 1.13, 0.87], [0.29, 1.37, 0.61, 1.01], [0.53, 0.97, 0.23, 1.19]], dtype=torch.float64)
S = torch.tensor([[2.3, 0.4, -0.3], [0.4, 1.9, 0.2], [-0.3, 0.2, 3.1]], dtype=torch.float64)
M = X > 0
I = torch.tensor([[0, 3, 1], [2, 2, 0]])
LABELS = torch.tensor([1, 3, 0])

PLAIN = """abs absolute neg negative sin cos tan tanh sinh cosh asinh arctan atan exp exp2 expm1 square sigmoid erf erfc
ceil floor trunc fix frac sign sgn isnan isfinite isinf signbit deg2rad rad2deg sinc relu positive nan_to_num
logical_not angle real reciprocal sum mean prod max min amax amin argmax argmin std var norm numel ravel
flatten t clone detach zeros_like ones_like trace median is_floating_point nansum nanmean fliplr flipud"""
ONE = {
    **{name: getattr(torch, name) for name in PLAIN.split()},
    "abs()": lambda x, y: torch.abs(x),
    "sum-dim": lambda x, y: torch.sum(x, 1),
    "sum-keepdim": lambda x, y: torch.sum(x, dim=(0, 1), keepdim=True),
    "sum-axis": lambda x, y: torch.sum(x, axis=0, keepdims=True),
    "sum-dtype": lambda x, y: torch.sum(x, dtype=torch.float32),
    "mean-dim": lambda x, y: torch.mean(x, -1, keepdim=True),
    "prod-dim": lambda x, y: torch.prod(x, 0),
    "max-dim": lambda x, y: torch.max(x, 1),
    "max-dim-values": lambda x, y: torch.max(x, dim=0, keepdim=True).values,
    "min-dim": lambda x, y: torch.min(x, 1)[0],
    "max-other": lambda x, y: torch.max(x, y),
    "aminmax": lambda x, y: torch.aminmax(x, dim=1),
    "argmax-dim": lambda x, y: torch.argmax(x, 1),
    "all": lambda x, y: torch.all(x > -1, 0),
    "any": lambda x, y: torch.any(x > 1),
    "std-dim": lambda x, y: torch.std(x, 1),
    "std-biased": lambda x, y: torch.std(x, 1, False),
    "std-all-biased": lambda x, y: torch.std(x, False),
    "var-correction": lambda x, y: torch.var(x, dim=0, correction=0, keepdim=True),
    "var_mean": lambda x, y: torch.var_mean(x, 1),
    "std_mean": lambda x, y: torch.std_mean(x, dim=0),
    "count_nonzero": lambda x, y: torch.count_nonzero(x > 0, 1),
    "logsumexp": lambda x, y: torch.logsumexp(x, 1),
    "cumsum": lambda x, y: torch.cumsum(x, 1),
    "cumprod": lambda x, y: torch.cumprod(x, dim=0),
    "diff": lambda x, y: torch.diff(x),
    "sort": lambda x, y: torch.sort(x, 0, descending=True),
    "argsort": lambda x, y: torch.argsort(x, 1),
    "topk": lambda x, y: torch.topk(x, 2),
    "kthvalue": lambda x, y: torch.kthvalue(x, 3, 1),
    "median-dim": lambda x, y: torch.median(x, 1),
    "quantile": lambda x, y: torch.quantile(x, 0.3, dim=1),
    "norm-1": lambda x, y: torch.norm(x, 1, dim=0),
    "linalg.norm": lambda x, y: torch.linalg.norm(x),
    "linalg.norm-1": lambda x, y: torch.linalg.norm(x, 1),
    "linalg.norm-dim": lambda x, y: torch.linalg.norm(x, 3, dim=1, keepdim=True),
    "linalg.vector_norm": lambda x, y: torch.linalg.vector_norm(x, dim=1),
    "linalg.matrix_norm": lambda x, y: torch.linalg.matrix_norm(x, ord="nuc"),
    "nonzero": lambda x, y: torch.nonzero(x > 0),
    "reshape": lambda x, y: torch.reshape(x, (2, -1)),
    "flatten-part": lambda x, y: torch.flatten(x[None, :, None], 1, 2),
    "unflatten": lambda x, y: torch.unflatten(x, 1, (2, 2)),
    "squeeze": lambda x, y: torch.squeeze(x[None], 0),
    "squeeze-none": lambda x, y: torch.squeeze(x, 0),
    "unsqueeze": lambda x, y: torch.unsqueeze(x, -1),
    "permute": lambda x, y: torch.permute(x[None], (2, 0, 1)),
    "transpose": lambda x, y: torch.transpose(x, 0, 1),
    "movedim": lambda x, y: torch.movedim(x[None], 0, -1),
    "atleast_3d": lambda x, y: torch.atleast_3d(x),
    "split": lambda x, y: torch.split(x, 3, dim=1),
    "split-sizes": lambda x, y: torch.split(x, [1, 3], 1),
    "chunk": lambda x, y: torch.chunk(x, 2, 1),
    "unbind": lambda x, y: torch.unbind(x, 1),
    "select": lambda x, y: torch.select(x, 1, -1),
    "narrow": lambda x, y: torch.narrow(x, 1, 1, 2),
    "broadcast_to": lambda x, y: torch.broadcast_to(x, (2, 3, 4)),
    "flip": lambda x, y: torch.flip(x, (0, 1)),
    "roll": lambda x, y: torch.roll(x, 1, 1),
    "tile": lambda x, y: torch.tile(x, (2, 1)),
    "repeat_interleave": lambda x, y: torch.repeat_interleave(x, 2, dim=0),
    "gather": lambda x, y: torch.gather(x, 1, I),
    "take_along_dim": lambda x, y: torch.take_along_dim(x, I[:1], dim=1),
    "index_select": lambda x, y: torch.index_select(x, 1, I[0]),
    "take": lambda x, y: torch.take(x, I),
    "masked_select": lambda x, y: torch.masked_select(x, M),
    "masked_fill": lambda x, y: torch.masked_fill(x, M, 2.5),
    "tril": lambda x, y: torch.tril(x, 1),
    "triu": lambda x, y: torch.triu(x),
    "diag": lambda x, y: torch.diag(x[0], 1),
    "diagonal": lambda x, y: torch.diagonal(x, 1),
    "diag_embed": lambda x, y: torch.diag_embed(x),
    **{f"rot90-{k}": lambda x, y, k=k: torch.rot90(x, k) for k in range(4)},
    "full_like": lambda x, y: torch.full_like(x, 2.5),
    "clamp": lambda x, y: torch.clamp(x, -0.5, 0.5),
    "clamp-min": lambda x, y: torch.clamp(x, min=0.1),
    "where": lambda x, y: torch.where(M, x, 0.5),
    "round": lambda x, y: torch.round(x, decimals=1),
    "logit": lambda x, y: torch.logit(y / 2),
    "rsqrt": lambda x, y: torch.rsqrt(y),
    "log1p": lambda x, y: torch.log1p(y) + torch.log(y) + torch.log2(y) + torch.log10(y) + torch.sqrt(y),
    "asin": lambda x, y: torch.asin(y / 2) + torch.acos(y / 2) + torch.atanh(y / 2) + torch.arccosh(y + 1),
    "lgamma": lambda x, y: torch.lgamma(y) + torch.digamma(y) + torch.erfinv(y / 2),
    "special": lambda x, y: torch.special.erfcx(y) + torch.special.ndtr(x) + torch.special.log_ndtr(x),
    "special-i0": lambda x, y: torch.special.i0(x) + torch.special.i1(x) + torch.special.entr(y),
    "polygamma": lambda x, y: torch.polygamma(1, y),
    "linalg.vander": lambda x, y: torch.stack([x[0] ** i for i in range(3)]),
    "fft": lambda x, y: torch.abs(torch.fft.fft(x)),
    "rfft2": lambda x, y: torch.real(torch.fft.rfft2(x)),
    "fftshift": lambda x, y: torch.fft.fftshift(x, dim=1),
    "relu": lambda x, y: nn.relu(x) + torch.relu(x),
    "leaky_relu": lambda x, y: nn.leaky_relu(x, 0.1),
    "elu": lambda x, y: nn.elu(x) + nn.celu(x, 0.7) + nn.selu(x),
    "gelu": lambda x, y: nn.gelu(x) + nn.gelu(x, approximate="tanh"),
    "silu": lambda x, y: nn.silu(x) + nn.mish(x) + nn.softsign(x) + nn.tanhshrink(x),
    "softplus": lambda x, y: nn.softplus(x) + nn.logsigmoid(x),
    "hardtanh": lambda x, y: nn.hardtanh(x) + nn.relu6(x),
    "softmax": lambda x, y: nn.softmax(x, dim=1) + torch.softmax(x, 0),
    "log_softmax": lambda x, y: nn.log_softmax(x, dim=-1) + nn.softmin(x, dim=0),
    "layer_norm": lambda x, y: nn.layer_norm(x, (4,), weight=y[0], bias=y[1]),
    "rms_norm": lambda x, y: nn.rms_norm(x, (4,), y[0], 1e-5),
    "normalize": lambda x, y: nn.normalize(x),
    "dropout": lambda x, y: nn.dropout(x, 0.5, training=False),
    "pad": lambda x, y: nn.pad(x, (1, 2)) + nn.pad(x, (3, 0), value=1.5),
    "pad-reflect": lambda x, y: nn.pad(x[None], (1, 2), mode="reflect"),
    "pad-replicate": lambda x, y: nn.pad(x[None], (1, 2), mode="replicate"),
    "embedding": lambda x, y: nn.embedding(I % 3, x),
}  # fmt: skip
TWO = {
    "add": lambda x, y: torch.add(x, y, alpha=2.5),
    "sub": lambda x, y: torch.sub(x, y, alpha=0.5) + torch.rsub(x, y),
    "scalars": lambda x, y: torch.mul(x, 2.5) + torch.add(y, 1) + torch.div(x, 3),
    "div": lambda x, y: torch.div(x, y),
    "div-floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div-trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "remainder": lambda x, y: torch.remainder(x, y) + torch.fmod(x, y),
    "pow": lambda x, y: torch.pow(y, x) + torch.pow(y, 2) + torch.pow(2.0, x),
    "maximum": lambda x, y: torch.maximum(x, y) + torch.minimum(x, y) + torch.fmax(x, y) + torch.fmin(x, y),
    "atan2": lambda x, y: torch.atan2(x, y) + torch.hypot(x, y) + torch.logaddexp(x, y) + torch.copysign(x, y),
    "compare": lambda x, y: [torch.lt(x, y), torch.ge(x, 0.5), torch.eq(x, y), torch.logical_and(x > 0, y > 0)],
    "xlogy": lambda x, y: torch.xlogy(x, y) + torch.special.xlog1py(x, y),
    "igamma": lambda x, y: torch.igamma(S[0, :1], y),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3) + torch.lerp(x, y, y),
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5) + torch.addcdiv(x, x, y, value=2),
    "where-two": lambda x, y: torch.where(M, x, y),
    "isclose": lambda x, y: torch.isclose(x, y, rtol=0.5),
    "cat": lambda x, y: torch.cat([x, y], dim=1),
    "stack": lambda x, y: torch.stack((x, y), 1),
    "hstack": lambda x, y: torch.hstack([x, y]) + torch.column_stack([x, y]),
    "vstack": lambda x, y: torch.vstack([x, y[0]]),
    "dstack": lambda x, y: torch.dstack([x, y]),
    "meshgrid": lambda x, y: torch.meshgrid(x[0], y[1], indexing="xy"),
    "broadcast_tensors": lambda x, y: torch.broadcast_tensors(x, y[0]),
    "matmul": lambda x, y: torch.matmul(x, y.T) + torch.mm(x, torch.t(y)),
    "bmm": lambda x, y: torch.bmm(x[None], y.T[None]),
    "mv": lambda x, y: torch.mv(x, y[0]),
    "dot": lambda x, y: torch.dot(x[0], y[0]) + torch.vdot(x[1], y[0]) + torch.inner(x[0], y[2]),
    "outer": lambda x, y: torch.outer(x[0], y[0]),
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "tensordot": lambda x, y: torch.tensordot(x, y, dims=([1], [1])),
    "kron": lambda x, y: torch.kron(x, y),
    "addmm": lambda x, y: torch.addmm(S, x, y.T, beta=0.5, alpha=2),
    "cross": lambda x, y: torch.linalg.cross(x[:, :3], y[:, :3]),
    "trace": lambda x, y: torch.trace(x @ y.T),
    "multi_dot": lambda x, y: torch.linalg.multi_dot([x, y.T, x]),
    "det": lambda x, y: torch.det(x @ y.T + S) + torch.linalg.slogdet(S + y @ y.T)[1],
    "inv": lambda x, y: torch.inverse(S + y @ y.T) + torch.linalg.inv(S + y @ y.T),
    "solve": lambda x, y: torch.linalg.solve(S + y @ y.T, x),
    "solve-right": lambda x, y: torch.linalg.solve(S + y @ y.T, x.T, left=False),
    "cholesky": lambda x, y: torch.linalg.cholesky(S + y @ y.T),
    "eigvalsh": lambda x, y: torch.linalg.eigvalsh(S + y @ y.T),
    "svdvals": lambda x, y: torch.linalg.svdvals(x),
    "pinv": lambda x, y: torch.linalg.pinv(x),
    "qr": lambda x, y: torch.linalg.qr(x.T)[1],
    "matrix_power": lambda x, y: torch.linalg.matrix_power(x @ y.T, 3),
    "vecdot": lambda x, y: torch.linalg.vecdot(x, y),
    "linear": lambda x, y: nn.linear(x, y, S[0]),
    "bilinear": lambda x, y: nn.bilinear(x, y, torch.stack([X.T @ X, Y.T @ Y])),
    "conv1d": lambda x, y: nn.conv1d(x[None], y[None, :, :2], padding=1),
    "conv2d": lambda x, y: nn.conv2d(x[None, None], y[None, None, :2, :2], stride=2, padding=1, dilation=1),
    "attention": lambda x, y: nn.scaled_dot_product_attention(x[None], y[None], x[None] * 2),
    "attention-causal": lambda x, y: nn.scaled_dot_product_attention(x[None], y[None], y[None], is_causal=True),
    "cosine_similarity": lambda x, y: nn.cosine_similarity(x, y),
    "pairwise_distance": lambda x, y: nn.pairwise_distance(x, y),
    "mse_loss": lambda x, y: nn.mse_loss(x, y) + nn.mse_loss(x, y, reduction="sum"),
    "l1_loss": lambda x, y: nn.l1_loss(x, y, reduction="none"),
    "huber_loss": lambda x, y: nn.huber_loss(x, y, delta=0.7) + nn.smooth_l1_loss(x, y, beta=0.5),
    "cross_entropy": lambda x, y: nn.cross_entropy(x, LABELS) + nn.cross_entropy(x, nn.softmax(y, dim=1)),
    "cross_entropy-weight": lambda x, y: nn.cross_entropy(x, LABELS, weight=Y[0], ignore_index=3),
    "cross_entropy-sum": lambda x, y: nn.cross_entropy(x, LABELS, reduction="sum"),
    "nll_loss": lambda x, y: nn.nll_loss(nn.log_softmax(x, dim=1), LABELS, reduction="none"),
    "bce": lambda x, y: nn.binary_cross_entropy(torch.sigmoid(x), y / 2),
    "bce-logits": lambda x, y: nn.binary_cross_entropy_with_logits(x, y / 2, pos_weight=Y[1]),
    "kl_div": lambda x, y: nn.kl_div(nn.log_softmax(x, dim=1), nn.softmax(y, dim=1), reduction="batchmean"),
    "left": lambda x, y: Y + x * (X - y) / (2.5 - Y / (x * x + 1)) + Y**x + Y // 1 + (x > Y) * 1.0,
    "left-matmul": lambda x, y: X @ y.T + X.T.T @ y.T,
    "left-compare": lambda x, y: [x < Y, x == Y, x != Y, x >= Y, M & (x > 0), M | (y > 0)],
    "left-method": lambda x, y: Y.add(x) * Y.mul(y) - X.sub(x),
}  # fmt: skip

BY_PYTORCH = {
    "cummax": lambda x, y: torch.cummax(x, 1),
    "interpolate": lambda x, y: nn.interpolate(x[None, None], scale_factor=2, mode="bicubic"),
    "max_pool2d-ceil": lambda x, y: nn.max_pool2d(x[None], 2, ceil_mode=True),
    "pad-negative": lambda x, y: nn.pad(x, (-1, 2)),
    "scatter_add": lambda x, y: torch.scatter_add(x, 1, I, y[:2, :3]),
    "eigvalsh-upper": lambda x, y: torch.linalg.eigvalsh(x @ y.T, UPLO="U"),
    "matrix_rank": lambda x, y: torch.linalg.matrix_rank(x, atol=1),
    "batch_norm": lambda x, y: nn.batch_norm(x, torch.zeros(4).double(), torch.ones(4).double(), y[0], training=True),
    "unique": lambda x, y: torch.unique(x > 0, dim=0),
}  # fmt: skip
"""Functions, or arguments, of which xpgrad has no rule."""


def flat(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def plain(y):
    return y.array if isinstance(y, Variable) else torch.as_tensor(y)


def of_two(function):
    return function if function.__name__ == "<lambda>" else lambda x, y: function(x)


CALLS = {**{name: of_two(f) for name, f in ONE.items()}, **TWO, **BY_PYTORCH}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_it_gives_for_tensors_and_its_gradients(name):
    function = CALLS[name]
    tensors = [X.clone().requires_grad_(), Y.clone().requires_grad_()]
    vs = [Variable(X.clone()), Variable(Y.clone())]
    wanted, got = flat(function(*tensors)), flat(function(*vs))
    assert len(wanted) == len(got)
    for y, expected in zip(got, wanted, strict=True):
        assert isinstance(y, Variable) == isinstance(expected, torch.Tensor)
        value = torch.as_tensor(expected).detach()
        assert (plain(y).dtype, plain(y).shape) == (value.dtype, value.shape)
        torch.testing.assert_close(plain(y), value, rtol=1e-9, atol=1e-11, equal_nan=True)
    smooth = [i for i, y in enumerate(wanted) if isinstance(y, torch.Tensor) and y.requires_grad]
    smooth = [i for i in smooth if wanted[i].grad_fn is not None and got[i].requires_grad]
    if not smooth:
        return
    generator = torch.Generator().manual_seed(3)
    weights = [torch.randn(wanted[i].shape, generator=generator, dtype=wanted[i].dtype) for i in smooth]
    expected = torch.autograd.grad([wanted[i] for i in smooth], tensors, weights, allow_unused=True)
    given = xpgrad.grad([got[i] for i in smooth], vs, [Variable(w) for w in weights], enable_double_backprop=True)
    for gx, g in zip(given, expected, strict=True):
        if g is None:
            assert gx is None or not gx.array.any()
        elif gx is None:
            assert not g.any()
        else:
            torch.testing.assert_close(gx.array, g, rtol=1e-8, atol=1e-10)


def test_gradients_that_pytorch_has_are_not_lost():
    flat_ones = {"ceil", "floor", "trunc", "fix", "sign", "sgn", "round", "div-floor", "div-trunc", "detach"}
    for name, function in CALLS.items():
        ys = flat(function(X.clone().requires_grad_(), Y.clone().requires_grad_()))
        gs = flat(function(Variable(X.clone()), Variable(Y.clone())))
        for y, g in zip(ys, gs, strict=True):
            if isinstance(y, torch.Tensor) and y.requires_grad and name not in flat_ones:
                assert g.requires_grad, name


T = torch.linspace(0.3, 1.1, 12, dtype=torch.float64).reshape(3, 4)


def total(function):
    """Return `function` with a scalar result: the sum of the squares of all elements of float64."""

    def f(x, y):
        results = [z for z in flat(function(x, y)) if isinstance(z, Variable) and z.dtype is torch.float64]
        return sum((xp.sum(z * z) for z in results), xp.sum(0 * x))

    return f


def derivatives(f):
    """Return value, gradients and second derivatives in a direction of `f`, without a transform."""
    xs = [Variable(X.clone()), Variable(Y.clone())]
    y = f(*xs)
    g = xpgrad.grad([y], xs, enable_double_backprop=True)
    seeds = [(each, Variable(T)) for each in g if each is not None and each.requires_grad]
    gg = xpgrad.grad([each for each, _ in seeds], xs, [t for _, t in seeds]) if seeds else [None, None]
    return y.array, *([torch.zeros_like(X) if each is None else as_array(each) for each in found] for found in (g, gg))


def by_jvp(f, y, g, gg):
    return jvp(f, (X, Y), (T, T), allow_constant=True), (y, sum((T * each).sum() for each in g))


def by_vmap(f, y, g, gg):
    return vmap(f)(torch.stack([X, X]), torch.stack([Y, Y])), torch.stack([y, y])


def by_compile(f, y, g, gg):
    program = xpgrad.compile(f)
    return [as_array(program(X, Y)) for _ in range(3)], [y] * 3


def by_hvp(f, y, g, gg):
    return hvp(f, (X, Y), (T, T), allow_constant=True), gg


def by_jacobian(f, y, g, gg):
    return jacobian(f, (0, 1), allow_constant=True)(X, Y), g


def by_hessian(f, y, g, gg):
    rows = hessian(f, (0, 1), allow_constant=True)(X, Y)
    return [sum(torch.tensordot(T, rows[i][j], 2) for i in (0, 1)) for j in (0, 1)], gg


TRANSFORMS = [by_jvp, by_vmap, by_compile, by_hvp, by_jacobian, by_hessian]
WITHIN = [*itertools.product(TRANSFORMS, sorted({*CALLS} - {*BY_PYTORCH, "nonzero"}))]  # whose shape depends on values


@pytest.mark.parametrize(("transform", "name"), part_of(WITHIN, 1))
def test_functions_within_transforms(name, transform):
    f = total(CALLS[name])
    found, expected = transform(f, *derivatives(f))
    for got, wanted in zip(flat(found), flat(expected), strict=True):
        torch.testing.assert_close(as_array(got), wanted, rtol=1e-8, atol=1e-8, equal_nan=True)


@pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning", "ignore:There is a performance drop")
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", sorted({*BY_PYTORCH} - {"unique", "batch_norm"}))
def test_functions_of_pytorch_within_transforms(name, transform):
    test_functions_within_transforms(name, transform)


W = torch.full((4,), 2.0, dtype=torch.float64)
BETWEEN = "add sub mul truediv matmul pow lt le gt ge eq ne"
ON_ARRAYS = {
    "sin": torch.sin,
    "relu": nn.relu,
    "twice": lambda x: torch.add(W, x, alpha=2),
    "where": lambda x: torch.where(x > 0, W, x),
    "cat": lambda x: torch.cat([W, x]),
    "softmax": lambda x: nn.softmax(x, dim=0),
    **{name: partial(getattr(operator, name), W) for name in BETWEEN.split()},
    "mul()": lambda x: W.mul(x),
    "lerp": lambda x: torch.lerp(W, x, 0.3),
    "a sum with a keyword": lambda x: torch.sum(x, dim=0, keepdim=True),
    "methods": lambda x: x.repeat(2) * x.std() + x.abs().sum(dim=0, keepdim=True) * x.size(0) * x.dim(),
    "a dtype": lambda x: W.to(torch.result_type(x, 2.0)),
}


@pytest.mark.parametrize("name", ON_ARRAYS)
def test_functions_of_arrays_are_recorded(name):
    f = ON_ARRAYS[name]
    compiled = xpgrad.compile(lambda v: f(v.array), strict=True)
    for row in X:
        torch.testing.assert_close(compiled(row), f(row))
    assert compiled.cache_info().hits == 1
    wrapped = lambda v: Variable(f(v.array))  # noqa: E731
    torch.testing.assert_close(as_array(vmap(wrapped)(X)), torch.stack([f(row) for row in X]))
    if f(X[0]).is_floating_point():
        torch.testing.assert_close(as_array(jvp(wrapped, (X[0],), (X[1],))[0]), f(X[0]))


def into(x):
    return KEPT.__setitem__(slice(1, None), x[1:])


def in_place(x):
    global KEPT
    KEPT += x


KEPT = W.clone()


@pytest.mark.parametrize("write", [into, in_place, lambda x: KEPT.copy_(x), lambda x: torch.add(KEPT, x, out=KEPT)])
@pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning")  # those without `out=` run without a program
def test_writes_of_arrays_into_tensors_take_place_at_each_call(write):
    def f(v):
        write(v.array)
        return v * 2

    def kept(call):
        KEPT[...], same = W, KEPT
        results = [as_array(call(Variable(row, requires_grad=False))) for row in X]
        assert KEPT is same
        return [*results, KEPT.clone()]

    torch.testing.assert_close(kept(xpgrad.compile(f)), kept(f))


def test_a_second_derivative():
    x = Variable(X[0].clone())
    (gx,) = xpgrad.grad([torch.sum(torch.sin(x) * torch.exp(x))], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([torch.sum(gx)], [x])
    torch.testing.assert_close(ggx.array, 2 * torch.cos(X[0]) * torch.exp(X[0]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda v: torch.cummax(v, 2), IndexError, "torch.cummax: Dimension out of range"),
        (lambda v: torch.autograd.grad(v, v), TypeError, "torch.autograd.grad is for tensors; use xpgrad.grad"),
        (lambda v: torch.sum(v, 2), IndexError, "torch.sum: "),
        (lambda v: torch.gather(v, 1, torch.tensor([[-1]])), IndexError, "torch.gather: take_along_axis: an index"),
        (lambda v: torch.index_select(v, 1, torch.tensor([-1])), IndexError, "torch.index_select: take: index 4 is"),
        (lambda v: nn.embedding(torch.tensor([-1]), v), IndexError, "torch.embedding: take: index 3 is out of bounds"),
        (lambda v: torch.narrow(v, 2, 0, 1), AxisError, "torch.narrow: expected distinct axes of an array with 2"),
        (lambda v: torch.narrow(v, 1, 3, 2), ShapeError, "torch.narrow: expected a part of the 4 elements of dim 1"),
        (lambda v: torch.topk(v, 5), ValueError, "torch.topk: expected k within the 4 elements of dim -1, got 5"),
        (lambda v: nn.layer_norm(v, (3,)), ShapeError, "layer_norm: expected weight and bias of normalized_shape (3,)"),
        (lambda v: torch.mv(v, v), ShapeError, "torch.mv: expected vec with 1 axes, got shape (3, 4)"),
        (lambda v: torch.gather(v, 0, v), DtypeError, "torch.gather: expected integers as indices, got torch.float64"),
        (lambda v: torch.add(torch.ones(2, dtype=int), v > 0, alpha=0.5), DtypeError, "expected alpha that fits"),
        (lambda v: torch.complex(v, I[0]), DtypeError, "torch.complex: expected the same dtype, got real"),
        (lambda v: torch.sin(v, out=X.clone()), TypeError, "torch.sin: out= and inplace= are not for Variables"),
        (lambda v: nn.relu(v, inplace=True), TypeError, "torch.relu: out= and inplace= are not for Variables"),
        (lambda v: X.clone().add_(v), TypeError, "torch.add_ writes into its tensor, so it is not for Variables"),
        (lambda v: X.clone().__setitem__(0, v[0]), TypeError, "torch.__setitem__ writes into its tensor"),
        (lambda v: nn.instance_norm(v[None], *v.detach()[:2, :3]), TypeError, "has written to the array of a Variable"),
        (lambda v: nn.softmax(v), TypeError, "torch.nn.functional.softmax: expected dim"),
        (lambda v: nn.relu(v, what=1), TypeError, "unexpected keyword argument 'what'"),
    ],
)  # fmt: skip
def test_unsupported_function_is_named(call, error, text):
    with pytest.raises(error) as caught:
        call(Variable(X.clone()))
    assert text in str(caught.value)


@pytest.mark.parametrize("call", [torch.sin, lambda v: torch.stack([v, v]), lambda v: torch.ones(2) * v, nn.relu])
def test_variables_over_another_librarys_arrays_are_refused(call):
    v = Variable(np.array([1.0, 2.0]))
    with pytest.raises(BackendMismatch, match=r"@numpy; (call v\.to_device\('@torch'\)|move one with to_device)"):
        call(v)


def test_tensors_with_a_tape_are_refused():
    v, weight = Variable(X.clone()), torch.nn.Parameter(torch.ones(2, 4, dtype=torch.float64))
    for call in (lambda: nn.linear(v, weight), lambda: nn.hinge_embedding_loss(weight, v),
                 lambda: torch.add(v, X.clone().requires_grad_()),
                 lambda: torch.nn.Linear(4, 2).double()(v)):  # fmt: skip
        with pytest.raises(UnknownArray, match="carries PyTorch's own tape"):
            call()


@pytest.mark.parametrize("convert", [torch.as_tensor, torch.tensor, torch.asarray])
def test_a_variable_in_a_graph_is_not_converted(convert):
    with pytest.raises((TypeError, BufferError), match=r"v\.array"):
        convert(Variable(X.clone()))


def test_dropout_is_of_our_random_numbers():
    v = Variable(torch.ones(1000))
    y = nn.dropout(v, 0.25)
    assert sorted(set(y.array.tolist())) == pytest.approx([0.0, 1 / 0.75])
    assert 600 < (y.array != 0).sum() < 900


def test_whole_numbers_and_scalars_as_in_pytorch():
    i = Variable(torch.tensor([3, 5, -7]))
    assert torch.sin(i).dtype == torch.get_default_dtype()
    assert torch.div(i, 2, rounding_mode="trunc").array.tolist() == [1, 2, -3]
    assert torch.fmod(i, 4).array.tolist() == [3, 1, -3]
    assert torch.fmod(Variable(torch.tensor(1e17, dtype=torch.float64)), 3).array == 1
    assert torch.lt(i, 3.5).array.tolist() == [True, False, True]
    assert (7 - i).array.tolist() == torch.rsub(i, 7).array.tolist() == [4, 2, 14]
    assert torch.where(i > 0, 1.0, 0.0).array.tolist() == [1, 1, 0]


OF_NUMBERS = """sum mean prod amax amin softmax log_softmax logsumexp std var cumsum sort argmax flip any count_nonzero
nansum transpose movedim std_mean aminmax"""


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", OF_NUMBERS.split())
@pytest.mark.filterwarnings("ignore")  # of standard deviations of one element
def test_numbers_have_the_axes_0_and_minus_1(name, dim):
    args = {"transpose": (dim, dim), "movedim": (dim, dim), "flip": ((dim,),)}.get(name, ())

    def f(x):
        return getattr(torch, name)(x, *args, **({} if args else {"dim": dim}))

    expected, found, batch = f(X[0, 1]), f(Variable(X[0, 1])), vmap(f)(X[0])
    for own, y, ys in zip(*(x if isinstance(x, tuple) else (x,) for x in (expected, found, batch)), strict=True):
        assert torch.equal(own.nan_to_num(), as_array(y).nan_to_num())
        assert torch.equal(own.nan_to_num(), as_array(ys)[1].nan_to_num())
    with pytest.raises(IndexError):
        vmap(lambda x: torch.sum(x, 1))(X[0])


def test_every_name_of_the_table_is_one_of_pytorchs():
    places = [torch, torch.autograd, torch.Tensor, nn, torch._C._nn, torch._C._linalg, torch._C._special, torch._C._fft]
    for name in TABLE:
        assert any(hasattr(place, name) for place in places), name
