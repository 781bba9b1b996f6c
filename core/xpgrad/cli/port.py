"""`xpgrad port`: lists, line by line, names of a Chainer program with another name or meaning in xpgrad."""

import ast
import json
import sys
import tokenize
from collections.abc import Iterable
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from xpgrad.cli.catalogue import STATES, ChainerName, load
from xpgrad.cli.console import plain_console

COLOURS = {
    "same": "dim",
    "better": "green",
    "import": "cyan",
    "renamed": "yellow",
    "gone": "red",
    "not known": "magenta",
}


class PortedName(NamedTuple):
    """A name in a program; `state` is a state of the catalogue, or "import" for a line that imports Chainer."""

    line: int
    column: int
    name: str
    state: str
    text: str


class Reader(ast.NodeVisitor):
    """Follows the names of Chainer through a program: imports, `as`, and assignments of modules and classes."""

    def __init__(self) -> None:
        self.catalogue = load()
        self.names: dict[str, str] = {}  # of the program -> the path in Chainer
        self.findings: list[PortedName] = []

    def add(self, node: Any, entry: ChainerName, name: str | None = None) -> None:
        """Add a finding with the catalogue's text about a name."""
        text = f"{entry.here}: {entry.text}".removesuffix(": ") if entry.state == "renamed" else entry.text
        self.findings.append(PortedName(node.lineno, node.col_offset + 1, name or entry.path, entry.state, text))

    def write(self, node: Any, name: str, text: str) -> None:
        """Add the import that is to be written."""
        self.findings.append(PortedName(node.lineno, node.col_offset + 1, name, "import", text))

    def visit_Import(self, node: ast.Import) -> None:
        """Follow ``import chainer``, also with a path and with `as`."""
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if not self.catalogue.is_known_root(root):
                continue
            self.names[alias.asname or root] = alias.name if alias.asname else root
            entry = self.catalogue.find(alias.name)
            if entry.here is None:
                self.add(node, entry)
            elif alias.asname:
                self.write(node, alias.name, f"import {entry.here} as {alias.asname}")
            else:
                self.write(node, alias.name, "import xpgrad as chainer")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Follow ``from chainer import``."""
        if node.level or node.module is None or not self.catalogue.is_known_root(node.module.partition(".")[0]):
            return
        for alias in node.names:
            if alias.name == "*":
                known = self.catalogue.modules.get(node.module, {})
                self.names |= {name: f"{node.module}.{name}" for name in known}
                self.write(node, node.module, f"from {self.catalogue.here.get(node.module, 'xpgrad')} import *")
                continue
            path = f"{node.module}.{alias.name}"
            self.names[alias.asname or alias.name] = path
            entry = self.catalogue.find(path)
            if entry.here is None or entry.state == "renamed":
                self.add(node, entry)
            else:
                module, _, name = entry.here.rpartition(".")
                called = alias.asname or (alias.name if alias.name != name else None)
                self.write(node, path, f"from {module or 'xpgrad'} import {name}" + (f" as {called}" if called else ""))

    def path_of(self, node: ast.AST) -> str | None:
        """Return the path in Chainer of a name or attribute, or None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.path_of(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None

    def visit_Name(self, node: ast.Name) -> None:
        """Look up a name that was imported; the modules themselves are no findings."""
        path = self.names.get(node.id) if isinstance(node.ctx, ast.Load) else None
        if path is not None and path not in self.catalogue.modules and path not in self.catalogue.aliases:
            self.add(node, self.catalogue.find(path))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Look up a path, or an attribute of something whose type is not known."""
        path = self.path_of(node)
        if path is not None:
            if path not in self.catalogue.modules and path not in self.catalogue.aliases:
                self.add(node, self.catalogue.find(path))
            return
        if node.attr in self.catalogue.attributes:
            state, _, text = self.catalogue.attributes[node.attr].partition(": ")
            self.add(node, ChainerName(f".{node.attr}", state, None, text))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Also look up the setting of ``using_config``."""
        path = self.path_of(node.func) or ""
        setting = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if path.endswith(".using_config") and isinstance(setting, str):
            entry = self.catalogue.find(f"chainer.config.{setting}")
            if entry.state != "same":
                self.add(node.args[0], entry)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Follow ``F = chainer.functions``; a name that gets another value no longer belongs to Chainer."""
        self.visit(node.value)
        path = self.path_of(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.pop(target.id, None)
                if path is not None:
                    self.names[target.id] = path
            else:
                self.visit(target)

    def visit_FunctionDef(self, node: Any) -> None:
        """Read a function, whose parameters hide names of the module."""
        outer, arguments = self.names, node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        hidden = {argument.arg for argument in every if argument is not None}
        self.names = {name: path for name, path in outer.items() if name not in hidden}
        self.generic_visit(node)
        self.names = outer

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef  # noqa: N815


def examine(source: str, name: str = "<program>") -> list[PortedName]:
    """Return the findings of `port` for a program in the order of its lines, each name once per line."""
    reader = Reader()
    reader.visit(ast.parse(source, name))
    by_place = {(f.line, f.name, f.state, f.text): f for f in reversed(reader.findings)}
    return sorted(by_place.values())


@click.command(short_help="List what changes in Chainer programs.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--format", "how", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--all", "everything", is_flag=True, help="Also list unchanged names.")
def port(files: tuple[str, ...], how: str, everything: bool) -> None:
    """List names in the Chainer programs FILES with another name or meaning in xpgrad; no file is changed.

    The exit code is 0 if only imports must change, 1 if a name was renamed, removed or unknown to this command,
    and 2 if a file cannot be read as Python. Names whose state is "better" work unchanged.
    """
    found = {path: _read(path) for path in files}
    shown = {path: [f for f in rows if everything or f.state != "same"] for path, rows in found.items()}
    if how == "json":
        rows = [{"file": path, **finding._asdict()} for path, each in shown.items() for finding in each]
        click.echo(json.dumps(rows, indent=2))
    else:
        console = plain_console()
        for path, each in shown.items():
            _show(console, path, each, found[path])
    states = {finding.state for rows in found.values() for finding in rows}
    sys.exit(int(bool(states & {"renamed", "gone", "not known"})))


def _read(path: str) -> list[PortedName]:
    try:
        with tokenize.open(path) as file:  # in the encoding that the file declares
            return examine(file.read(), path)
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise click.UsageError(f"{path}{where} is not Python 3: {getattr(error, 'msg', None) or error}") from None


def _show(console: Console, path: str, rows: Iterable[PortedName], every: list[PortedName]) -> None:
    console.print(path, style="bold")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column(overflow="fold")
    for finding in rows:
        table.add_row(str(finding.line), finding.state, finding.name, finding.text, style=COLOURS[finding.state])
    if table.row_count:
        console.print(table)
    counts = {state: sum(finding.state == state for finding in every) for state in ("import", *STATES)}
    console.print(", ".join(f"{n} {state}" for state, n in counts.items() if n) or "no name of Chainer", style="dim")
