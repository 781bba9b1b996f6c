"""Calls of compiled groups: accepted arrays, and the handling of other arrays."""

import gc
import itertools
import sys
import threading
import weakref

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import (
    BACKEND,
    arrays_for,
    multiply_add,
    needs_compiler,
    program_of,
    sum_of_all,
)  # fmt: skip
from tests.threads import for_each

from xpgrad_c import groups as module
from xpgrad_c import layout, library
from xpgrad_c.background import background
from xpgrad_c.executor import GROUPS, c_executor, groups_of, wait
from xpgrad_c.generator import GroupSource
from xpgrad_c.groups import CompiledGroup

pytestmark = [needs_compiler, pytest.mark.usefixtures("shared_folder")]

FUNCTIONS = "glue", "addresses"


@pytest.fixture(autouse=True)
def _shared_soon(monkeypatch):
    """Let threads share smaller groups than usual."""
    monkeypatch.setattr(library, "SHARED_FROM", 2**16)


class Refused(Exception):
    """Raised by the fallback of a group that should be computed by C."""


def refuse(*arrays):
    raise Refused


def function_of(group, way="glue", fallback=refuse, monkeypatch=None):
    """Return the compiled function of a group, called through the glue or through the addresses of arrays."""
    if way == "addresses":
        monkeypatch.setattr(module, "layout_of", lambda backend, spec: None)
    groups = module.CompiledGroups(BACKEND)
    made = groups(group, fallback)
    groups.start()
    assert wait(60)
    assert made.state == "C", made.state
    return made.current


@pytest.mark.parametrize("way", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (1,), (5, 7), (4099,), (3, 1, 50_000)])
def test_group_agrees_with_its_calls(shape, way, monkeypatch):
    group = multiply_add(shape)
    arrays = arrays_for(group)
    expected = group(*arrays)[0]
    (y,) = function_of(group, way, monkeypatch=monkeypatch)(*arrays)
    assert type(y) is np.ndarray
    assert y.dtype == np.float32
    assert y.shape == shape
    np.testing.assert_array_equal(y, expected)


LAYOUTS = {
    "transposed": lambda x: np.asfortranarray(x),
    "every second": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "in the middle": lambda x: np.concatenate([x, x, x])[len(x) : 2 * len(x)],
    "not aligned": lambda x: np.frombuffer(b"." + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "mapped": lambda x: x.view(np.memmap),
}


@pytest.mark.parametrize("way", FUNCTIONS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_in_any_order_are_computed_by_c(name, way, monkeypatch):
    group = multiply_add()
    arrays = arrays_for(group)
    function = function_of(group, way, monkeypatch=monkeypatch)
    for changed in itertools.product((False, True), repeat=3):
        given = [LAYOUTS[name](x) if change else x for x, change in zip(arrays, changed, strict=True)]
        np.testing.assert_array_equal(function(*given)[0], group(*given)[0])


@pytest.mark.parametrize("way", FUNCTIONS)
def test_arrays_in_fortran_order_are_not_copied_and_give_results_in_that_order(way, monkeypatch):
    group = multiply_add()
    arrays = [np.asfortranarray(x) for x in arrays_for(group)]
    function = function_of(group, way, monkeypatch=monkeypatch)
    monkeypatch.setattr(type(BACKEND.programs), "contiguous", refuse)
    (y,) = function(*arrays)
    assert y.flags.f_contiguous
    np.testing.assert_array_equal(y, group(*arrays)[0])


@pytest.mark.parametrize("way", FUNCTIONS)
@pytest.mark.parametrize("change", [
    lambda x: x.astype(np.float64), lambda x: x.astype(">f4"), lambda x: x.T, lambda x: x[:, :-1], lambda x: x[0],
    lambda x: x[0, 0], lambda x: 1.5, lambda x: None,
])  # fmt: skip
def test_arrays_that_do_not_match_the_program_use_the_fallback(change, way, monkeypatch):
    group = multiply_add()
    x, y, z = arrays_for(group)
    function = function_of(group, way, lambda *arrays: arrays, monkeypatch)
    given = change(y)
    answer = function(x, given, z)
    assert answer[0] is x
    assert answer[1] is given
    assert answer[2] is z


def test_a_wrong_number_of_arrays_goes_to_the_fallback_too():
    function = function_of(multiply_add())
    with pytest.raises((Refused, ValueError)):
        function()


@pytest.mark.parametrize("way", FUNCTIONS)
def test_results_are_new_and_the_arguments_are_let_go(way, monkeypatch):
    group = multiply_add()
    arrays = arrays_for(group)
    given = [np.asfortranarray(arrays[0]), *arrays[1:]]
    function = function_of(group, way, monkeypatch=monkeypatch)
    function(*given)
    before = [sys.getrefcount(x) for x in given]
    (y,) = function(*given)
    assert y.base is None
    assert y.flags.owndata
    assert not any(np.shares_memory(y, x) for x in given)
    new = np.empty(1)
    assert sys.getrefcount(y) == sys.getrefcount(new)
    assert [sys.getrefcount(x) for x in given] == before


def test_ten_thousand_calls_are_flat_in_memory():
    tracemalloc = pytest.importorskip("tracemalloc")
    group = multiply_add()
    arrays = arrays_for(group)
    given = [np.asfortranarray(arrays[0]), *arrays[1:]]
    function = function_of(group)
    function(*given)
    tracemalloc.start()
    try:
        for _ in range(100):
            function(*given)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10_000):
            function(*given)
        assert tracemalloc.get_traced_memory()[0] - before < 10_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("way", FUNCTIONS)
@pytest.mark.parametrize("field", ["scratch", "partials"])
@pytest.mark.parametrize("size", [100, 200_000])
def test_without_memory_for_scratch_the_fallback_computes(field, size, way, monkeypatch):
    whole = module.generate

    def greedy(fused, name, *, vector_math):
        source = whole(fused, name, vector_math=vector_math)
        sizes = {"scratch": source.scratch, "partials": source.partials, field: 2**62}
        return GroupSource(source.name, source.text, source.chunks, ends=source.ends, **sizes)

    monkeypatch.setattr(module, "generate", greedy)
    monkeypatch.setattr(module, "index_name", lambda *given: None)  # the index on disk belongs to the true generator
    group = multiply_add((size,))
    function = function_of(group, way, lambda *arrays: ("fallback",), monkeypatch)
    assert function(*arrays_for(group)) == ("fallback",)


def test_an_error_of_the_allocator_is_raised(monkeypatch):
    monkeypatch.setattr(type(BACKEND.programs), "allocator", lambda self, spec: no_memory)
    group = multiply_add()
    function = function_of(group)
    x, y, z = arrays_for(group)
    with pytest.raises(MemoryError):
        function(np.asfortranarray(x), y, z)


def no_memory():
    raise MemoryError


def test_an_error_in_a_thread_is_raised(monkeypatch):
    def failing(task, count):
        raise KeyboardInterrupt

    group = multiply_add((300_000,))
    function = function_of(group)
    monkeypatch.setattr(library, "run_all", failing)
    with pytest.raises(KeyboardInterrupt):
        function(*arrays_for(group))


@pytest.mark.parametrize("way", FUNCTIONS)
@pytest.mark.parametrize("make", [lambda n: multiply_add((n,)), sum_of_all])
@pytest.mark.parametrize("size", [40_000, 65_536, 300_001])
def test_results_do_not_depend_on_the_number_of_threads(make, size, way, monkeypatch):
    group = make(size)
    arrays = arrays_for(group)
    function = function_of(group, way, monkeypatch=monkeypatch)
    results = []
    for number in ("1", "2", "7"):
        monkeypatch.setenv("XPGRAD_NUM_THREADS", number)
        results.append(function(*arrays)[0])
    np.testing.assert_allclose(results[0], group(*arrays)[0], rtol=1e-6)
    assert len({result.tobytes() for result in results}) == 1


def test_several_threads_may_call_one_function():
    group = multiply_add((200_000,))
    function = function_of(group)

    def work(seed):
        arrays = arrays_for(group, seed)
        expected = group(*arrays)[0]
        for _ in range(5):
            assert np.array_equal(function(*arrays)[0], expected)

    for_each(work, range(6))


def test_program_calls_the_fallback_until_c_is_compiled():
    group = multiply_add()
    calls = []

    def fallback(fused):
        return lambda *arrays: calls.append(arrays) or fused(*arrays)

    run = c_executor(program_of(group), fallback)
    assert wait(60)
    arrays = arrays_for(group)
    np.testing.assert_array_equal(run(*arrays)[0], group(*arrays)[0])
    assert not calls
    assert not any(isinstance(item, CompiledGroup) for item in run.__globals__.values())
    assert [group.state for group in groups_of(run)] == ["C"]
    run(*(x.astype(np.float64) for x in arrays))
    assert len(calls) == 1


def test_deleted_programs_are_neither_kept_nor_compiled(monkeypatch):
    compiled, ready = [], threading.Event()
    monkeypatch.setattr(module.CompiledGroups, "_compile", lambda groups, tools: compiled.append(groups))
    background.submit(ready.wait)
    try:
        kept = c_executor(program_of(multiply_add((1001,))))
        gone = [weakref.ref(c_executor(program_of(multiply_add((n,)))).__globals__[GROUPS]) for n in range(1002, 1012)]
        gc.collect()
        assert [groups() for groups in gone] == [None] * 10
    finally:
        ready.set()
    assert wait(60)
    assert compiled == [kept.__globals__[GROUPS]]


def check_program(run, *groups):
    arrays = [x for group in groups for x in arrays_for(group)]
    for y, group in zip(run(*arrays), groups, strict=True):
        np.testing.assert_array_equal(y, group(*arrays_for(group))[0])


def test_equal_groups_are_compiled_once(monkeypatch):
    texts = []
    monkeypatch.setattr(module, "library_text", lambda sources: texts.append(len(sources)) or LIBRARY_TEXT(sources))
    same, other = (multiply_add(), multiply_add()), multiply_add((9,))
    run = c_executor(program_of(*same, other))
    assert wait(60)
    assert set(texts) == {2}
    check_program(run, *same, other)


LIBRARY_TEXT = module.library_text


def test_many_groups_are_compiled_one_library_after_the_other(folder, monkeypatch):
    monkeypatch.setattr(module, "MOST_GROUPS", 2)
    groups = [multiply_add((n,)) for n in range(3, 8)]
    run = c_executor(program_of(*groups))
    assert wait(60)
    assert len(list(folder.glob("*.so"))) == 3
    check_program(run, *groups)


def test_a_group_without_source_stays_with_its_fallback(monkeypatch):
    whole, left_out = module.generate, multiply_add((9,))
    monkeypatch.setattr(
        module,
        "generate",
        lambda fused, *args, **options: None if fused is left_out else whole(fused, *args, **options),
    )
    groups = module.CompiledGroups(BACKEND)
    made = [groups(group, group) for group in (multiply_add(), left_out)]
    groups.start()
    assert wait(60)
    assert [group.state for group in made] == ["C", "C has no row for one of its functions"]


WRONG = {
    "data": lambda stated: {"data": stated["data"] + 8},
    "rank": lambda stated: {"rank": stated["rank"] + 40},
    "shape": lambda stated: {"shape": stated["data"]},
    "dtype": lambda stated: {"dtype": stated["dtype"] - 8},
    "flags": lambda stated: {"flags": stated["rank"]},
    "contiguous": lambda stated: {"contiguous": 0x400},
    "after the object": lambda stated: {"data": 10**6},
    "before the object": lambda stated: {"data": -8},
    "unknown": lambda stated: {"more": 1},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_layout_that_differs_from_the_arrays_or_is_outside_of_them_is_not_used(name, monkeypatch):
    spec, stated = BACKEND.spec(np.empty(3, np.float32)), BACKEND.programs.array_layout()
    assert layout.layout_of(BACKEND, spec) is not None
    monkeypatch.setattr(type(BACKEND.programs), "array_layout", lambda self: stated | WRONG[name](stated))
    assert layout.layout_of(BACKEND, spec) is None
