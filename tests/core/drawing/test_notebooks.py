"""What notebooks show: Variables, programs, compiled functions and models."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.building import variable

import xpgrad
from xpgrad import Chain, Parameter, Sequential, Variable, functions
from xpgrad import array_api as ap
from xpgrad.drawing import draw
from xpgrad.links import Linear

VOID = {"br", "img", "hr", "meta"}


class Page(HTMLParser):
    """Checks that elements are closed, and collects the text and the names of elements."""

    def __init__(self, page):
        super().__init__()
        self.open, self.names, self.texts = [], set(), []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        assert not any(
            name.startswith("on") or "://" in (value or "").replace("http://www.w3.org/2000/svg", "")
            for name, value in attrs
        )

    def handle_startendtag(self, tag, attrs):
        self.names.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "\n".join(self.texts)


def shown(obj):
    page = Page(obj._repr_html_())
    assert not page.names & {"script", "link", "iframe", "style"}
    return page.text


class Model(Chain):
    def __init__(self, n_in=4):
        super().__init__()
        with self.init_scope():
            self.body = Sequential(Linear(n_in, 3), functions.relu, Linear(3, 2))
            self.scale = Parameter(1, ())


def test_a_variable_shows_values_facts_and_its_creator(device):
    x = variable(device, [[1.0, 2.0]], name="<x>")
    y = ap.tanh(x * 2)
    text = shown(y)
    for fact in ("(1, 2)", "float32", device.name, "2 elements, 8 B", "tanh", "_ * 2", "<x>", "requires grad", "yes"):
        assert fact in text, fact
    assert "what made it" not in shown(x)
    assert "<x>" not in x._repr_html_()


def test_only_the_nearest_functions_are_shown():
    y = Variable(np.ones(2))
    for _ in range(1000):
        y = ap.tanh(y)
    page = y._repr_html_()
    assert page.count("<rect") == 9
    assert "the nearest 8 functions" in page


@pytest.mark.parametrize("made", [Variable(None), Parameter(), Parameter(3, name="W"), Parameter(lambda array: None)])
def test_uninitialised_variables_are_shown_and_stay_so(made):
    assert "(None)" in shown(made)
    assert made.array is None


def test_arrays_that_are_not_computed_are_not_computed():
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")

    def refuse(*_, **__):
        raise AssertionError("computed")

    x, pages = Variable(da.ones((6, 4), chunks=2)), []
    with dask.config.set(scheduler=refuse):
        text = shown(ap.tanh(x))
        xpgrad.transforms.vmap(lambda x: pages.append(ap.sum(x)._repr_html_()) or x)(da.ones((3, 2)))
    assert "not computed yet: float64 (6, 4)" in text
    assert "24 elements, 192 B" in text
    assert "not computed yet: float64 ()" in pages[0]


@pytest.mark.parametrize("name", ["@strict:cpu", "@numpy", "native:0"])
def test_of_large_arrays_few_elements_are_read(name, monkeypatch):
    device = xpgrad.get_device(name)
    x = variable(device, np.arange(4_000_000.0).reshape(2000, 2000), "float64")
    sizes, backend = [], device.backend
    before = backend.to_host
    monkeypatch.setattr(backend, "to_host", lambda array: sizes.append(array.size) or before(array))
    text = shown(x)
    assert "4,000,000 elements, 32 MB" in text
    assert all(size <= 9 for size in sizes)
    assert len(text) < 2000
    if name == "@strict:cpu":
        assert "the first elements of 4,000,000" in text


def test_gradients_of_chx_variables_are_not_shown():
    x = variable(xpgrad.get_device("native:0"), [1.0], requires_grad=False)
    assert "requires grad" in shown(x)


def test_half_empty_and_complex_arrays_are_shown(device):
    for values, dtype in (([], "float32"), (1 + 2j, "complex64"), ([True], "bool"), (np.zeros((0, 3)), "float64")):
        assert "variable(" in shown(variable(device, values, dtype))


def test_drawing_inside_vmap_and_compile_shows_available_values():
    pages = []

    def f(x):
        y = ap.sum(ap.tanh(x))
        pages.append(y._repr_html_())
        return y

    xpgrad.transforms.vmap(f)(np.ones((3, 2)))
    xpgrad.transforms.jvp(f, (np.ones(2),), (np.ones(2),))
    xpgrad.compile(f)(np.ones(2))
    assert len(pages) >= 3
    for page in pages:
        assert "variable(" in Page(page).text
        assert "while it was drawn" not in page


def test_drawing_never_raises(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr("xpgrad.drawing.variables.facts", broken)
    page = Variable(np.ones(2), name="<b>")._repr_html_()
    assert page == "<pre>variable &lt;b&gt;([1., 1.])\n(RuntimeError while it was drawn)</pre>"
    monkeypatch.setattr("xpgrad.graph.methods.text.values_text", broken)
    assert Variable(np.ones(2))._repr_html_().startswith("<pre>&lt;Variable&gt;\n")


def compiled():
    f = xpgrad.compile(lambda x, w: ap.sum(ap.tanh(x @ w) ** 2), executor="python")
    arrays = np.ones((4, 3)), np.ones((3, 2))
    for _ in range(3):
        f(*arrays)
    return f, f.program(*arrays)


def test_programs_show_calls_memory_and_a_picture():
    _, program = compiled()
    text = shown(program)
    for fact in ("matmul", "tanh", "float64 (4, 3)", "output 0", "python", "test_notebooks.py:"):
        assert fact in text, fact
    picture = draw(program)
    assert [box.kind for box in picture.boxes].count("input") == 2
    assert {box.kind for box in picture.boxes} == {"input", "function", "output"}
    assert "tanh" in picture.to_mermaid()


def test_compiled_functions_show_their_programs():
    f, program = compiled()
    text = shown(f)
    assert "compiled compiled.<locals>.<lambda>" in text
    assert "float64 (4, 3), float64 (3, 2)" in text
    assert f"{len(program.calls)} calls" in text
    assert "calls with a program" in shown(xpgrad.compile(lambda x: x))


def test_a_program_of_many_calls_is_collapsed():
    def f(x):
        for _ in range(1000):
            x = ap.tanh(x) * 1.01
        return x

    program = xpgrad.compile(f, executor="python").program(np.ones(3))
    picture = draw(program)
    assert len(picture.boxes) < 20
    assert "× 99" in " ".join(line for box in picture.boxes for line in box.lines)
    assert "and 1,503 more lines" in re.sub(r"\s+", " ", shown(program))


def test_models_are_links_within_links():
    model = Model()
    picture = draw(model)
    texts = [box.lines[0] for box in picture.boxes]
    assert texts == [
        "Model", "scale", "body: Sequential", "0: Linear(in_size=4, out_size=3, nobias=False)", "W", "b", "1: relu",
        "2: Linear(in_size=3, out_size=2, nobias=False)", "W", "b",
    ]  # fmt: skip
    assert picture.boxes[0].lines[1] == "24 parameters"
    assert picture.boxes[4].lines == ("W", "(3, 4), float32")
    assert [box.within for box in picture.boxes] == [None, 0, 0, 2, 3, 3, 2, 2, 7, 7]
    text = shown(model)
    assert "24 numbers in 5 arrays, 96 B" in text
    assert "uninitialised" not in text


def test_uninitialised_models_are_shown_and_stay_so():
    model = Model(None)
    text = shown(model)
    assert "1 more, which are initialised at the first call" in text
    assert "uninitialised" in [line for box in draw(model).boxes for line in box.lines]
    assert not model.body[0].W.is_initialized


def test_large_models_are_drawn_without_their_parameters():
    model = Sequential(*(Sequential(*(Linear(2, 2) for _ in range(10))) for _ in range(15)))
    picture = draw(model)
    assert len(picture.boxes) == 166
    assert {box.kind for box in picture.boxes} == {"link"}
    assert picture.notes == ("466 links and parameters, drawn as 166 boxes without what is in these",)
    larger = Sequential(*(Sequential(*(Linear(2, 2) for _ in range(30))) for _ in range(15)))
    assert len(draw(larger).boxes) == 16
    flat = Sequential(*(Linear(2, 2) for _ in range(300)))
    assert len(draw(flat).boxes) == 200
    assert draw(flat).boxes[-1].lines == ("and 102 more",)


def test_importing_xpgrad_imports_no_drawing():
    import subprocess
    import sys

    program = "import sys, xpgrad; assert 'xpgrad.drawing' not in sys.modules; assert 'subprocess' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_optimizers_show_hyperparameters_and_exceptions():
    model = Model()
    optimizer = xpgrad.optimizers.Adam(alpha=0.25)
    assert "not set up: call setup(model)" in shown(optimizer)
    optimizer.setup(model)
    optimizer.add_hook(xpgrad.optimizer_hooks.WeightDecay(0.1))
    text = shown(optimizer)
    for fact in ("Adam", "alpha", "0.25", "updates", "Model", "WeightDecay"):
        assert fact in text, fact
    assert "of their own" not in text
    model.scale.update_rule.hyperparam.alpha = 0.5
    model.body[0].disable_update()
    text = shown(optimizer)
    assert "/scale" in text
    assert "alpha=0.5" in text
    assert text.count("disabled") == 2
