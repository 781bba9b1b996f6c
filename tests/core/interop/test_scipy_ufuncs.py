"""The ufuncs of `scipy.special` that accept Variables, and the page's text about the remaining ufuncs."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.special

from xpgrad import Variable, special
from xpgrad.interop.numpy.ufuncs import UFUNCS

PAGE = Path(__file__).parents[3] / "docs" / "interop.md"
NAMES = {name for name in dir(scipy.special) if isinstance(getattr(scipy.special, name), np.ufunc)}
LEFT_OUT = NAMES - set(special.__all__) - set(UFUNCS)


def test_the_page_lists_the_ufuncs_that_are_left_out():
    table = PAGE.read_text().split("| ufuncs of scipy.special | why |")[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert len(listed) == len(set(listed))
    assert NAMES - {*special.__all__, *UFUNCS, *listed} == set()  # another SciPy may have fewer of them
    assert not set(listed) & set(special.__all__)


def test_the_page_counts_the_ufuncs():
    given, of = map(int, re.search(r"xpgrad has (\d+) of the (\d+) ufuncs", PAGE.read_text()).groups())
    if len(NAMES) != of:
        pytest.skip(f"this SciPy has {len(NAMES)} ufuncs")
    assert of - len(LEFT_OUT) == given


@pytest.mark.parametrize("name", sorted(LEFT_OUT))
def test_a_ufunc_that_is_left_out_raises_a_clear_error(name):
    function = getattr(scipy.special, name)
    xs = [Variable(np.asarray([0.3, 0.7]))] * function.nin
    with pytest.raises(TypeError, match=rf"scipy\.special\.{name} has no meaning for Variables here"):
        function(*xs)
