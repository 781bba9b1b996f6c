"""`report`: the C compiler, its cache directory, threads that run compiled code, and failures."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from xpgrad.plugin import threads
from xpgrad_c.cache import Cache, default_directory
from xpgrad_c.directory import CacheError
from xpgrad_c.disabling import disabled
from xpgrad_c.toolchain import Toolchain

TIMEOUT = 30.0  # seconds for the compiler to compile a few loops
Finding = tuple[str, str, str, str]
"""Level, kind, text and remedy, see the hook ``xpgrad_report``."""


def report() -> dict[str, Any]:
    """Return the report for the hook ``xpgrad_report``; test a compiler that is not known yet."""
    facts = codegen()
    return {"line": codegen_line(facts), "facts": facts, "findings": list(codegen_findings(facts))}


def codegen() -> dict[str, Any]:
    """Return the state of code generation; test unknown compilers.

    Returns
    -------
    dict
        `disabled`, `off` and `folder_problem` are texts, or None.
    """
    tools = Toolchain(Cache(default_directory()), TIMEOUT)
    facts: dict[str, Any] = {"folder": tools.cache.path, "disabled": disabled(), "folder_problem": None}
    if facts["disabled"] is None:
        try:
            tools.cache.create()
        except CacheError as error:
            facts["folder_problem"] = str(error)
    tried = facts["disabled"] is None and facts["folder_problem"] is None
    compiler = tools.compiler() if tried else tools.known_compiler()
    facts |= {"off": tools.off, "compiler": None, "version": None, "vector_math": None}
    if compiler is not None:
        command = " ".join(compiler.command)
        facts |= {"compiler": command, "version": compiler.version, "vector_math": compiler.vector_math}
    entries = tools.cache.entries()
    facts |= {"files": len(entries), "bytes": sum(size for _, size, _ in entries)}
    try:
        facts["threads"], facts["threads_error"] = threads(), None
    except ValueError as error:
        facts["threads"], facts["threads_error"] = None, str(error)
    text, when = tools.last_failure() or (None, 0.0)
    facts["last_failure"] = None if text is None else {"text": text, "seconds_ago": max(0, round(time.time() - when))}
    return facts


def codegen_findings(facts: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield reasons why some or all programs are not compiled, with remedies."""
    without = "until then programs run without C"
    if facts["threads_error"] is not None:
        yield ("wrong", "threads", facts["threads_error"], "correct it, or unset it to use all cores")
    if facts["disabled"] is not None:
        return
    if facts["folder_problem"] is not None:
        remedy = f"correct it, or name another folder in XPGRAD_CACHE_DIR; {without}"
        yield ("advice", "cache", facts["folder_problem"], remedy)
    elif facts["off"] is not None:
        yield ("advice", "compiler", facts["off"], f"install gcc or clang, or name one in CC; {without}")
    elif not facts["vector_math"]:
        text = f"{facts['compiler']} finds no functions for vectors, so that groups with exp and its like run without C"
        yield ("advice", "vector-math", text, "use GCC with glibc 2.35 or newer")
    failure = facts["last_failure"]
    if failure is not None and failure["text"] != facts["off"]:
        text = f"the last failure of the compiler was {ago(failure['seconds_ago'])} ago: {failure['text']}"
        yield ("advice", "compilation", text, "those programs ran without C; report it if it occurs again")


def codegen_line(facts: Mapping[str, Any]) -> str:
    """Return the facts in one line."""
    if facts["disabled"] is not None:
        parts = [facts["disabled"]]
    elif facts["compiler"] is None:
        parts = ["no compiler"]
    else:
        parts = [facts["version"] or facts["compiler"], "vector math" if facts["vector_math"] else "no vector math"]
    if facts["threads"] is not None:
        parts.append(f"{facts['threads']} thread{'s'[: facts['threads'] != 1]}")
    files = f"{facts['files']} file{'s'[: facts['files'] != 1]}"
    parts.append(f"{files} ({facts['bytes'] / 1e3:.0f} kB) in {facts['folder']}")
    return ", ".join(parts)


def ago(seconds: int) -> str:
    """Return a duration in its largest unit of at least two."""
    for name, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {name}"
    return f"{seconds} seconds"
