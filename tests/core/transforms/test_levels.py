"""Nested transformations: pairs and triples, escaping values, exceptions, threads."""

import functools
import itertools
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.core.transforms import mixtures
from tests.core.transforms.mixtures import KINDS, Library, Mixture, composed, ours
from tests.devices import device_or_skip
from tests.turn import half_of

import xpgrad
from xpgrad import Device, Parameter, Variable, transforms
from xpgrad import array_api as xp
from xpgrad.backend import levels
from xpgrad.errors import EscapedArray
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, jvp, vmap

X = np.asarray([0.5, -1.5, 2.0])
ALONG = np.asarray([1.0, 0.25, -2.0])


FUNCTIONS: tuple[Any, ...] = (
    lambda lib, x: lib.xp.tanh(x) * lib.xp.sin(x),
    lambda lib, x: x**3 - 2 * x,
    lambda lib, x: lib.xp.exp(-x * x) + lib.xp.sum(x, axis=-1, keepdims=True),
    lambda lib, x: lib.xp.matmul(x[..., :, None] * x[..., None, :], lib.xp.cos(x)[..., None])[..., 0],
    lambda lib, x: lib.xp.where(x > 0.1, x * x, -0.5 * x),
    lambda lib, x: lib.xp.sqrt(1 + x * x) / (1 + lib.xp.mean(x) ** 2),
    lambda lib, x: lib.xp.cumulative_sum(lib.xp.sin(x), axis=-1) * lib.made(0.7),
    lambda lib, x: lib.xp.take(x, lib.made([1, 0, 1]), axis=-1) * x[..., :1],
    lambda lib, x: lib.xp.log(lib.xp.sum(lib.xp.exp(x))),
    lambda lib, x: lib.xp.stack([lib.xp.flip(x, axis=-1) * lib.made([0.5, 1.0]), x * x], axis=0),
)
POINT = np.asarray([0.8, -0.6])
IDENTITIES = "compile", "checkpoint"
"""Transformations that change no numbers."""
TOLERANCE = 1e-8

Names = tuple[str, ...]


def names(count: int) -> Iterator[Names]:
    """Yield all sequences of so many transformations."""
    return itertools.product(KINDS, repeat=count)


def mixture_of(chosen: Names, number: int) -> Mixture:
    """Return transformations by their names, each of a form that depends on its place and a number."""
    return tuple(KINDS[name][(number + i) % len(KINDS[name])] for i, name in enumerate(chosen))


def number_of(chosen: Names) -> int:
    """Return a number for names, equal for names whose transformations give equal numbers."""
    return zlib.crc32(" ".join(name for name in chosen if name not in IDENTITIES).encode())


@functools.cache
def by_reverse_mode(mixture: Mixture, function: int) -> Any:
    """Return the numbers of loops and reverse mode, as a host array."""
    lib = mixtures.by_reverse_mode(xpgrad.get_device("@numpy"))
    return np.asarray(on_host(composed(lib, mixture, functools.partial(FUNCTIONS[function], lib))(Variable(POINT))))


def difference(chosen: Names, function: int, device: Device, number: int = 0) -> str | None:
    """Return the difference of a function, transformed by `chosen` from the last to the first, and the reference."""
    short = tuple(name for name in chosen if name not in IDENTITIES)
    forms = dict(zip([i for i, name in enumerate(chosen) if name in short], mixture_of(short, number), strict=True))
    mixture = tuple(forms.get(i, KINDS[name][0]) for i, name in enumerate(chosen))
    expected = by_reverse_mode(tuple(forms.values()), function)
    lib: Library = ours(device)
    got = np.asarray(
        on_host(composed(lib, mixture, functools.partial(FUNCTIONS[function], lib))(placed(POINT, device)))
    )
    size = 1 + np.max(np.abs(expected), initial=0.0)
    if got.shape == expected.shape and np.allclose(got, expected, rtol=0, atol=TOLERANCE * size):
        return None
    which = f"{' of '.join(chosen)} of function {function}, form {number}"
    return f"{which}: {got.tolist()}, expected {expected.tolist()}"


@pytest.fixture(autouse=True)
def _compiled() -> Any:
    with warnings.catch_warnings(), xpgrad.using_config("detect_mutation", False):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("outermost", ["grad", "jvp", "vmap", "jacobian", "hessian", "compile", "checkpoint"])
def test_pairs_and_triples_are_loops_and_reverse_mode(outermost: str) -> None:
    device = device_or_skip("@numpy")
    wrong = []
    for chosen in (each for each in (*names(1), *names(2), *half_of(list(names(3)))) if each[0] == outermost):
        for shift in (0, 5) if len(chosen) < 3 else (0,):
            number = number_of(chosen) + shift
            wrong.append(difference(chosen, number % len(FUNCTIONS), device, number))
    assert not [text for text in wrong if text]


# Perturbations and members of two levels are never confused


CONFUSIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "the inner function ignores its argument": (
        lambda x: jvp(lambda y: jvp(lambda z: y * 1, (y,), (y * 0 + 1,), allow_constant=True)[1], (x,), (ALONG,),
                      allow_constant=True)[1],
        lambda x: 0 * x,
    ),
    "x d/dy (x + y)": (
        lambda x: jvp(lambda y: y * jvp(lambda z: y + z, (y,), (xp.ones_like(y),))[1], (x,), (np.ones(3),))[1],
        lambda x: 0 * x + 1,
    ),
    "outer product of two levels of one size": (
        lambda x: vmap(lambda a: vmap(lambda b: a * b)(x))(x),
        lambda x: x[:, None] * x,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFUSIONS)
def test_levels_are_kept_apart(name: str) -> None:
    found, expected = CONFUSIONS[name]
    assert np.allclose(on_host(found(X)), expected(X), rtol=1e-14)


# State after a call


WITHIN: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "vmap": lambda f: vmap(f)(X),
    "jvp": lambda f: jvp(f, (X,), (ALONG,)),
    "vmap in vmap": lambda f: vmap(vmap(f))(np.outer(X, X)),
    "jvp in vmap": lambda f: vmap(lambda x: jvp(f, (x,), (x,))[1])(X),
    "vmap in jvp": lambda f: jvp(lambda x: vmap(f)(x), (X,), (ALONG,)),
    "grad in vmap": lambda f: vmap(grad(lambda x: xp.sum(f(x))))(X),
    "vmap in grad": lambda f: grad(lambda x: xp.sum(vmap(f)(x)))(X),
    "vmap in compile": lambda f: xpgrad.compile(vmap(f))(X),
    "compile in vmap": lambda f: vmap(xpgrad.compile(f))(X),
}


@pytest.mark.parametrize("name", [name for name in WITHIN if "compile" not in name])
def test_array_that_escapes_raises(name: str) -> None:
    kept: list[Variable] = []

    def keeping(x: Variable) -> Variable:
        kept.append(x * 2)
        return x * 3

    WITHIN[name](keeping)
    for call in (lambda: kept[0] + 1, lambda: kept[0].array * 2, lambda: vmap(lambda x: x * kept[0])(X)):
        with pytest.raises(EscapedArray):
            call()


@pytest.mark.parametrize("name", WITHIN)
def test_exception_in_the_middle_leaves_the_state_unchanged(name: str) -> None:
    w = Parameter(np.ones(()))

    def failing(x: Variable) -> Variable:
        y = w * x
        w.array = w.array * 2
        raise ArithmeticError(f"of shape {y.shape}")

    for _ in range(2):
        with pytest.raises(ArithmeticError, match="of shape"):
            WITHIN[name](failing)
        assert not levels.live
        assert type((w * 2).array) is np.ndarray
        assert type(w.array) is np.ndarray
        assert w.array == 1
    assert np.allclose(on_host(vmap(lambda x: x * w)(X)), X)


@pytest.mark.parametrize("name", [name for name in WITHIN if "compile" not in name])
def test_threads_have_separate_levels(name: str) -> None:
    """During a call in one thread, other threads compute eagerly and in separate calls."""
    inside, done = threading.Event(), threading.Event()
    found: dict[str, Any] = {}

    def waiting(x: Variable) -> Variable:
        inside.set()
        assert done.wait(60)
        return x * 3 + xp.sin(x)

    def run() -> None:
        found["result"] = WITHIN[name](waiting)

    thread = threading.Thread(target=run)
    thread.start()
    assert inside.wait(60)
    eager = Variable(X) * 2
    other = vmap(lambda x: x * x)(np.arange(4.0))
    done.set()
    thread.join()
    assert type(eager.array) is np.ndarray
    assert np.array_equal(other, np.arange(4.0) ** 2)
    alone = WITHIN[name](lambda x: x * 3 + xp.sin(x))
    for a, b in zip(_flat(found["result"]), _flat(alone), strict=True):
        assert np.array_equal(on_host(a), on_host(b))


def _flat(tree: Any) -> list[Any]:
    return transforms.trees.flatten(tree)[0]
