"""Cases of attention, whose references compute one query after another."""

from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input, Inputs

Host = Any  # a NumPy array


def _attention(q: Host, k: Host, v: Host, mask: Host = True, bias: Host = 0.0, scale: Any = None) -> Host:
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (q, k, v))
    weights = (*lead, q.shape[-2], k.shape[-2])
    mask, bias = np.broadcast_to(mask, weights), np.broadcast_to(bias, weights)
    y = np.zeros((*lead, q.shape[-2], v.shape[-1]))
    for at in np.ndindex(y.shape[:-1]):
        keys = np.flatnonzero(mask[at])
        e = np.exp(scale * (k[at[:-1]][keys] * q[at]).sum(axis=1) + bias[at][keys])
        y[at] = (v[at[:-1]][keys] * e[:, None]).sum(axis=0) / (e.sum() if keys.size else 1)
    return y


def _case(name: str, call: Any, reference: Any, inputs: Inputs, **rest: Any) -> Case:
    name = f"F.scaled_dot_product_attention{name}"
    return Case(name, call, reference, inputs, area="F", **rest)


HEADS = ((2, 3, 4), (2, 5, 4), (2, 5, 3))
ALLOWED = Input(kind="bool", values=[[True, False, True, True, False], [False] * 5, [True] * 5])
EACH = Input((2, 1, 5), kind="bool", values=[[[True, False, True, True, False]], [[False, True, True, False, True]]])

CASES = (
    _case("", lambda F, *xs: F.scaled_dot_product_attention(*xs), _attention, HEADS, keeps=("x0", "x1", "x2", "y0")),
    _case("-matrices", lambda F, *xs: F.scaled_dot_product_attention(*xs), _attention,
          ((3, 4), (5, 4), (5, 2))),
    _case("-axes", lambda F, *xs: F.scaled_dot_product_attention(*xs), _attention,
          ((2, 2, 3, 4), (2, 2, 2, 4), (2, 2, 2, 1))),
    _case("-scale", lambda F, *xs: F.scaled_dot_product_attention(*xs, scale=2.0),
          lambda q, k, v: _attention(q, k, v, scale=2.0), HEADS),
    _case("-variable_scale", lambda F, q, k, v, s: F.scaled_dot_product_attention(q, k, v, scale=s),
          lambda q, k, v, s: _attention(q, k, v, scale=s), (*HEADS, ())),
    _case("-mask", lambda F, *xs: F.scaled_dot_product_attention(*xs), _attention, (*HEADS, ALLOWED)),
    _case("-masks", lambda F, *xs: F.scaled_dot_product_attention(*xs), _attention, (*HEADS, EACH)),
    _case("-bias", lambda F, *xs: F.scaled_dot_product_attention(*xs),
          lambda q, k, v, bias: _attention(q, k, v, bias=bias), (*HEADS, (3, 5))),
    _case("-broadcast", lambda F, *xs: F.scaled_dot_product_attention(*xs), _attention,
          ((2, 3, 4), (1, 5, 4), (5, 3), ALLOWED)),
)  # fmt: skip
