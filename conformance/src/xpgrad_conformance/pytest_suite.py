"""The suite as pytest tests, for the test file of a backend."""

from collections.abc import Callable, Collection
from typing import Any

from xpgrad.plugin import Capabilities
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.outcome import outcome
from xpgrad_conformance.plan import Item, plan
from xpgrad_conformance.probes import mismatches
from xpgrad_conformance.report import reproduction
from xpgrad_conformance.run import devices_of


def suite(
    name: str,
    capabilities: Capabilities | None = None,
    *,
    profile: str = "quick",
    operations: Collection[str] | None = None,
) -> dict[str, Callable[..., None]]:
    """Return test functions by name; a test file runs them by ``globals().update(suite("npu"))``.

    Each check is one test, parametrized by device, dtype and case. Checks that need a capability declared
    missing are skipped with its reason; checks that are declared to fail are xfailed, and fail if they pass.

    Parameters
    ----------
    name : str
        An available backend or device.
    capabilities : Capabilities, optional
        By default the capabilities of the backend.
    profile : str
        "quick", "thin" or "full".
    operations : collection of str, optional
        Names of operations with generated inputs, by default all: fewer for a library that compiles each call.

    Raises
    ------
    BackendUnavailable
        The backend cannot be used.
    """
    import pytest  # not a dependency of the suite

    if profile not in ("quick", "thin", "full"):
        raise ValueError(f"suite: expected the profile 'quick', 'thin' or 'full', got {profile!r}")
    devices = devices_of(name)
    given = devices[0].backend.capabilities if capabilities is None else capabilities
    quick = profile == "quick"
    names = set(operations or ())
    if unknown := names - {each.name for each in OPERATIONS}:
        raise ValueError(
            f"suite: unknown operation {', '.join(sorted(unknown))}; choose operations with generated inputs"
        )
    grouped: dict[str, list[Item]] = {}
    chosen = [each for each in OPERATIONS if operations is None or each.name in names]
    for item in plan(devices, quick=quick, thin=profile == "thin", capabilities=given, operations=chosen):
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
