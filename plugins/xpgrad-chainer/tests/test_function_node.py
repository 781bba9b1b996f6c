"""`FunctionNode` as programs and tests of Chainer use it."""

from unittest import mock

import numpy as np
import pytest

X = np.ones((2, 3), np.float32)


def test_object_of_the_class_itself_has_methods_as_attributes() -> None:
    import chainer
    from chainer.utils import type_check

    f, x = chainer.FunctionNode(), chainer.Variable(X)
    f.forward_cpu = mock.MagicMock(return_value=(X * 2,))
    f.backward = mock.MagicMock(return_value=(chainer.Variable(X * 3),))
    f.check_type_forward = mock.MagicMock()
    x._node._rank = 3
    (y,) = f.apply((x,))
    assert (y.creator_node, y.rank, f.label) == (f, 4, "FunctionNode")
    ((types,), _) = f.check_type_forward.call_args
    assert isinstance(types, type_check.LightTypeInfoTuple)
    assert (types[0].shape, types[0].dtype) == (X.shape, X.dtype)
    y.grad = X
    y.backward()
    np.testing.assert_array_equal(x.grad, X * 3)


def test_error_of_a_type_check_quotes_the_expression() -> None:
    import chainer
    from chainer.utils import type_check

    class Checked(chainer.FunctionNode):
        def check_type_forward(self, in_types):
            type_check.expect(in_types.size() == 1)
            (x_type,) = in_types
            type_check.expect(x_type.dtype == np.float32, x_type.shape[0] + 1 >= 4)

        def forward(self, inputs):
            return inputs

    class Old(chainer.Function):
        check_type_forward = Checked.check_type_forward
        forward = Checked.forward

    for xs, text in (
        ((X, X), r"Checked \(Forward\)\n\nExpect: in_types.size == 1\nActual: 2 != 1"),
        ((X.astype("d"),), r"Expect: in_types\[0\].dtype == <class 'numpy.float32'>\nActual: float64 != "),
        ((X,), r"Expect: in_types\[0\].shape\[0\] \+ 1 >= 4\nActual: 3 < 4"),
    ):
        with pytest.raises(type_check.InvalidType, match=text):
            Checked().apply(xs)
        with pytest.raises(type_check.InvalidType, match=text.replace("Checked", "Old")):
            Old()(*xs)


def test_nodes_of_functions_are_instances() -> None:
    import chainer
    import chainer.functions as F
    from chainer.functions.activation.relu import ReLU

    assert isinstance(F.relu(chainer.Variable(X)).creator, chainer.FunctionNode)
    assert issubclass(ReLU, chainer.FunctionNode)
    assert not isinstance(F.relu(chainer.Variable(X)), chainer.FunctionNode)


def test_error_of_a_type_check_has_names_of_arguments() -> None:
    import chainer
    from chainer.utils import type_check

    class Named(chainer.FunctionNode):
        def check_type_forward(self, in_types):
            type_check._argname(in_types, ("x",))
            type_check.expect(in_types[0].ndim == 3)

        def forward(self, inputs):
            return inputs

    with pytest.raises(type_check.InvalidType) as error:
        Named().apply((X,))
    assert str(error.value) == (
        "Invalid operation is performed in: Named (Forward)\n\nExpect: x.ndim == 3\nActual: 2 != 3"
    )
    with pytest.raises(type_check.InvalidType, match=r"1 argument\(s\): x\nActual: 2 argument\(s\)"):
        Named().apply((X, X))


def test_warning_of_experimental_interfaces_is_switched_off(recwarn) -> None:
    import chainer
    from chainer import utils

    assert not chainer.disable_experimental_feature_warning
    chainer.disable_experimental_feature_warning = True
    utils.experimental("f")
    assert len(recwarn) == 0
    chainer.disable_experimental_feature_warning = False
    with pytest.warns(FutureWarning, match="f is experimental"):
        utils.experimental("f")
