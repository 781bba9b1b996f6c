"""`benchmarks/documents.py` and `benchmarks/curves.py`: the files of a run, and the description of curves."""

from dataclasses import asdict

import pytest
from benchmarks import documents, tables
from benchmarks.curves import Crossing, crossings, sentence, slope
from benchmarks.harness import Report, Row, judge

TEXT = (
    "before\n<!-- measured: one -->\nold | text\n<!-- end -->\nbetween\n<!-- measured: two -->\n<!-- end -->\nafter\n"
)


def test_only_text_between_markers_is_replaced():
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
def test_the_documents_have_the_markers_of_measurements(document, marker):
    documents.replaced((documents.DOCS / document).read_text(encoding="utf-8"), {marker: "measured"})


def test_curves_cross_between_sizes_on_a_logarithmic_scale():
    flat = {1: 10.0, 100: 10.0, 10_000: 10.0, 10**6: 10.0}
    linear = {1: 1.0, 100: 100.0, 10_000: 10_000.0}
    (crossing,) = crossings(flat, linear)
    assert crossing == Crossing(pytest.approx(10.0), falls=True)
    assert crossings(linear, flat) == [Crossing(pytest.approx(10.0), falls=False)]
    assert crossings(flat, {size: 2 * value for size, value in flat.items()}) == []


def test_a_sentence_gives_the_size_where_the_faster_of_two_changes():
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


def test_limits_are_ratios_to_the_contestant_of_their_last_letter():
    rows = [Row("", name, "ms", ms, ms) for name, ms in {"h": 1.0, "jax": 2.0, "plain": 8.0, "xpgrad": 4.0}.items()]
    judge(rows, {"xpgrad": ("3h", "2j", "0.5p", "1t", "4.5")})
    assert rows[-1].verdicts == {"3h": False, "2j": True, "0.5p": True, "4.5": True}  # without torch no limit by it
    assert rows[-1].ratios == {"3h": 4.0, "2j": 2.0, "0.5p": 0.5}


def test_table_of_derivatives_has_ratios_to_the_base_of_each_workload():
    rows = [Row("", name, "ms", ms, ms) for name, ms in {"h": 1.0, "jax": 2.0, "xpgrad": 6.0, "t": 3.0}.items()]
    judge(rows, {"xpgrad": ("2.5j",)})
    report = asdict(Report("matrix", rows))
    assert tables.derivatives({"workloads": {"JACOBIAN": report, "P1": report}}).splitlines() == [
        "|  | base | h | xpgrad | torch |",
        "| --- | --- | --- | --- | --- |",
        "| **JACOBIAN** matrix | `jax.jit` 2 ms | 0.50 | **3.00 > 2.5** | 1.50 |",
    ]
