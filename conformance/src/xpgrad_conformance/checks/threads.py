"""Family P, threads: computations in parallel threads give the results of sequential runs, without side effects."""

import copy
import functools
import pickle
from typing import Any

import numpy as np

from xpgrad import Variable, grad, no_backprop_mode, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.plugin import Spec
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import COUNT, in_another_thread, run_concurrently
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits


def _program(s: Subject, host: Any, dtype: str) -> list[Any]:
    """Return value and gradients of a program with every common kind of function, on the host."""
    xp = s.xp
    x = s.variable(host, dtype)
    w = s.variable(np.ascontiguousarray(host.T) * 0.5, dtype)
    h = xp.tanh(xp.matmul(x, w) + 0.25)
    h = xp.exp(h * 0.5 - xp.max(h, axis=1, keepdims=True))
    h = h / xp.sum(h, axis=1, keepdims=True)
    h = xp.log(h + 1.0) * xp.sqrt(xp.abs(h) + 0.5)
    y = xp.sum(xp.concat([h, -h[:1, ...]])) + xp.mean(x * x) + xp.sum(x)
    y.backward()
    return [s.host(each) for each in (y, x.grad, w.grad)]


def _assert_same(results: list[Any], expected: list[Any], what: str) -> None:
    for i, (one, two) in enumerate(zip(results, expected, strict=True)):
        name = ("the value", "the gradient of x", "the gradient of w")[i]
        assert_same_bits(one, two, f"{what}: {name} in one of several threads, and in a single thread,")


@check("P01", needs=("threads",))
def forward_and_backward(s: Subject) -> None:
    """Eight threads that compute one program on different values get the results of a single thread, bit for bit."""
    hosts = [s.values((5, 7), -1.0, 1.0) for _ in range(COUNT)]
    calls = [functools.partial(_program, s, host, s.wide) for host in hosts]
    expected = [call() for call in calls]
    for attempt in range(2):
        for i, results in enumerate(run_concurrently(list(calls))):
            _assert_same(results, expected[i], f"attempt {attempt}, thread {i}")


@check("P02", needs=("threads",))
def fresh_shapes(s: Subject) -> None:
    """Threads that meet new shapes and dtypes at the same time fill all caches without harm."""
    dtypes = [name for name in ("float64", "float32") if s.has(name)]
    hosts = [(s.values((3 + i % 4, 4 + i), -1.0, 1.0, dtypes[i % len(dtypes)])) for i in range(COUNT)]
    calls = [functools.partial(_program, s, host, host.dtype.name) for host in hosts]
    calls += [calls[0], calls[1]]
    results = run_concurrently(list(calls))
    for i, (call, found) in enumerate(zip(calls, results, strict=True)):
        _assert_same(found, call(), f"thread {i}, shape {hosts[i % COUNT].shape}, {hosts[i % COUNT].dtype}")
    handle, dtype = s.device.handle, s.array(np.ones(1)).dtype

    def asked(n: int) -> list[Spec]:
        return [s.backend.spec_for((i, n), dtype, handle) for i in range(10)]

    different = []
    for n in range(991, 1015):
        rounds = zip(*run_concurrently([functools.partial(asked, n)] * COUNT), strict=True)
        different += [specs[0] for specs in rounds if any(spec is not specs[0] for spec in specs)][:1]
    # one round may meet the moment at which a full cache of specs is emptied
    assert len(different) <= 1, f"threads got several objects for the spec {different[0]!r}"


@check("P03", needs=("threads",))
def one_graph(s: Subject) -> None:
    """Several threads can sweep one graph concurrently."""
    host = s.values((5, 7), -1.0, 1.0)
    x = s.variable(host)
    y = s.xp.sum(s.xp.exp(s.xp.tanh(x * 1.5) * x) + x * x * 0.5)
    starts = [s.array(np.asarray(0.5 + i)) for i in range(COUNT)]

    def swept(i: int, recorded: bool) -> Any:
        return s.host(grad([y], [x], [Variable(starts[i])], enable_double_backprop=recorded)[0])

    for recorded in (False, True):
        calls = [functools.partial(swept, i, recorded) for i in range(COUNT)]
        expected = [call() for call in calls]
        for i, found in enumerate(run_concurrently(list(calls))):
            kind = "recorded" if recorded else "raw"
            assert_same_bits(
                found, expected[i], f"{kind} sweep {i} of one graph, in one of several threads and in a single thread,"
            )


@check("P04", needs=("threads",))
def built_elsewhere(s: Subject) -> None:
    """A graph built in one thread is swept in another thread with a different configuration and current device."""
    host = s.values((5, 7), -1.0, 1.0)
    here, there = s.pair
    xp = namespace(here.backend)

    def built() -> tuple[Variable, Variable]:
        with using_device(here):
            x = s.variable(host, device=here)
            return x, xp.sum(xp.tanh(x) * x)

    x, y = in_another_thread(built)
    with using_device(there), no_backprop_mode():
        y.backward()
    wide = host.astype(float)
    s.expect(
        x.grad, np.tanh(wide) + wide * (1 - np.tanh(wide) ** 2), "the gradient of another thread's graph", device=here
    )
    x, y = built()
    in_another_thread(y.backward)
    s.expect(
        x.grad,
        np.tanh(wide) + wide * (1 - np.tanh(wide) ** 2),
        "the gradient of a graph swept in another thread",
        device=here,
    )


@check("P09", needs=("threads",))
def errors(s: Subject) -> None:
    """An error in one thread affects no other thread, and no later computation."""
    hosts = [s.values((5, 7), -1.0, 1.0) for _ in range(COUNT)]
    calls = [functools.partial(_program, s, host, s.wide) for host in hosts]
    expected = [call() for call in calls]

    def fails() -> None:
        a, b = s.array(hosts[0]), s.array(hosts[1][:4])
        s.raises(Exception, lambda: s.host(s.kernels.matmul(a, b)), "matmul of (5, 7) and (4, 7)")

    in_another_thread(fails)
    _assert_same(calls[0](), expected[0], "after a matmul failed in another thread")
    results = run_concurrently([call if i % 2 else fails for i, call in enumerate(calls)])
    for i in range(1, COUNT, 2):
        _assert_same(results[i], expected[i], f"with threads in which matmul fails, thread {i}")
    _assert_same(calls[0](), expected[0], "after matmul failed in other threads")


@check("P10", needs=("threads",))
def kernels_looked_up(s: Subject) -> None:
    """Kernels that several threads look up concurrently, for the first time, are found by all threads."""
    host, picked = s.values((5, 7), -1.0, 1.0), (slice(1, 4), ...)
    xp = s.xp

    def program() -> list[Any]:
        x = s.variable(host)
        y = xp.sum(x[picked] * 2.0) + xp.sum(x[2, ...] * x[1, ...]) + xp.sum(xp.tanh(x))
        y.backward()
        return [s.host(y), s.host(x.grad)]

    expected = program()
    for attempt in range(3):
        names = s.backend.xp
        names.set_providers(names._providers)  # clears cached kernels
        for found in run_concurrently([program] * COUNT):
            for one, two in zip(found, expected, strict=True):
                assert_same_bits(
                    one, two, f"attempt {attempt}: a result right after the kernels were forgotten, and before,"
                )


@check("P11", needs=("threads",))
def moving(s: Subject) -> None:
    """Arrays that threads move, fetch, copy and pickle concurrently arrive unchanged; so does a shared array."""
    hosts = [s.values((40 + i, 30)) for i in range(COUNT)]
    same = [s.values((40, 30)) for i in range(COUNT)]
    for group in (same, hosts):

        def moved(host: Any) -> Any:
            x = s.array(host)
            there = Variable(s.backend.copy(x)).to_device(s.pair[1])
            s.pair[1].synchronize()  # while others move
            y = there.to_device(s.pair[0])
            again, apart = (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)) if s.has("pickle") else (x, x)
            return s.host(x), s.host(y), s.host(again), s.host(apart)

        found = run_concurrently([functools.partial(moved, host) for host in group])
        for i, (host, arrays) in enumerate(zip(group, found, strict=True)):
            for got in arrays:
                assert_same_bits(
                    got,
                    host,
                    f"thread {i}: an array that went to {s.pair[1]}, or was pickled or copied, and came back,",
                )
    x = s.variable(same[0], device=s.pair[0]).array
    calls = [lambda: s.xp.add(x, x), lambda: Variable(x).to_device(s.pair[1])]
    for turn, y in enumerate(run_concurrently(calls * (COUNT // 2))):
        expected = (1.0 if turn % 2 else 2.0) * same[0]
        what = f"an array that some threads move to {s.pair[1]}, and others add to itself,"
        s.expect(y, expected, what, device=s.pair[turn % 2])


@check("P12", needs=("threads",))
def another_thread(s: Subject) -> None:
    """A thread other than that which imported the library has the same default dtypes and results."""
    host = s.values((3, 4))

    def looked() -> Any:
        made = {
            name: s.backend.dtype_name(array.dtype)
            for name, array in (
                ("asarray(0.5)", s.kernels.asarray(0.5)),
                ("zeros(3)", s.kernels.zeros((3,))),
                ("arange(3)", s.kernels.arange(3)),
                ("x * 0.5", s.array(host) * 0.5),
                ("exp(x)", s.kernels.exp(s.array(host))),
                ("sum(x)", s.kernels.sum(s.array(host))),
            )
        }
        return made, s.host(s.kernels.exp(s.array(host)))

    (dtypes, values), (others, there) = looked(), in_another_thread(looked)
    for name, dtype in dtypes.items():
        assert others[name] == dtype, f"{name} has dtype {others[name]} in another thread, and {dtype} in the first one"
    assert_same_bits(there, values, "exp(x) in another thread and in the first one")
