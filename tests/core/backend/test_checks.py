"""Arrays that are changed in place, in shape or dtype, under the Variables that hold them; and byte orders."""

import contextlib
import itertools
import warnings

import numpy as np
import pytest
from tests.building import values
from tests.core.graph.nodes import node, square

import xpgrad
from xpgrad import ChangedArray, DtypeError, Variable, using_config
from xpgrad import array_api as xp


def reshaped(a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        a.shape = a.shape[::-1]


def resized(a):
    a.resize((2, 1), refcheck=False)


def retyped(a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        a.dtype = np.int64


CHANGES = pytest.mark.parametrize("change", [reshaped, resized, retyped])
ON = pytest.mark.parametrize("where", ["@numpy", "native:0"])


def changed(change, where="@numpy"):
    a = np.asarray([[1.0], [2.0], [3.0]])
    x = Variable(a, grad=np.ones((3, 1)))
    if where != "@numpy":
        x.to_chx()
    change(a)
    return x


FACTS = {
    "shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size, "dtype": lambda x: x.dtype,
    "grad": lambda x: x.grad, "len": len, "item": lambda x: x.item(),
}  # fmt: skip
USES = {
    "alone": lambda x, c: x * 2, "itself": lambda x, c: x * x, "function": lambda x, c: xp.exp(x),
    "reduction": lambda x, c: xp.mean(x), "scalars": lambda x, c: 1 / (x + 0.5), "wide": lambda x, c: x * c,
    "wide reflected": lambda x, c: c - x, "several": lambda x, c: xp.where(c > 0, x, c),
    "joined": lambda x, c: xp.concat([x, x], axis=0), "row": lambda x, c: x[0],
    "matrix": lambda x, c: xp.matmul(x, c.array[:1]), "Chainer's": lambda x, c: xpgrad.functions.relu(x),
}  # fmt: skip


@ON
@CHANGES
@pytest.mark.parametrize("fact", FACTS)
def test_facts_of_a_changed_array_raise(where, change, fact):
    x = changed(change, where)
    if (change, fact) not in ((retyped, "shape"), (retyped, "len")):  # these are unchanged
        with pytest.raises(ChangedArray, match=r"float64 \(3, 1\).*changed in place to .*set x\.array to it again"):
            FACTS[fact](x)
    assert "variable" in repr(x)
    x.array = x.array
    assert x.shape == x.array.shape
    assert x.grad is None


@ON
@pytest.mark.parametrize("use", USES)
def test_no_gradient_comes_from_a_changed_array(where, use):
    for change, when, start in itertools.product(
        (reshaped, resized, retyped), ("before", "after"), ("backward", "grad", "recorded")
    ):
        x = Variable(np.asarray([[1.0], [2.0], [3.0]]))
        a, c = x.array, Variable(np.ones((3, 3)))
        if where != "@numpy":
            x.to_chx(), c.to_chx()
        try:
            if when == "before":
                change(a)
            y = USES[use](x, c)
            y = xp.sum(y * y)
            if when == "after":
                change(a)
            if start == "grad":
                assert xpgrad.grad([y], [x]) == [None]
            else:
                y.backward(enable_double_backprop=start == "recorded")
        except (ChangedArray, xpgrad.ShapeError):  # the latter where shapes do not fit any more
            pass
        except (xpgrad.GradientError, xpgrad.GraphEndWarning):
            assert (change, when) == (retyped, "before")  # integers are in no graph
        assert x._grad is None, (change, when, start)


@CHANGES
@pytest.mark.parametrize("recorded", [False, True])
def test_a_changed_intermediate_array_raises_in_a_sweep(change, recorded):
    x = Variable(np.asarray([[1.0], [2.0], [3.0]]))
    for made in (lambda x: x * 2, lambda x: x + 0, xp.exp, lambda x: xpgrad.functions.concat([x], axis=0)):
        y = made(x)
        z = xp.mean(y)
        change(y.array)
        with pytest.raises(ChangedArray):
            z.backward(enable_double_backprop=recorded)
        assert x.grad is None


@pytest.mark.parametrize("needed", [True, False])
def test_a_changed_operand_gives_no_gradient_of_the_other(needed):
    a = np.asarray([[1.0], [2.0], [3.0]])
    x, z = Variable(a, requires_grad=needed), Variable(np.ones((3, 1)))
    y = xp.mean(x * z)  # the operation is known for these shapes now
    reshaped(a)
    y = xp.mean(x * z)
    with pytest.raises(ChangedArray):
        y.backward()
    assert z.grad is None


@CHANGES
def test_the_general_path_checks_its_operands(change):
    x = changed(change)
    with using_config("debug", True), pytest.raises(ChangedArray, match=r"_ \* _|multiply"):
        x * x
    with pytest.raises(ChangedArray, match="Square"):
        node("Square", forward=square).apply((x,))


def test_results_of_a_changed_array_are_not_cached():
    a = np.ones((13, 1))
    x, u = Variable(a), Variable(np.ones((1, 17)))
    a.resize((1, 13), refcheck=False)
    for use in (lambda: x * u, lambda: xp.isnan(x)):
        with pytest.raises(ChangedArray):
            use()
    x[0]
    fresh = Variable(np.ones((13, 1)))
    assert (fresh * u).shape == (13, 17)
    assert xp.isnan(fresh).shape == (13, 1)
    assert fresh[0].shape == (1,)


def test_a_broadcast_array_of_no_variable_is_no_change():
    x = Variable(np.ones(2))
    (x * np.ones((3, 2))).sum().backward()
    assert values(x.grad) == [3.0, 3.0]


# Byte order

BIG = [np.asarray([1.0, 2.0], code) for code in (">f4", ">f8", ">c16")] + [np.asarray([1, 2], ">i4")]
if np.little_endian is False:
    BIG = [a.astype(a.dtype.newbyteorder("<")) for a in BIG]
NATIVE = r"native byte order, got [<>]\w\d+; convert it with a\.astype\(a\.dtype\.newbyteorder\('='\)\)"


@pytest.mark.parametrize("big", BIG, ids=lambda a: a.dtype.str)
def test_arrays_of_another_byte_order_make_no_variable(big):
    native = big.astype(big.dtype.newbyteorder("="))
    x = Variable(native)
    ways = {
        "Variable": lambda: Variable(big), "array": lambda: setattr(x, "array", big),
        "grad": lambda: setattr(x, "grad", big), "asarray": lambda: xp.asarray(big), "function": lambda: xp.abs(big),
        "astype": lambda: xp.astype(x, big.dtype), "creation": lambda: xp.zeros(3, dtype=big.dtype),
        "chx": lambda: Variable(xpgrad.get_device("native:0").send(big)),
        "transform": lambda: xpgrad.transforms.vjp(lambda v: v, big),
        "retyped": lambda: setattr(x.array, "dtype", big.dtype) or x.dtype,
    }  # fmt: skip
    for name, way in ways.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with pytest.raises((DtypeError, ChangedArray) if name == "retyped" else DtypeError) as caught:
                way()
        assert name == "retyped" or caught.match(NATIVE)


@pytest.mark.parametrize("big", BIG[:3], ids=lambda a: a.dtype.str)
def test_constants_of_another_byte_order_give_native_results(big):
    x = Variable(np.ones(2, big.dtype.newbyteorder("=")))
    for y in (x * big, big * x, xp.where(np.asarray([True, False]), x, x * big)):
        assert y.dtype == y.array.dtype == x.dtype
        assert y.dtype.isnative
    xp.sum(xp.real(x * big)).backward()
    assert x.grad.dtype == x.dtype
    assert values(x.grad) == [1.0, 2.0]


@CHANGES
@pytest.mark.parametrize("use", USES)
def test_a_changed_array_does_not_affect_cached_facts(change, use):
    size = 11 + [reshaped, resized, retyped].index(change)  # of no other test: facts are remembered by shape and dtype
    shape = (size, 1)
    x, c = Variable(np.ones(shape)), Variable(np.ones((size, size)))
    change(x.array)
    with contextlib.suppress(Exception):
        USES[use](x, c)
    x, c = Variable(np.ones(shape)), Variable(np.ones((size, size)))
    y = USES[use](x, c)
    assert (y.shape, y.dtype) == (y.array.shape, y.array.dtype)
    xp.sum(y).backward()
    assert x.grad is not None
