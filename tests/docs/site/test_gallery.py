"""The gallery: each program has its picture and what it prints, and still prints lines of these words."""

import re

import pytest

gallery = pytest.importorskip("gallery", reason="needs docs on the path")


@pytest.mark.parametrize("program", gallery.PROGRAMS)
def test_a_program_has_a_picture_and_its_output(program: str) -> None:
    assert (gallery.ROOT / "examples" / f"{program}.py").exists()
    assert (gallery.PICTURES / f"{gallery.stem(program)}.png").exists()
    assert (gallery.PICTURES / f"{gallery.stem(program)}.txt").read_text().strip()


def test_every_picture_is_in_the_gallery() -> None:
    assert {path.stem for path in gallery.PICTURES.glob("*.png")} == {*map(gallery.stem, gallery.PROGRAMS)}


def words(text: str) -> list[list[str]]:
    return [re.findall(r"[A-Za-z][a-z]+", line) for line in text.splitlines()]


def test_a_program_has_the_output_in_the_gallery_up_to_digits() -> None:
    pytest.importorskip("sklearn")
    shown = (gallery.PICTURES / "phase_retrieval.txt").read_text()
    assert words(gallery.printed("phase_retrieval")) == words(shown)
