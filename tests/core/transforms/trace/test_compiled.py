"""Errors of users of compiled functions: each a clear error or the right result."""

import collections
import contextlib
import dataclasses
import enum
import gc
import operator
import pickle
import queue
import weakref
from typing import Any

import numpy as np
import pytest
from tests.building import assert_near
from tests.threads import for_each

import xpgrad
from xpgrad import CompileWarning, EscapedArray, TraceError, Variable, compile
from xpgrad import functions as F
from xpgrad.backend.levels import live
from xpgrad.config import switches
from xpgrad.transforms.trees import flatten, map_leaves

X = np.asarray([1.0, -2.0, 3.0])


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = switches()
    yield
    assert not live
    assert switches() is before


def array(x):
    return x.array if isinstance(x, Variable) else x


# Arguments


class Unhashable:
    __hash__ = None


@pytest.mark.parametrize(
    ("argument", "path"), [({"a": [Unhashable()]}, r"\['a'\]\[0\] is Unhashable"), ({1}, "is set")]
)
def test_an_argument_that_is_not_hashable_is_named_with_its_path(argument, path):
    with pytest.raises(TypeError, match=f"{path}, neither an array nor hashable"):
        compile(lambda x, o: x)(X, argument)


def test_a_tree_may_change_between_calls():
    def f(tree):
        return sum(flatten(tree)[0], xpgrad.array_api.asarray(np.zeros(3)))

    compiled = compile(f)
    for _ in range(3):
        for tree, count in ({"a": X}, 1), ({"a": X, "b": X}, 2), ([X, X], 2), ((X, X), 2), ([X], 1), ({"b": X}, 1):
            assert np.array_equal(compiled(tree), X * count)
    assert compiled.cache_info().size == 6


def test_python_values_of_different_types_are_different_calls():
    def f(x, s=2.0, *args, k=1, **more):
        return x * s + k + sum(args) + sum(more.values())

    calls = [
        *[((X, s), {}) for s in (np.float64(3), 3, 3.0, np.float32(3), np.int64(3), True, -0.0, 0.0, float("inf"))],
        ((X,), {}), ((X, 1, 2, 3), {}), ((X,), {"k": 2}), ((X,), {"k": 2, "z": 4.0}), ((X,), {"s": X}),
    ]  # fmt: skip
    compiled = compile(f, exact=True)
    for _ in range(3):
        for args, kwargs in calls:
            got, expected = compiled(*args, **kwargs), f(*args, **kwargs)
            assert got.dtype == expected.dtype
            assert got.tobytes() == expected.tobytes()


def test_one_array_given_twice_is_another_kind_of_call():
    compiled, y = compile(lambda x, y: x * y + x), X + 1
    for _ in range(3):
        assert np.array_equal(compiled(X, X), X * X + X)
        assert np.array_equal(compiled(X, y), X * y + X)
    u, v = Variable(X.copy()), Variable(y)
    for _ in range(3):
        for other, expected in (u, 2 * X + 1), (v, y + 1):
            u.cleargrad()
            compiled(u, other).sum().backward()
            assert np.array_equal(u.grad, expected)


def test_a_gradient_for_one_argument_given_twice_is_another_one():
    def gradient(x, y):
        return xpgrad.grad([(x * y).sum()], [x])[0]

    x, y = Variable(np.arange(3.0)), Variable(np.ones(3))
    for pairs in ([(x, x)] * 3 + [(x, y)] * 3, [(x, y)] * 3 + [(x, x)] * 3):
        compiled = compile(gradient)
        assert all(np.array_equal(array(compiled(*pair)), array(gradient(*pair))) for pair in pairs)


@dataclasses.dataclass
class Sized:
    a: object
    n: int = dataclasses.field(default=3, metadata={"static": True})


@dataclasses.dataclass(slots=True)
class Slotted(Sized):
    items: object = None


class Named(dict):
    n = 3


def sets(x, tree):
    tree.n, tree.a = tree.n + 1, x * tree.n


def appends(x, tree):
    tree.items[0].append(x)
    tree.items[1]["k"] = x * tree.n


CHANGES = {
    "a slot": (sets, lambda: Slotted(X)),
    "a static field": (lambda x, tree: setattr(tree, "n", tree.n + 1), lambda: Sized(X)),
    "a list in a list": (appends, lambda: Slotted(X, 3, [[X], {"k": X}])),
    "an attribute of a dictionary": (lambda x, tree: setattr(tree, "n", tree.n + 1), lambda: Named(a=X)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_argument_that_is_changed_is_as_an_eager_run_leaves_it(name):
    change, make = CHANGES[name]
    given, expected = make(), make()
    compiled = compile(change)
    for call in range(3):
        with pytest.warns(CompileWarning, match="is an argument") if not call else contextlib.nullcontext():
            compiled(X, given)
        change(X, expected)
    assert repr(given) == repr(expected)
    assert given.n == expected.n


Pair = collections.namedtuple("Pair", "a b")
Colour = enum.Enum("Colour", "RED BLUE")


@pytest.mark.parametrize(
    "tree",
    [
        Sized(X),
        Sized(X, 4),
        Slotted(X, 4, [X]),
        Pair(X, 1),
        Pair(X, X),
        collections.OrderedDict(b=X, a=X),
        {"a": (X, [None, "s"])},
        Colour.RED,
    ],
    ids=repr,
)
def test_result_trees_keep_their_structure(tree):
    compiled = compile(lambda tree: tree)
    for _ in range(3):
        assert repr(compiled(tree)) == repr(tree)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 3)])
def test_arrays_of_all_kinds_and_sizes(dtype, shape):
    x = np.ones(shape, dtype=dtype)
    compiled = compile(lambda x: (x == x, x[...], xpgrad.array_api.stack([x, x])))
    for _ in range(3):
        for got, expected in zip(compiled(x), (x == x, x, np.stack([x, x])), strict=True):
            assert got.dtype == expected.dtype
            assert got.shape == expected.shape
            assert np.array_equal(got, expected)


def test_an_array_of_another_library_raises():
    strict = xpgrad.get_device("@strict").xp.ones(3)
    with pytest.raises(xpgrad.BackendMismatch, match="two libraries"):
        compile(lambda x, y: x + y)(X, strict)


# The function


def generator(x):
    yield x


async def coroutine(x):
    return x


class Generating:
    def __call__(self, x):
        yield x


@pytest.mark.parametrize("f", [generator, coroutine, Generating(), Generating().__call__, lambda x: (yield x)])
def test_generators_and_coroutines_raise(f):
    with pytest.raises(TypeError, match="is a generator or a coroutine"):
        compile(f)


@pytest.mark.parametrize("f", [generator, lambda x: map(abs, [x]), lambda x: (y for y in [x])])
def test_deferred_result_is_computed_without_a_program(f):
    with pytest.warns(CompileWarning, match="runs later and in parts"):
        found = compile(lambda x: f(x))(X)
    assert all(type(y) is type(X) for y in found)


def test_generator_gets_what_is_sent_to_it():
    def scaled(x):
        yield x * (yield x)

    with pytest.warns(CompileWarning, match="runs later and in parts"):
        found = compile(lambda x: scaled(x))(X)
    next(found)
    assert_near(found.send(2.0), X * 2)


def keys(x, y):
    found = {}
    for each in x, y:
        found[each] = True
    return len(found)


@pytest.mark.parametrize(
    "count",
    [
        lambda x, y: 1 if x is y else 2,
        lambda x, y: 1 if id(x) == id(y) else 2,
        lambda x, y: 1 if hash(x) == hash(y) else 2,
        lambda x, y: len({id(each) for each in (x, y)}),
        lambda x, y: len({x, y}),
        lambda x, y: len({each for each in (x, y) if each is not None}),
        lambda x, y: len({x: 1, y: 2}),
        lambda x, y: len({each: i for i, each in enumerate((x, y))}),
        lambda *xs: len(set(xs)),
        lambda *xs: len(frozenset(list(xs))),
        lambda x, y: len(dict.fromkeys([x, y])),
        lambda x, y: len(dict(zip((x, y), "ab", strict=True))),
        lambda x, y: len({*[x, y]}),
        lambda x, y: len(set().union([x], [y])),
        lambda x, y: len(collections.Counter((x, y))),
        lambda x, y: 1 if operator.is_(x, y) else 2,
        lambda x, y: 1 if all(map(operator.is_, [x], [y])) else 2,
        keys,
    ],
)
def test_two_arguments_that_are_one_array_are_told_from_two(count):
    compiled = compile(lambda x, y: x * count(x, y))
    for same in False, False, True, True, False, True:
        assert_near(compiled(X, X if same else X + 1), X * (1 if same else 2))
    assert compiled.cache_info().hits == 2


def test_calls_that_never_come_again_are_not_recorded_for_ever():
    compiled = compile(lambda x, items: x * sum(items))
    lists = [[X] * n for n in range(1, 40)]
    for items in lists:
        assert_near(compiled(X, items) if len(items) != 33 else _warned(compiled, X, items), X * X * len(items))
    for _ in range(4):
        assert_near(compiled(X, lists[-1]), X * X * 39)
    assert compiled.cache_info().hits == 2


def _warned(f, *args):
    with pytest.warns(CompileWarning, match="the last 32 kinds of calls have come once each"):
        return f(*args)


@pytest.mark.parametrize("first", [0, 1])
def test_field_that_is_deleted_belongs_to_the_structure(first):
    compiled = compile(lambda x, s: x * s.a if hasattr(s, "items") else x)
    for i in range(12):
        s = Slotted(X, items=X)
        if i // 3 % 2 == first:
            del s.items
        assert_near(compiled(X, s), compiled.function(X, s))
    with pytest.warns(CompileWarning, match="changed a list, dictionary or object"):
        compile(lambda x, s: (x, s.__delattr__("items"))[0])(X, s := Slotted(X))
    assert not hasattr(s, "items")


def test_scalar_of_another_library_than_the_arrays_is_a_number():
    x = xpgrad.get_device("@strict").xp.asarray([1.0, 2.0])
    compiled = compile(lambda x, n: x * float(n))
    for n in np.float64(2), np.float64(2), np.float64(2), np.float64(3):
        assert float(compiled(x, n)[1]) == 2 * n


def test_coroutine_is_returned_without_a_program():
    with pytest.warns(CompileWarning, match="runs later and in parts"):
        found = compile(lambda x: coroutine(x))(X)
    with pytest.raises(StopIteration):
        found.send(None)


@pytest.mark.parametrize("f", [3, "f"])
def test_non_callable_raises(f):
    with pytest.raises(TypeError, match="expected a function"):
        compile(f)


@pytest.mark.parametrize("value", [None, 3, "text", (), {"a": [1, None]}])
def test_a_function_may_return_no_array(value):
    compiled = compile(lambda x: value)
    assert all(compiled(X) == value for _ in range(4))


def test_a_function_may_take_no_array():
    compiled = compile(lambda: (xpgrad.array_api.ones(2), Variable(np.ones(3)) * 2))
    for _ in range(4):
        ones, twos = compiled()
        assert np.array_equal(ones, np.ones(2))
        assert np.array_equal(array(twos), np.full(3, 2.0))


def test_compiled_functions_may_be_recursive_and_nested():
    @compile
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * 2

    inner = compile(lambda x: x + 1)
    outer = compile(compile(lambda x: inner(x) * inner(x * 2)))
    for _ in range(4):
        assert np.array_equal(power(X, 3), X * 8)
        assert np.array_equal(outer(X), (X + 1) * (X * 2 + 1))
    assert inner.cache_info().size == 0, "it is a part of the other's program"


# Arrays that escape


def uses_of(y):
    yield lambda: y + 1
    yield lambda: y * Variable(X)
    yield lambda: xpgrad.array_api.sin(y)
    yield lambda: y[0] if isinstance(y, Variable) else float(y[0])
    yield lambda: compile(lambda x: x * y)(X)


@pytest.mark.parametrize("kept", ["variable", "array"])
def test_an_array_that_escapes_raises_where_it_is_used_and_can_be_printed(kept):
    out = queue.SimpleQueue()  # written in C: its contents are not visible

    def f(x):
        y = x * 2
        out.put(lambda: y if kept == "variable" else y.array)
        return y

    with pytest.warns(CompileWarning, match="put of a SimpleQueue, whose state is not seen"):
        compile(f)(X)
    y = out.get()()
    assert repr(y)
    assert str(y)
    assert y.shape == (3,)
    for use in uses_of(y):
        with pytest.raises(EscapedArray, match="a call that has ended"):
            use()


def test_an_array_that_is_put_into_an_object_in_c_is_that_of_an_eager_run():
    out = queue.SimpleQueue()
    with pytest.warns(CompileWarning, match="put of a SimpleQueue, whose state is not seen"):
        compile(lambda x: (out.put(x * 2), x)[1])(X)
    assert np.array_equal(out.get().array, X * 2)
    assert out.empty()


class Holder:
    def __init__(self, x):
        self.x = x


def kept_in_list(x, kept=[]):  # noqa: B006 - this is tested
    kept.append(x * 2)
    return x


def kept_in_attribute(x):
    kept_in_attribute.kept = x * 2
    return x


kept_in_attribute.kept = None


def kept_in_list_by_index(x, kept=[0]):  # noqa: B006 - this is tested
    kept[0] = x * 2
    return x


def returned_in_object(x):
    return Holder(x * 2)


def returned_in_set(x):
    return {x * 2}


def returned_in_deque(x):
    return collections.deque([x * 2])


def matched(x):
    match x.array:
        case np.ndarray():
            return {1}


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (returned_in_object, "returned Holder, which holds an array"), (returned_in_set, "returned set, which holds"),
        (returned_in_deque, "returned deque, which holds an array"),
        (lambda x: {np.modf(x.array, out=(None, np.empty(3)))[1].sum()}, "give an array for each output, or for none"),
        (lambda x: {len(memoryview(x.array))}, "bytes-like object"),
        (lambda x: [pickle.loads(pickle.dumps(x)).array], "cannot be pickled"),
        (lambda x: {x.array.astype(str)[0]}, "returned an array of <U"),
        (lambda x: {isinstance(x.array, np.ndarray), type(x.array)}, "the type of an array is asked for"),
        (lambda x: {hasattr(x.array, "__array_interface__"), 2}, "the type of an array is asked for"),
        (matched, "the type of an array is asked for"),
    ],
)  # fmt: skip
def test_what_is_impossible_with_traced_arrays_runs_eagerly_with_one_warning(f, text):
    compiled = compile(f)
    with pytest.warns(CompileWarning, match=text) as caught:
        found = [compiled(X) for _ in range(4)]
    assert len(caught) == 1
    numbers = [[getattr(x, "x", x) for x in ([y] if isinstance(y, Holder) else y)] for y in (*found, f(Variable(X)))]
    assert all(np.array_equal(array(a), array(b)) for xs in numbers for a, b in zip(xs, numbers[-1], strict=True))
    with pytest.raises(TraceError if "bytes" not in text else TypeError, match=text):
        compile(f, strict=True)(X)


@pytest.mark.parametrize(
    ("f", "kept"),
    [
        (kept_in_list, lambda: kept_in_list.__defaults__[0][-1]),
        (kept_in_list_by_index, lambda: kept_in_list_by_index.__defaults__[0][0]),
        (kept_in_attribute, lambda: kept_in_attribute.kept),
    ],
)
def test_array_stored_outside_equals_the_eager_run(f, kept):
    compiled, found = compile(f), []
    for i in range(4):
        assert np.array_equal(compiled(X + i), X + i)
        found.append(kept())
    assert [type(x) for x in found] == [Variable] * 4
    assert all(np.array_equal(x.array, (X + i) * 2) for i, x in enumerate(found))
    assert compiled.cache_info().hits == 2


@dataclasses.dataclass
class Batch:
    x: Any
    seen: Any = None


@pytest.mark.parametrize(
    ("given", "change", "then"),
    [
        (lambda: [X, X], lambda t: t.append(t[0]), lambda t: [t[0], t[0], t[0]]),
        (lambda: [X, X], lambda t: t.__setitem__(0, t[0] * 2), lambda t: [X * 2, t[1]]),
        (lambda: [X, X], lambda t: t.clear(), lambda t: []),
        (lambda: {"a": [X]}, lambda t: t["a"].append(3), lambda t: {"a": [X, 3]}),
        (lambda: {"a": [X]}, lambda t: t.update(b=t["a"]), lambda t: {"a": [X], "b": [X]}),
        (lambda: Batch(X), lambda t: setattr(t, "seen", t.x * 2), lambda t: Batch(X, X * 2)),
        (lambda: Batch([X]), lambda t: setattr(t, "x", t.x[0]), lambda t: Batch(X)),
    ],
)
def test_containers_among_the_arguments_that_are_changed_are_those_of_an_eager_run(given, change, then):
    text = "changed a list, dictionary or object that is an argument"
    for kind in np.ndarray, Variable:
        tree = map_leaves(Variable, given()) if kind is Variable else given()
        with pytest.raises(TraceError, match=text):
            compile(lambda t: (change(t), X)[1], strict=True)(tree)
        with pytest.warns(CompileWarning, match=text):
            compile(lambda t: (change(t), X)[1])(tree)
        found, wanted = flatten(tree), flatten(then(given()))
        assert list(found[1].paths()) == list(wanted[1].paths())
        assert all(np.array_equal(array(a), b) for a, b in zip(found[0], wanted[0], strict=True))
        assert all(isinstance(a, (kind, int)) for a in found[0])


def test_an_array_and_a_variable_among_the_arguments_may_be_written_to():
    def f(x, v):
        x.array[...] = x.array * 2
        v.array = v.array + 1
        return x + v

    compiled = compile(f)
    for i in range(4):
        x, v = X + i, Variable(X.copy(), requires_grad=False)
        y = compiled(x, v)
        assert np.array_equal(x, (X + i) * 2)
        assert np.array_equal(v.array, X + 1)
        assert np.array_equal(array(y), x + X + 1)


@pytest.mark.parametrize("calls", [(4, 9, 10, 19), range(1, 24, 2), range(5)], ids=["compared", "in turn", "first"])
def test_two_arguments_that_are_one_array_at_some_calls_need_no_new_programs(calls):
    compiled = compile(lambda a, b: a * 2 + b)
    for i in range(24):
        assert np.array_equal(compiled(X, X if i in calls else X + 1), X * 3 + (i not in calls))
    assert compiled.cache_info().hits >= 20


@pytest.mark.parametrize("kind", [Variable, np.asarray], ids=["a Variable", "an array"])
def test_an_argument_that_is_captured_as_well_at_some_calls(kind):
    held, others = kind(X.copy()), [kind(X + 1), kind(X + 2)]
    compiled = compile(lambda x: x * held)
    for i in range(24):
        x = held if i % 5 in (0, 2) else others[i % 2]
        assert np.array_equal(array(compiled(x)), array(x) * array(held))
    assert compiled.cache_info().hits >= 20


@pytest.mark.parametrize("argument", [lambda w: X, lambda w: Variable(X), lambda w: w], ids=["array", "other", "same"])
def test_recorded_gradients_by_captured_variables_and_equal_arguments(argument):
    w = Variable(X.copy())

    def body(a, b):
        return F.sin(w * 2) * a * a * b

    compiled = compile(body)
    for _ in range(3):
        x, found = argument(w), []
        for f in (body, compiled):
            by = [each for each in (w, x) if isinstance(each, Variable)]
            first = xpgrad.grad([F.sum(f(x, x))], by, enable_double_backprop=True)
            found.append([g.array for g in (*first, *xpgrad.grad([F.sum(g * g) for g in first], by))])
        np.testing.assert_allclose(found[1], found[0], rtol=1e-13)


# Writes to arrays


def twice_raw(a, x):
    a *= 2
    return x * a


def into_raw(a, x):
    np.multiply(a, 0.5, out=a)
    return x + 0


def counted(a, x):
    a[0] += 1
    return x * 2


def by_values(a, x):
    a[...] = x.array
    return x * a


def moving_average(a, x):
    a -= 0.1 * x.array
    return x * a


def scattered(a, x):
    np.add.at(a, [0, 0], x.array[:2])
    return x + a


def copied_into(a, x):
    np.copyto(a, x.array)
    return x + a


UNRECORDED, RECORDED = (twice_raw, into_raw, counted, by_values), (moving_average, scattered, copied_into)


@pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning")
@pytest.mark.parametrize("body", [*UNRECORDED, *RECORDED])
def test_a_captured_array_written_to_agrees_with_eager(body):
    plain, own = np.ones(3), np.ones(3)
    compiled = compile(lambda x: body(own, x))
    for i in range(5):
        x = Variable(X + i, requires_grad=False)
        assert np.array_equal(array(body(plain, x)), array(compiled(x)))
        assert np.array_equal(plain, own)
    assert compiled.cache_info().hits == (3 if body in RECORDED else 0)


def filled(x):
    a = x.array.copy()
    a.fill(2.0)
    a[a > 1] = x.array[0]
    return a


def sorted_in_place(x):
    a = x.array.copy()
    a.sort()
    return a


def into_new(x):
    a = np.empty_like(x.array)
    np.clip(x.array, 0, 1, out=a)
    np.add(a, 1, out=a)
    return a


def through_views(x):
    a = x.array.copy()
    a[1:] *= 3
    a.T[...] += 1
    return a, a[::-1]


def into_zeros_of_library(x):
    a = np.zeros(3)
    a += x.array
    return a


def into_empty_of_library(x):
    a = np.empty(3)
    a[...] = x.array
    return a


@pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning")
@pytest.mark.parametrize(
    "f", [filled, sorted_in_place, into_new, through_views, into_zeros_of_library, into_empty_of_library]
)
def test_arrays_that_the_function_has_made_may_be_written_to(f):
    compiled = compile(f)
    for i in range(5):
        got, expected = compiled(X + i), f(Variable(X + i))
        assert all(np.array_equal(p, q) for p, q in zip(flatten(got)[0], flatten(expected)[0], strict=True))


W = Variable(X.copy())
RESULTS = {
    "an argument": lambda x: x, "a view": lambda x: x[:2], "twice one": lambda x: (lambda y: (y, y, y[:2]))(x * 2),
    "twice the argument": lambda x: [x.array, x.array], "a view of a captured Variable": lambda x: W[:2],
    "a captured array": lambda x: W.array,
}  # fmt: skip


@pytest.mark.parametrize("f", RESULTS.values(), ids=RESULTS)
def test_results_share_no_memory_with_inputs_captured_arrays_and_each_other(f):
    compiled = compile(f)
    for _ in range(4):
        x = X.copy()
        arrays = [array(y) for y in flatten(compiled(x))[0]]
        for i, y in enumerate(arrays):
            assert not any(np.shares_memory(y, other) for other in (x, W.array, *arrays[:i]))


def test_a_captured_variable_that_is_returned_is_itself():
    compiled, x = compile(lambda x: (W, x)), Variable(X)
    assert all(compiled(x) == (W, x) or (compiled(x)[0] is W and compiled(x)[1] is x) for _ in range(3))


# Errors in the middle


def test_an_exception_leaves_the_state_unchanged():
    w = Variable(np.ones(3))
    w.grad = np.full(3, 7.0)

    def f(x, fails):
        w.cleargrad()
        (w * x).sum().backward()
        w.array = w.array * 2
        if fails:
            raise fails
        return w * x

    compiled = compile(f)
    for error in ValueError, KeyboardInterrupt, SystemExit:
        for _ in range(2):
            with pytest.raises(error):
                compiled(X, error)
            assert np.array_equal(w.array, np.ones(3))
            assert np.array_equal(w.grad, np.full(3, 7.0))
    for i in range(4):
        compiled(X, None)
        assert np.array_equal(w.array, np.full(3, 2.0 ** (i + 1)))
        assert np.array_equal(w.grad, X)


def test_an_exception_in_a_run_of_a_program_leaves_variables_unchanged():
    w = Variable(np.eye(2))

    def f(a):
        w.array = w.array * 2
        return xpgrad.linalg.inv(a) + w

    compiled = compile(f)
    for _ in range(3):
        compiled(np.eye(2))
    before = w.array.copy()
    with pytest.raises(Exception, match=r"(?i)singular"):
        compiled(np.zeros((2, 2)))
    assert np.array_equal(w.array, before)
    assert np.array_equal(array(compiled(np.eye(2))), np.eye(2) * 17)


@pytest.mark.filterwarnings("error::xpgrad.CompileWarning")
def test_a_warning_that_is_an_error_is_raised_without_a_stored_program():
    w = Variable(np.ones(3))

    def f(x):
        w.array = w.array * 2
        return x if x.sum() > 0 else -x

    compiled = compile(f)
    with pytest.raises(CompileWarning, match=r"its truth value was asked \(line \d+ of test_compiled.py, in f\)"):
        compiled(X)
    assert np.array_equal(w.array, np.ones(3))


def test_threads_may_share_a_compiled_function_from_its_first_call():
    w = Variable(np.arange(9.0).reshape(3, 3))
    compiled = compile(lambda x: xpgrad.array_api.tanh(x @ w), exact=True)

    def run(i):
        for _ in range(20):
            x = X + i
            assert np.array_equal(array(compiled(x)), np.tanh(x @ w.array))

    for_each(run, range(6))


# The environment of a call


def test_configuration_devices_and_modes_have_separate_programs():
    w = Variable(X.copy())
    compiled, ones = (
        compile(lambda: w * (2.0 if xpgrad.config.train else 3.0)),
        compile(lambda: xpgrad.array_api.ones(1)),
    )
    for _ in range(3):
        assert np.array_equal(compiled().array, X * 2)
        assert compiled().requires_grad
        assert type(ones()) is np.ndarray
        with xpgrad.using_config("train", False):
            assert np.array_equal(compiled().array, X * 3)
        with xpgrad.no_backprop_mode():
            assert type(compiled()) is np.ndarray
        with xpgrad.using_device("@strict"):
            assert type(ones()).__module__.startswith("array_api_strict")


@pytest.mark.filterwarnings("ignore::xpgrad.CompileWarning")
def test_a_function_of_two_libraries_runs_without_a_program():
    v = xpgrad.as_variable(xpgrad.get_device("@strict").xp.ones(3))
    compiled = compile(lambda x: (x * 2, v * 2))
    for _ in range(4):
        ours, theirs = compiled(X)
        assert type(ours) is np.ndarray
        assert type(theirs).__module__.startswith("array_api_strict")


def test_debug_mode_runs_without_a_program_and_warns_once():
    compiled = compile(lambda x: x * 2)
    with xpgrad.using_config("debug", True):
        with pytest.warns(CompileWarning, match="debug mode"):
            first = compiled(X)
        assert np.array_equal(first, X * 2)
        assert all(np.array_equal(compiled(X), X * 2) for _ in range(3))


def test_a_captured_variable_that_changes_its_shape_or_dtype_has_another_program():
    w = Variable(np.ones(3))
    compiled = compile(lambda x: x * w)
    for new in np.ones(3), np.full((2, 1), 2.0), np.ones(3, dtype="f4"), np.ones(3):
        w.array = new
        for _ in range(3):
            got = compiled(X).array
            assert np.array_equal(got, X * new)
            assert got.dtype == (X * new).dtype
    assert compiled.cache_info().hits


@pytest.mark.usefixtures("few_objects")
def test_deleted_compiled_functions_leave_no_state():
    def make():
        compiled = compile(lambda x: (x * 2).sum())
        for _ in range(3):
            compiled(np.ones(3))

    make()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(100):
        make()
    gc.collect()
    assert len(gc.get_objects()) - before < 50


@pytest.mark.usefixtures("few_objects")
def test_a_deleted_compiled_function_frees_captured_objects_without_the_collector():
    def make():
        w = Variable(np.ones(1000))
        compiled = compile(lambda x: (x * w).sum())
        for _ in range(4):
            compiled(np.ones(1000)).backward()
        return compiled, weakref.ref(w)

    gc.collect()
    gc.disable()
    try:
        compiled, w = make()
        del compiled
        assert w() is None
    finally:
        gc.enable()


class Model:
    loss = None

    def __init__(self):
        self.losses, self.w = [], Variable(np.ones(1))

    def step(self, x):
        self.loss = F.sum(F.sin(self.w * x))
        self.losses.append(self.loss)
        self.loss.backward()


@pytest.mark.parametrize("function", [lambda x: (x * 2 + 1).sum(), Model().step], ids=["returned", "set outside"])
def test_no_array_of_a_recorded_run_is_kept(function):
    import tracemalloc

    compiled = compile(function)
    x = np.ones(100_000)
    compiled(np.ones(3)), compiled(np.ones(3))  # imports modules
    tracemalloc.start()
    try:
        compiled(x), compiled(x)
        first = tracemalloc.get_traced_memory()[0]
        assert first < x.nbytes / 2
    finally:
        tracemalloc.stop()


def test_gradient_of_a_value_returned_with_an_unused_gradient():
    """The sweep joins a factor of the gradient's missing cotangent with a factor of the value's cotangent."""

    def value_and_gradients(x, w, b, gy):
        y = F.linear(x, w, b)
        return y, xpgrad.grad([y], [x, w, b], [gy], enable_double_backprop=True)

    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in [(2, 3), (4, 3), (4,), (2, 4)]]
    compiled, found = xpgrad.compile(value_and_gradients), []
    for f in (value_and_gradients, compiled, compiled, compiled):
        xs = [Variable(array) for array in arrays]
        y, _ = f(*xs)
        found.append([g.array for g in xpgrad.grad([y], xs[:3], [xs[3]])])
    for got in found[1:]:
        assert_near(got, found[0], rtol=1e-14)


def test_an_output_without_a_cotangent_adds_no_cost_and_no_nan():
    xp = xpgrad.array_api

    def both(x, w):
        y = xp.tanh(x)
        return xp.sum(y * y), xp.exp(w * 1e3) * y, w * 2.0

    compiled = xpgrad.compile(both, exact=True)
    for _ in range(4):
        found = []
        for f in (both, compiled):
            x, w = Variable(np.asarray([0.5, -2.0])), Variable(np.asarray([1.0, 2.0]))
            with np.errstate(all="ignore"):
                f(x, w)[0].backward()
                found.append((x.grad, w.grad))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        assert found[0][1] is None is found[1][1]


def test_parameters_of_another_precision_are_computed_in_the_common_precision():
    link = xpgrad.links.BatchNormalization(3)
    x = np.asarray([[1.0, -2.0, 3.0]])

    @compile(exact=True)
    def f(x):
        with xpgrad.using_config("train", False):
            return link(x)

    for _ in range(3):
        assert np.array_equal(f(x), f.function(Variable(x)).array)
