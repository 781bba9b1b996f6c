"""Sphinx extension that writes the reference, signatures and docstrings, and lists other names of an object."""

import builtins
from pathlib import Path
from typing import Any

import gallery
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from _site import examples, notebooks, outside, published, reference, signatures
from _site.docstrings import linked
from _site.public import by_short_name, names, paths


class AlsoNamed(Directive):
    """Line with the other names of an object; the inventory maps them to its page."""

    required_arguments = 1
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the line."""
        env = self.state.document.settings.env
        home, others = self.arguments[0], self.arguments[1].split()
        line = nodes.paragraph("", "Also: ", classes=["also-named"])
        for i, name in enumerate(others):
            line += nodes.Text(", " if i else "")
            line += nodes.literal(name, name, ids=[name])
            env.domains["py"].note_object(name, "function" if name.rpartition(".")[2].islower() else "class", name)
        assert home in paths()
        return [line]


def signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, text: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """Return the signature as the source writes it."""
    if what in ("class", "exception"):
        found = signatures.of_class(obj)
        return None if found is None else (found, None)
    if what in ("function", "method"):
        return signatures.of_function(obj, method=what == "method" and not _is_static(name, obj))
    return None


def bases(app: Sphinx, name: str, obj: type, options: Any, shown: list[Any]) -> None:
    """Show the public bases of a class, replacing a private base by its public bases."""
    shown[:] = list(dict.fromkeys(reference.shown_bases(shown))) or [object]


def _is_static(path: str, obj: Any) -> bool:
    """Return whether `inspect.signature` of a method has no parameter for the instance."""
    if getattr(obj, "__self__", None) is not None:
        return True
    parent, _, name = path.rpartition(".")
    cls = examples.found(parent)
    return any(isinstance(vars(base).get(name), staticmethod) for base in getattr(cls, "__mro__", ()))


def docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn backticks into links, and add the examples."""
    module = next((m for m in _prefixes(name) if m in reference.MODULES), "xpgrad")
    if what == "module":
        return
    owner = obj.fget if isinstance(obj, property) else obj
    own: frozenset[str] = frozenset()
    if what in ("method", "property", "attribute"):
        parent, _, _ = name.rpartition(".")
        own = examples.attributes(parent)
    lines[:] = linked("\n".join(lines), module, owner, own).split("\n")
    if shown := examples.all_of().get(name):
        lines += ["", "Examples", "--------", *shown.splitlines(), ""]


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:i]) for i in range(len(parts), 0, -1)]


def unlinked(app: Sphinx, doctree: nodes.document) -> None:
    """Remove links from built-in types in signatures, because Sphinx would link `bool` to the dtype."""
    for signature in doctree.findall(addnodes.desc_signature):
        for node in list(signature.findall(addnodes.pending_xref)):
            if hasattr(builtins, node.get("reftarget", "")):
                node.replace_self(node.children)


def missing(app: Sphinx, env: Any, node: Any, contnode: Any) -> Any:
    """Resolve a short name in an annotation to its home."""
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget", "").rpartition(".")[2]
    found = by_short_name().get(target)
    if not found or not target[0].isupper() or node.get("reftarget") in found:
        return None
    domain = env.domains["py"]
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], node, contnode)


def write(app: Sphinx) -> None:
    """Write the pages of the reference, the gallery and the notebook before Sphinx looks for files."""
    folder = Path(app.srcdir)
    reference.write(folder / "reference", dict(reference.pages_of(names())))
    reference.write(folder / "gallery", dict(gallery.pages()))
    reference.write(folder / "notebooks", dict(notebooks.pages()))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension's functions with Sphinx."""
    app.add_config_value("repository", "", "env", types=(str,))
    app.add_directive("also-named", AlsoNamed)
    app.connect("builder-inited", write)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-bases", bases)
    app.connect("autodoc-process-docstring", docstring, priority=100)  # before numpydoc's
    app.connect("doctree-read", unlinked)
    app.connect("missing-reference", missing)
    app.connect("source-read", outside.read)
    app.connect("build-finished", published.finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
