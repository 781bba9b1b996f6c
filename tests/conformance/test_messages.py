"""Messages of failures without the parts that vary."""

import pytest

from xpgrad_conformance.messages import missing, named, normalized


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("exp(3.0): element () is 20.1, expected 20.09", "exp(-1e-5): element (2, 3) is nan, expected 0.5j"),
        (
            "ShapeError: softmax: operands do not broadcast: shapes (4,3) (4,); got float64 (4, 3) on npu",
            "ShapeError: log_softmax: operands do not broadcast: shapes (2,2,3) (3,); got float32 (2, 2, 3) on npu",
        ),
        (
            "sum-axes[@npu:0, float32, plain]: value: output 0 has shape (3,), expected (1, 3, 1)",
            "cov[@npu:1, float64, strided]: value: output 1 has shape (), expected (7,)",
        ),
        ("<array at 0x7f12ab> is on @npu:0, expected @npu:1", "<array at 0x99> is on @npu:1, expected @npu:0"),
        ("K01[exp,float32,@npu:0] wrote to its input", "G02[sin,float64,@npu:1] wrote to its input"),
        ("KeyError: int64\nand more", "KeyError: uint8"),
    ],
)
def test_messages_that_differ_in_numbers_shapes_dtypes_and_places_are_equal(one: str, two: str) -> None:
    devices = "@npu:0", "@npu:1"
    assert normalized(one, devices) == normalized(two, devices)


def test_words_are_kept() -> None:
    assert normalized("exp of float32 has dtype float64") == "exp of DTYPE has dtype DTYPE"
    assert normalized("sinh is wrong") != normalized("cosh is wrong")
    assert normalized("") == ""


@pytest.mark.parametrize(
    ("message", "function"),
    [
        ("exp of float32 has dtype float64", "exp"),
        ("AxisError: take: index 2 is out of bounds", "take"),
        ("linalg.det: wrong", "linalg.det"),
        ("(3, 4) is no shape", ""),
    ],
)
def test_function_at_the_beginning_is_named(message: str, function: str) -> None:
    assert named(message) == function


@pytest.mark.parametrize(
    ("message", "function"),
    [
        ("MissingFunction: npu: the library has no 'linalg.det', which this operation needs", "linalg.det"),
        ("AttributeError: isdtype", "isdtype"),
        ("AttributeError: module 'npulib' has no attribute 'cumulative_sum'", "cumulative_sum"),
        ("in a new process: AttributeError: take", "take"),
        ("AttributeError: 'Box' object has no attribute 'wait'", ""),
        ("ValueError: no 'exp' here", ""),
    ],
)
def test_function_that_is_missing_is_found(message: str, function: str) -> None:
    assert missing(message) == function
