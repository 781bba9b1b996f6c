"""The C text of a library: the groups of a program, and the glue that calls them."""

import re
from collections.abc import Sequence

from xpgrad_c.generator import GroupSource
from xpgrad_c.glue import GLUE


def library_text(sources: Sequence[GroupSource]) -> str:
    """Return the text of a library; its groups are called ``group_0``, ``group_1`` and so on."""
    texts = [re.sub(r"\bGROUP(?=\b|_)", f"group_{number}", source.text) for number, source in enumerate(sources)]
    return "\n".join([*texts, GLUE])
