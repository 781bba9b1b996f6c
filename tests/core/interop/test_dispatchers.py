"""Libraries that dispatch on the module of an array's type: opt_einsum, autoray, and einops, unchanged."""

import subprocess
import sys

import autoray
import einops
import numpy as np
import opt_einsum
import pytest

import xpgrad
import xpgrad.interop.einops
from xpgrad import Variable, array_api
from xpgrad.testing.arrays import on_host, placed

A, B, C = np.arange(1.0, 7.0).reshape(2, 3), np.arange(12.0).reshape(3, 4), np.array([0.5, -1.0, 2.0, 1.5])
CUBE = np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4)


def variables(device, *values):
    return [Variable(placed(v, device)) for v in values]


def assert_same(y, expected):
    assert isinstance(y, Variable)
    assert y.requires_grad
    assert y.shape == np.shape(expected)
    np.testing.assert_allclose(on_host(y), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("optimize", ["auto", "greedy", "optimal"])
def test_contractions_of_opt_einsum(device, optimize):
    xs = variables(device, A, B, C)
    y = opt_einsum.contract("ij,jk,k->i", *xs, optimize=optimize)
    assert_same(y, A @ B @ C)
    gxs = xpgrad.grad([y], xs)
    for gx, wanted in zip(gxs, (np.ones((2, 1)) * (B @ C), np.outer(A.sum(0), C), A.sum(0) @ B), strict=True):
        np.testing.assert_allclose(on_host(gx), wanted, rtol=1e-12)


def test_expressions_of_opt_einsum(device):
    a, b = variables(device, A, B)
    expression = opt_einsum.contract_expression("ij,jk->ki", A.shape, B.shape)
    assert_same(expression(a, b), (A @ B).T)
    assert_same(opt_einsum.contract("iij->j", *variables(device, np.ones((2, 2, 3)))), [2.0] * 3)
    assert_same(opt_einsum.contract("ij,ij->ij", a, a), A * A)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("sum", (0,), CUBE.sum(0)),
        ("transpose", ((2, 0, 1),), CUBE.transpose(2, 0, 1)),
        ("tensordot", (C, 1), CUBE @ C),
        ("exp", (), np.exp(CUBE)),
        ("reshape", ((6, -1),), CUBE.reshape(6, 4)),
        ("linalg.norm", (), np.linalg.norm(CUBE)),
        ("cumsum", (1,), np.cumsum(CUBE, 1)),
        ("moveaxis", (0, -1), np.moveaxis(CUBE, 0, -1)),
        ("take", ([2, 0], 1), CUBE.take([2, 0], 1)),
        ("clip", (0.0, 1.0), np.clip(CUBE, 0, 1)),
        ("real", (), CUBE),
        ("logaddexp", (0.5,), np.logaddexp(CUBE, 0.5)),
    ],
)
def test_functions_of_autoray(device, name, arguments, expected):
    (x,) = variables(device, CUBE)
    arguments = [placed(a, device) if isinstance(a, np.ndarray) else a for a in arguments]
    if name == "logaddexp":
        arguments = [xpgrad.array_api.full_like(x, 0.5)]
    assert_same(autoray.do(name, x, *arguments), expected)


def test_sequences_and_contractions_of_autoray(device):
    a, b = variables(device, A, B)
    assert autoray.infer_backend(a) == "xpgrad"
    assert_same(autoray.do("concatenate", [a, a]), np.concatenate([A, A]))
    assert_same(autoray.do("stack", (a, a), axis=1), np.stack([A, A], 1))
    assert_same(autoray.do("einsum", "ij,jk->ik", a, b), A @ B)
    assert autoray.do("shape", a) == (2, 3)


@pytest.mark.parametrize("name", ["qr", "svd", "inv", "eigh"])
def test_linear_algebra_of_autoray(name):
    if not hasattr(getattr(array_api, "linalg", None), name):
        pytest.skip(f"this version has no xpgrad.array_api.linalg.{name}")
    x = Variable(np.array([[2.0, 0.5], [0.5, 1.0]]))
    found = autoray.do(f"linalg.{name}", x)
    for part in found if isinstance(found, tuple) else (found,):
        assert isinstance(part, Variable)


def test_rearrangements_of_einops(device):
    (x,) = variables(device, CUBE)
    assert_same(einops.rearrange(x, "a b c -> (c a) b"), CUBE.transpose(2, 0, 1).reshape(8, 3))
    assert_same(einops.rearrange(x, "a b (c d) -> a d b c", d=2), CUBE.reshape(2, 3, 2, 2).transpose(0, 3, 1, 2))
    assert_same(einops.rearrange([x, x], "n a b c -> a n (b c)"), np.stack([CUBE, CUBE], 1).reshape(2, 2, 12))
    assert_same(einops.repeat(x, "a b c -> a b (c n)", n=2), np.repeat(CUBE, 2, axis=2))
    packed, shapes = einops.pack([x, x[:, 0]], "a *")
    assert_same(packed, np.hstack([CUBE.reshape(2, 12), CUBE[:, 0]]))
    assert_same(einops.unpack(packed, shapes, "a *")[0], CUBE)
    assert einops.parse_shape(x, "a _ c") == {"a": 2, "c": 4}
    assert einops.asnumpy(Variable(CUBE, requires_grad=False)).shape == CUBE.shape


@pytest.mark.parametrize("operation", ["sum", "mean", "max", "min", "prod"])
def test_reductions_of_einops(device, operation):
    (x,) = variables(device, CUBE)
    y = einops.reduce(x, "a b (c d) -> c b", operation, d=2)
    assert_same(y, getattr(np, operation)(CUBE.reshape(2, 3, 2, 2), axis=(0, 3)).T)
    (gx,) = xpgrad.grad([y], [x])
    assert gx.shape == x.shape


def test_contractions_of_einops(device):
    a, b = variables(device, A, B)
    assert_same(einops.einsum(a, b, "i j, j k -> k i"), (A @ B).T)


SCRIPT = """
import {first}
import {second}
import numpy
x = xpgrad.Variable(numpy.ones((2, 3)))
assert einops.rearrange(x, "a b -> (b a)").shape == (6,)
"""


@pytest.mark.parametrize("modules", [("einops", "xpgrad"), ("einops, xpgrad", "xpgrad.interop.einops"),
                                     ("xpgrad", "xpgrad.interop.einops, einops")])  # fmt: skip
def test_einops_is_served_whichever_is_imported_first(modules):
    script = SCRIPT.format(first=modules[0], second=modules[1])
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_a_program_without_them_does_not_import_them():
    script = "import sys, xpgrad; assert not {'einops', 'opt_einsum', 'xpgrad.ops', 'autoray'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_root_has_numpys_names():
    x = Variable(A.copy())
    assert xpgrad.transpose(x).shape == (3, 2)
    assert xpgrad.tensordot(x, x, 2).shape == ()
    assert xpgrad.logsumexp(x).shape == ()
    assert xpgrad.zeros((2, 2)).shape == (2, 2)
    assert xpgrad.linalg is xpgrad.linalg
    assert xpgrad.linalg.norm(x).shape == ()
    with pytest.raises(AttributeError, match="module 'xpgrad' has no attribute 'nothing_of_this_name'"):
        xpgrad.nothing_of_this_name  # noqa: B018 - the look-up itself is under test
