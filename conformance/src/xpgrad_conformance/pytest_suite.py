"""The suite as pytest tests, for the test file of a backend."""

from collections.abc import Callable
from typing import Any

from xpgrad.plugin import Capabilities
from xpgrad_conformance.outcome import outcome
from xpgrad_conformance.plan import Item, plan
from xpgrad_conformance.probes import mismatches
from xpgrad_conformance.report import reproduction
from xpgrad_conformance.run import devices_of


def suite(
    name: str, capabilities: Capabilities | None = None, *, profile: str = "quick"
) -> dict[str, Callable[..., None]]:
    """Return test functions by name; ``globals().update(suite("npu"))`` makes a test file of them.

    There is one for each check, with a parameter for each place where it runs. What a declared capability lacks is
    skipped with its reason, what is declared to fail is an xfail, and fails if it passes.

    Parameters
    ----------
    name : str
        A backend or a device, which must be usable.
    capabilities : Capabilities, optional
        By default those of the backend.
    profile : str
        "quick" or "full".

    Raises
    ------
    BackendUnavailable
        The backend cannot be used: then there is nothing to test.
    """
    import pytest  # of those who test

    if profile not in ("quick", "full"):
        raise ValueError(f"suite: expected the profile 'quick' or 'full', got {profile!r}")
    devices = devices_of(name)
    given = devices[0].backend.capabilities if capabilities is None else capabilities
    quick = profile == "quick"
    grouped: dict[str, list[Item]] = {}
    for item in plan(devices, quick=quick):
        grouped.setdefault(item.check.id, []).append(item)

    def test_capabilities_are_as_declared() -> None:
        found = mismatches(devices, given)
        assert not found, "; ".join(map(str, found))

    def made(items: list[Item]) -> Callable[..., None]:
        def test(item: Item) -> None:
            found = outcome(item, given)
            if found.state == "skipped":
                (pytest.skip if found.declared else pytest.fail)(found.reason)
            if found.state == "expected":
                pytest.xfail(found.reason)
            assert found.state == "passed", f"{found.reason}\n\n{reproduction(found)}\n\n{found.trace}"

        test.__doc__ = items[0].check.title
        return pytest.mark.parametrize("item", items, ids=[item.id for item in items])(test)

    tests: dict[str, Any] = {"test_capabilities_are_as_declared": test_capabilities_are_as_declared}
    for check, items in grouped.items():
        tests[f"test_{check}_{items[0].check.function.__name__}"] = made(items)
    return tests
