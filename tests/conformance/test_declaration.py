"""Declarations to paste, and reasons that are given too often."""

import pytest
from tests.faults.testbed import Testbed

from xpgrad.errors import PluginError
from xpgrad.plugin import Capabilities
from xpgrad_conformance import conform
from xpgrad_conformance.declaration import declaration, repeated
from xpgrad_conformance.probes import Mismatch, mismatches

DEVICES = "@x:0", "@x:1"


def _pasted(text: str, reason: str = "") -> Capabilities:
    names: dict[str, Capabilities] = {}
    exec(text.replace('""', repr(reason)) if reason else text, names)
    return names["capabilities"]


def _everywhere(fact: str, error: str = "") -> list[Mismatch]:
    return [Mismatch(fact, device, True, error) for device in DEVICES]


def test_declaration_has_a_place_for_each_reason_that_must_be_filled() -> None:
    text = declaration(_everywhere("fft", "AttributeError: fft") + _everywhere("fft.rfft"), Capabilities(), DEVICES)
    assert '"fft": "",  # the probe: AttributeError: fft' in text
    with pytest.raises(PluginError, match="'fft' needs a reason in words"):
        _pasted(text)
    assert _pasted(text, "none").missing == {"fft": "none"}  # its functions need no entries
    text = declaration(_everywhere("pickle") + _everywhere("pickle_keeps_device"), Capabilities(), DEVICES)
    assert _pasted(text, "none").missing == {"pickle": "none"}


def test_declaration_keeps_only_true_facts() -> None:
    given = Capabilities(
        missing={"pickle": 'a "handle"', "take": "wrong"},
        missing_on={"1": {"float64": "narrow"}},
        tolerances={"float32": (2.0, "half sums")},
        expected={"K01[exp*": "issue 'twelve'"},
        wrong={"sort": "issue 13"},
    )
    wrong = [Mismatch("take", device, False) for device in DEVICES] + [Mismatch("complex128", "@x:1", True, "E: no")]
    made = _pasted(declaration(wrong, given, DEVICES), "none")
    assert made.missing == {"pickle": 'a "handle"'}
    assert made.missing_on == {"1": {"float64": "narrow", "complex128": "none"}}
    assert (made.tolerances, made.expected, made.wrong) == (given.tolerances, given.expected, given.wrong)


def test_empty_declaration_is_code_too() -> None:
    assert _pasted(declaration([], Capabilities(), DEVICES)) == Capabilities()


def test_declaration_that_is_pasted_agrees_with_the_probes() -> None:
    bed = Testbed()
    bed.library.names |= {"expm1": None, "hypot": None}
    devices = bed.devices()
    wrong = mismatches(devices, Capabilities())
    made = _pasted(declaration(wrong, Capabilities(), [device.name for device in devices]), "not written yet")
    assert not mismatches(devices, made)
    assert {"expm1", "hypot"} <= made.missing.keys()


def test_reason_of_more_than_five_entries_is_reported() -> None:
    facts = "take", "roll", "flip", "tile", "sort", "expm1"
    (message,) = repeated(Capabilities(missing=dict.fromkeys(facts, "Not  supported")))
    assert "the reason 'not supported' is given 6 times, for expm1, flip, roll, sort, take, tile" in message
    assert not repeated(Capabilities(missing=dict.fromkeys(facts[1:], "not supported")))


def test_facts_that_hold_together_count_once() -> None:
    names = "fft", "linalg.det", "linalg.inv", "linalg.qr", "linalg.svd", "linalg.eigh", "linalg.solve", "linalg.pinv"
    assert not repeated(Capabilities(missing=dict.fromkeys(names, "none")))
    patterns = [f"{check}[bincount*" for check in ("K01", "G01", "G02", "H01", "A01", "A02", "A03")]
    assert not repeated(Capabilities(expected=dict.fromkeys(patterns, "known")))


def test_equal_reasons_give_no_level_unless_they_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpgrad_conformance.workers.plan", lambda devices, **options: [])
    facts = "pickle", "threads", "memory_used", "asynchronous", "take", "roll", "dlpack_shares_memory"
    given = Capabilities(missing=dict.fromkeys(facts, "no"))
    assert conform("numpy", jobs=0, capabilities=given).reasons
    assert not conform("numpy", jobs=0, capabilities=given, profile="quick").reasons
    assert not conform("numpy", jobs=0, capabilities=given, accept=True).reasons
