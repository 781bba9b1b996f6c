"""The reports of executors: the hook ``xpgrad_report`` of the plugins in the group ``xpgrad.executors``."""

from typing import Any

from xpgrad.backend.executors import executor_name
from xpgrad.backend.plugins import plugins
from xpgrad.cli.health.findings import Finding


def executors() -> tuple[dict[str, dict[str, Any]], list[Finding]]:
    """Return the facts of each executor by the name of its plugin, with its line of text, and all findings.

    A plugin that cannot be loaded is a finding, and so is a report that is not as the hook describes it.
    """
    facts: dict[str, dict[str, Any]] = {}
    found: list[Finding] = []
    for record in plugins.load_executors():
        if record.state != "loaded":
            remedy = f"upgrade or uninstall {record.origin}; until then other executors run programs"
            found.append(Finding("wrong", "executor", f"executor {record.module}: {record.reason()}", remedy))
    for plugin, report in plugins.answers("xpgrad_report"):
        if report is None:
            continue
        try:
            facts[executor_name(plugin)] = {"line": str(report["line"]), **report["facts"]}
            found += [Finding(*finding) for finding in report["findings"]]
        except (KeyError, TypeError) as error:
            text = f"the hook xpgrad_report of {plugin} returned no report: {type(error).__name__}: {error}"
            found.append(Finding("wrong", "executor", text, "return a dictionary with line, facts and findings"))
    return facts, found
