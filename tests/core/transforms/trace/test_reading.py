"""External state of a compiled function is never stale, for any change between calls."""

import collections
import contextlib
import contextvars
import datetime
import decimal
import functools
import gc
import io
import itertools
import linecache
import threading
import types
import warnings
import weakref

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.transforms.trace.outside_programs import STATES, Program, space_of

import xpgrad
from xpgrad import CompileWarning, StaleProgramWarning, TraceError, Variable, compile
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import links as L
from xpgrad.transforms import grad, value_and_grad

X = np.asarray([1.0, -2.0, 3.0])
NUMBERS = 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, -0.0, 0.0, 2, True, 2.0
STATES_OF_A_NUMBER = (
    "a global", "a cell", "a default", "a keyword default", "a module", "an attribute", "an attribute of a class",
    "a slot", "a property", "an attribute by a method", "a callable object", "a dictionary", "a subclass of list",
    "keywords of a partial",
)  # fmt: skip


@pytest.mark.parametrize("state", STATES_OF_A_NUMBER)
def test_a_number_that_changes_between_calls_is_never_stale(state):
    setup, read, change = STATES[state]
    space = space_of(Program(state, f"{setup}\ndef f(x): return x * {read}\n", change))
    compiled = compile(space["f"])
    for value in NUMBERS:
        exec(change.replace("3.0", repr(value)), space)
        got = compiled(X)
        assert np.array_equal(got, X * value)
        assert np.array_equal(np.signbit(got), np.signbit(X * value))
    assert compiled.cache_info().hits


def test_a_method_compiled_in_its_class_serves_each_object():
    class Layer:
        def __init__(self, k):
            self.k, self.w = k, Variable(np.full(3, k))

        @compile
        def __call__(self, x):
            return x * self.k + self.w.array

    layers = Layer(2.0), Layer(3.0)
    for number in range(4):
        for layer in layers:
            many = "4 values of the float from outside, the attribute 'k' of a Layer, have needed a program each"
            with contextlib.nullcontext() if number < 3 else pytest.warns(CompileWarning, match=many):
                assert np.array_equal(layer(X), X * layer.k + layer.w.array)
            layer.k += 1


@pytest.mark.parametrize(
    ("held", "key", "read", "what"),
    [
        ({"w": np.full(3, 2.0)}, "w", lambda held: held["w"], "ndarray from outside, the item 'w' of a dict"),
        ([3.0, 2.0], 1, lambda held: sum(x for x in held), "float from outside, the items of a list"),
        ({"t": decimal.Context(2)}, "t", lambda held: held["t"].prec, "Context from outside, the item 't' of a dict"),
    ],
    ids=["an item", "a loop", "an object"],
)
def test_what_is_replaced_at_each_call_is_named(held, key, read, what):
    compiled = compile(lambda x: x * read(held))
    for number in range(6):
        text = f"4 values of the {what}, have needed a program each: (pass it as an|keep one object)"
        with pytest.warns(CompileWarning, match=text) if number == 3 else contextlib.nullcontext():
            assert np.array_equal(compiled(X), X * read(held))
        held[key] = held[key].copy() if key == "t" else held[key] + 1


Point = collections.namedtuple("Point", "x y")


def test_equal_tuples_dates_and_decimals_are_not_read_anew():
    held = {}
    compiled = compile(lambda x: x * held["point"].y * held["day"].day * float(held["price"]))
    for price in ("2.0",) * 4 + ("2.00", "3.0"):
        held |= {"point": Point(1.0, 2.0), "day": datetime.date(2020, 1, 2), "price": decimal.Decimal(price)}
        assert np.array_equal(compiled(X), X * 4 * float(price))
    assert compiled.cache_info()[:2] == (2, 4)


@pytest.mark.parametrize("kind", [Variable, np.asarray])
def test_a_captured_variable_or_array_that_is_replaced_is_not_stale(kind):
    held = {"w": kind(np.full(3, 2.0))}
    compiled = compile(lambda x: x * held["w"])
    for factor in (2.0, 2.0, 2.0, 3.0, 3.0):
        if factor == 3.0:
            held["w"] = kind(np.full(3, 3.0))
        got = compiled(X)
        assert np.array_equal(got.array if isinstance(got, Variable) else got, X * factor)


def test_a_program_does_not_keep_what_a_call_has_by_a_weak_reference():
    held = xpgrad.Link()
    reference = weakref.ref(held)

    def f(x):
        found = reference()
        return x if found is None else x * found.k

    compiled = compile(f)
    for factor in (2.0, 2.0, 2.0, 3.0):
        held.k = factor
        assert np.array_equal(compiled(X), X * factor)
    del held
    gc.collect()
    assert reference() is None
    assert np.array_equal(compiled(X), X)


def test_a_deleted_global_raises_as_in_eager_calls():
    globals()["gone"] = Variable(np.ones(3))
    compiled = compile(lambda x: x * gone)  # noqa: F821 - set above
    for _ in range(3):
        compiled(X)
    del globals()["gone"]
    with pytest.raises(NameError, match="gone"):
        compiled(X)


def test_gradients_by_a_captured_dictionary_and_a_captured_array_of_another_shape():
    held, raw = {"w": np.ones(3)}, np.arange(3.0)
    compiled = compile(
        lambda x: (value_and_grad(lambda w: xp.sum(x * w["w"]))(held), grad(lambda x: xp.sum(x * raw))(x))
    )
    for held["w"], shape in [(np.ones(3), (3,))] * 3 + [(np.full(3, 2.0), (3, 1))] * 3:
        raw.resize(shape)
        (value, _), slope = compiled(X)
        assert float(value) == np.sum(X * held["w"])
        assert np.array_equal(
            slope, np.sum(np.broadcast_to(raw, np.broadcast_shapes(raw.shape, X.shape)), 0) if raw.ndim > 1 else raw
        )
    assert compiled.cache_info().hits == 2


def counted_in_list():
    count = [0]

    def f(x):
        count[0] += 1
        return x * count[0]

    return f


def advanced_outside():
    numbers = itertools.count()
    return lambda x: x * sum(itertools.islice(numbers, 2))


def computed_in_a_thread():
    held = types.SimpleNamespace(k=2.0)

    def read():
        held.found = held.k

    def f(x):
        held.k = float(held.k) + 1
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        return x * held.found

    return f


def saved_to_a_file():
    files = [io.BytesIO()]

    def f(x):
        np.save(files[0], np.ones(2))
        return x * len(files[0].getvalue())

    return f


def configured():
    def f(x):
        xpgrad.config.train = not xpgrad.config.train
        return x * xpgrad.config.train

    return f


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (saved_to_a_file, "it calls save, which reads or writes a file"),
        (configured, "it sets the configuration or the current device"),
        (counted_in_list, "from outside, which no program repeats"),
        (computed_in_a_thread, "it creates a thread, whose code is not followed"),
        (advanced_outside, "items of a count are read, whose state is not seen"),
    ],
)
def test_a_function_that_changes_external_state_runs_without_a_program(make, why):
    def check():
        f, compiled = make(), compile(make())
        with pytest.warns(CompileWarning, match=why):
            found = [compiled(X) for _ in range(6)]
        assert all(np.array_equal(y, f(Variable(X)).array) for y in found)
        with pytest.raises(TraceError, match=why):
            compile(make(), strict=True)(X)

    contextvars.copy_context().run(check)


def test_state_created_in_the_first_call_does_not_prevent_compilation():
    held = types.SimpleNamespace(k=2.0)
    held.made = None

    def f(x):
        if held.made is None:
            held.made = 4.0
        return x * held.made

    compiled = compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(np.array_equal(compiled(X), X * 4) for _ in range(4))
    assert compiled.cache_info().hits


@pytest.mark.parametrize(
    ("verify", "calls"), [(True, [5, 10, 20]), (False, []), (4, [6, 10, 14, 18, 22]), ("always", [*range(3, 25)])]
)
def test_the_calls_that_are_compared_with_their_program(verify, calls):
    compiled, ran = compile(lambda x: (x * 2, print("."))[0], verify=verify), []
    for number in range(1, 25):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            compiled(X)
        ran += [number] * (number > 2 and bool(text.getvalue()))
    assert ran == calls


def test_a_program_that_is_stale_is_made_anew_with_a_warning(monkeypatch):
    compiled = compile(lambda x: x * linecache.factor, verify=4)  # no state of that module is guarded
    found = []
    for number in range(1, 12):
        monkeypatch.setattr(linecache, "factor", 2.0 if number < 4 else 3.0, raising=False)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append((float(compiled(X)[0]), [each.category for each in caught]))
    right = (3.0, [])
    assert found == [*[(2.0, [])] * 5, (3.0, [StaleProgramWarning]), *[right] * 5]


def test_guards_list_the_external_state_of_a_program():
    held = types.SimpleNamespace(k=2.0, inner=[3.0, 4.0])

    def f(x):
        return x * held.k + held.inner[1]

    lines = compile(f).guards(X).splitlines()
    assert lines[1:] == [
        "a variable of a cell: namespace(k=2.0, inner=[3.0, 4.0])",
        "the attribute 'k' of a SimpleNamespace: 2.0",
        "the attribute 'inner' of a SimpleNamespace: [3.0, 4.0]",
        "the item 1 of a list: 4.0",
    ]
    with (
        pytest.warns(CompileWarning, match="the value of a traced array"),
        pytest.raises(TraceError, match="no program for these arguments: the value of a traced array"),
    ):
        compile(lambda x: x if x.sum() > 0 else -x).guards(X)


def test_constants_that_a_call_sets_are_set_at_each_run():
    held, log, seen = types.SimpleNamespace(), [], {}

    def f(x):
        held.mode = "train"
        log.append(3)
        seen["x"] = (1, "a")
        return x * 2

    compiled = compile(f)
    for number in range(1, 7):
        held.mode = None
        seen.clear()
        assert np.array_equal(compiled(X), X * 2)
        assert (held.mode, log, seen) == ("train", [3] * number, {"x": (1, "a")})
    assert compiled.cache_info().hits == 4


def array_of(x):
    return getattr(x, "array", x)


class Setting:
    def __init__(self):
        self.v = contextvars.ContextVar("v", default=1)

    def __iter__(self):
        return iter([self.v.get()])

    def clear(self):
        self.v.set(2)


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2 * value)

    def __setattr__(self, name, value):
        super().__setattr__(name, 2 * value)


EFFECTS = {
    # What is outside, what a call of `x` does to it, and how many of the calls run a program.
    "a set": (set, lambda kept, x: kept.add("a"), 5),
    "a dictionary": (dict, lambda kept, x: (kept.setdefault("n", 3), kept.update(m=4)), 5),
    "a list of pairs": (list, lambda kept, x: kept.append(("loss", x.sum())), 7),
    "a deque": (collections.deque, lambda kept, x: (kept.append(1), kept.append(x.sum())), 7),
    "a full deque": (lambda: collections.deque(maxlen=3), lambda kept, x: kept.append(x.sum()), 7),
    "a deleted item": (dict, lambda kept, x: (kept.__setitem__("n", 3), kept.__delitem__("n")), 7),
    "a context variable that is reset": (Setting, lambda kept, x: kept.v.reset(kept.v.set(3)), 5),
    "items that are doubled": (Doubling, lambda kept, x: kept.__setitem__("n", 3), 7),
    "attributes that are doubled": (Doubling, lambda kept, x: setattr(kept, "n", 3), 7),
    "a full deque of numbers": (lambda: collections.deque(maxlen=3), lambda kept, x: kept.extend((1, 2)), 0),
}


@pytest.mark.parametrize(("make", "change", "hits"), EFFECTS.values(), ids=EFFECTS)
def test_effects_on_containers_are_those_of_eager_calls(make, change, hits):
    found = []
    for wrap in compile, lambda f: f:
        kept = make()
        f = wrap(lambda x, kept=kept: (change(kept, x), x * 2)[1])
        found.append([])
        with contextlib.nullcontext() if hits or wrap is not compile else pytest.warns(CompileWarning, match="a deque"):
            for number in range(9):
                if number == 6:
                    kept.clear()
                f(X * number if wrap is compile else Variable(X * number))
                items = (*vars(kept).items(), *kept.items()) if isinstance(kept, Doubling) else kept
                found[-1].append([tuple(map(array_of, x)) if type(x) is tuple else array_of(x) for x in items])
        if wrap is compile:
            assert f.cache_info().hits == hits
    assert found[0] == found[1]


def cached_in(kept, n):
    if n not in kept:
        kept[n] = xp.tril(xp.ones((n, n)))
    return kept[n]


@functools.cache
def cached(n):
    return xp.tril(xp.ones((n, n)))


def made_link(model, x):
    if not hasattr(model, "l"):
        with model.init_scope():
            model.l = L.Linear(3, 2)
    return model.l(x)


LATE = {
    "a dictionary": lambda: lambda x, kept={}: x @ cached_in(kept, x.shape[0]),
    "a cache": lambda: lambda x: x @ cached(x.shape[0]),
    "a link of a model": lambda: lambda x, model=xpgrad.Chain(): made_link(model, x[None, :3]),  # noqa: B008
    "a link of a call": lambda: lambda x: L.Linear(3, 2)(x[None, :3]),
    "a network of a call": lambda: lambda x: xpgrad.Sequential(L.Linear(3, 2), F.tanh, L.Linear(2, 1))(x[None, :3]),
}


@pytest.mark.parametrize("make", LATE.values(), ids=LATE)
def test_what_a_call_makes_is_as_in_eager_calls(make):
    found = []
    for wrap in compile, lambda f: f:
        cached.cache_clear()
        xpgrad.random.seed(0)
        f = wrap(make())
        xs = [np.arange(3.0 + i % 2, dtype="f4") + i for i in range(14)]
        found.append([array_of(f(x if wrap is compile else Variable(x))) for x in xs])
        if wrap is compile:
            assert f.cache_info().hits >= 6
    assert_near(*found, rtol=1e-5, atol=1e-6)


def test_callbacks_of_the_garbage_collector_are_not_part_of_a_call():
    phases = []

    def note(phase, info):
        (lambda: phases.append((phase, info["generation"])))()

    compiled, thresholds = compile(lambda x: (x * 2 + 1) * 3), gc.get_threshold()
    gc.callbacks.append(note)
    gc.set_threshold(3)
    try:
        for _ in range(4):
            assert np.array_equal(compiled(X), (X * 2 + 1) * 3)
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*thresholds)
    assert phases
    assert compiled.cache_info().hits == 2


@pytest.mark.parametrize("redirected", [False, True])
def test_what_is_printed_to_a_buffer_from_outside_is_not_lost(redirected):
    text = io.StringIO()

    def f(x):
        with contextlib.redirect_stdout(text) if redirected else contextlib.nullcontext():
            print(".", file=None if redirected else text)
        return x * 2

    compiled = compile(f)
    with pytest.warns(CompileWarning, match="which a program would leave out"):
        compiled(np.ones(2))
    for _ in range(3):
        compiled(np.ones(2))
    assert text.getvalue() == ".\n" * 4
