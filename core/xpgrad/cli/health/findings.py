"""Findings: problems of a plugin and their remedies, from the facts that its process reported."""

import difflib
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOOKS = "xpgrad_backend", "xpgrad_device", "xpgrad_executor", "xpgrad_kernels", "xpgrad_report", "xpgrad_transfer"

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """One problem or piece of advice.

    Attributes
    ----------
    level : str
        "wrong"; "off" for a backend that is disabled or cannot work on this machine; "advice".
    kind : str
        Identifier for programs.
    text, remedy : str
        The problem and its remedy.
    """

    level: str
    kind: str
    text: str
    remedy: str


def wrong(kind: str, text: str, remedy: str) -> Finding:
    """Return a finding that makes the examination fail."""
    return Finding("wrong", kind, text, remedy)


def disabled(name: str, why: str) -> Finding:
    """Return the finding about a backend that the environment leaves out."""
    variable = why.split()[-1]
    do = f"take {name} out of it" if why.startswith("disabled") else f"add {name} to it"
    return Finding("off", "disabled", f"{name} is {why}", f"unset {variable}, or {do}")


def findings(facts: Facts, origin: str, timeout: float) -> list[Finding]:
    """Return the problems of one plugin, the worst first."""
    found = [*_ended(facts, origin, timeout), *_loading(facts, origin), *_chatter(facts, origin)]
    if facts.get("state") == "loaded":
        found += [*_discovery(facts, origin), *_devices(facts), *_arrays(facts), *_namespace(facts)]
    return found


def clashes(reports: Mapping[str, Facts]) -> dict[str, list[Finding]]:
    """Return findings, by backend, on array types that another backend also lists, which no single process detects."""
    found: dict[str, list[Finding]] = {}
    for name, facts in reports.items():
        for other, theirs in reports.items():
            for kind in facts.get("array_types", ()) if other != name else ():
                if kind in theirs.get("array_types", ()):
                    text = f"{name} and {other} both list {kind}; whichever is loaded second fails"
                    found.setdefault(name, []).append(wrong("clash", text, "uninstall one of them, or disable it"))
    return found


def _text_of(place: Mapping[str, Any] | None) -> str:
    """Return a place as `` (package/module.py, line 3: its source)``, the empty text for none."""
    if not place:
        return ""
    file = Path(place["file"])
    for root in ("purelib", "platlib"):
        if file.is_relative_to(sysconfig.get_paths()[root]):
            file = file.relative_to(sysconfig.get_paths()[root])
    source = f": {place['source']}" if place.get("source") else ""
    return f" ({file}, line {place['line']}{source})"


def _ended(facts: Facts, origin: str, timeout: float) -> Iterator[Finding]:
    ended = facts["ended"]
    stage, place = ended["stage"], _text_of(ended.get("place"))
    if ended["how"] == "time-out":
        yield wrong(
            "hang",
            f"{origin} did not answer within {timeout:g} s, while {stage}{place}",
            "do that work only when it is needed, or limit its waiting time; --timeout waits longer",
        )
    elif ended["how"] == "signal":
        died = f"signal {ended['signal'] or -ended['code']}"
        yield wrong(
            "crash",
            f"{origin} crashed its process with {died}, while {stage}{place}",
            "compiled code crashed: reinstall the library, in a build for this platform and NumPy",
        )
    elif ended["how"] == "exit":
        last = ended["stderr"].splitlines()[-1:] if ended["code"] else []
        said = "".join(f"; its last line: {line}" for line in last)
        yield wrong(
            "exit",
            f"{origin} ended its process with exit code {ended['code']}, while {stage}{place}{said}",
            "raise BackendUnavailable with a sentence instead of ending the process",
        )


def _loading(facts: Facts, origin: str) -> Iterator[Finding]:
    reason, place = facts.get("reason", ""), _text_of(facts.get("place"))
    if facts.get("state") == "unavailable":
        yield Finding("off", "unavailable", reason, "do as it says, if you want this backend")
    elif facts.get("kind") == "import":
        yield wrong("import", f"{origin} cannot be imported: {reason}{place}", _import_remedy(facts, origin))
    elif facts.get("kind") == "contract":
        yield wrong("contract", reason, _contract_remedy(reason))
    elif facts.get("kind") == "load":
        yield wrong("load", f"{reason}{place}", "correct that line, or raise BackendUnavailable with what is missing")


def _import_remedy(facts: Facts, origin: str) -> str:
    missing, module = facts.get("missing"), str(facts.get("module"))
    if missing is None:
        return "correct that line, or report it to the plugin's author"
    if missing == module or module.startswith(f"{missing}."):
        return f"the entry point names a module that does not exist: reinstall {origin.partition(' ')[0]}"
    return f"install what provides {missing}; a plugin should raise BackendUnavailable from its hook with that sentence"


REMEDIES = (
    ("is not decorated", "write @hookimpl (from xpgrad.plugin) above it"),
    ("unknown kernel", "rename the kernel, or omit it; docs/kernels.md lists their names"),
    (" must take (", "give the kernel these parameters: arrays by position, the rest by name"),
    ("has no default", "give it; scatter_add_by_sorting from xpgrad.plugin is right for any library"),
    ("of the plugin contract", "pip install --upgrade the plugin and xpgrad"),
    ("both list", "uninstall one of them"),
    ("both register", "uninstall one of them"),
    ("calls its backend", "give the backend and the entry point the same name"),
    ("provides no backend", "write the hook xpgrad_backend, or remove the entry point from xpgrad.backends"),
    ("unknown fact", "use a name in xpgrad.plugin.FACTS"),
)


def _contract_remedy(reason: str) -> str:
    if "unknown hook" in reason:
        _, _, rest = reason.partition("unknown hook '")
        close = difflib.get_close_matches(rest.partition("'")[0], HOOKS, 1) or [" or ".join(HOOKS)]
        return f"rename the function to {close[0]}"
    return next((remedy for words, remedy in REMEDIES if words in reason), "see docs/backends.md, the hooks")


def _chatter(facts: Facts, origin: str) -> Iterator[Finding]:
    for key, when in (("heavy_at_import", "importing it"), ("heavy_at_load", "making its backend")):
        libraries = [
            name for name in facts.get(key, ()) if key == "heavy_at_import" or name not in facts["heavy_at_import"]
        ]
        if libraries:
            names = ", ".join(libraries)
            yield wrong(
                "heavy-import",
                f"{when} imports {names}, which {origin} does not serve",
                f"import {names} inside the function that needs it",
            )
    if facts.get("printed"):
        yield wrong(
            "prints",
            f"it prints to standard output: {facts['printed']!r}",
            "use the module logging or warnings; standard output belongs to the program",
        )
    for text in facts.get("warnings", ()):
        both = "both list" in text
        yield wrong("clash" if both else "warning", text, "uninstall one of them" if both else "correct its cause")


def _discovery(facts: Facts, origin: str) -> Iterator[Finding]:
    for root in facts.get("unfound", ()):
        yield wrong(
            "array-modules",
            f"its arrays are of {', '.join(facts['array_types'])}, but no entry point xpgrad.array_modules of {origin} "
            f"names {root}: a program that makes such an array does not find its backend",
            f'add {root} = "{facts["module"]}" to [project.entry-points."xpgrad.array_modules"], and install it again',
        )


def _devices(facts: Facts) -> Iterator[Finding]:
    if "devices_error" in facts:
        text = f"its devices cannot be listed: {facts['devices_error']}{_text_of(facts.get('place'))}"
        yield wrong("devices", text, "see the argument `devices` of ArrayAPIBackend")
    elif not facts["devices"] and facts["ended"]["how"] == "finished":
        yield wrong("devices", "it has no device", "see the argument `devices` of ArrayAPIBackend")
    steps = {"kernel": "the kernel tanh", "gradient": "a gradient", "move": "a move to the host and back"}
    for row in facts["devices"]:
        for key, title in steps.items():
            if row[key] != "ok":
                text = f"{row['device']}: {title} fails: {row[key]}"
                yield wrong("device", text, f"`xpgrad conform {facts['backend']}` shows more")


def _arrays(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for row in facts["devices"]:
        arrays = row.get("arrays") or {}
        if arrays.get("bool") == "missing":
            text = f"{arrays['type']} has no __bool__, so every array is true in Python, and NaN is found everywhere"
            seen.add(wrong("no-bool", text, "give the type __bool__"))
        elif arrays.get("bool") == "wrong":
            text = f"{arrays['type']}: an array that holds False counts as true"
            seen.add(wrong("no-bool", text, "return the element of an array of size 1 from __bool__"))
        if arrays.get("lacking"):
            text = f"{arrays['type']} lacks {', '.join(arrays['lacking'])}"
            seen.add(wrong("operators", text, "give the type these attributes and operators of the standard"))
        for call, found in (arrays.get("strays") or {}).items():
            text = f"{call} of a {arrays['type']} gives a {found}, which is none of the backend's array types"
            seen.add(wrong("results", text, "let operators and indices give arrays, or list the type in array_types"))
    yield from sorted(seen, key=lambda finding: finding.text)
    for row in facts["devices"]:
        faults = row.get("creation") or {}
        for said in sorted(set(faults.values())):
            names = ", ".join(sorted(name for name in faults if faults[name] == said))
            yield wrong(
                "device-argument",
                f"{row['device']}: {names} with device=: {said}",
                "make the namespace's creation functions use device=; array-api-compat may do so",
            )
        for kernel, said in sorted((row.get("foreign") or {}).get("faults", {}).items()):
            text = f"{row['device']}: the kernel {kernel} gave {said}"
            yield wrong("foreign-kernel", text, "repair the kernel, or remove that plugin")


def _namespace(facts: Facts) -> Iterator[Finding]:
    if names := facts.get("missing_names"):
        yield wrong(
            "names",
            f"its namespace lacks names of the standard ({len(names)}): {', '.join(names)}",
            "add them as functions or kernels, or declare them in Capabilities(missing=...) with a reason",
        )


def machine_findings(machine: Facts, pools: list[dict[str, Any]]) -> Iterator[Finding]:
    """Yield advice on threads and on the kernels that multiply matrices."""
    usable = machine["usable"]
    for pool in pools:
        threads, name = pool["threads"], pool["name"]
        if threads is not None and threads > usable:
            yield Finding(
                "advice",
                "oversubscription",
                f"{name} starts {threads} threads, but {usable} of {machine['cores']} cores may be used: threads "
                "that wait for each other cost far more than they gain",
                f"set {_variable(name)}={usable} in the environment",
            )
        if name == "openblas" and machine["avx512"] and pool["kernels"] in ("Haswell", "Zen"):
            yield Finding(
                "advice",
                "kernels",
                f"OpenBLAS runs its AVX2 kernels ({pool['kernels']}) on a processor with AVX-512",
                "try OPENBLAS_CORETYPE=SkylakeX in the environment: up to 1.9 times as fast in matrix products",
            )


def _variable(name: str) -> str:
    return {"openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS", "blis": "BLIS_NUM_THREADS"}.get(
        name, "OMP_NUM_THREADS"
    )
