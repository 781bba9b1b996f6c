"""Sentences of the project read as those of NumPy and SciPy do, by a count of turns of phrase."""

from tests.docs.documents import ROOT
from tests.docs.prose import scores

MAX_SCORE, MAX_PACKAGE = 56, 90


def test_sentences_are_plain() -> None:
    score, packages, worst = scores(ROOT)
    assert score <= MAX_SCORE, "\n".join(worst[:20])
    assert {name: found for name, found in packages.items() if found > MAX_PACKAGE} == {}, "\n".join(worst[:20])
