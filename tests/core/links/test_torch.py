"""Links against the modules of PyTorch, with the same weights: outputs and gradients."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


def real(*shape):
    return RNG.standard_normal(shape).astype("f")


def put(target, *sources):
    """Set a torch parameter to the concatenation of arrays."""
    with torch.no_grad():
        target.copy_(torch.from_numpy(np.concatenate([np.asarray(s.array) for s in sources])))


def check(link, module, pairs, inputs, call=None, **options):
    """Compare outputs, gradients of inputs, and gradients of parameters.

    `pairs` lists the Parameters that, concatenated, correspond to each torch parameter.
    """
    for target, sources in pairs:
        put(target, *sources)
    xs = [xpgrad.Variable(x) if x.dtype.kind == "f" else x for x in inputs]
    ts = [torch.from_numpy(x).requires_grad_(x.dtype.kind == "f") for x in inputs]
    y, t = link(*xs, **options), (call or module)(*ts)
    np.testing.assert_allclose(y.array, t.detach().numpy(), rtol=1e-4, atol=1e-5)
    g = real(*y.shape)
    link.cleargrads()
    F.sum(y * g).backward()
    (t * torch.from_numpy(g)).sum().backward()
    for x, other in zip(xs, ts, strict=True):
        if isinstance(x, xpgrad.Variable):
            np.testing.assert_allclose(x.grad, other.grad.numpy(), rtol=1e-3, atol=1e-5)
    for target, sources in pairs:
        found = np.concatenate([np.asarray(s.grad) for s in sources])
        np.testing.assert_allclose(found, target.grad.numpy(), rtol=1e-3, atol=1e-5)


def own(link, module):
    return [(module.weight, [link.W])] + ([] if link.b is None else [(module.bias, [link.b])])


@pytest.mark.parametrize("nobias", [False, True])
def test_linear(nobias):
    link, module = L.Linear(3, 4, nobias, initial_bias=real(4)), torch.nn.Linear(3, 4, not nobias)
    check(link, module, own(link, module), [real(5, 3)])


@pytest.mark.parametrize(("name", "ndim"), [("Convolution1D", 1), ("Convolution2D", 2), ("Convolution3D", 3)])
@pytest.mark.parametrize(("groups", "dilate", "stride"), [(1, 1, 2), (2, 2, 1)])
def test_convolution(name, ndim, groups, dilate, stride):
    options = {"groups": groups, "dilate": dilate}
    link = getattr(L, name)(4, 6, 3, stride, 1, initial_bias=real(6), **options)
    module = getattr(torch.nn, f"Conv{ndim}d")(4, 6, 3, stride, 1, dilate, groups)
    check(link, module, own(link, module), [real(2, 4, *(7, 6, 6)[:ndim])])


@pytest.mark.parametrize(("name", "ndim"), [("Deconvolution1D", 1), ("Deconvolution2D", 2), ("Deconvolution3D", 3)])
@pytest.mark.parametrize(("groups", "dilate", "stride"), [(1, 1, 2), (2, 2, 1)])
def test_deconvolution(name, ndim, groups, dilate, stride):
    link = getattr(L, name)(4, 6, 3, stride, 1, initial_bias=real(6), groups=groups, dilate=dilate)
    module = getattr(torch.nn, f"ConvTranspose{ndim}d")(4, 6, 3, stride, 1, 0, groups, True, dilate)
    check(link, module, own(link, module), [real(2, 4, *(5, 4, 3)[:ndim])])


def test_embedding():
    link, module = L.EmbedID(5, 3), torch.nn.Embedding(5, 3)
    check(link, module, [(module.weight, [link.W])], [np.array([[0, 4], [4, 1]])])


def test_batch_normalization_and_its_averages():
    link, module = L.BatchNormalization(3, eps=1e-3), torch.nn.BatchNorm2d(3, 1e-3, 0.1)
    link.gamma.array, link.beta.array = real(3), real(3)
    pairs = [(module.weight, [link.gamma]), (module.bias, [link.beta])]
    for _ in range(3):
        module.zero_grad()
        check(link, module, pairs, [real(4, 3, 2, 5) * 2 + 1])
    np.testing.assert_allclose(link.avg_mean, module.running_mean.numpy(), rtol=1e-4)
    np.testing.assert_allclose(link.avg_var, module.running_var.numpy(), rtol=1e-4)
    module.eval()
    module.zero_grad()
    with xpgrad.using_config("train", False):
        check(link, module, pairs, [real(4, 3, 2, 5)])


@pytest.mark.parametrize(
    ("link", "module", "shape"),
    [
        (L.LayerNormalization(4, 1e-3), torch.nn.LayerNorm(4, 1e-3), (3, 4)),
        (L.GroupNormalization(2, 4, 1e-3), torch.nn.GroupNorm(2, 4, 1e-3), (3, 4, 5)),
    ],
)
def test_normalization_of_each_example(link, module, shape):
    link.gamma.array, link.beta.array = real(4), real(4)
    check(link, module, [(module.weight, [link.gamma]), (module.bias, [link.beta])], [real(*shape)])


def test_lstm_whose_gates_are_interleaved():
    link, cell = L.StatelessLSTM(3, 2, bias_init=real(2)[:, None]), torch.nn.LSTMCell(3, 2)
    rows = np.array([unit * 4 + gate for gate in (1, 2, 0, 3) for unit in range(2)])  # torch: i, f, a, o
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(link.upward.W.array[rows]))
        cell.weight_hh.copy_(torch.from_numpy(link.lateral.W.array[rows]))
        cell.bias_ih.copy_(torch.from_numpy(link.upward.b.array[rows]))
        cell.bias_hh.zero_()
    x, c, h = real(4, 3), real(4, 2), real(4, 2)
    new_c, new_h = link(c, h, x)
    found_h, found_c = cell(torch.from_numpy(x), (torch.from_numpy(h), torch.from_numpy(c)))
    np.testing.assert_allclose(new_c.array, found_c.detach().numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(new_h.array, found_h.detach().numpy(), rtol=1e-4, atol=1e-6)
    link.cleargrads()
    F.sum(new_h * new_h + new_c).backward()
    (found_h * found_h + found_c).sum().backward()
    np.testing.assert_allclose(link.upward.W.grad[rows], cell.weight_ih.grad.numpy(), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(link.lateral.W.grad[rows], cell.weight_hh.grad.numpy(), rtol=1e-3, atol=1e-5)


def n_step_pairs(link, module, gates):
    """Return the pairs of `check` for a stack of layers."""
    pairs = []
    for part, child in enumerate(link):
        layer, suffix = divmod(part, link.direction)
        end = f"l{layer}" + ("_reverse" if suffix else "")
        for which, kind, first in ("ih", "w", 0), ("hh", "w", gates), ("ih", "b", 0), ("hh", "b", gates):
            name = f"{'weight' if kind == 'w' else 'bias'}_{which}_{end}"
            pairs.append((getattr(module, name), [getattr(child, f"{kind}{k}") for k in range(first, first + gates)]))
    return pairs


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("name", "gates"), [("LSTM", 4), ("GRU", 3), ("RNNTanh", 1), ("RNNReLU", 1)])
def test_layers_over_sequences_in_any_order(name, gates, both):
    link = getattr(L, f"NStep{'Bi' if both else ''}{name}")(2, 3, 2, 0.0, initial_bias=xpgrad.initializers.Normal(1.0))
    options = {"nonlinearity": name[3:].lower()} if gates == 1 else {}
    module = getattr(torch.nn, name[:3] if gates == 1 else name)(3, 2, 2, bidirectional=both, **options)
    for target, sources in n_step_pairs(link, module, gates):
        put(target, *sources)
    lengths = [2, 4, 1, 3]
    xs = [real(n, 3) for n in lengths]
    *states, ys = link(*[None] * (2 if name == "LSTM" else 1), xs)
    packed = torch.nn.utils.rnn.pack_sequence([torch.from_numpy(x) for x in xs], enforce_sorted=False)
    outputs, last = module(packed)
    padded = torch.nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)[0].detach().numpy()
    for y, expected, n in zip(ys, padded, lengths, strict=True):
        np.testing.assert_allclose(y.array, expected[:n], rtol=1e-3, atol=1e-5)
    for state, expected in zip(states, last if name == "LSTM" else [last], strict=True):
        np.testing.assert_allclose(state.array, expected.detach().numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_several_heads(masked):
    link = L.MultiHeadAttention(2, 4, 4, 4, initial_bias=xpgrad.initializers.Normal(1.0))
    module = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    mask = np.tril(np.ones((3, 3), bool))
    pairs = [
        (module.in_proj_weight, [link.query.W, link.key.W, link.value.W]),
        (module.in_proj_bias, [link.query.b, link.key.b, link.value.b]),
        (module.out_proj.weight, [link.out.W]),
        (module.out_proj.bias, [link.out.b]),
    ]

    def call(q, k, v):
        return module(q, k, v, attn_mask=torch.from_numpy(~mask) if masked else None)[0]

    options = {"mask": mask} if masked else {}
    check(link, module, pairs, [real(2, 3, 4), real(2, 3, 4), real(2, 3, 4)], call, **options)


def test_spectral_normalization():
    link, module = L.Linear(3, 4, nobias=True), torch.nn.Linear(3, 4, False)
    put(module.weight, link.W)
    link.add_hook(xpgrad.link_hooks.SpectralNormalization(n_power_iteration=30))
    module = torch.nn.utils.parametrizations.spectral_norm(module, n_power_iterations=30)
    x = real(5, 3)
    np.testing.assert_allclose(link(x).array, module(torch.from_numpy(x)).detach().numpy(), rtol=1e-3, atol=1e-5)
