"""A page as headless Chromium renders it."""

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars", "--mute-audio",
)  # fmt: skip

MEASURE = """
<script>
const found = {overflowing: [], outside: [], boxes: 0, texts: 0};
found.broken = document.querySelectorAll("parsererror").length;
for (const group of document.querySelectorAll("svg g")) {
  const box = group.querySelector("rect").getBoundingClientRect();
  found.boxes += 1;
  const svg = group.ownerSVGElement.getBoundingClientRect();
  if (box.left < svg.left || box.right > svg.right || box.top < svg.top || box.bottom > svg.bottom)
    found.outside.push(group.textContent);
  for (const text of group.querySelectorAll("text")) {
    const own = text.getBoundingClientRect();
    found.texts += 1;
    const beside = own.left < box.left - 0.5 || own.right > box.right + 0.5;
    if (beside || own.top < box.top - 1 || own.bottom > box.bottom + 1)
      found.overflowing.push(text.textContent);
  }
}
for (const note of document.querySelectorAll("svg > text"))
  if (note.getBoundingClientRect().right > note.ownerSVGElement.getBoundingClientRect().right + 0.5)
    found.overflowing.push(note.textContent);
const result = document.createElement("output");
result.id = "measured";
result.textContent = JSON.stringify(found);
document.body.append(result);
</script>
"""
"""Whether each text is within its box, and each box within its picture."""


def chromium() -> str:
    """Return the program, or skip the test."""
    found = next((path for name in NAMES if (path := shutil.which(name)) is not None), None)
    if found is None:
        pytest.skip(f"no Chromium is installed: none of {', '.join(NAMES)}")
    return found


def run(folder: Path, page: Path, *options: str) -> str:
    """Return the output of Chromium for a page."""
    command = [chromium(), *OPTIONS, f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout


def measured(folder: Path, body: str) -> dict[str, Any]:
    """Return the measurements of the script above on a page."""
    page = folder / "measured.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body>{body}{MEASURE}', encoding="utf-8")
    found = re.search(r'<output id="measured">(.*?)</output>', run(folder, page, "--dump-dom"), re.DOTALL)
    assert found is not None
    result: dict[str, Any] = json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    return result


def colours(folder: Path, body: str, style: str, size: tuple[int, int] = (1000, 1500)) -> Counter[bytes]:
    """Return the number of pixels of each colour of a page."""
    page, picture = folder / "shown.html", folder / "shown.png"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body style="{style}">{body}', encoding="utf-8")
    run(folder, page, f"--screenshot={picture}", f"--window-size={size[0]},{size[1]}")
    image = pytest.importorskip("PIL.Image").open(picture).convert("RGB")
    return Counter({bytes(colour): count for count, colour in image.getcolors(image.width * image.height)})
