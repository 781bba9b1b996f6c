"""What the first mistakes of a newcomer are answered with: the operation, what came, what to do."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable, transforms
from xpgrad import array_api as xp

A = np.asarray([0.5, 2.0])
SOURCE = r"; take one from xpgrad\.array_api while a device of numpy is the current one, or from .* of its arrays$"


def x() -> Variable:
    return Variable(A.copy())


class Foreign:
    """A dtype of a library that nobody knows."""

    def __repr__(self) -> str:
        return "other.float32"


FIRST: dict[str, tuple[Callable[[], Any], Any, str]] = {
    # of dtypes
    "finfo of a foreign dtype": (
        lambda: xp.finfo(Foreign()),
        TypeError,
        r"^finfo: expected a floating-point dtype, or an array of one, of numpy, got other\.float32$",
    ),
    "finfo of an integer dtype": (
        lambda: xp.finfo(np.int32),
        ValueError,
        r"^finfo: expected a floating-point dtype, or an array of one, of numpy, got <class 'numpy\.int32'>$",
    ),
    "iinfo of a foreign dtype": (
        lambda: xp.iinfo(Foreign()),
        (TypeError, ValueError),
        r"^iinfo: expected an integer dtype, or an array of one, of numpy, got other\.float32$",
    ),
    "isdtype of an unknown kind": (
        lambda: xp.isdtype(xp.float32, "floating"),
        ValueError,
        r"^isdtype: expected a dtype, and a kind such as 'real floating' or a dtype, of numpy, got .*, 'floating'$",
    ),
    "creation with a foreign dtype": (
        lambda: xp.zeros(2, dtype=Foreign()),
        TypeError,
        rf"^zeros: expected a dtype of numpy, got other\.float32{SOURCE}",
    ),
    "astype with a foreign dtype": (
        lambda: xp.astype(x(), "floot"),
        TypeError,
        rf"^astype: expected a dtype of numpy, got 'floot'{SOURCE}",
    ),
    # of Variables
    "a Variable of a list": (
        lambda: Variable([1.0, 2.0]),
        TypeError,
        r"^Variable: expected an array .*, got .*list; nothing is converted silently; .* with numpy\.asarray",
    ),
    "a Variable of a Variable": (lambda: Variable(x()), TypeError, r"^Variable: .*got a Variable; use its \.array"),
    "a Variable of text": (lambda: Variable(np.asarray(["a"])), TypeError, r"dtype <U1 .*; convert to a numeric dtype"),
    "a function of text": (lambda: F.relu("x"), TypeError, r"^relu: expected an array .*, got .*str; "),
    "a function of None": (lambda: xp.exp(None), TypeError, r"^exp: expected at least one Variable or array, got None"),
    "a misspelt keyword": (
        lambda: Variable(A, requires_grads=True),
        TypeError,
        r"unexpected keyword argument 'requires_grads'",
    ),
    # of sweeps
    "backward from many elements": (
        lambda: (x() * 2).backward(),
        ValueError,
        r"^backward: cannot start from 2 elements of shape \(2,\) without a gradient; set y\.grad first, or reduce",
    ),
    "backward of one Variable": (
        lambda: xpgrad.backward(x() * 2),
        TypeError,
        r"^backward: outputs must be a tuple or a list, got Variable; write \[output\]$",
    ),
    "grad of one output": (
        lambda: xpgrad.grad(x() * 2, [x()]),
        TypeError,
        r"^grad: outputs must be a tuple or a list, got Variable; write \[output\]$",
    ),
    "grad for an array": (
        lambda: xpgrad.grad([x() * 2], [A]),
        TypeError,
        r"^grad: inputs\[0\] must be a Variable, got ndarray$",
    ),
    "a gradient of another shape": (
        lambda: setattr(x(), "grad", np.ones(3)),
        ValueError,
        r"^Variable\.grad: expected shape \(2,\) as in the array, got \(3,\)$",
    ),
    "the transform of no function": (lambda: transforms.grad(x()), TypeError, r"^grad: expected a function, got Var"),
    "the transform of a function of many numbers": (
        lambda: transforms.grad(lambda z: z * 2)(A),
        ValueError,
        r"^grad: the function must return one number, got shape \(2,\); reduce it, or use jacobian or vjp$",
    ),
    # of devices
    "a misspelt device": (
        lambda: xpgrad.get_device("@nmpy"),
        ValueError,
        r"^get_device: unknown device '@nmpy'; did you mean '@numpy'\? installed backends: ",
    ),
    "a number that the backend has no device of": (
        lambda: xpgrad.get_device("@numpy:3"),
        ValueError,
        r"^get_device: unknown device '@numpy:3'; numpy has @numpy$",
    ),
    "no specifier": (
        lambda: x().to_device(3.5),
        TypeError,
        r"^get_device: expected a specifier such as '@name:0', a number or a Device, got float$",
    ),
}


@pytest.mark.parametrize("mistake", FIRST)
def test_a_first_mistake_is_answered_with_operation_and_advice(mistake: str) -> None:
    call, kind, text = FIRST[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert re.search(text, str(caught.value)), str(caught.value)
