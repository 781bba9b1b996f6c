import signal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.core.backend.third_party import GOOD, LIBRARY, ThirdParty, gives, kernels
from tests.threads import at_once

from xpgrad.backend import loading
from xpgrad.backend.contract import PluginWarning
from xpgrad.backend.kernels import table
from xpgrad.backend.plugins import Plugins
from xpgrad.errors import BackendUnavailable, PluginError
from xpgrad.plugin import hookimpl, register

BROKEN = {
    "import error": ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
    "syntax error": ("def (", "SyntaxError: invalid syntax"),
    "exit": ("raise SystemExit('bye')", "SystemExit: bye"),
    "exception": ("1 / 0", "ZeroDivisionError: division by zero"),
    "hook fails": (gives("{}['x']"), "KeyError: 'x'"),
    "hook exits": (gives("exit(3)"), "SystemExit: 3"),
    "hook interrupts": (gives("stopped(KeyboardInterrupt)"), "failed to load: KeyboardInterrupt"),
    "hook closes": (gives("stopped(GeneratorExit)"), "failed to load: GeneratorExit"),
    "an error without a text": (gives("stopped(Mute)"), r"Mute, which cannot be printed \(SystemExit\)"),
    "misspelt hook": (GOOD + "@hookimpl\ndef xpgrad_kernel(): ...",
        "unknown hook 'xpgrad_kernel'.* expected one of the hooks xpgrad_backend"),
    "misspelt argument": (GOOD + "@hookimpl\ndef xpgrad_kernels(backand): ...", "backand"),
    "hook without its marker": ("def xpgrad_backend(): ...", "xpgrad_backend is not decorated with @hookimpl"),
    "newer contract": (GOOD + "xpgrad_api = 2, 3",
        "supports versions 2 to 3 .* but this xpgrad has version 1; upgrade"),
    "older contract": (GOOD + "xpgrad_api = 0, 0", "supports versions 0 to 0 .*upgrade the plugin or xpgrad"),
    "no range": (GOOD + "xpgrad_api = 1", r"expected xpgrad_api = \(lowest, highest\) of two integers, got 1"),
    "a range of words": (GOOD + "xpgrad_api = '1', '1'", "expected xpgrad_api .* got \\('1', '1'\\)"),
    "a range of one": (GOOD + "xpgrad_api = (1,)", r"expected xpgrad_api .* got \(1,\)"),
    "no Backend": (gives("np"), "xpgrad_backend returned module, expected a Backend"),
    "None": (gives("None"), "returned NoneType, expected a Backend"),
    "another name": (gives("backend('nqu')"), "calls its backend 'nqu', but .* registers it as 'npu'"),
    "no types": (gives("backend(array_types=())"), r"expected the types of arrays .* got \(\)"),
    "no type": (gives("backend(array_types=['Array'])"), "expected the types of arrays"),
    "another's type": (gives("backend(array_types=[Array, np.ndarray])"),
        "backends numpy and npu both list numpy.ndarray; uninstall one of them"),
    "a list": (gives("backend(array_types=[list])"), "backend npu lists list, a built-in type"),
    "a number": (gives("backend(array_types=[Array, int])"), "backend npu lists int, a built-in type"),
    "no scatter_add": (gives("backend(scatter_add=None)"), "must have the kernel 'scatter_add', which has no default"),
    "scatter_add of another form": (gives("backend(scatter_add=lambda x: x)"), "kernel 'scatter_add' must take"),
    "capabilities in a dict": (gives("backend(capabilities={'fft': 'none'})"),
        r"expected capabilities=Capabilities\(...\), got {'fft': 'none'}"),
    "a method that has moved": (gives("(lambda b: setattr(b, 'writes', print) or b)(backend())"),
        "backend npu defines writes, which are methods of xpgrad.plugin.Programs; move"),
    "no dict of kernels": (GOOD + kernels("7"), "expected a dict of kernels for backend numpy, got 7"),
    "unknown own kernel": (gives("backend(kernels={'tahn': np.tanh})"), "unknown kernel 'tahn' .* known: .*tan"),
    "unknown kernel": (GOOD + kernels("{'ad': np.add}"), "unknown kernel 'ad' for backend numpy"),
    "no function": (GOOD + kernels("{'add': 3}"), "kernel 'add' is int, expected a function"),
    "kernel of another form": (GOOD + kernels("{'add': lambda x: x}"), r"must take \(array1, array2\), but has \(x\)"),
    "no parameters": (GOOD + kernels("{'broadcast_to': lambda x: x}"), r"must take \(array1, shape=\)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plugin_is_recorded_with_a_warning(third_party: ThirdParty, kind: str) -> None:
    source, reason = BROKEN[kind]
    module = third_party.install("xpgrad-npu", source, backends="npu", modules="npulib")
    plugins = third_party.plugins()
    numpy = plugins.backend("numpy")
    with pytest.warns(PluginWarning, match=f"(?s)plugin {module}: .*{reason}"):
        record = plugins.load(plugins.installed.backends["npu"][0])
    assert (record.state, record.origin, record.backend) == ("failed", "xpgrad-npu 1.0", None)
    assert record.seconds > 0
    with pytest.raises(BackendUnavailable, match=f"(?s)^npu: .*xpgrad-npu 1.0.*{reason}") as caught:
        plugins.backend("npu")  # without a second warning, which would be an error here
    assert caught.value.__cause__ is record.error
    assert plugins.backend("numpy") is numpy
    assert set(plugins.by_type.values()) == {numpy}
    assert list(numpy.xp.providers("add")) == ["numpy"]
    assert plugins.backend("strict").name == "strict"


def test_a_plugin_with_a_missing_library_gives_no_warning(third_party: ThirdParty) -> None:
    source = """
@hookimpl
def xpgrad_backend():
    raise BackendUnavailable("npu: no driver found (libnpu.so.2); install it from your vendor")
"""
    third_party.install("xpgrad-npu", source, backends="npu")
    plugins = third_party.plugins()
    with pytest.raises(BackendUnavailable, match=r"^npu: no driver found \(libnpu.so.2\)"):
        plugins.backend("npu")
    (record,) = (r for r in plugins.records.values() if r.origin == "xpgrad-npu 1.0")
    assert record.state == "unavailable"


def test_a_plugin_without_a_backend_is_no_backend(third_party: ThirdParty) -> None:
    third_party.install("xpgrad-npu", "", backends="npu")
    with pytest.raises(BackendUnavailable, match=r"npu: xpgrad-npu 1.0 provides no backend .*no hook xpgrad_backend"):
        third_party.plugins().backend("npu")


def test_a_backend_must_be_registered_by_name_not_only_by_its_arrays(third_party: ThirdParty) -> None:
    module = third_party.install("xpgrad-npu", GOOD, modules="npulib")
    plugins = third_party.plugins()
    with pytest.warns(PluginWarning, match="does not register it in the entry points of the group xpgrad.backends"):
        plugins.load(plugins.installed.modules["npulib"][0])
    assert plugins.records[module].state == "failed"


def test_keyboard_interrupt_gets_out_and_loading_can_be_repeated(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
import os, signal
@hookimpl
def xpgrad_backend():
    if os.environ.get("NPU_INTERRUPT"):
        signal.raise_signal(signal.SIGINT)
    return backend()
"""
    third_party.install("xpgrad-npu", source, backends="npu")
    plugins = third_party.plugins()
    monkeypatch.setenv("NPU_INTERRUPT", "1")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            plugins.backend("npu")
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.delenv("NPU_INTERRUPT")
    assert plugins.backend("npu").name == "npu"


def test_a_type_of_a_built_in_backend_cannot_be_claimed_first(third_party: ThirdParty) -> None:
    third_party.install("impostor", gives("backend(array_types=[Array, np.ndarray])"), backends="npu", modules="npulib")
    plugins = third_party.plugins()
    with pytest.warns(PluginWarning, match="backends numpy and npu both list numpy.ndarray; uninstall one of them"):
        plugins.load(plugins.installed.backends["npu"][0])
    assert plugins.backend_of(np.zeros(2)).name == "numpy"


def test_a_plugin_that_loads_for_long_is_named(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loading, "SLOW", 0.05)
    module = third_party.install("xpgrad-npu", "import time\ntime.sleep(0.5)\n" + GOOD, backends="npu")
    assert third_party.plugins().backend("npu").name == "npu"
    assert caplog.messages == [f"plugin {module} of xpgrad-npu 1.0 has been loading for 0.05 s"]


def test_two_distributions_that_claim_one_name_are_both_named(third_party: ThirdParty) -> None:
    third_party.install("xpgrad-npu", GOOD, backends="npu", version="1.0")
    third_party.install("npu-for-xpgrad", GOOD, backends="npu", version="3.1")
    expected = "npu: npu-for-xpgrad 3.1 and xpgrad-npu 1.0 both register this name; uninstall one of these packages"
    with pytest.raises(BackendUnavailable, match=expected):
        third_party.plugins().backend("npu")


def test_names_of_built_in_backends_are_reserved(third_party: ThirdParty) -> None:
    third_party.install("impostor", gives("backend('numpy')"), backends="numpy")
    numpy = third_party.plugins().backend("numpy")
    assert type(numpy).__module__ == "xpgrad_numpy.backend"


def test_two_plugins_that_claim_one_type_are_both_named(third_party: ThirdParty) -> None:
    first = third_party.install("xpgrad-npu", GOOD, backends="npu")
    source = f"from {first} import Array\n" + gives("backend('tpu', [Array])")
    third_party.install("xpgrad-tpu", source, backends="tpu")
    plugins = third_party.plugins()
    npu = plugins.backend("npu")
    with (
        pytest.warns(PluginWarning, match=f"backends npu and tpu both list {first}.Array"),
        pytest.raises(BackendUnavailable, match="uninstall one of them"),
    ):
        plugins.backend("tpu")
    assert plugins.by_type[npu.array_types[0]] is npu


def test_a_plugin_that_loads_another_plugin_and_fails_does_not_affect_it(third_party: ThirdParty) -> None:
    source = """
@hookimpl
def xpgrad_backend():
    import __main__
    __main__.plugins.backend("strict")
    raise RuntimeError("too late")
"""
    third_party.install("xpgrad-npu", source, backends="npu")
    plugins = third_party.plugins()
    import __main__

    __main__.plugins = plugins  # type: ignore[attr-defined]  # where the plugin finds this test's manager
    try:
        with pytest.warns(PluginWarning, match="too late"), pytest.raises(BackendUnavailable):
            plugins.backend("npu")
    finally:
        del __main__.plugins  # type: ignore[attr-defined]  # as above
    strict = plugins.backend("strict")
    assert plugins.by_type[strict.array_types[0]] is strict


def test_a_plugin_that_requests_its_backend_while_loading_raises(third_party: ThirdParty) -> None:
    source = """
@hookimpl
def xpgrad_backend():
    import xpgrad
    xpgrad.get_device("@npu")
"""
    third_party.install("xpgrad-npu", source, backends="npu")
    done = third_party.attempt("import xpgrad; xpgrad.get_device('@npu')")
    assert "requested its own backend while it was being loaded" in done.stderr.splitlines()[-1]


def test_a_plugin_is_loaded_once_by_many_threads(third_party: ThirdParty) -> None:
    source = """
import time
started = []
@hookimpl
def xpgrad_backend():
    started.append(1)
    time.sleep(0.05)  # the others must wait, not find it half loaded
    return backend()
"""
    module = third_party.install("xpgrad-npu", source, backends="npu")
    plugins = third_party.plugins()
    found = at_once(*[lambda: plugins.backend("npu")] * 8)
    assert len(set(map(id, found))) == 1
    assert __import__(module).started == [1]


@pytest.mark.parametrize(
    ("failure", "text"),
    {
        "source.nonsense": "AttributeError",
        "stopped(Mute)": "Mute, which cannot be printed",
        "exit()": "SystemExit",
        "stopped(KeyboardInterrupt)": "KeyboardInterrupt",
        "stopped(GeneratorExit)": "GeneratorExit",
    }.items(),
)
def test_a_failing_hook_warns_and_is_skipped(third_party: ThirdParty, failure: str, text: str) -> None:
    third_party.install(
        "xpgrad-npu", GOOD + f"@hookimpl\ndef xpgrad_transfer(source, target): return {failure}", backends="npu"
    )
    plugins = third_party.plugins()
    plugins.backend("npu")
    device = plugins.backend("numpy").default_device
    with pytest.warns(PluginWarning, match=f"its hook xpgrad_transfer failed: {text}"):
        assert plugins.transfer(device, device) is None


def test_the_result_of_a_hook_is_validated(third_party: ThirdParty) -> None:
    third_party.install(
        "xpgrad-npu", GOOD + "@hookimpl\ndef xpgrad_device(): return 'npu'", backends="npu", words="npu"
    )
    plugins = third_party.plugins()
    with pytest.raises(PluginError, match="xpgrad_device returned 'npu' for 'npu:0'; expected a Device or None"):
        plugins.parse_device("npu:0")


# Kernels from third parties


def accelerator(result: str, extra: str = "") -> str:
    return f"""
calls = []
@hookimpl({extra})
def xpgrad_kernels(backend):
    def add(x1, x2, /):
        calls.append(backend.name)
        return {result}
    return {{"add": add}} if backend.name == "numpy" else {{}}
"""


def test_a_plugin_with_only_kernels_is_loaded_with_their_backend(third_party: ThirdParty) -> None:
    module = third_party.install("fast", accelerator("42"), modules="numpy")
    plugins = third_party.plugins()
    plugins.backend("strict")
    assert module not in plugins.records
    numpy = plugins.backend("numpy")
    assert numpy.xp.add(1, 2) == 42
    assert list(numpy.xp.providers("add")) == [module, "numpy"]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("x1.astype('float32')", r"gave float32 \(2,\), expected float64 \(2,\)"),
        ("x1[:1]", r"gave float64 \(1,\), expected float64 \(2,\)"),
        ("[1.0, 2.0]", "gave list, expected ndarray"),
    ],
)
def test_a_kernel_of_another_result_raises_at_its_first_use(third_party: ThirdParty, result: str, text: str) -> None:
    module = third_party.install("fast", accelerator(result), modules="numpy")
    numpy = third_party.plugins().backend("numpy")
    x = np.asarray([1.0, 2.0])
    for _ in range(2):
        with pytest.raises(PluginError, match=rf"^{module}: kernel 'add' {text}; remove the plugin, or repair the ker"):
            numpy.xp.add(x, x)


@pytest.mark.parametrize(
    ("extra", "result", "order"), [("", "NotImplemented", (1, 0)), ("tryfirst=True", "43", (0, 1))]
)
def test_the_last_third_party_goes_first_unless_it_declines_or_another_asks_to(
    third_party: ThirdParty, extra: str, result: str, order: tuple[int, ...]
) -> None:
    modules = [
        third_party.install("fast", accelerator("42", extra), modules="lib"),
        third_party.install("other", accelerator(result), modules="lib"),
    ]
    plugins = third_party.plugins()
    numpy = plugins.backend("numpy")
    for entry in sorted(plugins.installed.modules["lib"], key=lambda entry: modules.index(entry.module)):
        plugins.load(entry)
    assert list(numpy.xp.providers("add")) == [*(modules[i] for i in order), "numpy"]
    assert numpy.xp.add(1, 2) == 42
    assert __import__(modules[order[0]]).calls == ["numpy"]


@pytest.mark.parametrize("order", ["backend first", "third party first"])
def test_third_parties_go_before_the_plugin_of_the_backend_itself(third_party: ThirdParty, order: str) -> None:
    third_party.install("xpgrad-npu", GOOD + kernels("{'add': lambda x1, x2: 'own'}", "npu"), backends="npu")
    third_party.install("third", kernels("{'add': lambda x1, x2: 'third'}", "npu"), modules="lib")
    plugins = third_party.plugins()
    entries = [plugins.installed.backends["npu"][0], plugins.installed.modules["lib"][0]]
    for entry in entries if order == "backend first" else reversed(entries):
        plugins.load(entry)
    assert plugins.backend("npu").xp.add(1, 2) == "third"


def test_bad_kernels_for_a_new_backend_are_left_out_and_the_backend_loads(third_party: ThirdParty) -> None:
    module = third_party.install("third", kernels("{'nonsense': 1}", "npu"), modules="lib")
    third_party.install("xpgrad-npu", GOOD, backends="npu")
    plugins = third_party.plugins()
    assert plugins.load(plugins.installed.modules["lib"][0]).state == "loaded"
    with pytest.warns(PluginWarning, match=f"plugin {module}: its kernels for npu are left out: .*unknown kernel"):
        assert plugins.backend("npu").name == "npu"


def test_kernels_loaded_later_replace_kernels_in_existing_plans(third_party: ThirdParty) -> None:
    source = """
import numpy
@hookimpl
def xpgrad_kernels(backend):
    def tanh(x, /):
        return numpy.full_like(x, 7) if backend.name == "numpy" else NotImplemented
    def tanh_x(gy, x, y, /):
        return gy * 5
    return {"tanh": tanh, "tanh.x": tanh_x}
"""
    third_party.install("fast", source, modules="lib")
    program = """
import numpy, xpgrad
from xpgrad.backend.plugins import plugins
def value_and_gradient(recorded):
    x = xpgrad.Variable(numpy.zeros(1))
    y = xpgrad.array_api.tanh(x)
    y.backward(enable_double_backprop=recorded)
    return float(y.array[0]), float(x.grad[0])
print(value_and_gradient(False))
plugins.load(plugins.installed.modules["lib"][0])
print(value_and_gradient(False))
print(value_and_gradient(True))  # a recorded sweep uses the formula
"""
    assert third_party.run(program).splitlines() == ["(0.0, 1.0)", "(7.0, 5.0)", "(7.0, 64.0)"]


# Plugins of the program itself


def npu(name: str = "npu", **options: Any) -> Any:
    namespace: dict[str, Any] = {}
    exec(LIBRARY, namespace)

    @hookimpl
    def xpgrad_backend() -> Any:
        return namespace["backend"](name, **options)

    return SimpleNamespace(xpgrad_backend=xpgrad_backend)


def test_register_makes_the_same_checks_as_loading() -> None:
    plugins = Plugins()
    plugin = npu()
    backend = plugins.register(plugin, "npu")
    assert plugins.backend("npu") is backend
    assert plugins.by_type[backend.array_types[0]] is backend


@pytest.mark.parametrize(
    ("plugin", "name", "reason"),
    [
        (npu(), "numpy", "'numpy' is the name of an installed backend"),
        (npu("nqu"), "npu", "calls its backend 'nqu'"),
        (npu(scatter_add=None), "npu", "must have the kernel 'scatter_add'"),
        (SimpleNamespace(), "npu", "provides no backend"),
    ],
)
def test_a_wrong_plugin_of_the_program_itself_is_an_error(plugin: Any, name: str, reason: str) -> None:
    plugins = Plugins()
    with pytest.raises(PluginError, match=reason):
        plugins.register(plugin, name)
    assert name == "numpy" or not plugins.knows(name)
    if name != "numpy":
        assert plugins.register(npu(), "npu").name == "npu"


def test_register_is_public() -> None:
    with pytest.raises(PluginError, match="numpy"):
        register(npu(), "numpy")


def test_scatter_add_is_the_only_kernel_without_a_default() -> None:
    required = [n for n, declared in table.declared.items() if declared.body is None and not declared.optional]
    assert required == ["scatter_add"]
