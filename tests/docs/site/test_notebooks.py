"""The notebooks: their cells run from top to bottom and print what the file says."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.docs.documents import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_have_the_stored_output(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "notebook"}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells
    for cell in cells:
        exec(compile("".join(cell["source"]), path.name, "exec"), names)
        said = "".join("".join(output["text"]) for output in cell["outputs"])
        assert capsys.readouterr().out == said
