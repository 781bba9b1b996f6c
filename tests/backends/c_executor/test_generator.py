"""Generated C, compiled: the result of each row of the table, and of groups of every shape."""

import math
import subprocess

import numpy as np
import pytest
from tests.backends.c_executor.written_groups import COMPILER, Compiled, interpreted, random_group, vector_math
from tests.backends.cupy import groups
from tests.backends.fusion.reference import function
from tests.backends.fusion.written import Writer
from tests.turn import half_of

from xpgrad_c.functions import ROWS, kind
from xpgrad_c.generator import CHUNK, FLAGS, PLACEHOLDER, generate, has_row
from xpgrad_fusion.statements import BINARY, UNARY, Statement

pytestmark = pytest.mark.skipif(not vector_math(), reason="needs a C compiler and glibc's functions for vectors")

SIZES = [(1, 1), (1, 64), (1, 4097), (1, 70000), (5, 3), (70, 33), (300, 1), (130, 257), (2, 20000), (1000, 40)]
MOST_ULP = 4
ERFS = {"erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc)}


def numbers(dtype, rng):
    """Numbers of every kind: special numbers, all exponents, small and large numbers."""
    info = np.finfo(dtype)
    special = [0, np.inf, np.nan, 1, 0.5, 1.5, 2, 2.5, 3, 88.7, 89, 103.5, 709.5, 745, 1e5, 1e10, 1e22, 127, 1023]
    special += [
        info.max, info.tiny, info.tiny / 2, info.smallest_subnormal, 1 + info.eps, 1 - info.eps, np.pi, 2**23 + 0.5,
    ]  # fmt: skip
    bits = rng.integers(0, np.iinfo(f"uint{info.bits}").max, 20000, dtype=f"uint{info.bits}").view(dtype)
    spread = 10.0 ** rng.uniform(-8, 8, 20000) * rng.choice([-1, 1], 20000)
    parts = [special, np.negative(special), bits, spread, rng.uniform(-1, 1, 20000), rng.uniform(-90, 90, 20000)]
    return np.concatenate([np.asarray(part, dtype) for part in parts])


def ulps(x, y):
    """Distances in units in the last place; infinite where only one is NaN, or signs differ."""
    bits = f"int{8 * x.dtype.itemsize}"
    a, b = (np.where(i < 0, np.iinfo(bits).min - i, i) for i in (x.view(bits), y.view(bits)))
    found = np.abs(a - b).astype(float)
    found[np.isnan(x) & np.isnan(y)] = 0
    found[(np.isnan(x) != np.isnan(y)) | ((np.signbit(x) != np.signbit(y)) & ~np.isnan(x))] = np.inf
    return found


def test_every_operation_of_a_statement_has_a_row():
    assert set(ROWS) == set(UNARY | BINARY)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", sorted(op for op, row in ROWS.items() if row.real))
@pytest.mark.exhaustive(1)
def test_real_function_is_within_four_units_in_the_last_place_of_numpy(op, dtype, tmp_path):
    rng = np.random.default_rng(1)
    arrays = [numbers(dtype, rng)]
    if op in BINARY:
        pairs = np.meshgrid(arrays[0][:54], arrays[0][:54])
        arrays = [np.concatenate([x.ravel(), rng.permutation(arrays[0])]) for x in pairs]
    writer = Writer(1, arrays[0].size)
    fused = writer.fused(writer(op, *map(writer.load, arrays)))
    (y,) = Compiled(fused, tmp_path)(arrays)
    with np.errstate(all="ignore"):
        expected = ERFS[op](arrays[0].astype(float)).astype(dtype) if op in ERFS else function(op)(*arrays)
    if expected.dtype == bool:
        assert (y == expected).all()
    else:
        assert ulps(y, expected).max() <= MOST_ULP


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
def test_functions_of_whole_numbers_are_numpys(dtype, tmp_path):
    rng = np.random.default_rng(2)
    if dtype == "bool":
        arrays = [rng.integers(0, 2, 500).astype(bool) for _ in range(2)]
    else:
        info = np.iinfo(dtype)
        arrays = [rng.integers(info.min, info.max, 500, dtype, endpoint=True) for _ in range(2)]
        for x in arrays:
            x[:6] = 0, 1, info.min, info.max, 0, info.min
    writer = Writer(1, 500)
    loads = [writer.load(x) for x in arrays]
    results = []
    for op, row in ROWS.items():
        unsigned = op in ("negative", "abs") and dtype.startswith("u")
        if getattr(row, kind(loads[0].dtype)) is not None and not unsigned:
            results.append(writer(op, *loads[: 2 if op in BINARY else 1]))
    assert len(results) > 15
    for result in list(results[:4]):
        results.append(writer.cast(result, dtype="float32"))
        results.append(writer.cast(result, dtype="uint16" if result.dtype != "float64" else "float32"))
    fused = writer.fused(*results)
    for result, y, expected in zip(results, Compiled(fused, tmp_path)(arrays), interpreted(fused, arrays), strict=True):
        assert (y == expected).all(), result


@pytest.mark.parametrize("seed", half_of(range(20)))
def test_random_group_agrees_with_its_statements_in_any_order_of_chunks(seed, tmp_path):
    rng = np.random.default_rng(seed)
    rows, columns = SIZES[seed % len(SIZES)]
    fused, arrays = random_group(rng, rows, columns, int(rng.choice([5, 15, 40, 150])))
    compiled = Compiled(fused, tmp_path)
    chunks = compiled.source.chunks
    with np.errstate(all="ignore"):
        expected = interpreted(fused, arrays)
    for spans in (None, [(i, i + 1) for i in reversed(range(chunks))], [(chunks // 2, chunks), (0, chunks // 2)]):
        for result, y, wanted in zip(fused.results, compiled(arrays, spans), expected, strict=True):
            assert (y == wanted).all(), result


def test_chain_longer_than_one_function_keeps_values_in_scratch_memory(tmp_path):
    x, a = np.linspace(-1, 1, 5000).astype("float32"), np.full(1, 0.999, "float32")
    writer = Writer(1, x.size)
    kept = [writer.load(x)]
    factor = writer.load(a, "one")
    for _ in range(200):
        kept.append(writer.sin(writer.multiply(kept[-1], factor)))
    y = kept[-1]
    for item in kept[::-50]:  # values from all parts of the chain, last first
        y = writer.add(y, item)
    fused = writer.fused(y)
    compiled = Compiled(fused, tmp_path)
    assert compiled.source.scratch > 0
    np.testing.assert_allclose(compiled([x, a])[0], interpreted(fused, [x, a])[0], rtol=1e-5, atol=1e-7)


def test_hundreds_of_single_elements_are_read_added_and_scattered(tmp_path):
    x = np.random.default_rng(3).normal(size=40_000)
    writer = Writer(1, 1)
    number = writer.array(x)
    elements = [writer.element(number, 50 * i) for i in range(800)]
    total = writer.square(elements[0])
    for item in elements[1:]:
        total = writer.add(total, writer.square(item))
    doubles = [writer.multiply(item, 2.0) for item in elements]
    gradient = writer.scatter(x.size, [50 * i for i in range(799)] + [0], *doubles)
    y, gx = Compiled(writer.fused(total, gradient), tmp_path)([x])
    assert y[0] == pytest.approx((x[::50] ** 2).sum(), rel=1e-12)
    expected = np.zeros_like(x)
    expected[: 50 * 799 : 50] = 2 * x[: 50 * 799 : 50]
    expected[0] += 2 * x[50 * 799]
    assert (gx == expected).all()


@pytest.mark.parametrize("name", ["double", "gradients", "long", "one row", "tall", "whole"])
def test_normalizations_and_their_gradients_are_one_group(name, tmp_path):
    b, results = groups.SAMPLES[name]()
    fused = b.fused(*results)
    for y, expected in zip(Compiled(fused, tmp_path)(b.arrays), interpreted(fused, b.arrays), strict=True):
        np.testing.assert_allclose(y, expected, rtol=3e-5, atol=1e-7)


def gradients(rows):
    b, results = groups.gradients(rows, 64)
    return b.fused(*results)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [7, 16, 129, 1000, CHUNK + 1, 1_000_003])
def test_sum_is_at_least_as_accurate_as_numpys_and_the_same_for_any_chunks(dtype, size, tmp_path):
    ours = theirs = 0.0
    writer = Writer(1, size)
    compiled = Compiled(writer.fused(writer.sum(writer.load(np.zeros(size, dtype)), level="one")), tmp_path)
    for seed in range(8):
        x = np.random.default_rng(seed).uniform(0, 1, size).astype(dtype)
        exact = math.fsum(x.astype(float))
        (y,) = compiled([x])
        chunks = compiled.source.chunks
        assert y == compiled([x], [(i, i + 1) for i in reversed(range(chunks))])[0]
        ours, theirs = ours + abs(float(y[0]) - exact), theirs + abs(float(x.sum()) - exact)
    assert ours <= max(theirs, 8 * size * np.finfo(dtype).eps)


@pytest.mark.parametrize("size", [20, 5000])
def test_sum_of_negative_zeros_and_largest_of_nan_are_numpys(size, tmp_path):
    x = np.full(size, -0.0)
    writer = Writer(1, size)
    load = writer.load(x)
    compiled = Compiled(writer.fused(*(writer(op, load, level="one") for op in ("sum", "max", "min"))), tmp_path)
    assert [bool(np.signbit(y)) for y in np.ravel(compiled([x]))] == [
        bool(np.signbit(f(x))) for f in (np.sum, np.max, np.min)
    ]
    x[size // 2] = np.nan
    assert np.isnan(compiled([x])).all()


def test_text_depends_only_on_structure():
    texts = {generate(gradients(130), name).text for name in ("f", "g")}
    assert len(texts) == 1
    assert PLACEHOLDER in texts.pop()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gcc_makes_a_loop_on_vectors_of_a_bool_times_a_number(dtype):
    command = [COMPILER, *FLAGS, "-fopt-info-vec-optimized", "-x", "c", "-", "-c", "-o", "/dev/null"]
    writer = Writer(1, 70000)
    x, g = (writer.load(np.ones((1, 70000), dtype)) for _ in range(2))
    gate = writer.cast(writer.greater(writer.maximum(x, 0.0), 0.0), dtype=dtype)
    text = generate(writer.fused(writer.maximum(x, 0.0), writer.multiply(g, gate)), "f").text
    found = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if found.returncode:
        pytest.skip("the compiler is not gcc: it does not say what it has made loops on vectors")
    assert "loop vectorized" in found.stderr


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sine_and_cosine_of_one_number_are_separate_functions(dtype):
    command = [COMPILER, *FLAGS, "-x", "c", "-", "-S", "-o", "-"]
    writer = Writer(1, 70000)
    x = writer.load(np.ones((1, 70000), dtype))
    text = generate(writer.fused(writer.multiply(writer.sin(x), writer.cos(x))), "f").text
    found = subprocess.run(command, input=text, text=True, capture_output=True, check=True)
    assert "cos" in found.stdout
    assert "sincos" not in found.stdout  # which has no version for vectors


def test_small_space_is_one_chunk_and_needs_no_second_call():
    source = generate(gradients(30), "f")
    assert (source.chunks, source.ends) == (1, False)
    source = generate(gradients(4000), "f")
    assert source.chunks > 1
    assert source.ends


@pytest.mark.parametrize("statement", [
    Statement("add", (), "complex64", "point"), Statement("constant", (), "int8", "one", 300),
    Statement("constant", (), "int32", "one", 0.5), Statement("constant", (), "float32", "one", 1j),
    Statement("cast", (Statement("load", (), "float32", "point", 0),), "int32", "point"),
    Statement("divide", (Statement("load", (), "int32", "point", 0),) * 2, "int32", "point"),
    Statement("pow", (Statement("load", (), "int32", "point", 0),) * 2, "int32", "point"),
    Statement("unknown", (Statement("load", (), "float32", "point", 0),), "float32", "point"),
    Statement("sum", (Statement("load", (), "bool", "point", 0),), "bool", "one"),
], ids=repr)  # fmt: skip
def test_statement_without_a_row_is_declined(statement):
    assert not has_row(statement)


def test_functions_of_libm_have_no_row_without_vector_math():
    x = Statement("load", (), "float32", "point", 0)
    assert not has_row(Statement("tanh", (x,), "float32", "point"), vector_math=False)
    assert has_row(Statement("sqrt", (x,), "float32", "point"), vector_math=False)
