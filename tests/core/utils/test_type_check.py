"""`type_check`: a function's declaration of its inputs, and the error for wrong inputs."""

import pickle

import numpy as np
import pytest
from tests.building import variable

import xpgrad
from xpgrad import FunctionNode
from xpgrad.utils import type_check
from xpgrad.utils.type_check import InvalidType, TypeInfo, TypeInfoTuple, expect


class Matmul(FunctionNode):
    def check_type_forward(self, in_types):
        type_check._argname(in_types, ("a", "b"))
        a, b = in_types
        expect(a.ndim == 2, b.ndim == 2)
        expect(a.shape[1] == b.shape[0])

    def forward(self, inputs):
        return (inputs[0] @ inputs[1],)


def matrix(device, *shape):
    return variable(device, np.ones(shape))


def test_good_inputs_pass(device):
    (y,) = Matmul().apply((matrix(device, 2, 3), matrix(device, 3, 4)))
    assert y.shape == (2, 4)


def test_the_message_names_function_condition_and_inputs(device):
    with pytest.raises(InvalidType) as caught:
        Matmul().apply((matrix(device, 2, 3), matrix(device, 4, 5)))
    text = str(caught.value)
    assert text.startswith("Invalid operation is performed in: Matmul (Forward)\n\n")
    a, b = (TypeInfo(shape, matrix(device, 1).dtype) for shape in ((2, 3), (4, 5)))
    assert f"Expect: a.shape[1] == b.shape[0]\nActual: a is {a}, b is {b}; inputs: " in text
    assert "(2, 3)" in text
    assert "(4, 5)" in text
    with pytest.raises(InvalidType, match=r"Expect: b\.ndim == 2\nActual: b is .*\(3,\); inputs: "):
        Matmul().apply((matrix(device, 2, 3), matrix(device, 3)))
    with pytest.raises(InvalidType, match=r"Expect: 2 argument\(s\): a, b\nActual: 1 argument\(s\)"):
        Matmul().apply((matrix(device, 2, 3),))


def test_checks_come_before_forward(device):
    class Never(FunctionNode):
        def check_type_forward(self, in_types):
            expect(False)

        def forward(self, inputs):
            raise AssertionError

    with pytest.raises(InvalidType):
        Never().apply((matrix(device, 1),))


def test_checks_can_be_switched_off(device):
    class Checked(FunctionNode):
        def check_type_forward(self, in_types):
            expect(in_types[0].ndim == 7)

        def forward(self, inputs):
            return inputs

    with xpgrad.using_config("type_check", False):
        Checked().apply((matrix(device, 1),))
    with pytest.raises(InvalidType):
        Checked().apply((matrix(device, 1),))


def test_an_invalid_type_is_a_type_error_and_can_be_pickled():
    error = InvalidType("x > 0", "0")
    assert isinstance(error, TypeError)
    assert str(error) == "Expect: x > 0\nActual: 0"
    error.locate("f", TypeInfoTuple([TypeInfo((2,), np.dtype("f"))]))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InvalidType
    assert str(again) == str(error)
    assert (again.expect, again.actual) == (error.expect, error.actual)
    assert str(InvalidType("a", "b", "message")) == "message"


def test_type_info():
    info = TypeInfo((2, 3), np.dtype("float32"))
    assert info.shape == (2, 3)
    assert info.dtype == np.float32
    assert info.ndim == 2
    assert info.size == 6
    assert str(info) == "float32 (2, 3)"
    assert TypeInfoTuple([info, info]).size() == 2


def test_the_first_condition_that_fails_is_quoted():
    n = 3
    expect()
    expect(n == 3, n < 4)
    with pytest.raises(InvalidType, match=r"Expect: n < 2\nActual: n is 3"):
        expect(n == 3, n < 2, n < 1)
    with pytest.raises(InvalidType, match=r"Expect: n in \(1, 2\)\nActual: n is 3"):
        expect(
            n == 3,
            n in (1, 2),
        )
    with pytest.raises(InvalidType, match=r"Expect: isinstance\(n, str\)\nActual: n is 3"):
        expect(isinstance(n, str))
    with pytest.raises(InvalidType, match=r"Expect: n > 5\nActual: said so"):
        expect(n > 5, actual="said so")


def test_a_condition_is_evaluated_once():
    calls = []

    def side():
        calls.append(None)
        return len(calls)

    class Watched:
        @property
        def size(self):
            return side()

    watched = Watched()
    with pytest.raises(InvalidType, match=r"Expect: side\(\) == 5\nActual: it is not so"):
        expect(side() == 5)
    assert len(calls) == 1
    with pytest.raises(InvalidType, match=r"Expect: watched\.size > 5 and side\(\)\nActual: it is not so"):
        expect(watched.size > 5 and side())
    assert len(calls) == 2


def test_conditions_without_source_are_numbered():
    with pytest.raises(InvalidType, match="condition 2 of the check holds"):
        exec(compile("expect(True, False)", "<nowhere>", "exec"), {"expect": expect})
    with pytest.raises(InvalidType, match="condition 1 of the check holds"):
        expect(*[False, True])


def test_broadcast_shapes():
    type_check.expect_broadcast_shapes("operands", (2, 1), (3,), ())
    with pytest.raises(InvalidType, match=r"operands: shapes that broadcast\nActual: \(2, 3\), \(4,\)"):
        type_check.expect_broadcast_shapes("operands", (2, 3), (4,))


def test_small_helpers(device):
    assert type_check.prod((2, 3)) == 6
    assert type_check.eval(5) == 5
    x = matrix(device, 1).array
    assert type_check.same_types(x, x)
    assert type_check.same_types()
    if device.backend.name != "numpy":
        assert not type_check.same_types(x, np.ones(1))
