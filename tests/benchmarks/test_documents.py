"""`benchmarks/documents.py` and `benchmarks/curves.py`: what a run writes, and what it says of curves."""

import pytest
from benchmarks import documents
from benchmarks.curves import Crossing, crossings, sentence, slope

TEXT = (
    "before\n<!-- measured: one -->\nold | text\n<!-- end -->\nbetween\n<!-- measured: two -->\n<!-- end -->\nafter\n"
)


def test_only_what_is_between_markers_is_replaced():
    written = documents.replaced(TEXT, {"one": r"| \1 |", "two": "second"})
    assert written == (
        "before\n<!-- measured: one -->\n| \\1 |\n<!-- end -->\nbetween\n<!-- measured: two -->\nsecond\n<!-- end -->\n"
        "after\n"
    )
    assert documents.replaced(written, {"one": "old | text", "two": ""}) == TEXT.replace("two -->\n", "two -->\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT.replace("<!-- end -->", "", 1),  # the next end belongs to another marker
        TEXT + TEXT,
    ],
)
def test_a_marker_that_is_missing_open_or_there_twice_is_an_error(text):
    with pytest.raises(ValueError, match="expected one <!-- measured: one --> with <!-- end --> behind it"):
        documents.replaced(text, {"one": "new"})


@pytest.mark.parametrize(("document", "marker"), [(d, m) for d, parts in documents.PARTS.items() for m in parts])
def test_the_documents_have_the_markers_of_what_is_measured(document, marker):
    documents.replaced((documents.DOCS / document).read_text(encoding="utf-8"), {marker: "measured"})


def test_curves_cross_between_sizes_on_a_logarithmic_scale():
    flat = {1: 10.0, 100: 10.0, 10_000: 10.0, 10**6: 10.0}
    linear = {1: 1.0, 100: 100.0, 10_000: 10_000.0}
    (crossing,) = crossings(flat, linear)
    assert crossing == Crossing(pytest.approx(10.0), falls=True)
    assert crossings(linear, flat) == [Crossing(pytest.approx(10.0), falls=False)]
    assert crossings(flat, {size: 2 * value for size, value in flat.items()}) == []


def test_a_sentence_says_from_which_size_on_which_of_two_is_faster():
    flat, linear = {1: 10.0, 100: 10.0, 10_000: 10.0}, {1: 1.0, 100: 100.0, 10_000: 10_000.0}
    assert sentence("C", "eager", flat, linear) == (
        "C is faster from 10 elements on than eager (0.1 times as fast at 1, 1000 at 10 thousand)."
    )
    assert sentence("C", "eager", linear, {size: 2 * value for size, value in linear.items()}) == (
        "C is faster than eager at every size (2 times as fast at 1, 2 at 10 thousand elements)."
    )
    assert sentence("C", "eager", flat, {}) == ""


def test_the_slope_is_the_exponent_of_a_power_law():
    assert slope({n: 3.0 * n**0.5 for n in (4, 9, 100)}) == pytest.approx(0.5)
    assert slope(dict.fromkeys((4, 9, 100), 7.0)) == pytest.approx(0.0)
