"""`xpgrad doctor`: reports on working plugins, and on plugins with every kind of fault."""

import json
import re
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from tests.core.backend.third_party import GOOD, ThirdParty, gives, kernels

from xpgrad import get_device
from xpgrad.cli import main
from xpgrad.cli.health.findings import findings
from xpgrad.errors import BackendUnavailable

pytestmark = pytest.mark.exhaustive(1)

TOY_ARRAYS = """
import os, sys
from tests.core import toy_arrays

def toy_backend(namespace=toy_arrays, devices={"cpu": "here", "away": "away"}, **options):
    options = {"scatter_add": scatter_add_by_sorting, **options}
    return ArrayAPIBackend("npu", namespace, (toy_arrays.ToyArray,), devices=devices, **options)

class Names:
    def __init__(self, **given):
        self.given = given
    def __getattr__(self, name):
        if self.__dict__["given"].get(name, self) is None:
            raise AttributeError(name)
        return self.__dict__["given"].get(name) or getattr(toy_arrays, name)
"""
"""A library whose arrays can be computed with, and shorthands to break it."""
WORKING = TOY_ARRAYS + "xpgrad_api = 1, 1\n" + gives("toy_backend()")


class Said(NamedTuple):
    """The expected report of a fault: a word for programs, and regular expressions."""

    kind: str
    text: str
    remedy: str


class Broken(NamedTuple):
    """A faulty plugin, and the expected report."""

    source: str
    said: Said


BROKEN = {
    "library missing": Broken(
        "import no_such_library",
        Said(
            "import",
            r"xpgrad-npu 1.0 cannot be imported: ModuleNotFoundError: .*'no_such_library'"
            r" \(.*xpgrad_npu_\d+.py, line \d+: import no_such_library\)",
            "install what provides no_such_library",
        ),
    ),
    "syntax error": Broken("def (", Said("import", r"SyntaxError: .*line \d+: def \(", "correct that line")),
    "exit at import": Broken("raise SystemExit('bye')", Said("import", "SystemExit: bye", "correct that line")),
    "crash": Broken("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        Said("crash", r"signal SIGSEGV, while importing its module \(.*SIGSEGV\)\)", "compiled code crashed")),
    "end of the process": Broken("import os; os._exit(3)",
        Said("exit", "ended its process with exit code 3, while importing its module", "raise BackendUnavailable")),
    "end of the process in the hook": Broken("import os\n" + gives("os._exit(0)"),
        Said("exit", "exit code 0, while making its backend", "BackendUnavailable")),
    "interrupt": Broken(gives("(_ for _ in ()).throw(KeyboardInterrupt())"),
        Said("load", "KeyboardInterrupt", "correct that line")),
    "hook fails": Broken(gives("{}['x']"), Said("load", r"KeyError: 'x' \(.*def xpgrad_backend", "correct that line")),
    "misspelt hook": Broken(GOOD + "@hookimpl\ndef xpgrad_kernel(): ...",
        Said("contract", "unknown hook 'xpgrad_kernel'", "rename the function to xpgrad_kernels$")),
    "crash of a computation": Broken(TOY_ARRAYS + gives("toy_backend(kernels={'tanh': lambda x: os.abort()})"),
        Said("crash", r"SIGABRT, while computing on @npu:cpu \(.*lambda x: os.abort", "compiled code")),
    "wrong scatter_add": Broken(TOY_ARRAYS + gives("toy_backend(scatter_add=lambda spec, parts: spec.shape.nothing)"),
        Said("device", "@npu:away: a gradient fails: AttributeError: 'tuple' object", "xpgrad conform")),
    "devices fail": Broken(TOY_ARRAYS + gives("toy_backend(devices=lambda: 1 / 0)"),
        Said("devices", "cannot be listed: ZeroDivisionError", "ArrayAPIBackend")),
    "no devices": Broken(TOY_ARRAYS + gives("toy_backend(devices={})"),
        Said("devices", "it has no device", "ArrayAPIBackend")),
}  # fmt: skip
"""Plugins that do not come far."""

UNFIT = {
    "unmarked hook": ("def xpgrad_backend(): ...", "not decorated", "write @hookimpl"),
    "newer contract": (GOOD + "xpgrad_api = 2, 3", "versions 2 to 3 .* has version 1", "pip install --upgrade"),
    "wrong kernel": (GOOD + kernels("{'add': lambda x: x}"), r"must take \(array1, array2\)", "arrays by position"),
    "unknown kernel": (GOOD + kernels("{'ad': np.add}"), "unknown kernel 'ad'", "rename the kernel"),
    "no scatter_add": (gives("backend(scatter_add=None)"), "must have the kernel 'scatter_add'", "by_sorting"),
    "the host's type": (gives("backend(array_types=[np.ndarray])"), "both list numpy.ndarray", "uninstall one"),
    "another name": (gives("backend('nqu')"), "calls its backend 'nqu'", "the same name"),
    "no backend": ("", "provides no backend", "write the hook xpgrad_backend"),
    "unknown fact": (
        "from xpgrad.plugin import Capabilities\n" + gives("Capabilities(missing={'fourier': 'no'})"),
        "unknown fact 'fourier'",
        "FACTS",
    ),
    "no Backend": (gives("np"), "expected a Backend", "docs/backends.md"),
}
"""Plugins that break the contract in ways that the loader reports: the expected message and remedy."""

FAULTY = f"""
import ctypes, os, torch, warnings
print("hello")
os.write(1, b"raw ")
ctypes.CDLL(None).puts(b"compiled")
warnings.warn("old driver")
{TOY_ARRAYS}
del toy_arrays.ToyArray.__bool__, toy_arrays.ToyArray.__floordiv__
toy_arrays.ToyArray.__gt__ = lambda self, other: np.asarray(self.values) > np.asarray(other.values)
names = Names(
    take_along_axis=None,
    complex64=None,
    eye=lambda n, dtype=None: toy_arrays.eye(n, dtype=dtype),
    arange=lambda n, dtype=None, device=None: toy_arrays.arange(n, dtype=dtype),
)

def made():
    import jax
    return toy_backend(names, kernels={{"tanh": lambda x: x}}, to_host=lambda array: 2 * array.values)

{gives("made()")}
"""
"""A plugin that loads, and has every other fault."""

FAULTS = {
    "not found": Said(
        "array-modules", "no entry point xpgrad.array_modules of xpgrad-npu 1.0 names tests", "add tests ="
    ),
    "wrong values": Said(
        "device", r"@npu:away: the kernel tanh fails: .* gave \[1.0, 2.0, 4.0\]; expected \[0.46", "xpgrad conform npu"
    ),
    "wrong gradient": Said(
        "device", r"@npu:cpu: a gradient fails: .* gave \[2.0, 4.0, 8.0\]; expected \[1.0", "conform"
    ),
    "wrong moves": Said("device", "@npu:cpu: a move to the host and back fails: .*move to the host gave", "conform"),
    "no truth": Said("no-bool", "tests.core.toy_arrays.ToyArray has no __bool__", "give the type __bool__"),
    "other results": Said(
        "results", "x > x of a tests.core.toy_arrays.ToyArray gives a numpy.ndarray", "let operators"
    ),
    "no operator": Said("operators", "ToyArray lacks __floordiv__", "operators of the standard"),
    "device= refused": Said(
        "device-argument", "@npu:cpu: eye with device=: TypeError: .*keyword argument 'device'", "use device="
    ),
    "device= ignored": Said(
        "device-argument", "@npu:away: arange with device=: gave an array on @npu:cpu", "use device="
    ),
    "names": Said("names", r"lacks names of the standard \(2\): take_along_axis, complex64", "Capabilities"),
    "prints": Said("prints", "(?s)(?=.*hello)(?=.*raw)(?=.*compiled)", "logging"),
    "warns": Said("warning", "UserWarning: old driver", "correct its cause"),
    "heavy import": Said("heavy-import", "importing it imports torch, which xpgrad-npu 1.0 does not", "inside"),
    "heavy backend": Said("heavy-import", "making its backend imports jax, which", "import jax inside the function"),
}
"""The expected report."""


def doctor(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *words], env={"COLUMNS": "80", **environment})


def examined(*words: str, code: int) -> dict[str, Any]:
    """Return the JSON report on the backend npu."""
    result = doctor(*words, "--json")
    assert result.exit_code == code, result.output
    return next(facts for facts in json.loads(result.stdout)["backends"] if facts["backend"] == "npu")


def assert_said(said: Said, found: list[dict[str, str]]) -> None:
    about = [finding for finding in found if finding["kind"] == said.kind]
    assert about, found
    assert any(re.search(said.text, each["text"]) and re.search(said.remedy, each["remedy"]) for each in about), about
    assert {each["level"] for each in about} == {"wrong"}


@pytest.mark.parametrize("way", BROKEN)
def test_a_broken_plugin_is_named_with_a_remedy(third_party: ThirdParty, way: str) -> None:
    third_party.install("xpgrad-npu", BROKEN[way].source, backends="npu", modules="tests")
    facts = examined("npu", code=1)
    assert facts["verdict"] == "wrong"
    assert_said(BROKEN[way].said, facts["findings"])


def test_each_fault_of_a_loaded_plugin_is_named_with_a_remedy(third_party: ThirdParty) -> None:
    for library in ("torch", "jax"):
        (third_party.folder / f"{library}.py").touch()
    third_party.install("xpgrad-npu", FAULTY, backends="npu")
    found = examined("npu", code=1)["findings"]
    for said in FAULTS.values():
        assert_said(said, found)
    assert {finding["kind"] for finding in found} == {said.kind for said in FAULTS.values()}


@pytest.mark.parametrize("way", UNFIT)
@pytest.mark.filterwarnings("ignore::xpgrad.backend.contract.PluginWarning")
def test_loader_errors_are_reported_with_a_remedy(third_party: ThirdParty, way: str) -> None:
    source, text, remedy = UNFIT[way]
    third_party.install("xpgrad-npu", source, backends="npu")
    plugins = third_party.plugins()
    plugins.backend("numpy")
    with pytest.raises(BackendUnavailable) as caught:
        plugins.backend("npu")
    facts = {
        "state": "failed",
        "kind": "contract",
        "reason": str(caught.value),
        "ended": {"how": "finished", "stage": ""},
    }
    (finding,) = findings(facts, "xpgrad-npu 1.0", 60)
    assert re.search(text, finding.text)
    assert re.search(remedy, finding.remedy)


def test_an_array_that_holds_false_must_not_count_as_true(third_party: ThirdParty) -> None:
    source = TOY_ARRAYS + "toy_arrays.ToyArray.__bool__ = lambda self: True\n" + gives("toy_backend()")
    third_party.install("xpgrad-npu", source, backends="npu", modules="tests")
    (finding,) = examined("npu", code=1)["findings"]
    assert finding["text"] == "tests.core.toy_arrays.ToyArray: an array that holds False counts as true"


def test_kernels_of_other_plugins_that_differ_from_the_usual_ones_are_named(third_party: ThirdParty) -> None:
    given = """{
    'tanh': lambda x: x, 'exp': lambda x: np.exp(x), 'log': lambda x: x.oops, 'sin': lambda x: NotImplemented,
    'argmax': lambda x, axis, keepdims: np.argmax(x, axis=axis, keepdims=keepdims),
    'flip': lambda x, axis: np.flip(x), 'softmax': lambda x, axis: np.exp(x) / np.exp(x).sum(axis, keepdims=True),
    'triu': lambda x, k: np.tril(x, k), 'moments': lambda x, axis: (x.mean(axis, keepdims=True), x[:1]),
    'take': lambda x, indices, axis: np.take(x, indices + 1, axis, mode='clip'),
    'bitwise_and': lambda x1, x2: x1 | x2, 'bitwise_or': lambda x1, x2: x1 | x2,
    'max_pool': lambda x, geometry: x[..., :1, :1], 'linalg.slogdet': lambda x: np.linalg.slogdet(x)[::-1],
}"""
    module = third_party.install("xpgrad-fast", kernels(given, "numpy"), modules="numpy")
    result = doctor("numpy", "--json")
    (facts,) = json.loads(result.stdout)["backends"]
    found = [finding["text"] for finding in facts["findings"] if finding["kind"] == "foreign-kernel"]
    assert [text.partition(" gave ")[0] for text in found] == [
        f"@numpy: the kernel {name} of {module}"
        for name in ("bitwise_and", "flip", "linalg.slogdet", "log", "max_pool", "moments", "take", "tanh", "triu")
    ]
    assert found[1].endswith(" with axis=-1")
    assert result.exit_code == 1
    left = f"not compared: sin of {module} (it declines every sample)"
    assert f"@numpy: 13 of 14 kernels of plugins compared; {left}" in " ".join(doctor("numpy").output.split())


def test_a_plugin_that_works_is_fine(third_party: ThirdParty) -> None:
    third_party.install("xpgrad-npu", WORKING, backends="npu", modules="tests", version="2.5")
    facts = examined("@npu", code=0)
    assert facts["findings"] == []
    assert facts["verdict"] == "fine"
    assert facts["plugin"] == "xpgrad-npu 2.5"
    assert facts["contract"] == [1, 1]
    assert [row["device"] for row in facts["devices"]] == ["@npu:cpu", "@npu:away"]
    assert {row[step] for row in facts["devices"] for step in ("kernel", "gradient", "move")} == {"ok"}
    assert facts["import_seconds"] > 0
    assert facts["array_types"] == ["tests.core.toy_arrays.ToyArray"]


def test_declared_missing_functions_are_listed_without_error(third_party: ThirdParty) -> None:
    source = """
from xpgrad.plugin import Capabilities
capabilities = Capabilities(missing={"take_along_axis": "toy_arrays are tied up"})
"""
    declared = "toy_backend(Names(take_along_axis=None), capabilities=capabilities)"
    third_party.install("xpgrad-npu", TOY_ARRAYS + source + gives(declared), backends="npu", modules="tests")
    result = doctor("npu")
    assert result.exit_code == 0, result.output
    assert "lacks: take_along_axis (toy_arrays are tied up)" in result.output


@pytest.mark.slow
def test_a_plugin_that_hangs_is_stopped_and_the_line_is_named(third_party: ThirdParty) -> None:
    source = "import threading\n" + gives("threading.Event().wait()")
    third_party.install("xpgrad-npu", source, backends="npu")
    facts = examined("npu", "--timeout", "8", code=1)
    (finding,) = facts["findings"]
    assert finding["kind"] == "hang"
    assert re.search(
        r"did not answer within 8 s, while making its backend \(.*xpgrad_npu_\d+.py, line \d+: .*wait", finding["text"]
    )
    assert facts["contract"] is None  # earlier facts are kept


def test_unavailable_library_is_an_error_only_if_requested(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XPGRAD_BACKENDS", "npu")
    source = "def none(): raise BackendUnavailable('npu: no driver found; get one')\n" + gives("none()")
    third_party.install("xpgrad-npu", source, backends="npu")
    for words, code in ((["npu"], 1), ([], 0)):
        facts = examined(*words, code=code)
        assert facts["verdict"] == "off"
        assert [finding["text"] for finding in facts["findings"]] == ["npu: no driver found; get one"]


def test_a_backend_that_the_environment_leaves_out_is_not_loaded(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    third_party.install("xpgrad-npu", "raise SystemExit('imported')", backends="npu")
    monkeypatch.setenv("XPGRAD_DISABLE_BACKENDS", "npu")
    (finding,) = examined("npu", code=1)["findings"]
    assert finding["text"] == "npu is disabled by XPGRAD_DISABLE_BACKENDS"
    assert finding["remedy"] == "unset XPGRAD_DISABLE_BACKENDS, or take npu out of it"
    monkeypatch.delenv("XPGRAD_DISABLE_BACKENDS")
    monkeypatch.setenv("XPGRAD_BACKENDS", "strict")
    (finding,) = examined("npu", code=1)["findings"]
    assert finding["remedy"] == "unset XPGRAD_BACKENDS, or add npu to it"


def test_two_plugins_of_one_type_are_both_named(third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch) -> None:
    first = third_party.install("xpgrad-npu", GOOD, backends="npu")
    third_party.install("xpgrad-tpu", f"from {first} import Array\n" + gives("backend('tpu', [Array])"), backends="tpu")
    monkeypatch.setenv("XPGRAD_BACKENDS", "npu,tpu")
    result = doctor("--json")
    assert result.exit_code == 1
    reports = {facts["backend"]: facts for facts in json.loads(result.stdout)["backends"]}
    for name, other in (("npu", "tpu"), ("tpu", "npu")):
        (clash,) = [finding for finding in reports[name]["findings"] if finding["kind"] == "clash"]
        assert clash["text"] == f"{name} and {other} both list {first}.Array; whichever is loaded second fails"
        assert "uninstall one of them" in clash["remedy"]


def test_two_plugins_that_serve_one_library_meet_in_one_process(third_party: ThirdParty) -> None:
    third_party.install("xpgrad-npu", WORKING, backends="npu", modules="tests")
    third_party.install("xpgrad-tpu", WORKING.replace('"npu"', '"tpu"'), backends="tpu", modules="tests")
    (clash,) = [finding for finding in examined("npu", code=1)["findings"] if finding["kind"] == "clash"]
    assert "backends npu and tpu both list tests.core.toy_arrays.ToyArray" in clash["text"]


def test_two_distributions_of_one_name_are_both_named(third_party: ThirdParty) -> None:
    third_party.install("xpgrad-npu", GOOD, backends="npu")
    third_party.install("npu-for-xpgrad", GOOD, backends="npu", version="3.1")
    facts = examined("npu", code=1)
    assert facts["plugin"] == "npu-for-xpgrad 3.1 and xpgrad-npu 1.0"
    assert "both register this name" in facts["findings"][0]["text"]


def test_a_missing_module_of_a_distribution_suggests_reinstallation(third_party: ThirdParty) -> None:
    third_party.write("xpgrad-npu", {"xpgrad.backends": {"npu": "xpgrad_npu.plugin"}})
    (finding,) = examined("npu", code=1)["findings"]
    assert finding["remedy"].endswith("reinstall xpgrad-npu")


def test_an_unknown_name_exits_with_code_2_and_a_suggestion(third_party: ThirdParty) -> None:
    result = doctor("nunpy")
    assert result.exit_code == 2
    assert "no backend 'nunpy' is installed; did you mean numpy?" in result.output
    result = doctor("quantum")
    assert result.exit_code == 2
    assert "pip install its plugin" in result.output


def test_a_variable_without_matching_names_exits_with_code_2(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XPGRAD_BACKENDS", "nunpy")
    result = doctor()
    assert result.exit_code == 2
    assert "XPGRAD_BACKENDS names nunpy" in result.output


@pytest.mark.parametrize("seconds", ["0", "-1", "soon"])
def test_a_time_out_is_a_positive_number(seconds: str) -> None:
    assert doctor("--timeout", seconds).exit_code == 2


def test_the_report_fits_into_eighty_columns(third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch) -> None:
    source = TOY_ARRAYS + "del toy_arrays.ToyArray.__bool__\n" + gives("toy_backend()")
    third_party.install("xpgrad-npu", source, backends="npu", modules="tests")
    monkeypatch.setenv("XPGRAD_BACKENDS", "npu")
    result = doctor(OMP_NUM_THREADS="1")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines == [line.rstrip() for line in lines]
    text = " ".join(result.output.split())
    assert re.search(r"npu wrong library \d\S+, plugin xpgrad-npu 1.0", text)
    assert re.search(r"@npu:away ok ok ok \d+", text)
    assert "wrong tests.core.toy_arrays.ToyArray has no __bool__" in text
    assert "-> give the type __bool__" in text
    assert "numpy fine library" in text
    assert "OMP_NUM_THREADS=1" in text
    assert "Traceback" not in text


def test_build_compiles_kernels_in_advance(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = get_device("@numpy").backend
    for built, text in ((True, "numpy: kernels in C are compiled"), (False, "numpy: kernels in C cannot be compiled")):
        monkeypatch.setattr(type(backend), "build", lambda self, built=built: built)
        result = CliRunner().invoke(main, ["doctor", "numpy", "--build", "--json"])
        assert text in result.stderr
        assert json.loads(result.stdout)["backends"]
