"""`xpgrad port`: the lines that it reports for a Chainer program."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from xpgrad.cli import main
from xpgrad.cli.port import examine

ROOT = Path(__file__).parents[3]


def reported(source, *states):
    """Return (line, name, state) as reported by `port`, without unchanged names unless requested."""
    return [
        (f.line, f.name, f.state) for f in examine(source) if f.state in states or not (states or f.state == "same")
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import chainer", "import xpgrad as chainer"),
        ("import chainer as ch", "import xpgrad as ch"),
        ("import chainer.functions as F", "import xpgrad.functions as F"),
        ("import chainer.functions", "import xpgrad as chainer"),
        ("from chainer import training", "from xpgrad import training"),
        ("from chainer import configuration", "from xpgrad import configuration"),
        ("from chainer.dataset import convert", "from xpgrad.dataset import convert"),
        ("from chainer.training import extensions as e", "from xpgrad.training import extensions as e"),
        ("from chainer.function_node import FunctionNode", "from xpgrad import FunctionNode"),
        ("from chainer.datasets import tuple_dataset", "from xpgrad import datasets as tuple_dataset"),
        ("from chainer.functions import *", "from xpgrad.functions import *"),
    ],
)
def test_imports_are_reported_in_their_new_form(line, expected) -> None:
    (finding,) = examine(line)
    assert (finding.state, finding.text) == ("import", expected)
    exec(expected, {})


def test_imports_aliases_and_assignments_are_followed() -> None:
    source = """
import chainer.functions as F
from chainer.functions import relu as r, Sigmoid
import chainer as ch
G = ch.functions
f = G.nonsense
y = F.ReLU()(r(Sigmoid()(x)))
"""
    assert reported(source) == [
        (2, "chainer.functions", "import"), (3, "chainer.functions.Sigmoid", "gone"),
        (3, "chainer.functions.relu", "import"), (4, "chainer", "import"),
        (6, "chainer.functions.nonsense", "not known"), (7, "chainer.functions.ReLU", "gone"),
        (7, "chainer.functions.Sigmoid", "gone"),
    ]  # fmt: skip
    assert reported(source, "same") == [(7, "chainer.functions.relu", "same")]


def test_parameters_and_other_values_hide_names() -> None:
    source = """
from chainer import cuda
def f(cuda): return cuda.nonsense
g = lambda cuda: cuda.nonsense
cuda.nonsense
cuda = 3
cuda.nonsense
"""
    assert reported(source, "not known") == [(5, "chainer.cuda.nonsense", "not known")]


def test_settings_attributes_and_libraries_on_chainer_are_reported() -> None:
    source = """
import chainer, chainermn
import chainerx as chx
with chainer.using_config("use_cudnn", "never"), chainer.using_config("train", False):
    chainer.global_config.autotune = True
model.to_gpu(0)
train, test = chainer.datasets.get_mnist()
comm = chainermn.create_communicator()
a = chx.array([1.])
"""
    assert reported(source, "gone", "renamed", "better") == [
        (2, "chainermn", "gone"), (3, "chainerx", "gone"), (4, "chainer.config.use_cudnn", "gone"),
        (5, "chainer.global_config.autotune", "gone"), (6, ".to_gpu", "better"),
        (7, "chainer.datasets.get_mnist", "renamed"), (8, "chainermn.create_communicator", "gone"),
        (9, "chainerx.array", "gone"),
    ]  # fmt: skip


@pytest.mark.parametrize(("program", "code"), [("import numpy", 0), ("import chainer\nchainer.grad", 0),
                                               ("import chainer\nchainer.nonsense", 1)])  # fmt: skip
def test_the_exit_code_shows_whether_more_than_imports_must_change(tmp_path, program, code) -> None:
    path = tmp_path / "program.py"
    path.write_text(program)
    assert CliRunner().invoke(main, ["port", str(path)]).exit_code == code


def test_text_has_lines_and_a_count_and_json_has_all_fields(tmp_path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import chainer\n\nchainer.datasets.get_mnist()\nchainer.grad([], [])\nchainer.is_arrays_compatible([])"
    )
    text = CliRunner(env={"COLUMNS": "300"}).invoke(main, ["port", str(path)]).output
    assert [line.split()[:3] for line in text.splitlines()[1:3]] == [
        ["1", "import", "chainer"], ["3", "renamed", "chainer.datasets.get_mnist"]]  # fmt: skip
    assert text.splitlines()[-1] == "1 import, 1 same, 1 better, 1 renamed"
    rows = json.loads(CliRunner().invoke(main, ["port", "--format", "json", "--all", str(path)]).output)
    assert [(row["file"], row["line"], row["column"], row["state"]) for row in rows] == [
        (str(path), 1, 1, "import"), (str(path), 3, 1, "renamed"), (str(path), 4, 1, "better"),
        (str(path), 5, 1, "same"),
    ]  # fmt: skip
    assert rows[1]["text"].startswith("xpgrad.datasets.get_digits: xpgrad downloads no data;")


@pytest.mark.parametrize("content", [b"print 'Python 2'", b"\xff\xfe\x00", b"a\x00b"])
def test_a_file_that_is_not_python_is_an_error(tmp_path, content) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    done = CliRunner().invoke(main, ["port", str(path)])
    assert done.exit_code == 2
    assert "is not Python 3: " in done.output
    assert "Traceback" not in done.output


def test_lines_for_a_pipe_are_not_wrapped(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    file = tmp_path / f"{'long' * 30}.py"
    file.write_text("import chainer\nchainer.links.TheanoFunction\n")
    lines = CliRunner().invoke(main, ["port", str(file)]).output.splitlines()
    assert lines[0] == str(file)
    assert "docs/interop.md" in next(line for line in lines if "TheanoFunction" in line)


def test_the_introductory_programs_need_only_changed_imports() -> None:
    for path in sorted((ROOT / "examples" / "chainer" / "introductory").glob("train_*.py")):
        source = path.read_text().replace("xpgrad", "chainer")
        found = [finding for finding in examine(source) if finding.state not in ("same", "better", "import")]
        assert [finding.name for finding in found] == ["chainer.datasets.get_digits"] * len(found), path
