"""`xpgrad.function_hooks.PrintHook`."""

import io

import numpy as np
import pytest

import xpgrad
from xpgrad.function_hooks import PrintHook


class Doubled(xpgrad.FunctionNode):
    def forward(self, inputs):
        return (2 * inputs[0],)

    def backward(self, target_input_indexes, grad_outputs):
        return (2 * grad_outputs[0],)


class TestPrintHook:
    def test_print_hook_prints_label_inputs_and_gradients(self, capsys):
        x = xpgrad.Variable(np.asarray([1.0, 3.0], np.float32))
        with PrintHook():
            y = x * 2
            y.grad = np.asarray([5.0, 7.0], np.float32)
            y.backward()
        forward, _, backward = capsys.readouterr().out.rpartition("function\t")
        assert forward.startswith("function\t_ * 2\ninput data\n<variable at 0x")
        assert "- shape: (2,)\n- dtype: float32\n- statistics: mean=2.00000000, std=1.00000000\n- grad: None" in forward
        assert backward.startswith("_ * 2\ninput data\n(removed)\noutput gradient\n<variable at 0x")
        assert "mean=6.00000000" in backward

    def test_end_and_file(self):
        stream = io.StringIO()
        with PrintHook(end="|", file=stream, flush=False):
            Doubled().apply((xpgrad.Variable(np.ones(2)),))
        assert stream.getvalue().startswith("function\tDoubled|input data|<variable at 0x")
        assert stream.getvalue().endswith("|")

    def test_sep_is_deprecated(self):
        with pytest.warns(DeprecationWarning, match="sep has no effect"):
            PrintHook(sep=",")
