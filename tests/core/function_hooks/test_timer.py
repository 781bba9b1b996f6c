"""`xpgrad.function_hooks.TimerHook`."""

import gc
import io
import weakref

import numpy as np
import pytest
from rich import console as rich_console

import xpgrad
from xpgrad.function_hooks import TimerHook


class Doubled(xpgrad.FunctionNode):
    def forward(self, inputs):
        return (2 * inputs[0],)

    def backward(self, target_input_indexes, grad_outputs):
        return (2 * grad_outputs[0],)


class Twice(xpgrad.FunctionNode):
    """Applies another function inside its own forward computation."""

    def forward(self, inputs):
        return (Doubled().apply(inputs)[0].array,)

    def backward(self, target_input_indexes, grad_outputs):
        return (2 * grad_outputs[0],)


def leaf(device, values=(1.0, 2.0, 3.0)):
    return xpgrad.Variable(device.send(np.asarray(values, np.float32)))


def test_the_module_is_public():
    assert xpgrad.function_hooks.TimerHook is TimerHook


class TestTimerHook:
    def test_history_has_every_call_forward_and_backward(self, device):
        x = leaf(device)
        with TimerHook() as hook:
            y = x * x + x
            y.grad = device.send(np.ones(3, np.float32))
            y.backward()
        assert [name for name, _ in hook.call_history] == ["multiply", "add", "add", "multiply"]
        assert all(seconds > 0 for _, seconds in hook.call_history)
        assert hook.total_time() == pytest.approx(sum(seconds for _, seconds in hook.call_history))

    def test_function_nodes_have_their_class_names(self, device):
        with TimerHook() as hook:
            Doubled().apply((leaf(device),))
        assert [name for name, _ in hook.call_history] == ["Doubled"]

    def test_total_time_counts_a_function_inside_another_once(self, device):
        with TimerHook() as hook:
            Twice().apply((leaf(device),))
        assert [name for name, _ in hook.call_history] == ["Doubled", "Twice"]
        assert hook.total_time() == hook.call_history[1][1]

    def test_summary_adds_up_by_name(self, device):
        x = leaf(device)
        with TimerHook() as hook:
            x + x + x
        summary = hook.summary()
        assert list(summary) == ["add"]
        assert summary["add"]["occurrence"] == 2
        assert summary["add"]["elapsed_time"] == sum(seconds for _, seconds in hook.call_history)

    def test_a_failing_function_does_not_affect_later_functions(self, device):
        class Broken(xpgrad.FunctionNode):
            def forward(self, inputs):
                raise RuntimeError("broken")

        with TimerHook() as hook:
            with pytest.raises(RuntimeError, match="broken"):
                Broken().apply((leaf(device),))
            Doubled().apply((leaf(device),))
        assert [name for name, _ in hook.call_history] == ["Doubled"]

    def test_a_hook_of_one_function_is_called_only_for_this_function(self, device):
        x, hook = leaf(device), TimerHook()
        y = Doubled().apply((x,))[0]
        y.creator_node.add_hook(hook)
        z = xpgrad.array_api.sum(y)
        z.backward()
        assert [name for name, _ in hook.call_history] == ["Doubled"]

    def test_timer_hook_does_not_retain_the_graph(self):
        hook = TimerHook()
        gc.disable()
        try:
            with hook:
                y = Doubled().apply((xpgrad.Variable(np.ones(3)),))[0]
            alive = weakref.ref(y.creator_node)
            del y
            assert alive() is None
        finally:
            gc.enable()


class TestReport:
    def hook(self):
        hook = TimerHook()
        hook.call_history = [("add", 0.0125), ("multiply", 0.000002), ("add", 0.0125)]
        return hook

    def report(self, **options):
        stream = io.StringIO()
        self.hook().print_report(file=stream, **options)
        return stream.getvalue()

    def test_columns_are_right_aligned(self):
        assert self.report() == (
            "FunctionName  ElapsedTime  Occurrence\n"
            "         add      25.00ms           2\n"
            "    multiply       0.00ms           1\n"
        )

    @pytest.mark.parametrize(
        ("unit", "expected"),
        [("sec", "0.03sec"), ("ms", "25.00ms"), ("us", "25000.00us"), ("ns", "25000000.00ns"), ("auto", "25.00ms")],
    )
    def test_the_requested_unit_is_used(self, unit, expected):
        assert expected in self.report(unit=unit).splitlines()[1]

    def test_auto_foreach_chooses_for_each_line(self):
        lines = self.report(unit="auto_foreach").splitlines()
        assert "25.00ms" in lines[1]
        assert "2.00us" in lines[2]

    def test_an_unknown_unit_raises(self):
        with pytest.raises(ValueError, match="unit must be auto, auto_foreach, sec, ms, us, ns; got 'hours'"):
            self.report(unit="hours")

    def test_an_empty_report_is_its_head(self, capsys):
        TimerHook().print_report()
        assert capsys.readouterr().out == "FunctionName  ElapsedTime  Occurrence\n"


class TestLive:
    def shown(self, **options):
        console = rich_console.Console(file=io.StringIO(), width=100)
        hook = TimerHook()
        with hook, hook.live(console=console, **options):
            for _ in range(3):
                Doubled().apply((xpgrad.Variable(np.ones(3)),))
        return console.file.getvalue()

    def test_the_table_names_functions_with_time_share_and_calls(self):
        text = self.shown()
        assert "TimerHook: " in text
        row = next(line for line in text.splitlines() if "Doubled" in line)
        assert "100%" in row
        assert " 3 " in row

    def test_the_option_shows_it_while_the_hook_is_active(self, capsys):
        with TimerHook(live=True) as hook:
            Doubled().apply((xpgrad.Variable(np.ones(3)),))
        assert "Doubled" in capsys.readouterr().out
        assert hook.summary()["Doubled"]["occurrence"] == 1

    def test_timer_hook_ends_when_the_program_raises(self, capsys):
        hook = TimerHook(live=True)
        with pytest.raises(KeyError), hook:
            raise KeyError
        with hook:  # so it was removed, and can be used again
            Doubled().apply((xpgrad.Variable(np.ones(3)),))
        assert "Doubled" in capsys.readouterr().out

    def test_many_functions_are_cut(self, monkeypatch):
        monkeypatch.setattr("xpgrad.function_hooks.timer.MAX_LIVE_ROWS", 2)
        console = rich_console.Console(file=io.StringIO(), width=100)
        hook = TimerHook()
        with hook.live(console=console):
            hook.call_history += [(name, 0.1) for name in "abcd"]
        assert "and 2 more" in console.file.getvalue()

    def test_an_empty_table_is_shown_too(self):
        console = rich_console.Console(file=io.StringIO(), width=100)
        with TimerHook().live(console=console):
            pass
        assert "TimerHook: 0.00 sec" in console.file.getvalue()
