"""Cases of `xpgrad.functions`: recurrent units and networks, step by step in the references."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input, of_functions

Host = Any  # a NumPy array
_f = partial(of_functions, order=2)


def _s(x: Host) -> Host:
    return 0.5 * (1 + np.tanh(x / 2))


def _lstm(c: Host, x: Host) -> tuple[Host, Host]:
    a, i, f, o = (x[:, k::4] for k in range(4))
    n = len(x)
    y = np.tanh(a) * _s(i) + c[:n] * _s(f)
    return np.concatenate([y, c[n:]]), np.tanh(y) * _s(o)


def _slstm(c1: Host, c2: Host, x1: Host, x2: Host) -> tuple[Host, Host]:
    pairs = ((c1, x1), (c2, x2))
    y = sum(np.tanh(x[:, 0::4]) * _s(x[:, 1::4]) + c * _s(x[:, 2::4]) for c, x in pairs)
    return y, np.tanh(y) * _s(x1[:, 3::4] + x2[:, 3::4])


def _tree(c1: Host, c2: Host, x: Host) -> tuple[Host, Host]:
    a, i, o, f1, f2 = np.split(x, 5, axis=1)
    y = np.tanh(a) * _s(i) + c1 * _s(f1) + c2 * _s(f2)
    return y, np.tanh(y) * _s(o)


UNITS = (
    _f("lstm", {}, _lstm, ((2, 3), (2, 12))),
    _f("lstm-fewer", {}, _lstm, ((3, 2), (2, 8))),
    _f("lstm-maps", {}, _lstm, ((2, 1, 2), (2, 4, 2))),
    _f("slstm", {}, _slstm, ((2, 2), (2, 2), (2, 8), (2, 8))),
    _f("tree_lstm", {}, _tree, ((2, 2), (2, 2), (2, 10))),
)

L, B, N, I = 2, 3, 2, 2  # layers, sequences, features of states and of inputs
BATCHES = (3, 2, 2)
XS = tuple(Input((batch, I), low=-1.0, high=1.0) for batch in BATCHES)


def _weights(flat: Any, parts: int, directions: int, reshape: Any) -> tuple[list[Any], list[Any]]:
    """Cut one vector into the matrices and biases of all layers, so that a case has few inputs."""
    at, ws, bs = 0, [], []
    for layer in range(L):
        for _ in range(directions):
            shapes = [(N, directions * N if layer else I)] * parts + [(N, N)] * parts
            sizes = [n * m for n, m in shapes]
            starts = [at + sum(sizes[:k]) for k in range(2 * parts)]
            cuts = zip(starts, sizes, shapes, strict=True)
            ws.append([reshape(flat[start : start + size], shape) for start, size, shape in cuts])
            at += sum(sizes)
            bs.append([flat[at + N * k : at + N * (k + 1)] for k in range(2 * parts)])
            at += 2 * parts * N
    return ws, bs


def _count(parts: int, directions: int) -> int:
    layers = [(I, N), (directions * N, N)]
    return directions * sum(parts * (N * features + N * n + 2 * N) for features, n in layers)


def _steps(kind: str, w: list[Host], b: list[Host], x: Host, h: Host, c: Host) -> tuple[Host, Host]:
    parts = len(w) // 2
    u = [x @ w[k].T + b[k] for k in range(parts)]
    v = [h @ w[k + parts].T + b[k + parts] for k in range(parts)]
    if kind == "lstm":
        i, f, a, o = (p + q for p, q in zip(u, v, strict=True))
        c = _s(f) * c + _s(i) * np.tanh(a)
        return _s(o) * np.tanh(c), c
    if kind == "gru":
        r, z = _s(u[0] + v[0]), _s(u[1] + v[1])
        return (1 - z) * np.tanh(u[2] + r * v[2]) + z * h, c
    y = u[0] + v[0]
    return (np.tanh(y) if kind == "tanh" else np.maximum(y, 0)), c


def _network(kind: str, parts: int, directions: int) -> Any:
    """Return a reference that computes each sequence separately."""

    def reference(*arrays: Host) -> tuple[Host, ...]:
        states, flat, xs = arrays[: -1 - len(XS)], arrays[-1 - len(XS)], arrays[-len(XS) :]
        ws, bs = _weights(flat, parts, directions, lambda a, shape: a.reshape(shape))
        hy, cy = states[0].copy(), states[-1].copy()
        ys = [np.zeros((batch, directions * N)) for batch in BATCHES]
        for n in range(B):
            line = [x[n] for x in xs if len(x) > n]
            for layer in range(L):
                made = []
                for d in range(directions):
                    k = directions * layer + d
                    h, c, out = states[0][k, n], states[-1][k, n], []
                    for x in reversed(line) if d else line:
                        h, c = _steps(kind, ws[k], bs[k], x, h, c)
                        out.append(h)
                    hy[k, n], cy[k, n] = h, c
                    made.append(out[::-1] if d else out)
                line = [np.concatenate(each) for each in zip(*made, strict=True)]
            for t, y in enumerate(line):
                ys[t][n] = y
        return (hy, cy, *ys) if kind == "lstm" else (hy, *ys)

    return reference


def _n_step(name: str, kind: str, parts: int, directions: int, **options: str) -> Case:
    count = 2 if kind == "lstm" else 1

    def call(F: Any, *arrays: Any) -> tuple[Any, ...]:
        states, flat, xs = arrays[:count], arrays[count], arrays[count + 1 :]
        ws, bs = _weights(F.identity(flat), parts, directions, F.reshape)
        *ends, ys = getattr(F, name)(L, 0.5, *states, ws, bs, list(xs), **options)
        return (*ends, *ys)

    def untrained(F: Any, *arrays: Any) -> tuple[Any, ...]:
        import xpgrad

        with xpgrad.using_config("train", False):  # dropout is off
            return call(F, *arrays)

    state = Input((L * directions, B, N), low=-1.0, high=1.0)
    flat = Input((_count(parts, directions),), low=-1.0, high=1.0)
    suffix = "".join(f"-{value}" for value in options.values())
    reference = _network(options.get("activation", kind), parts, directions)
    return _f(f"{name}{suffix}", untrained, reference, ((state,) * count + (flat, *XS)))


NETWORKS = (
    _n_step("n_step_lstm", "lstm", 4, 1),
    _n_step("n_step_bilstm", "lstm", 4, 2),
    _n_step("n_step_gru", "gru", 3, 1),
    _n_step("n_step_bigru", "gru", 3, 2),
    _n_step("n_step_rnn", "tanh", 1, 1),
    _n_step("n_step_birnn", "tanh", 1, 2),
    _n_step("n_step_rnn", "rnn", 1, 1, activation="relu"),
)

CASES = UNITS + NETWORKS
