"""The package as a whole: every function of it has a case, or a reason why it has none."""

import pytest

from xpgrad import ops, special
from xpgrad_conformance.cases import CASES

WITHOUT_CASE = {
    "default_dtype": "takes no arrays",
    "diag_indices": "takes no arrays",
    "is_same_dtype": "takes no arrays",
    "tril_indices": "takes no arrays",
    "triu_indices": "takes no arrays",
}


def test_every_function_has_a_case():
    covered = {case.name.partition("-")[0] for case in CASES if case.area == "ops"}
    covered |= {name for name in ops.__all__ if getattr(special, name, None) is getattr(ops, name)}  # SciPy's
    assert set(ops.__all__) - covered == WITHOUT_CASE.keys()
    assert covered <= set(ops.__all__)


@pytest.mark.parametrize("name", ops.__all__)
def test_first_line_of_every_docstring_is_a_sentence(name):
    assert (getattr(ops, name).__doc__ or "").partition("\n")[0].endswith(".")
