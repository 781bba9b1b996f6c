"""Plugins in the group `xpgrad.executors`: when they are loaded, their order, and what backends get from them."""

import numpy as np
import pytest
from tests.core.backend.third_party import ThirdParty

from xpgrad import plugin
from xpgrad.cli.health import examination as health

OFFER = """
class Executor:
    def __call__(self, program): return NotImplemented
    def row_functions(self, backend, kernels, dtype, loop): return {kernel.name: backend.name for kernel in kernels}

@hookimpl
def xpgrad_executor(backend): return Executor()
"""


def test_executors_are_loaded_when_they_are_needed_and_precede_the_one_in_c(third_party: ThirdParty) -> None:
    module = third_party.install("xpgrad-rows", OFFER, executors="rows")
    loaded = third_party.plugins()
    backend = loaded.backend("numpy")
    assert module not in loaded.records
    assert [name for name, _ in loaded.executors(backend)] == [module, "xpgrad_c.plugin"]


@pytest.mark.usefixtures("codegen")
def test_the_first_executor_with_an_attribute_gives_it(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    third_party.install("xpgrad-rows", OFFER, executors="rows")
    loaded = third_party.plugins()
    monkeypatch.setattr(plugin, "plugins", loaded)
    backend = loaded.backend("numpy")
    kernel = plugin.RowKernel("twice", ("point",), lambda xp, x: xp.add(x, x))
    compiled = plugin.from_executors(backend, "row_functions")
    assert compiled(backend, [kernel], np.dtype("f"), None) == {"twice": "numpy"}
    assert plugin.from_executors(backend, "c_library").__module__ == "xpgrad_c.written"
    assert plugin.from_executors(backend, "nothing_like_this") is None
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    assert plugin.from_executors(backend, "c_library") is None


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("raise ValueError('no')", "failed to load: ValueError: no"),
        ("@hookimpl\ndef xpgrad_report(): return {'line': 'fine'}", "returned no report: KeyError: 'facts'"),
        ("@hookimpl\ndef xpgrad_report(): return {'line': '', 'facts': {}, 'findings': [1]}", "no report: TypeError"),
    ],
)
@pytest.mark.filterwarnings("ignore:plugin xpgrad_rows")
def test_doctor_names_an_executor_without_a_report(
    source: str, text: str, third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    third_party.install("xpgrad-rows", source, executors="rows")
    monkeypatch.setattr(health, "plugins", third_party.plugins())
    facts, findings = health.executors()
    assert "line" in facts["c"]
    assert [text in finding.text for finding in findings if finding.kind == "executor"] == [True]
