"""`interop.doors`: doors to other frameworks are found by entry points, and their plugins come from third parties."""

import sys
import types

import pytest

import xpgrad
import xpgrad.interop
from xpgrad.backend.distributions import Point
from xpgrad.errors import PluginError
from xpgrad.interop import doors


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    """The entry points that are found, which the test adds to."""
    found: list[Point] = []
    monkeypatch.setattr(doors, "points", lambda groups: [point for point in found if point.group in groups])
    for name in ("strange", "from_strange"):
        monkeypatch.delattr(xpgrad.interop, name, raising=False)
        monkeypatch.setattr(xpgrad.interop, name, None, raising=False)  # so that names stored by a lookup are removed
        monkeypatch.delattr(xpgrad.interop, name)
    return found


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A plugin's module with a door."""
    made = types.ModuleType("xpgrad_strange_door")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def point(value: str = "xpgrad_strange_door", distribution: str = "xpgrad-strange") -> Point:
    return Point("xpgrad.interop", "strange", value, distribution, "1.2")


def test_a_door_and_its_function_are_attributes(installed: list[Point], module: types.ModuleType) -> None:
    module.from_strange = lambda f: f  # type: ignore[attr-defined]  # of a module made here
    installed.append(point())
    assert xpgrad.interop.strange is module
    assert xpgrad.interop.from_strange is module.from_strange
    assert {"strange", "from_strange", "einops"} <= set(dir(xpgrad.interop))


def test_a_lookup_imports_no_other_door(installed: list[Point], module: types.ModuleType) -> None:
    installed += [point(), point("no_such_module")._replace(name="other")]
    assert xpgrad.interop.strange is module
    assert "other" in dir(xpgrad.interop)


@pytest.mark.parametrize("name", ["strange", "from_strange"])
def test_without_the_plugin_the_error_names_the_package_to_install(installed: list[Point], name: str) -> None:
    assert not hasattr(xpgrad.interop, name)
    text = f"xpgrad.interop has no '{name}': no installed plugin has a door to 'strange', and no door is installed; .*"
    with pytest.raises(AttributeError, match=text + "pip install xpgrad-strange"):
        getattr(xpgrad.interop, name)
    installed.append(point()._replace(name="other"))
    with pytest.raises(AttributeError, match="the installed doors are other"):
        getattr(xpgrad.interop, name)


def test_a_door_that_cannot_be_imported_is_named(installed: list[Point]) -> None:
    installed.append(point("no_such_module"))
    text = "interop.strange: the door no_such_module of xpgrad-strange 1.2 cannot be imported: ModuleNotFoundError: No"
    with pytest.raises(PluginError, match=text):
        _ = xpgrad.interop.strange


def test_a_door_without_its_function_is_named(installed: list[Point], module: types.ModuleType) -> None:
    installed.append(point())
    text = "interop.from_strange: the door xpgrad_strange_door of xpgrad-strange 1.2 has no function 'from_strange'"
    with pytest.raises(PluginError, match=text):
        _ = xpgrad.interop.from_strange


def test_two_doors_of_one_name_are_both_named(installed: list[Point], module: types.ModuleType) -> None:
    installed += [point(), point("another", "other-plugin")]
    text = "interop.strange: other-plugin 1.2 and xpgrad-strange 1.2 both have a door of this name; uninstall one"
    with pytest.raises(PluginError, match=text):
        _ = xpgrad.interop.strange


def test_modules_of_the_package_are_attributes(installed: list[Point]) -> None:
    assert xpgrad.interop.einops.__name__ == "xpgrad.interop.einops"
    assert not hasattr(xpgrad.interop, "__wrapped__")
