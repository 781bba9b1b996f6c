"""Executors: the generated source in tracebacks, parts, threads, failing plugins, and memory use of a run."""

import gc
import linecache
import math
import traceback
import tracemalloc
import warnings

import numpy as np
import pytest
from tests.core.backend.third_party import ThirdParty
from tests.core.transforms.trace.random_programs import BACKEND, XP, bits, interpreted, spec
from tests.core.transforms.trace.small_programs import Writer
from tests.threads import for_each

import xpgrad
from xpgrad.backend.contract import PluginWarning
from xpgrad.backend.executors import executor_name
from xpgrad.errors import CompileWarning, TraceError
from xpgrad.transforms.trace import kinds, source
from xpgrad.transforms.trace.executors import choice, executor_for, python
from xpgrad.transforms.trace.groups import group_of
from xpgrad.transforms.trace.passes import apply_passes
from xpgrad.transforms.trace.program import Call, Program, Value
from xpgrad_fusion.group import Fused

X = np.linspace(0.1, 1.0, 12).reshape(3, 4)


def chain(count, x=X):
    """A chain of sines, each of which is needed again, last first: as in a backward pass."""
    kept = [Value(spec(x), "x")]
    calls = []
    for _ in range(count):
        kept.append(Value(spec(x)))
        calls.append(Call("sin", np.sin, (kept[-2],), {}, (kept[-1],)))
    g = kept[-1]
    for value in reversed(kept[:-1]):
        new = Value(spec(x))
        calls.append(Call("multiply", np.multiply, (g, value), {}, (new,)))
        g = new
    return Program("chain", kept[:1], (g, kept[-1]), tuple(calls))


def failing(a):
    raise ZeroDivisionError("no inverse")


@pytest.mark.usefixtures("few_objects")
def test_a_traceback_shows_the_line_of_the_generated_source_as_long_as_the_program_exists() -> None:
    w = Writer(X)
    y = w(np.sin, *w.inputs)
    program = w.program(y)
    bad = Call("linalg.inv", failing, (y,), {}, (Value(spec(X), "inverse"),), line=("/home/user/fit.py", 7, "loss"))
    run = executor_for(program.replaced(calls=(*program.calls, bad)), BACKEND, "python")
    with pytest.raises(ZeroDivisionError) as caught:
        run(X)
    text = "".join(traceback.format_exception(caught.value))
    assert "inverse = linalg_inv(v2)  # fit.py:7" in text
    file = run.__code__.co_filename
    assert file in linecache.cache
    linecache.checkcache()
    assert file in linecache.cache
    del run, caught
    gc.collect()
    assert file not in linecache.cache


def test_a_long_program_is_several_functions_of_at_most_1000_lines() -> None:
    program = apply_passes(chain(3000))
    lengths = [len(part.splitlines()) for part in program.source().split("\ndef ")]
    assert len(lengths) > 6
    assert max(lengths) <= 1000
    assert list(map(bits, executor_for(program, BACKEND, "python")(X))) == list(map(bits, interpreted(program, (X,))))


def test_values_between_parts_are_freed_after_their_last_use(monkeypatch) -> None:
    monkeypatch.setattr(source, "MAX_LINES", 10)
    x = np.linspace(0.1, 1.0, 10_000)
    program = apply_passes(chain(100, x))
    run = executor_for(program, BACKEND, "python")
    run(x)
    tracemalloc.start()
    run(x)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.95 * program.peak_bytes < most < 1.1 * program.peak_bytes
    assert program.peak_bytes < 1.1 * 100 * x.nbytes
    assert chain(100, x).peak_bytes == 200 * x.nbytes  # without passes no array is freed


def test_results_of_a_run_are_unchanged_in_later_runs_and_threads() -> None:
    x = np.linspace(0.1, 1.0, 10_000)
    program = apply_passes(chain(40, x))
    run = executor_for(program, BACKEND, "python")
    wanted = {k: list(map(bits, interpreted(program, (x * k,)))) for k in range(8)}
    found = for_each(lambda k: [run(x * k) for _ in range(5)], range(8))
    assert all(list(map(bits, results)) == wanted[k] for k in range(8) for results in found[k])
    results = [array for k in range(8) for run in found[k] for array in run]
    assert len({array.__array_interface__["data"][0] for array in results}) == len(results)


HOOK = """
@hookimpl
def xpgrad_executor(backend):
    def executor(program):
        {body}
    return {answer}
"""


@pytest.mark.parametrize(
    ("body", "answer", "warning"),
    [
        ("return None", "None", None),
        ("return None", "NotImplemented", None),
        ("return 'never'", "executor", None),
        ("return None", "executor", None),
        ("raise ValueError('no compiler')", "executor", "its executor failed for f: ValueError: no compiler"),
        ("return 7", "executor", "PluginError: expected a function, NotImplemented or a text, got int"),
        ("raise SystemExit", "executor", "its executor failed for f: SystemExit"),
        ("return None", "7", "its hook xpgrad_executor returned int, expected a function"),
        ("return None", "backend.nonsense", "its hook xpgrad_executor failed: AttributeError"),
    ],
)
def test_a_program_runs_where_an_executor_declines_or_fails(
    body, answer, warning, third_party: ThirdParty, monkeypatch, recwarn
) -> None:
    third_party.install("xpgrad-fast", HOOK.format(body=body, answer=answer), modules="numpy")
    loaded = third_party.plugins()
    monkeypatch.setattr(choice, "plugins", loaded)
    monkeypatch.setattr(choice, "EXECUTORS", {"python": python.python_executor})
    w = Writer(X)
    program = w.program(w(np.sin, *w.inputs))
    run = executor_for(program, loaded.backend("numpy"))
    assert bits(run(X)[0]) == bits(np.sin(X))
    assert [warning in str(w.message) for w in recwarn.list if w.category is PluginWarning] == [True] * bool(warning)


def test_the_executor_of_a_plugin_runs_the_program(third_party: ThirdParty, monkeypatch) -> None:
    body = "return lambda *arrays: (program.name, len(arrays))"
    third_party.install("xpgrad-fast", HOOK.format(body=body, answer="executor"), modules="numpy")
    loaded = third_party.plugins()
    monkeypatch.setattr(choice, "plugins", loaded)
    w = Writer(X)
    assert executor_for(w.program(w(np.sin, *w.inputs)), loaded.backend("numpy"))(X) == ("f", 1)


def test_an_executor_is_chosen_by_name(monkeypatch) -> None:
    asked = []

    def slow(program):
        asked.append("slow")
        return python.python_executor(program)

    def never(program):
        asked.append("never")
        return NotImplemented

    executors = {"never": never, "slow": slow, "python": python.python_executor}
    monkeypatch.setattr(choice, "EXECUTORS", executors)
    f, wanted = (lambda x: x * 2.0), X * 2.0
    for name, found, tried in (
        (None, "slow", ["never", "slow"]),
        ("slow", "slow", ["slow"]),
        ("python", "python", []),
        ("never", "slow", ["never", "slow"]),
    ):
        asked.clear()
        compiled = xpgrad.compile(f, executor=name)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert all(np.array_equal(compiled(x), x * 2.0) for x in (X, X, X, X[:1], X[:1], X[:1]))
        assert [str(w.message) for w in seen if w.category is CompileWarning] == (
            ["compile: the executor 'never' does not take programs of numpy like <lambda>; the next best one runs it"]
            * (name == "never")
        )
        assert all(w.filename == __file__ for w in seen)
        assert compiled.program(X).executor == found
        assert set(asked) == set(tried)
    assert np.array_equal(xpgrad.compile(f, exact=True)(X), wanted)
    compiled = xpgrad.compile(f, exact=True)
    assert compiled.program(X).executor == "python"


def test_a_requested_executor_that_rejects_a_program_raises(monkeypatch) -> None:
    executors = {"never": lambda program: NotImplemented, "python": python.python_executor}
    monkeypatch.setattr(choice, "EXECUTORS", executors)
    compiled = xpgrad.compile(lambda x: x * 2.0, executor="never", strict=True)
    compiled(X)
    with pytest.raises(TraceError, match="compile: the executor 'never' does not take programs of numpy"):
        compiled(X)


def test_unknown_executor_raises_with_the_available_names() -> None:
    with pytest.raises(ValueError, match=r"compile: there is no executor 'fortran'; there are .*python, and those of"):
        xpgrad.compile(abs, executor="fortran")
    with pytest.raises(ValueError, match="exact=True needs the executor 'python', got 'numpy'"):
        xpgrad.compile(abs, executor="numpy", exact=True)


def test_options_apply_to_derivatives_and_derived_functions() -> None:
    made = []

    def python_only(program):
        made.append(program.name)
        return python.python_executor(program)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "EXECUTORS", {"mine": python_only, "python": python.python_executor})
        compiled = xpgrad.compile(xpgrad.array_api.sin, executor="mine")
        for _ in range(3):
            compiled(xpgrad.Variable(X)).sum().backward()
        assert set(made) == {"sin", "vjp of sin"}
        again = compiled.__xpgrad_transformed__(lambda f: f)
        assert again.program(X).executor == "mine"


def test_the_shown_program_is_the_program_of_the_executor(monkeypatch) -> None:
    def renaming(program):
        def run(*arrays):
            return plain(*arrays)

        plain = python.python_executor(program)
        run.program = program.replaced(name="renamed", notes=("mine: all new",))
        return run

    monkeypatch.setattr(choice, "EXECUTORS", {"renaming": renaming, "python": python.python_executor})
    text = xpgrad.compile(lambda x: (x * 2.0).sum()).program(X).explain()
    assert text.splitlines() == [
        "renamed: 2 calls, run by renaming",
        "  memory: at most 104 B at a time, results 104 B",
        "  on their own: 2 calls: multiply, sum",
        "  passes:",
        "    mine: all new",
    ]


@pytest.mark.usefixtures("codegen")
def test_a_program_shows_the_groups_that_run() -> None:
    xp = xpgrad.array_api
    compiled = xpgrad.compile(lambda x: xp.sum(xp.tanh(x * 1.5) * x), executor="c")
    x = np.ones(400_000)
    program = compiled.program(x)
    if program.executor != "c":
        pytest.skip("there is no C compiler")
    assert "  computed together: 4 calls in 1 group\n    1 x 400,000, 4 calls, reads 3.2 MB" in program.explain()
    shown = str(program).splitlines()
    assert [line.split()[0] for line in shown[2:6]] == ["block"] * 4
    assert "tanh(" in shown[3]
    assert "fused(" in shown[6]


def test_an_explanation_names_fused_calls() -> None:
    w = Writer(X)
    (x,) = w.inputs
    y = w(np.multiply, x, x)
    z = w(np.sin, y)
    program = w.program(w(XP.sum, z, name="sum"))
    call, other, last = program.calls
    notes = ("sum: float16 is not summed in one loop",)
    fused = Fused(1, 12, (x,), (z,), {}, (), (), (call, other), notes).as_call()
    text = program.replaced(calls=(fused, last), executor="c").explain()
    assert text.splitlines() == [
        "f: 3 calls, run by c",
        "  memory: at most 104 B at a time, results 104 B",
        "  computed together: 2 calls in 1 group",
        "    1 x 12, 2 calls, reads 96 B, writes 96 B: multiply, sin",
        "      sum: float16 is not summed in one loop",
        "  on their own: 1 call: sum",
    ]


def test_a_long_program_from_few_lines_recommends_scan(monkeypatch) -> None:
    monkeypatch.setattr(kinds, "LONG", 60)
    monkeypatch.setattr(kinds, "MIN_REPEATS", 30)

    def f(x, n):
        for _ in range(n):
            x = x * 0.5 + 1
        return x

    compiled = xpgrad.compile(f, executor="python")
    compiled(X, 20)
    compiled(X, 20)
    compiled(X, 40)
    with pytest.warns(CompileWarning, match=r"has 80 calls, 80 of them from line \d+ of test_executors.py.*scan"):
        compiled(X, 40)


@pytest.mark.usefixtures("codegen")
def test_an_explanation_gives_reasons_for_ungrouped_calls() -> None:
    xp = xpgrad.array_api
    f = xpgrad.compile(
        lambda x: (xp.sort(x) * 2 + 1, xp.astype(x, "float16"), x[::2], xp.cumulative_sum(x)), executor="c"
    )
    program = f.program(np.ones(200_000))
    if program.executor != "c":
        pytest.skip("there is no C compiler")
    text = program.explain()
    for reason in (
        "sort: a function of the library, with no formula for each element", "astype: dtype float16",
        "getitem: an index of several elements", "cumulative_sum: no statements for cumulative_sum",
    ):  # fmt: skip
        assert f"\n    {reason}" in text
    assert text.count("cumulative_sum") == 3


def test_a_very_long_program_is_warned_of(monkeypatch) -> None:
    monkeypatch.setattr(python, "MAX_CALLS", 10)
    with pytest.warns(CompileWarning, match=r"has 12 calls.*leave the loop outside"):
        executor_for(chain(6), BACKEND, "python")


def test_constants_are_exact_in_the_source() -> None:
    zero = complex(-0.0, -0.0)
    numbers = [0.1, -0.0, math.inf, -math.inf, math.nan, 1e-320, 2**70, True, 1, zero, "a'b\n", None, ...]
    seen = []

    def keep(x, *args, **kwargs):
        seen.append((args, kwargs))
        return np.sin(x)

    x, y = Value(spec(X)), Value(spec(X))
    given = (*numbers, tuple(numbers), [1, -0.0], slice(None, 2, None), (slice(0, 1), ...), np.dtype("f4"), {"a": 1})
    call = Call("keep", keep, (x, *given), {"key": given}, (y,))
    executor_for(Program("f", (x,), (y,), (call,)), BACKEND, "python")(X)
    args, kwargs = seen[0]
    assert repr(args) == repr(given) == repr(kwargs["key"])


def test_names_come_from_the_users_source_line() -> None:
    w = Writer(X)
    (x,) = w.inputs
    h = w(np.sin, x)
    h = w(np.tanh, h)  # the line number of an assignment to `h`
    line = (__file__, h_line(), "test")
    calls = tuple(call.replaced(line=line) for call in w.calls)
    program = Program("loss", w.inputs, (h,), calls)
    text = program.source()
    assert "    h = tanh(v2)" in text
    assert f"v2 = sin(v1)  # test_executors.py:{line[1]}" in text


def h_line():
    lines = enumerate(linecache.getlines(__file__), 1)
    return next(i for i, line in lines if line.strip().startswith("h = w(np.tanh"))


def test_text_and_graph_name_each_call_with_its_array_and_bytes() -> None:
    w = Writer(X)
    (x,) = w.inputs
    total = w(XP.sum, w(np.multiply, x, X), axis=None, name="sum")
    program = w.program(total, X)
    text = str(program)
    assert "multiply(v1, <float64 (3, 4)>)" in text
    assert "f: 2 calls, results 104 B, at most 104 B at a time" in text
    assert text.count("\n") == 5
    graph = program.to_graphviz().source
    assert graph.startswith('digraph "f" {')
    assert graph.count("->") == 3


def test_an_executor_on_request_is_used_only_by_its_name(third_party: ThirdParty, monkeypatch) -> None:
    hook = HOOK.format(body="return lambda *arrays: ('slow to make',)", answer="executor")
    third_party.install(
        "xpgrad-slow", hook.replace("    return exe", "    executor.on_request = True\n    return exe"), modules="numpy"
    )
    loaded = third_party.plugins()
    monkeypatch.setattr(choice, "plugins", loaded)
    monkeypatch.setattr(choice, "EXECUTORS", {"python": python.python_executor})
    w = Writer(X)
    program, backend = w.program(w(np.sin, *w.inputs)), loaded.backend("numpy")
    np.testing.assert_allclose(executor_for(program, backend)(X)[0], np.sin(X), rtol=1e-15)  # by C, if that is loaded
    (name,) = (executor_name(module) for module in loaded.records if "slow" in module)
    assert choice.checked_executor(name, exact=False) == name
    assert executor_for(program, backend, name)(X) == ("slow to make",)


def test_arrays_without_addresses_in_host_memory_are_left_to_their_library() -> None:
    """They may be immutable, lazy or on a GPU: no function of xpgrad may write to parts of these arrays."""
    xp, x = xpgrad.array_api, xpgrad.get_device("@strict").send(np.linspace(0.1, 1.0, 2**17))
    compiled = xpgrad.compile(lambda x: xp.sum(xp.tanh(x * 1.5) * x), executor="c")
    compiled(x)
    with pytest.warns(CompileWarning, match=r"of strict like <lambda> \(its arrays are not in host memory\)"):
        compiled(x)
    assert compiled.program(x).executor == "python"
    assert not any(map(group_of, compiled.program(x).calls))
