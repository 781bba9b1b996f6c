"""Run as a program: fused groups as kernels on a pretended GPU, whose texts are compiled as C++, against NumPy.

Arguments: the first seed of random groups, and their number.
"""

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from tests.backends.cupy import fake, groups
from tests.backends.fusion.reference import evaluate
from tests.backends.fusion.written import Writer

cupy = fake.install()

import xpgrad_cupy.plugin  # noqa: E402 - after the fake module

xpgrad_cupy.plugin.why_unavailable = lambda: None

import xpgrad  # noqa: E402
import xpgrad.array_api as xp  # noqa: E402
import xpgrad.functions as F  # noqa: E402
from xpgrad import transforms  # noqa: E402
from xpgrad_cupy import executor  # noqa: E402
from xpgrad_cupy.fusion import plan  # noqa: E402
from xpgrad_cupy.fusion.launches import BlockKernel, Elementwise, OverRows  # noqa: E402
from xpgrad_cupy.fusion.table import TYPES, Unsupported  # noqa: E402

DEVICE = xpgrad.get_device("@cupy:1")
ULPS = 4


def spec_of(x: Any) -> Any:
    return DEVICE.backend.spec(DEVICE.send(x))


def kernels_of(fused: Any) -> Any:
    return executor.Kernels(fused, plan.plan_of(fused))


def computed(kernels: Any, arrays: list[Any]) -> list[Any]:
    results = kernels(*map(DEVICE.send, arrays))
    assert all(x.device == DEVICE.device for x in results)
    assert fake.current() == 0
    return [x.get() for x in results]


def close(name: str, got: Any, wanted: Any, ulps: float) -> None:
    assert got.dtype == wanted.dtype, (name, got.dtype, wanted.dtype)
    assert got.shape == wanted.shape, (name, got.shape, wanted.shape)
    if got.dtype.kind != "f":
        assert (got == wanted).all(), (name, got, wanted)
        return
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        far = ~same & ~(np.abs(got - wanted) <= ulps * np.spacing(np.abs(wanted)))
    assert not far.any(), (name, got[far][:4], wanted[far][:4])


def rows_of_the_table() -> None:
    for dtype in TYPES:
        b, results = groups.table(dtype)
        edges = groups.edges_of(dtype)
        x1, x2 = (x.reshape(1, -1) for x in np.meshgrid(edges, edges))
        arrays = [x1, x2, np.arange(x1.size).reshape(1, -1) % 3 == 0]
        fused = b.fused(*results, spec_of=spec_of)
        kernels = kernels_of(fused)
        assert [type(x) for x in kernels._plan.launches] == [Elementwise]
        for s, got, wanted in zip(results, computed(kernels, arrays), evaluate(fused, *arrays), strict=True):
            close(f"{s.op} of {dtype}", got, wanted, ULPS)
            if got.dtype.kind == "f" and s.op not in ("maximum", "minimum"):  # NumPy leaves this undefined
                zero = wanted == 0
                assert (np.signbit(got) == np.signbit(wanted))[zero].all(), (s.op, dtype)


def casts() -> None:
    for source in TYPES:
        targets = [t for t in TYPES if not (source.startswith("float") and "int" in t)]
        edges = groups.edges_of(source)
        b = Writer(1, len(edges))
        x = b.drawn(dtype=source)
        fused = b.fused(*(b.cast(x, dtype=t) for t in targets), spec_of=spec_of)
        with np.errstate(all="ignore"):
            for got, wanted in zip(computed(kernels_of(fused), [edges]), evaluate(fused, edges), strict=True):
                close(f"{source} to {wanted.dtype}", got, wanted, 0)


def constants() -> None:
    for dtype in TYPES:
        edges = groups.edges_of(dtype)
        b = Writer(1, 2)
        fused = b.fused(*(b.constant(x.item(), dtype) for x in edges), spec_of=spec_of)
        found = computed(kernels_of(fused), [])
        assert [x.tobytes() for x in found] == [x.tobytes() for x in edges]


def samples() -> None:
    kinds = set()
    for name, make in groups.SAMPLES.items():
        b, results = make()
        fused = b.fused(*results, spec_of=spec_of)
        kernels = kernels_of(fused)
        kinds |= {type(x) for x in kernels._plan.launches}
        arrays = b.arrays
        for got, wanted in zip(computed(kernels, arrays), evaluate(fused, *arrays), strict=True):
            close(name, got, wanted, 32)
    assert kinds == {Elementwise, OverRows, BlockKernel}


def launches() -> None:
    """Count the kernels of well-known groups."""
    for name, count in {"flat": 1, "softmax": 1, "layer_norm": 1, "levels": 1, "p4": 2, "gradients": 4}.items():
        b, results = groups.SAMPLES[name]()
        assert len(plan.plan_of(b.fused(*results)).launches) == count, name


def views() -> None:
    """Arrays that are not in C order are read in that order."""
    for name in ("softmax", "levels", "gradients", "p4"):
        b, results = groups.SAMPLES[name]()
        fused = b.fused(*results, spec_of=spec_of)
        arrays = b.arrays
        given = []
        for x in arrays:
            wide = DEVICE.send(np.repeat(np.ascontiguousarray(x.T), 2, axis=0) if x.ndim else x)
            given.append(wide[::2].transpose() if x.ndim else wide)
            assert given[-1].shape == x.shape
        for got, wanted in zip(kernels_of(fused)(*given), evaluate(fused, *arrays), strict=True):
            close(name, got.get(), wanted, 32)


def not_a_number() -> None:
    b = Writer(3, 40)
    x = b.drawn()
    ops = ["sum", "max", "min", "prod"]
    fused = b.fused(*(b.over(level, op, x) for level in ("row", "column", "one") for op in ops), spec_of=spec_of)
    for place, value in [(5, np.nan), (77, np.inf), (119, -np.inf)]:
        array = b.arrays[0].copy()
        array.flat[place] = value
        for got, wanted in zip(computed(kernels_of(fused), [array]), evaluate(fused, array), strict=True):
            close(f"{value}", got, wanted, ULPS)
    array = np.full((3, 40), -0.0, np.float32)
    assert not np.signbit(computed(kernels_of(fused), [array])[0]).any()  # as NumPy's


def sums() -> None:
    """Sums are as accurate as pairwise ones, and do not depend on the order of threads."""
    x = np.random.default_rng(1).uniform(0, 1, (1, 100_000))
    for dtype, bound in (("float32", 1), ("float64", 4)):
        b = Writer(1, x.size)
        fused = b.fused(b.over("one", "sum", b.drawn(dtype=dtype)), spec_of=spec_of)
        (got,) = computed(kernels_of(fused), [x.astype(dtype)])
        wanted = np.sum(x.astype(dtype), dtype=np.longdouble).astype(dtype)
        close(dtype, got, wanted, bound)


def unsupported() -> None:
    results = {
        "gamma of float32": lambda b: b.gamma(b.drawn()),
        "102 arrays": lambda b: [b.drawn() for _ in range(101)][-1],
        "add of bool": lambda b: b("add", *[b.drawn(dtype="bool")] * 2),
        "a reduction of a constant": lambda b: b("sum", b.constant(1.0), level="column"),
        "an empty space": Writer.drawn,
        r"a result of shape \(2, 4\) at level point": Writer.drawn,
    }
    for text, result in results.items():
        b = Writer(0 if "empty" in text else 3, 4)
        fused = b.fused(result(b), spec_of=lambda x, text=text: spec_of(x[:2] if "shape" in text else x))
        with pytest.raises(Unsupported, match=text):
            plan.plan_of(fused)


def no_compiler() -> None:
    """A source that does not compile: the calls of the library run, with a single warning."""
    x = DEVICE.send(np.linspace(0.1, 1, 12, dtype=np.float32).reshape(3, 4))
    compiled = xpgrad.compile(lambda x: xp.exp(x * x) + x)
    kernel_of = executor.kernel_of
    bad = cupy.ElementwiseKernel("raw float32 x0", "raw float32 y1", "no program", "bad", options=("--fmad=false",))
    executor.kernel_of = lambda launch: bad
    with xpgrad.using_device(DEVICE), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(5):
            got = compiled(x)
    executor.kernel_of = kernel_of
    wanted = np.exp(x.get() * x.get()) + x.get()
    close("calls", got.get(), wanted, 1)
    assert ["does not compile, and runs as 3 calls" in str(w.message) for w in caught] == [True]


def gelu(x: Any, scale: Any, shift: Any) -> Any:
    y = normalized(x, scale, shift)
    return xp.sum(0.5 * y * (1 + xp.tanh(0.79788456 * (y + 0.044715 * y * y * y))))


def normalized(x: Any, scale: Any, shift: Any) -> Any:
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale + shift


def attention(x: Any, scale: Any, shift: Any) -> Any:
    scores = F.softmax(x * scale + shift, axis=-1)
    return xp.sum(scores * xp.maximum(x, 0.0)) + xp.sum(xp.where(x > 0.5, x, -scores))


def programs() -> None:
    """Compiled functions and their gradients are the eager ones of NumPy, and consist of kernels."""
    rng = np.random.default_rng(3)
    counts: list[int] = []
    computed = executor.Kernels._computed
    executor.Kernels._computed = lambda self, arrays: counts.append(len(self._fused.calls)) or computed(self, arrays)
    with xpgrad.using_device(DEVICE):
        for f in (gelu, attention):
            eager = transforms.value_and_grad(f, argnums=(0, 1, 2))
            compiled = xpgrad.compile(eager)
            for _ in range(4):
                arrays = [rng.uniform(-1, 1, shape) for shape in ((6, 40), (40,), (40,))]
                value, gradients = compiled(*map(DEVICE.send, arrays))
                expected, others = eager(*arrays)
                for got, wanted in zip((value, *gradients), (expected, *others), strict=True):
                    assert np.allclose(got.get(), wanted, rtol=1e-10, atol=1e-13), f.__name__
            assert sum(counts) >= 20, (f.__name__, counts)
            counts.clear()
    executor.Kernels._computed = computed


def random_groups(first: int, count: int) -> None:
    done = 0
    for seed in range(first, first + count):
        b, results = groups.at_random(seed)
        fused = b.fused(*results, spec_of=spec_of)
        try:
            kernels = kernels_of(fused)
        except Unsupported:
            continue
        arrays = b.arrays
        wanted = evaluate(fused, *arrays)
        for got, each in zip(computed(kernels, arrays), wanted, strict=True):
            assert got.shape == each.shape
            error = np.abs(got.astype(float) - each.astype(float))
            assert (error <= 1e-4 * (1 + np.abs(each.astype(float)))).all(), (seed, got, each)
        done += 1
    assert done > count * 0.8, done


if __name__ == "__main__":
    np.seterr(all="ignore")
    for check in (
        rows_of_the_table, casts, constants, samples, launches, views, not_a_number, sums, unsupported, no_compiler,
        programs,
    ):  # fmt: skip
        check()
    random_groups(*map(int, sys.argv[1:]))
    print("all well")
