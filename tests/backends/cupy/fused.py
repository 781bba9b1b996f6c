"""Run as a program: fused groups as kernels on a pretended GPU, whose texts are compiled as C++, against NumPy.

Arguments: the first seed of random groups, and their number.
"""

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from tests.backends.cupy import fake, groups

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
        fused = b.fused(spec_of, *results)
        kernels = kernels_of(fused)
        assert [type(x) for x in kernels._plan.launches] == [Elementwise]
        for s, got, wanted in zip(results, computed(kernels, arrays), groups.reference(fused, arrays), strict=True):
            close(f"{s.op} of {dtype}", got, wanted, ULPS)
            if got.dtype.kind == "f" and s.op not in ("maximum", "minimum"):  # NumPy leaves this undefined
                zero = wanted == 0
                assert (np.signbit(got) == np.signbit(wanted))[zero].all(), (s.op, dtype)


def casts() -> None:
    for source in TYPES:
        targets = [t for t in TYPES if not (source.startswith("float") and "int" in t)]
        edges = groups.edges_of(source)
        b = groups.Builder(1, len(edges))
        x = b.load(dtype=source)
        fused = b.fused(spec_of, *(b.cast(x, t) for t in targets))
        with np.errstate(all="ignore"):
            for got, wanted in zip(computed(kernels_of(fused), [edges]), groups.reference(fused, [edges]), strict=True):
                close(f"{source} to {wanted.dtype}", got, wanted, 0)


def constants() -> None:
    for dtype in TYPES:
        edges = groups.edges_of(dtype)
        b = groups.Builder(1, 2)
        fused = b.fused(spec_of, *(b.constant(x.item(), dtype) for x in edges))
        found = computed(kernels_of(fused), [])
        assert [x.tobytes() for x in found] == [x.tobytes() for x in edges]


def samples() -> None:
    kinds = set()
    for name, make in groups.SAMPLES.items():
        b, results = make()
        fused = b.fused(spec_of, *results)
        kernels = kernels_of(fused)
        kinds |= {type(x) for x in kernels._plan.launches}
        arrays = b.arrays()
        for got, wanted in zip(computed(kernels, arrays), groups.reference(fused, arrays), strict=True):
            close(name, got, wanted, 32)
    assert kinds == {Elementwise, OverRows, BlockKernel}


def launches() -> None:
    """Count the kernels of well-known groups."""
    for name, count in {"flat": 1, "softmax": 1, "layer_norm": 1, "levels": 1, "p4": 2, "gradients": 4}.items():
        b, results = groups.SAMPLES[name]()
        assert len(plan.plan_of(b.fused(spec_of, *results)).launches) == count, name


def views() -> None:
    """Arrays that are not in C order are read in that order."""
    for name in ("softmax", "levels", "gradients", "p4"):
        b, results = groups.SAMPLES[name]()
        fused = b.fused(spec_of, *results)
        arrays = b.arrays()
        given = []
        for x in arrays:
            wide = DEVICE.send(np.repeat(np.ascontiguousarray(x.T), 2, axis=0) if x.ndim else x)
            given.append(wide[::2].transpose() if x.ndim else wide)
            assert given[-1].shape == x.shape
        for got, wanted in zip(kernels_of(fused)(*given), groups.reference(fused, arrays), strict=True):
            close(name, got.get(), wanted, 32)


def not_a_number() -> None:
    b = groups.Builder(3, 40)
    x = b.load()
    ops = ["sum", "max", "min", "prod"]
    fused = b.fused(spec_of, *(b.over(level, op, x) for level in ("row", "column", "one") for op in ops))
    for place, value in [(5, np.nan), (77, np.inf), (119, -np.inf)]:
        array = b.arrays()[0]
        array.flat[place] = value
        for got, wanted in zip(computed(kernels_of(fused), [array]), groups.reference(fused, [array]), strict=True):
            close(f"{value}", got, wanted, ULPS)
    array = np.full((3, 40), -0.0, np.float32)
    assert not np.signbit(computed(kernels_of(fused), [array])[0]).any()  # as NumPy's


def sums() -> None:
    """Sums are as accurate as pairwise ones, and do not depend on the order of threads."""
    x = np.random.default_rng(1).uniform(0, 1, (1, 100_000))
    for dtype, bound in (("float32", 1), ("float64", 4)):
        b = groups.Builder(1, x.size)
        fused = b.fused(spec_of, b.over("one", "sum", b.load(dtype=dtype)))
        (got,) = computed(kernels_of(fused), [x.astype(dtype)])
        wanted = np.sum(x.astype(dtype), dtype=np.longdouble).astype(dtype)
        close(dtype, got, wanted, bound)


def unsupported() -> None:
    b = groups.Builder(3, 4)
    x = b.load()
    empty = groups.Builder(0, 4)
    many = groups.Builder(1, 4)
    for made, result, text in [
        (b, b.add("gamma", (x,), "float32", "point"), "gamma of float32"),
        (empty, empty.load(), "an empty space"),
        (many, [many.load() for _ in range(101)][-1], "102 arrays"),
    ]:
        fused = made.fused(spec_of, result)
        with pytest.raises(Unsupported, match=text):
            plan.plan_of(fused)

    other = groups.Builder(3, 4)
    shaped = other.fused(lambda x: spec_of(x[:2]), other.load())
    with pytest.raises(Unsupported, match=r"a result of shape \(2, 4\) at level point"):
        plan.plan_of(shaped)
    both = groups.Builder(3, 4)
    given = both.load(dtype="bool")
    fused = both.fused(spec_of, both("add", given, given))
    with pytest.raises(Unsupported, match="add of bool"):
        plan.plan_of(fused)
    constant = groups.Builder(3, 4)
    fused = constant.fused(spec_of, constant.over("column", "sum", constant.constant(1.0)))
    with pytest.raises(Unsupported, match="a reduction of a constant"):
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
        fused = b.fused(spec_of, *results)
        try:
            kernels = kernels_of(fused)
        except Unsupported:
            continue
        arrays = b.arrays(seed)
        wanted = groups.reference(fused, arrays)
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
