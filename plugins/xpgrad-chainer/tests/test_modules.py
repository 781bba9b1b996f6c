"""The modules of the table: their contents, identity and errors."""

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

from xpgrad_chainer.modules import table


@pytest.mark.parametrize("path", table()["modules"])
@pytest.mark.exhaustive(1)
def test_module_has_all_its_names(path) -> None:
    module = importlib.import_module(f"chainer.{path}" if path else "chainer")
    assert [name for name in dir(module) if not hasattr(module, name)] == []


def test_module_says_whose_it_is(capsys) -> None:
    import chainer

    assert "xpgrad_chainer" in chainer.__file__
    assert "xpgrad_chainer" in repr(chainer)
    assert chainer.__version__ == "7.8.1"
    chainer.print_runtime_info()
    assert "\nChainer: 7.8.1 (names of xpgrad_chainer)\n" in capsys.readouterr().out


def test_name_hides_the_module_of_that_name() -> None:
    import chainer.training.extensions.snapshot_writers
    import chainer.utils.experimental
    from chainer.functions.math import sum as module

    assert callable(chainer.utils.experimental)
    assert module.sum is chainer.functions.sum
    assert chainer.training.extensions.snapshot_writers.ThreadWriter.__name__ == "ThreadWriter"


def test_star_import_and_pickle() -> None:
    names: dict = {}
    exec("from chainer.functions.activation.relu import *", names)
    assert {"ReLU", "relu"} <= names.keys()
    module = importlib.import_module("chainer.functions")
    assert pickle.loads(pickle.dumps(module)) is module


@pytest.mark.parametrize(
    ("path", "text"),
    [("chainer.links.caffe", "Caffe is no longer developed"), ("chainer.functions.math.nothing", "provides no module")],
)
def test_missing_module_says_what_to_use(path, text) -> None:
    with pytest.raises(ModuleNotFoundError, match=text):
        importlib.import_module(path)


def test_missing_name_says_what_to_use() -> None:
    import chainer

    with pytest.raises(AttributeError, match="Theano is no longer developed"):
        chainer.links.TheanoFunction  # noqa: B018 - a lookup
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        chainer.nothing  # noqa: B018 - a lookup


def test_uninstall_restores_modules_and_configuration() -> None:
    import xpgrad
    import xpgrad_chainer

    assert xpgrad.config.dtype == np.float32
    xpgrad_chainer.uninstall()
    assert "chainer" not in sys.modules
    assert xpgrad.config.dtype == "float32"
    assert not hasattr(xpgrad.config, "use_cudnn")
    x = xpgrad.Variable(np.ones(2, np.float32))
    with pytest.warns(xpgrad.errors.PromotionWarning):
        assert (x + np.ones(2)).dtype == np.float64
    assert xpgrad.functions.relu(x).creator.label == "relu"
    assert x.label == "(2,), float32"
    assert type(xpgrad.links.Linear(1, 1).repeat(2)) is xpgrad.Sequential


def test_program_runs_by_the_command(tmp_path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import sys, chainer, chainerx; print(chainer.__version__, sys.argv[1], chainerx.is_available())")
    command = [sys.executable, "-m", "xpgrad_chainer", str(path), "argument"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "7.8.1 argument True\n"


SPAWNING = """
import multiprocessing, warnings, numpy as np, chainer

class Data(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 2

    def get_example(self, i):
        x = chainer.Variable(np.full(2, i, np.float32))
        return (x + 0.5 * np.ones(2)).array.dtype.name, chainer.config.use_cudnn

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    warnings.simplefilter("error", chainer.iterators.MultiprocessIterator.TimeoutWarning)
    iterator = chainer.iterators.MultiprocessIterator(Data(), 2, n_processes=1)
    print(iterator.next())
    iterator.finalize()
"""


def test_processes_of_a_program_serve_chainer(tmp_path) -> None:
    (tmp_path / "program.py").write_text(SPAWNING)
    command = [sys.executable, "-m", "xpgrad_chainer", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"{[('float32', 'auto')] * 2}\n", done.stderr


def test_chainer_found_last_has_its_configuration() -> None:
    import xpgrad
    import xpgrad_chainer

    xpgrad_chainer.uninstall()
    sys.modules.pop("xpgrad_chainer.__main__", None)
    assert xpgrad_chainer.stand_in.found_last() is not None
    assert xpgrad.config.use_cudnn == "auto"


def test_processes_of_pytest_serve_chainer(tmp_path) -> None:
    (tmp_path / "test_relu.py").write_text(
        "import chainer\n\ndef test_version():\n    assert chainer.__version__ == '7.8.1'\n"
    )
    command = [sys.executable, "-m", "xpgrad_chainer", "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout


def test_chainerx_has_its_tools_for_tests() -> None:
    import chainerx
    import chainerx.testing

    a = chainerx.array([1.0, 2.0])
    chainerx.testing.assert_array_equal_ex(a, np.array([1.0, 2.0], a.dtype.name))
    with pytest.raises(AssertionError):
        chainerx.testing.assert_allclose_ex(a, np.array([1.0, 2.5], a.dtype.name))
    assert chainerx.testing.float_dtypes == ("float16", "float32", "float64")
    assert len(chainerx.testing.parametrize_dtype_specifier("dtype", dtypes=["int8"]).args[1]) == 4


def test_every_name_of_the_catalogue_is_found() -> None:
    from xpgrad.cli.catalogue import load

    missing = []
    for module, entries in load().modules.items():
        if module.removeprefix("chainer").lstrip(".") not in table()["modules"]:
            continue
        found = importlib.import_module(module)
        missing += [entry.path for name, entry in entries.items() if entry.state != "gone" and not hasattr(found, name)]
    assert missing == []
