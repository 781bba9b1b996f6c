"""Losses of many classes by random labels, or by a tree of decisions."""

import heapq
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xpgrad import array_api, functions
from xpgrad.array_api import expand_dims, matmul, take, where
from xpgrad.backend import random
from xpgrad.backend.plugins import plugins
from xpgrad.config import no_backprop_mode
from xpgrad.functions.activation import sigmoid, softplus
from xpgrad.functions.checks import integral, invalid, real_floating
from xpgrad.functions.connection import embed_id
from xpgrad.functions.mixed import unified
from xpgrad.functions.util import forget
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.initializers import Uniform, Zero
from xpgrad.links.parameters import weight
from xpgrad.models import Link
from xpgrad.types import AnyArray, Array, as_list
from xpgrad.utils.walker_alias import WalkerAlias


class _Sampling(Link):
    """Base of links with a vector for each word, and a sampler of words."""

    _sampler_type: ClassVar[type[WalkerAlias]] = WalkerAlias

    def __init__(self, in_size: int, probabilities: list[float], sample_size: int, dtype: Any) -> None:
        super().__init__()
        self.sample_size, self.sampler = sample_size, self._sampler_type(probabilities)
        with self.init_scope():
            self.W = weight(Zero(dtype), (len(probabilities), in_size))

    def device_resident_accept(self, visitor: Any) -> None:
        """Also pass the sampler to the visitor; other objects with a method `sample` may lack this method."""
        super().device_resident_accept(visitor)
        accept = getattr(self.sampler, "device_resident_accept", None)
        if accept is not None:
            accept(visitor)


class NegativeSampling(_Sampling):
    """The loss of distinguishing the label of each example from random labels.

    Parameters
    ----------
    in_size : int
        Length of the vectors.
    counts : sequence of int
        How often each word occurs.
    sample_size : int
        Number of negative samples of each example.
    power : float
        Words are drawn with the probabilities ``counts ** power``.
    dtype : dtype or str, optional

    Attributes
    ----------
    W : Parameter, shape (len(counts), in_size)
        Zeros at first.
    sampler : WalkerAlias

    References
    ----------
    Mikolov, Sutskever, Chen, Corrado, Dean: Distributed representations of words and phrases, 2013.
    """

    def __init__(
        self, in_size: int, counts: Sequence[float], sample_size: int, power: float = 0.75, dtype: Any = None
    ) -> None:
        super().__init__(in_size, [float(c) ** power for c in as_list(counts, "numbers")], sample_size, dtype)

    def forward(self, x: AnyArray, t: AnyArray, reduce: str = "sum", *, return_samples: bool = False) -> Any:
        """Return the loss for vectors `x` and labels `t`, and the samples on request; see `F.negative_sampling`."""
        x, W = unified("negative_sampling", x, self.W)
        options: Any = {"reduce": reduce, "return_samples": return_samples}
        return functions.negative_sampling(x, t, W, self.sampler.sample, self.sample_size, **options)


class BlackOut(_Sampling):
    """Cross entropy of the label among random samples, which should not be predicted instead.

    Parameters
    ----------
    in_size : int
        Length of the vectors.
    counts : sequence of int
        Words are drawn with these probabilities, up to a factor.
    sample_size : int
        Number of negative samples of each example.

    Attributes
    ----------
    W : Parameter, shape (len(counts), in_size)
        Zeros at first.
    sampler : WalkerAlias

    References
    ----------
    Ji, Vishwanathan, Satish, Anderson, Dubey: BlackOut, 2016.
    """

    def __init__(self, in_size: int, counts: Sequence[float], sample_size: int) -> None:
        super().__init__(in_size, [float(c) for c in as_list(counts, "numbers")], sample_size, None)

    def forward(self, x: AnyArray, t: AnyArray) -> Variable:
        """Return the loss for vectors `x` and labels `t`; see `F.black_out`."""
        x, W = unified("black_out", x, self.W)
        return functions.black_out(x, t, W, self.sampler.sample((x.shape[0], self.sample_size)))


LEFT, RIGHT = 1.0, -1.0
BLOCK = 2**20
"""The elements of the rows of nodes that the loss keeps at once; those of a larger batch are gathered again."""
MAX_GAP = 1_000
"""Maximum ratio of the largest word to the number of words: each number from 0 on takes memory."""


class BinaryHierarchicalSoftmax(Link):
    """The loss of finding a word in a binary tree, each of whose inner nodes decides by a sigmoid.

    Parameters
    ----------
    in_size : int
    tree : nested pairs of int
        Such as ``((1, 2), 3)``, or a result of `create_huffman_tree`.
    dtype : dtype or str, optional

    Attributes
    ----------
    W : Parameter, shape (number of inner nodes, in_size)
        Nodes are numbered from the root, left subtrees first.

    References
    ----------
    Morin, Bengio: Hierarchical probabilistic neural network language model, 2005.
    """

    def __init__(self, in_size: int, tree: Any, dtype: Any = None) -> None:
        super().__init__()
        self.tree = tree
        paths, codes, children = _parsed(tree)
        if max(paths) > MAX_GAP * len(paths):
            raise ValueError(
                f"BinaryHierarchicalSoftmax: expected words numbered from 0 on, got {len(paths)} words, one of them "
                "with a much larger number"
            )
        depth, rows, host = max(map(len, paths.values())), range(max(paths) + 1), plugins.host
        steps = [[*paths.get(word, ()), *[0] * (depth - len(paths.get(word, ())))] for word in rows]
        signs = [[*codes.get(word, ()), *[0.0] * (depth - len(codes.get(word, ())))] for word in rows]
        self._paths = host.asarray(steps, host.namespace.int32)
        self._codes = host.asarray(signs, host.namespace.float32)
        self._turns = host.asarray(children, host.namespace.int32)
        with self.init_scope():
            self.W = weight(Uniform(1.0, dtype), (len(children), in_size))

    def device_resident_accept(self, visitor: Any) -> None:
        """Also pass the tree to the visitor that moves the link."""
        super().device_resident_accept(visitor)
        for name in "_paths", "_codes", "_turns":
            self.__dict__[name] = visitor.visit_array(self.__dict__[name])

    @staticmethod
    def create_huffman_tree(word_counts: Mapping[int, float]) -> Any:
        """Return the tree in which frequent words have short paths.

        Parameters
        ----------
        word_counts : mapping of int to float
            How often each word occurs.

        Raises
        ------
        ValueError
            There are no words.
        """
        if not word_counts:
            raise ValueError("create_huffman_tree: expected counts of at least one word, got none")
        heap: list[tuple[float, int, Any]] = [(n, i, word) for i, (word, n) in enumerate(word_counts.items())]
        heapq.heapify(heap)
        while len(heap) > 1:
            (n1, i1, left), (n2, i2, right) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (n1 + n2, min(i1, i2), (left, right)))
        return heap[0][2]

    def forward(self, x: AnyArray, t: AnyArray) -> Variable:
        """Return the sum of ``-log(p)`` of the labels.

        Parameters
        ----------
        x : Variable or array, shape (N, in_size), real floating-point
        t : Variable or array, shape (N,), integer
            Words of the tree.
        """
        spec, labels = real_floating(x, "BinaryHierarchicalSoftmax"), integral(t, "BinaryHierarchicalSoftmax")
        if spec.ndim != 2 or labels.shape != spec.shape[:1]:
            expect, actual = "x of shape (N, in_size) and t of shape (N,)", f"x is {spec!r}, t is {labels!r}"
            raise invalid("BinaryHierarchicalSoftmax", expect, actual)
        hidden, words = as_variable(x), as_variable(t).array
        rows = max(1, BLOCK // (self._paths.shape[1] * spec.shape[1]))
        if spec.shape[0] <= rows:
            return self._loss(hidden, self.W, words)
        starts = range(0, spec.shape[0], rows)
        parts = [forget(self._loss, hidden[i : i + rows], self.W, words[i : i + rows]) for i in starts]
        return array_api.sum(array_api.stack(parts))

    def _loss(self, x: Variable, W: AnyArray, t: Array) -> Variable:
        nodes, codes = take(self._paths, t, axis=0), array_api.astype(take(self._codes, t, axis=0), x.dtype)
        scores = array_api.squeeze(matmul(embed_id(nodes, W), expand_dims(x, axis=2)), axis=2)
        return array_api.sum(where(array_api.equal(codes, 0.0), 0.0, softplus(-scores * codes)))

    def sample(self, x: AnyArray) -> Array:
        """Return a word for each row of `x`, drawn with its probability."""
        with no_backprop_mode():
            x = as_variable(x)
            node = array_api.zeros_like(x[:, 0], dtype=self._turns.dtype)
            for _ in range(self._paths.shape[1]):
                inner = array_api.maximum(node, 0)
                score = array_api.sum(take(self.W, inner.array, axis=0) * x, axis=1)
                left = array_api.less(random.uniform_like(score.node.spec), sigmoid(score))
                pair = take(self._turns, inner.array, axis=0)
                node = where(array_api.less(node, 0), node, where(left, pair[:, 0], pair[:, 1]))
        return (-1 - node).array


def _parsed(tree: Any) -> tuple[dict[int, list[int]], dict[int, list[float]], list[list[int]]]:
    """Return the inner nodes on the path to each word, its turns there, and the children of inner nodes.

    A child that is the word w is given as ``-1 - w``.
    """
    paths, codes = dict[int, list[int]](), dict[int, list[float]]()
    children: list[list[int]] = []
    waiting: list[tuple[Any, list[int], list[float]]] = [(tree, [], [])]
    while waiting:
        node, path, code = waiting.pop()
        if isinstance(node, tuple):
            if len(node) != 2:
                raise ValueError(f"BinaryHierarchicalSoftmax: an inner node must have two children, got {len(node)}")
            number = len(children)
            children.append([0, 0])
            waiting += [(child, [*path, number], [*code, turn]) for child, turn in ((node[1], RIGHT), (node[0], LEFT))]
        else:
            number, paths[node], codes[node] = -1 - node, path, code
        if path:
            children[path[-1]][0 if code[-1] == LEFT else 1] = number
    if not children:
        raise ValueError("BinaryHierarchicalSoftmax: expected a tree of at least two words")
    return paths, codes, children
