"""Programs that read `y.creator` and walk the graph from an output to its leaves, as Chainer's programs do."""

import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
from xpgrad import FunctionNode, Variable, VariableNode

ARRAY = np.asarray([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]])
SQUARE = np.asarray([[2.0, 1.0], [1.0, 3.0]])

FUNCTIONS = {
    "scalar": lambda x: 2 * x + 1,
    "constant": lambda x: ARRAY + x * ARRAY,
    "linear": lambda x: F.linear(ARRAY, x),
    "linear with bias": lambda x: F.linear(x, ARRAY, np.ones(2)),
    "losses": lambda x: F.softmax_cross_entropy(F.linear(x, ARRAY), np.asarray([0, 1])),
    "where": lambda x: F.where(ARRAY > 1, ARRAY, x),
    "views": lambda x: F.concat(F.split_axis(F.reshape(x, (3, 2)), 2, 1)),
    "reductions": lambda x: F.mean(F.max(x, axis=1)),
    "normalization": lambda x: F.batch_normalization(x, np.ones(3), np.zeros(3)),
    "convolution": lambda x: F.convolution_2d(np.ones((1, 1, 3, 3)), x[None, None]),
    "several outputs": lambda x: F.lstm(x, F.concat([x] * 4))[1],
    "decomposition": lambda x: A.linalg.svd(x)[1],
    "forget": lambda x: F.forget(F.exp, x),
    "sparse": lambda x: F.sparse_matmul(xpgrad.utils.to_coo(SQUARE), x),
    "sampling": lambda x: F.negative_sampling(ARRAY, np.asarray([0, 1]), x, lambda s: np.zeros(s, int), 2),
    "noise": lambda x: F.gaussian(F.dropout(x), x),
    "einsum": lambda x: F.einsum("ij,kj", x, ARRAY),
    "scatter": lambda x: F.scatter_add(x, (0,), x[1]),
}


def leaves_of(y):
    """Return the Variables without a creator from which `y` was computed."""
    found, waiting, seen = [], [y.node], set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        creator = node.creator_node
        if creator is None:
            found.append(node.get_variable())
            continue
        assert isinstance(creator, FunctionNode)
        assert node.creator is creator
        assert isinstance(creator.label, str)
        assert node.rank == creator.rank + 1
        assert isinstance(creator.inputs, tuple)
        assert all(isinstance(each, VariableNode) and each.rank <= creator.rank for each in creator.inputs)
        waiting += creator.inputs
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_walk_over_inputs_finds_the_leaf(name):
    x = Variable(ARRAY)
    found = leaves_of(FUNCTIONS[name](x))
    assert any(each is x for each in found)
    assert [each for each in found if each.requires_grad] == [x]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_retained_inputs_are_variables_of_the_graph(name):
    x = Variable(ARRAY)
    y = FUNCTIONS[name](x)
    nodes = list(y.creator.inputs)
    for each in y.creator.get_retained_inputs():
        assert isinstance(each, Variable)
        assert each.node in nodes or not each.requires_grad
    for each in y.creator.get_retained_outputs():
        assert each.creator_node is y.creator_node
        assert y.creator.outputs is not None or (each.array == y.array).all()


def test_inputs_keep_the_order_of_the_call():
    W = Variable(np.ones((2, 3)))
    first, second = F.linear(ARRAY, W).creator.inputs
    assert second is W.node
    assert first.get_variable().array is ARRAY
    assert not first.requires_grad
    assert (3 * W).creator.inputs == (W - 1).creator.inputs == (W.node,)


def test_gradients_reach_the_leaf_through_retained_variables():
    x = Variable(ARRAY)
    y = F.exp(x)
    (output,) = y.creator.get_retained_outputs()
    F.sum(output * output).backward()
    np.testing.assert_allclose(x.grad, 2 * np.exp(2 * ARRAY))
    (retained,) = (x**3).creator.get_retained_inputs()
    assert retained is x


def test_released_and_unchained_functions_retain_no_arrays():
    x = Variable(ARRAY)
    y = x * x
    creator = y.creator
    y.unchain_backward()
    assert creator.inputs is None
    assert creator.get_retained_inputs() == creator.get_retained_outputs() == ()
