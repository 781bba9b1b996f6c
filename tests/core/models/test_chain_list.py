"""`ChainList`: a list of links."""

import pytest
from tests.core.models.parts import Linear

from xpgrad import ChainList


def names(links):
    return [link.name for link in links.children()]


def test_chain_list_names_links_by_position():
    a, b, c, d = (Linear(2, n) for n in range(1, 5))
    links = ChainList(a, b)
    links.append(c)
    links.add_link(d)
    assert list(links) == [a, b, c, d]
    assert (len(links), links[0], links[-1], links[1:3]) == (4, a, d, [b, c])
    assert [path for path, _ in links.namedparams()][-1] == "/3/b"
    assert b in links
    del links[1]
    links.insert(0, b)
    assert list(links.children()) == [b, a, c, d]
    assert names(links) == ["0", "1", "2", "3"]
    assert links.pop() is d
    links[0] = d
    links[1:3] = [b]
    assert list(links) == [d, b]
    links.extend([a, c])
    links.remove(b)
    links.reverse()
    assert list(links) == [c, a, d]
    assert names(links) == ["0", "1", "2"]
    assert links.index(a) == 1
    links += [b]
    assert len(links) == 4
    links.clear()
    assert len(links) == 0
    assert links == links
    assert links != ChainList()
    assert len({links, ChainList()}) == 2


def test_slices_are_checked():
    links = ChainList(Linear(2, 2))
    with pytest.raises(TypeError, match="ChainList: expected links, got int"):
        links[0:1] = [3]
    assert len(links) == 1


def test_copies_have_separate_lists():
    links = ChainList(Linear(2, 2), Linear(2, 2))
    for made in (links.copy(), links.copy("copy")):
        made.append(Linear(2, 2))
        assert made[0] is not links[0]
        assert len(links) == 2


def test_text():
    assert str(ChainList(Linear(2, 3))) == "ChainList(\n  (0): Linear(n_out=3, nobias=False),\n)"


def test_a_link_as_an_attribute_gives_a_warning():
    links = ChainList()
    with pytest.warns(UserWarning, match=r"ChainList.l1: a Linear assigned outside of init_scope\(\)"):
        links.l1 = Linear(2, 2)
