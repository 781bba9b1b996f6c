import pytest
from tests.core.backend.third_party import GOOD, ThirdParty

from xpgrad.errors import BackendUnavailable, PluginError

LOADED = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules} & {%s}))"
LIBRARIES = "'numpy', 'array_api_compat', 'array_api_strict', 'cupy', 'torch', 'jax', 'pluggy', 'xpgrad_numpy'"
LIBRARIES += ", 'xpgrad_cupy', 'xpgrad_chx', 'xpgrad_c', 'xpgrad_fusion', 'xpgrad_strict', 'xpgrad_torch', 'xpgrad_jax'"
LIBRARIES += ", 'click', 'rich', 'scipy', 'opt_einsum'"


def loaded_after(third_party: ThirdParty, program: str, more: str = "", **environment: str) -> list[str]:
    return third_party.run(program + "\n" + LOADED % (LIBRARIES + more), **environment).splitlines()[-1:][0].split()


def test_a_plugin_that_is_not_needed_is_not_imported(third_party: ThirdParty) -> None:
    third_party.install("ghost", "raise SystemExit('imported')", backends="ghost", modules="ghost", words="ghost")
    program = f"""
import xpgrad
{LOADED % LIBRARIES}
from xpgrad.backend.plugins import plugins
assert "ghost" in plugins.names()
{LOADED % LIBRARIES}
for specifier in ("@foo", "phantom:0", ""):
    try:
        xpgrad.get_device(specifier)
    except xpgrad.SpecifierError:
        pass
xpgrad.Variable(__import__("numpy").ones(1)).backward()
"""
    assert third_party.run(program) == ""


def test_naming_a_device_imports_its_plugin_and_no_other(third_party: ThirdParty) -> None:
    loaded = loaded_after(third_party, "import xpgrad; xpgrad.get_device('@numpy')")
    assert loaded == ["numpy", "pluggy", "xpgrad_numpy"]


def test_an_array_finds_its_plugin(third_party: ThirdParty) -> None:
    program = """
import array_api_strict, xpgrad
x = xpgrad.Variable(array_api_strict.asarray([1.0, 2.0]))
y = x * x
y.grad = array_api_strict.asarray([1.0, 1.0])
y.backward()
assert x.grad[1] == 4.0 and str(x.device) == '@strict:cpu'
"""
    loaded = loaded_after(third_party, program)
    assert "xpgrad_strict" in loaded
    assert not {"xpgrad_cupy", "xpgrad_chx", "cupy", "torch", "jax"} & set(loaded)


def test_a_plugin_is_found_by_a_prefix_that_it_claims(third_party: ThirdParty) -> None:
    plugin = (
        GOOD
        + """
@hookimpl
def xpgrad_device(specifier):
    if specifier == "tpu:0":
        from xpgrad import get_device
        return get_device("@npu")
"""
    )
    third_party.install("xpgrad-npu", plugin, backends="npu", words="tpu")
    assert third_party.run("import xpgrad; print(xpgrad.get_device('tpu:0'))") == "@npu:cpu"


def test_entries_carry_distribution_and_version(third_party: ThirdParty) -> None:
    module = third_party.install("xpgrad-npu", GOOD, backends="npu", modules="npu npulib", version="2.5")
    installed = third_party.plugins().installed
    (entry,) = installed.backends["npu"]
    assert entry.module == module
    assert entry.origin == "xpgrad-npu 2.5"
    assert [e.module for name in ("npu", "npulib") for e in installed.modules[name]] == [module, module]


def test_an_editable_install_that_is_listed_twice_counts_once(third_party: ThirdParty) -> None:
    third_party.write("xpgrad-npu", {"xpgrad.backends": {"npu": "npu_plugin"}})
    info = third_party.folder / "elsewhere"
    info.mkdir()
    ThirdParty(info).write("xpgrad-npu", {"xpgrad.backends": {"npu": "npu_plugin"}})
    program = "import sys; sys.path.append(sys.argv[-1]); from xpgrad.backend.discovery import scan"
    assert (
        third_party.run(f"{program}\nprint(len(scan().backends['npu']))".replace("sys.argv[-1]", repr(str(info))))
        == "1"
    )


@pytest.mark.parametrize("text", ["no section\n", "[xpgrad.backends]\nthis is no entry\n", "\x00\xff"])
def test_unreadable_entry_points_do_not_affect_other_distributions(third_party: ThirdParty, text: str) -> None:
    info = third_party.write("broken", {})
    (info / "entry_points.txt").write_text(text)
    names = third_party.plugins().names()
    assert {"numpy", "cupy", "chx", "strict"} <= set(names)


def test_a_distribution_without_metadata_is_listed(third_party: ThirdParty) -> None:
    info = third_party.write("anonymous", {"xpgrad.backends": {"npu": "no_such_module"}})
    (info / "METADATA").unlink()
    plugins = third_party.plugins()
    assert plugins.knows("npu")
    with pytest.warns(UserWarning, match="no_such_module"), pytest.raises(BackendUnavailable, match="no_such_module"):
        plugins.backend("npu")


def test_an_entry_point_without_a_module_does_not_affect_other_plugins(third_party: ThirdParty) -> None:
    third_party.write("odd", {"xpgrad.backends": {"npu": "not a module!", "npu2": "json:dumps"}})
    plugins = third_party.plugins()
    assert plugins.backend("numpy").name == "numpy"
    for name in ("npu", "npu2"):
        with pytest.warns(UserWarning, match="odd 1.0 failed to load"), pytest.raises(BackendUnavailable):
            plugins.backend(name)


# Environment


def test_blocked_backend_is_known_but_unavailable(third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch) -> None:
    third_party.install("xpgrad-npu", GOOD, backends="npu", modules="npu", words="npu")
    monkeypatch.setenv("XPGRAD_DISABLE_BACKENDS", " npu, @cupy ")
    plugins = third_party.plugins()
    with pytest.raises(BackendUnavailable, match="npu: disabled by XPGRAD_DISABLE_BACKENDS"):
        plugins.backend("npu")
    assert "npu" not in plugins.installed.modules
    assert "npu" not in plugins.installed.prefixes
    with pytest.raises(BackendUnavailable, match=r"no available backend serves 'gpu'; .*cupy: disabled by"):
        plugins.backend_of_prefix("gpu")


def test_allow_list_excludes_unnamed_backends_except_the_host(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XPGRAD_BACKENDS", "strict")
    plugins = third_party.plugins()
    assert plugins.backend("strict").name == "strict"
    assert plugins.host.name == "numpy"
    with pytest.raises(BackendUnavailable, match="chx: not listed in XPGRAD_BACKENDS"):
        plugins.backend("chx")


def test_empty_variables_have_no_effect(third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPGRAD_BACKENDS", " ")
    monkeypatch.setenv("XPGRAD_DISABLE_BACKENDS", "")
    assert not third_party.plugins().installed.disabled


@pytest.mark.parametrize(
    ("variable", "names", "reason"),
    [
        ("XPGRAD_BACKENDS", "strict,nunpy", "nunpy, .* installed: .*numpy"),
        ("XPGRAD_DISABLE_BACKENDS", "strict,nunpy", "nunpy, .* installed: .*numpy"),
        ("XPGRAD_DISABLE_BACKENDS", "numpy", "numpy, the host"),
    ],
)
def test_an_unknown_name_in_a_variable_or_disabling_the_host_is_an_error(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch, variable: str, names: str, reason: str
) -> None:
    monkeypatch.setenv(variable, names)
    with pytest.raises(PluginError, match=f"{variable} names {reason}"):
        third_party.plugins().names()


def test_a_plugin_that_gives_an_allowed_backend_too_stays(
    third_party: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    third_party.write("two", {"xpgrad.backends": {"a": "both", "b": "both"}, "xpgrad.array_modules": {"lib": "both"}})
    monkeypatch.setenv("XPGRAD_DISABLE_BACKENDS", "a")
    assert "lib" in third_party.plugins().installed.modules
