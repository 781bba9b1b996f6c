"""`benchmarks/roofline.py`: bounds beside measured times, and notes on missed limits."""

from dataclasses import asdict

import pytest
from benchmarks import report, roofline, worker
from benchmarks.harness import Report, Row, judge
from benchmarks.roofline import Rates


@pytest.fixture
def rates(monkeypatch):
    found = Rates(products=2e9, memory=1e9, instruction=1e-6)
    monkeypatch.setattr(roofline, "rates", lambda cores: found)
    return found


def three() -> int:
    return 3


@pytest.mark.parametrize("name", worker.MODULES)
def test_each_workload_with_a_limit_has_a_reason(name):
    workload = worker.workload(name)
    assert all(roofline.work(name, case.name) for case in workload.cases)
    assert workload.cases or roofline.work(name, "")


def test_instructions_are_those_of_all_functions_that_a_call_executes():
    alone = roofline.instructions(three)
    assert alone == roofline.instructions(three) > 0
    assert roofline.instructions(lambda: [three(), three()]) >= 2 * alone + 2


def test_the_bound_is_the_largest_of_products_and_memory_and_then_instructions(rates, monkeypatch):
    monkeypatch.setitem(roofline.WORK, "P4", roofline.Work("a reason", products=1e6, size=2e6))
    rows = [Row("", name, "ms", 4.0, 4.0) for name in ("h", "t", "xpgrad compiled c")]
    roofline.add_bounds("P4", 1, dict.fromkeys(("h", "t", "xpgrad compiled c"), three), 1e3, rows)
    count = roofline.instructions(three)
    assert [row.instructions for row in rows] == [count, None, count]
    assert [row.bound for row in rows] == pytest.approx([2 + 1e-3 * count, 2, 2 + 1e-3 * count])


def test_a_missed_limit_is_printed_with_its_bound_and_the_reason():
    rows = [Row("one", "h", "ms", 1.0, 1.0), Row("one", "xpgrad", "ms", 3.0, 3.0, bound=2.5, instructions=1234)]
    judge(rows, {"xpgrad": ("2h", "4h", "1")})
    found = Report("title", rows)
    roofline.add_notes("P2", found)
    assert found.notes == [
        f"one xpgrad: {got}; at least 2.5 ms of 3, with 1,234 instructions of Python: {roofline.CHAIN}"
        for got in ("3.00h > 2h", "3 ms > 1")
    ]
    lines = report.table("P2", asdict(found)).splitlines()
    assert lines[2].split()[-2:] == ["instructions", "pass"]
    assert "2.5         1,234  2h MISS" in lines[4]
    assert lines[5].endswith(roofline.CHAIN)
