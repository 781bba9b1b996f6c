"""Configuration: global values, this thread's overlay, and contexts."""

import io
import threading

import pytest
from tests.processes import output_of
from tests.threads import in_thread

import xpgrad
from xpgrad import config, global_config, using_config


def test_defaults():
    assert global_config.debug is False
    assert global_config.enable_backprop is True
    assert global_config.train is True
    assert global_config.type_check is True
    assert global_config.dtype == "float32"
    assert global_config.keep_graph_on_report is False
    assert config.enable_backprop is True


def test_an_unknown_entry_raises_with_the_known_names():
    with pytest.raises(AttributeError, match=r"no entry 'debgu'.*debug, detect_mutation, dtype, enable_backprop"):
        _ = config.debgu


def test_a_value_of_config_belongs_to_its_thread():
    config.train = False
    try:
        assert config.train is False
        assert global_config.train is True
        assert in_thread(lambda: config.train) is True
    finally:
        del config.train
    assert config.train is True


def test_a_global_value_applies_to_threads_without_a_local_value():
    with using_config("mine", 1, config=global_config):
        assert config.mine == 1
        assert in_thread(lambda: config.mine) == 1
        with using_config("mine", 2):
            assert config.mine == 2
            assert global_config.mine == 1
            assert in_thread(lambda: config.mine) == 1
    with pytest.raises(AttributeError):
        _ = config.mine


def test_a_global_value_takes_effect_in_operations_of_running_threads():
    import numpy as np

    x = xpgrad.Variable(np.ones(1))
    started, go, done = threading.Event(), threading.Event(), []

    def work():
        xpgrad.config.train = True  # has a separate overlay
        started.set()
        go.wait()
        done.append((x * x).requires_grad)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    with using_config("enable_backprop", False, config=global_config):
        assert not (x * x).requires_grad
        go.set()
        thread.join()
    assert done == [False]
    assert (x * x).requires_grad


def test_deleting_acts_on_this_threads_values_only():
    with pytest.raises(AttributeError, match="not set in this thread"):
        del config.train
    config.train = False
    del config.train
    with pytest.raises(AttributeError):
        del config.train
    with pytest.raises(AttributeError, match="no entry 'nothing'"):
        del global_config.nothing
    assert config.train is True


def test_show_prints_sorted_and_aligned_lines():
    with using_config("train", False):
        local, everywhere = io.StringIO(), io.StringIO()
        config.show(file=local)
        global_config.show(file=everywhere)
    lines = local.getvalue().splitlines()
    assert lines == sorted(lines)
    width = len("keep_graph_on_report")
    assert f"{'train':<{width}} False" in lines
    assert f"{'debug':<{width}} False" in lines
    assert f"{'train':<{width}} True" in everywhere.getvalue().splitlines()


def test_show_prints_to_standard_output(capsys):
    config.show()
    assert "enable_backprop" in capsys.readouterr().out
    global_config.show()
    assert "enable_backprop" in capsys.readouterr().out


def test_using_config_restores_the_values_of_this_thread():
    with using_config("train", False):
        with using_config("train", "inner"):
            assert config.train == "inner"
        assert config.train is False
    assert config.train is True
    config.train = 5
    with using_config("train", 6):
        pass
    assert config.train == 5
    del config.train
    with pytest.raises(ZeroDivisionError), using_config("train", False):
        raise ZeroDivisionError
    assert config.train is True


def test_using_config_removes_an_entry_that_did_not_exist():
    with using_config("mine", 1):
        assert config.mine == 1
    with pytest.raises(AttributeError):
        _ = config.mine


def test_a_context_object_is_reentrant():
    context = xpgrad.no_backprop_mode()
    with context:
        with context:
            assert not config.enable_backprop
        assert not config.enable_backprop
    assert config.enable_backprop


def test_contexts_are_decorators():
    @xpgrad.no_backprop_mode()
    def f(depth):
        return [config.enable_backprop, *(f(depth - 1) if depth else [])]

    assert f(2) == [False] * 3
    assert config.enable_backprop


def test_backprop_modes_nest():
    with xpgrad.no_backprop_mode():
        assert not config.enable_backprop
        with xpgrad.force_backprop_mode():
            assert config.enable_backprop
        assert not config.enable_backprop
        assert in_thread(lambda: config.enable_backprop)
    assert config.enable_backprop


def test_debug_mode():
    assert not xpgrad.is_debug()
    with using_config("debug", True):
        assert xpgrad.is_debug()
        assert not in_thread(xpgrad.is_debug)
    xpgrad.set_debug(True)
    assert xpgrad.is_debug()
    assert config.debug is True
    assert global_config.debug is False
    del config.debug
    assert not xpgrad.is_debug()


def test_the_debug_mode_class_is_deprecated():
    with pytest.warns(DeprecationWarning, match="using_config"):
        context = xpgrad.DebugMode(True)
    with context:
        assert xpgrad.is_debug()
    assert not xpgrad.is_debug()


def test_contexts_in_generators_and_tasks_do_not_leak():
    import asyncio

    async def task(value, seen):
        with using_config("train", value):
            await asyncio.sleep(0)
            seen.append(config.train == value)

    async def both():
        seen = []
        await asyncio.gather(*(task(i, seen) for i in range(5)))
        return seen

    assert asyncio.run(both()) == [True] * 5


@pytest.mark.parametrize(
    ("variable", "text", "entry", "value"),
    [
        ("XPGRAD_DEBUG", "1", "debug", True),
        ("XPGRAD_DEBUG", "0", "debug", False),
        ("XPGRAD_TYPE_CHECK", "0", "type_check", False),
        ("XPGRAD_DTYPE", "float64", "dtype", "float64"),
        ("XPGRAD_DTYPE", "mixed16", "dtype", "mixed16"),
    ],
)
def test_environment(variable, text, entry, value, monkeypatch):
    monkeypatch.setenv(variable, text)
    assert getattr(type(global_config)(), entry) == value


def test_debug_mode_of_the_environment_holds_in_operations():
    code = "import numpy as np\nimport xpgrad\nx = xpgrad.Variable(np.array([float('nan')]))\nx * x"
    with pytest.raises(AssertionError, match=r"NaN is detected on forward computation of _ \* _"):
        output_of("-c", code, XPGRAD_DEBUG="1")


def test_an_unknown_dtype_of_the_environment_is_an_error(monkeypatch):
    monkeypatch.setenv("XPGRAD_DTYPE", "float31")
    with pytest.raises(
        ValueError, match="XPGRAD_DTYPE: expected one of float16, float32, float64, mixed16, got 'float31'"
    ):
        type(global_config)()


def test_misspelt_entry_warns() -> None:
    with pytest.warns(RuntimeWarning, match="'trian' is a new entry.*did you mean 'train'"):
        xpgrad.config.trian = False
    del xpgrad.config.trian
    with (
        pytest.warns(RuntimeWarning, match="did you mean 'debug'") as caught,
        xpgrad.using_config("debgu", True),
    ):
        pass
    assert [each.filename for each in caught] == [__file__] * len(caught)
    with pytest.raises(AttributeError, match="did you mean 'enable_backprop'"):
        _ = xpgrad.config.enable_backprp


def test_entry_of_a_program_needs_no_leave() -> None:
    with xpgrad.using_config("schedule", 3):
        assert xpgrad.config.schedule == 3
