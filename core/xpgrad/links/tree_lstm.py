"""Links of long short-term memory over trees."""

from typing import Any

from xpgrad.array_api import concat, tanh
from xpgrad.functions.activation import sigmoid
from xpgrad.functions.rnn import tree_lstm
from xpgrad.graph.variable import Variable
from xpgrad.links.connection import Linear
from xpgrad.links.parameters import zeros_beside
from xpgrad.models import Chain
from xpgrad.types import AnyArray


class _Tree(Chain):
    """Base of units that take the cells and outputs of children, and an input."""

    in_size: int
    state_size: int

    def _inputs(self, inputs: Any, count: int) -> tuple[list[Any], list[Any], Any]:
        """Return cells, outputs, and the input or zeros in its place."""
        if len(inputs) != 2 * count + 1:
            name = type(self).__name__
            raise TypeError(f"{name}: expected {count} cells, {count} outputs and x, got {len(inputs)} arguments")
        *children, x = inputs
        if x is None:
            known = next((v for v in children if v is not None), None)
            if known is None:
                raise ValueError(f"{type(self).__name__}: expected an input, or a state of a child; all are None")
            x = zeros_beside(known, (known.shape[0], self.in_size))
        return children[:count], children[count:], x

    def _filled(self, states: list[Any], x: Any) -> list[Any]:
        """Return states with zeros in place of None."""
        return [zeros_beside(x, (x.shape[0], self.state_size)) if v is None else v for v in states]


class ChildSumTreeLSTM(_Tree):
    """One node of a tree with any number of children, whose order does not matter.

    Parameters
    ----------
    in_size, out_size : int

    Attributes
    ----------
    W_x, W_h_aio, W_h_f : Linear
        Maps from the input; from the sum of the children's outputs to input and gates; from outputs to forget gates.

    References
    ----------
    Tai, Socher, Manning: Improved semantic representations from tree-structured long short-term memory networks, 2015.
    """

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__()
        self.in_size, self.state_size = in_size, out_size
        with self.init_scope():
            self.W_x = Linear(in_size, 4 * out_size)
            self.W_h_aio = Linear(out_size, 3 * out_size, nobias=True)
            self.W_h_f = Linear(out_size, out_size, nobias=True)

    def forward(self, *cshsx: AnyArray | None) -> tuple[Variable, Variable]:
        """Return cell and output for ``(c1, ..., cK, h1, ..., hK, x)``, where None means zeros."""
        cs, hs, x = self._inputs(cshsx, len(cshsx) // 2)
        n, sources = self.state_size, self.W_x(x)
        aio, f = sources[:, : 3 * n], sources[:, 3 * n :]
        if not cs:
            a, i, o = (aio[:, k * n : (k + 1) * n] for k in range(3))
            c = tanh(a) * sigmoid(i)
            return c, tanh(c) * sigmoid(o)
        cs, hs = self._filled(cs, f), self._filled(hs, f)
        forget = [f + self.W_h_f(h) for h in hs]
        return tree_lstm(*cs, concat([aio + self.W_h_aio(sum(hs[1:], hs[0])), *forget], axis=1))


class NaryTreeLSTM(_Tree):
    """One node of a tree with a fixed number of ordered children.

    Parameters
    ----------
    in_size, out_size : int
    n_ary : int
        Number of children.

    Attributes
    ----------
    W_x, W_h1, W_h2, ... : Linear
        From the input, and from the output of each child, to input and gates.

    References
    ----------
    Bowman and others: A fast unified model for parsing and sentence understanding, 2016.
    """

    def __init__(self, in_size: int, out_size: int, n_ary: int = 2) -> None:
        if n_ary < 1:
            raise ValueError(f"NaryTreeLSTM: n_ary must be at least 1, got {n_ary}")
        super().__init__()
        self.in_size, self.state_size, self.n_ary = in_size, out_size, n_ary
        gates = (3 + n_ary) * out_size
        with self.init_scope():
            self.W_x = Linear(in_size, gates)
            for k in range(1, n_ary + 1):
                setattr(self, f"W_h{k}", Linear(out_size, gates, nobias=True))

    def forward(self, *cshsx: AnyArray | None) -> tuple[Variable, Variable]:
        """Return cell and output for ``(c1, ..., cK, h1, ..., hK, x)``, where None means zeros."""
        cs, hs, x = self._inputs(cshsx, self.n_ary)
        sources = self.W_x(x)
        for k, h in enumerate(hs, 1):
            if h is not None:
                sources = sources + getattr(self, f"W_h{k}")(h)
        return tree_lstm(*self._filled(cs, sources), sources)
