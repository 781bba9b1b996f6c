"""What PyPI shows: README.md with links to the repository, at the tag of the version, in place of relative ones."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)")


class ReadmeHook(MetadataHookInterface):
    """Reads README.md as the description of the distribution."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`, which pyproject.toml lists as dynamic."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        at_tag = f"{metadata['urls']['Repository']}/blob/v{metadata['version']}/"
        metadata["readme"] = {"content-type": "text/markdown", "text": RELATIVE.sub(at_tag, text)}
