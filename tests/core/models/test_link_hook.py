"""`LinkHook`: called for every call of a link."""

import pytest
from tests.core.models.parts import Linear, Net, example_of
from tests.threads import in_thread

from xpgrad import Link, LinkHook
from xpgrad.models import get_link_hooks


class Recording(LinkHook):
    def __init__(self, name="Recording"):
        self.name, self.seen = name, []

    def added(self, link):
        self.seen.append(("added", link))

    def deleted(self, link):
        self.seen.append(("deleted", link))

    def forward_preprocess(self, args):
        assert args.forward_name == "forward"
        self.seen.append(("before", args.link, args.args, args.kwargs))

    def forward_postprocess(self, args):
        self.seen.append(("after", args.link, args.args, args.kwargs, args.out))


class Adding(Link):
    def forward(self, x, *, y=0):
        return x + y


def test_all_links_of_a_thread_are_seen():
    net, hook = Net(), Recording()
    with hook as entered:
        assert entered is hook
        assert get_link_hooks() == {"Recording": hook}
        assert repr(hook) == "<Recording 'Recording', active>"
        net(example_of("@numpy"))
    assert not get_link_hooks()
    names = [type(event[1]).__name__ for event in hook.seen if event[0] == "before"]
    assert names == ["Net", "Linear", "Sequential", "Linear", "Linear"]
    assert hook.seen[0] == ("added", None)
    assert hook.seen[-1] == ("deleted", None)


def test_arguments_and_outputs():
    link, hook = Adding(), Recording()
    with hook:
        link(1, y=2)
    assert hook.seen[1:3] == [("before", link, (1,), {"y": 2}), ("after", link, (1,), {"y": 2}, 3)]


def test_one_link_has_a_hook():
    link, hook = Adding(), Recording()
    assert link.add_hook(hook) is link
    assert link.local_link_hooks == {"Recording": hook}
    with pytest.raises(KeyError, match="Adding has a link hook 'Recording' already"):
        link.add_hook(hook)
    link.add_hook(Recording(), "other")
    link(1)
    Adding()(1)
    link.delete_hook("Recording")
    link(1)
    assert [event[0] for event in hook.seen] == ["added", "before", "after", "deleted"]
    assert hook.seen[0] == ("added", link)
    with pytest.raises(KeyError, match="Adding has no link hook 'Recording'"):
        link.delete_hook("Recording")
    with pytest.raises(TypeError, match="add_hook: expected a LinkHook, got int"):
        link.add_hook(3)


def test_copies_have_separate_hooks():
    link = Adding().add_hook(Recording())
    made = link.copy()
    made.delete_hook("Recording")
    assert "Recording" in link.local_link_hooks


def test_two_hooks_of_one_name_cannot_be_active():
    with Recording(), pytest.raises(KeyError, match="link hook 'Recording' is active already"), Recording():
        pass
    with Recording("a"), Recording("b"):
        assert list(get_link_hooks()) == ["a", "b"]
    assert not get_link_hooks()


def test_an_error_when_it_is_added_leaves_it_inactive():
    class Failing(LinkHook):
        def added(self, link):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Failing():
        pass
    assert not get_link_hooks()


def test_other_threads_have_separate_hooks():
    link, hook = Linear(3, 2), Recording()

    def run():
        seen = dict(get_link_hooks())
        with Recording():
            link(example_of("@numpy"))
        return seen

    with hook:
        assert in_thread(run) == {}
        assert get_link_hooks() == {"Recording": hook}
    assert [event[0] for event in hook.seen] == ["added", "deleted"]
