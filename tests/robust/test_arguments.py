"""Wrong arguments of public functions: a clear error or the right value; each commit tries a part of the values."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.robust import calls
from tests.robust.arguments import fault
from tests.robust.wrong import WRONG
from tests.turn import part_of

PARTS = 4
FAMILIES: dict[str, Callable[[], list[calls.Call]]] = {
    "cases": calls.of_cases, "links": calls.of_links, "modules": calls.of_modules, "methods": calls.of_methods,
}  # fmt: skip

KNOWN = {"xpgrad.transforms.custom_linear_solve": (3,)}
"""Arguments for which a wrong value is not refused in words yet: a function of the user that fails in the gradient."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("value", part_of(list(WRONG), PARTS))
@pytest.mark.parametrize("family", FAMILIES)
def test_wrong_arguments_raise_a_clear_error(
    family: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tried = [(call, place) for call in FAMILIES[family]() for place in call.places()]
    found = [
        (call.name, place, fault(call, place, value)) for call, place in tried if place not in KNOWN.get(call.name, ())
    ]
    assert not [each for each in found if each[2]]
