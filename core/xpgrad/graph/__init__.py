"""Variables and their graph: nodes, primitives, rules of derivatives, and the backward sweep."""

from xpgrad.graph import backward as backward  # binds methods of Variable, like the imports below
from xpgrad.graph.methods import contents as contents
from xpgrad.graph.methods import copies as copies
from xpgrad.graph.methods import moving as moving
from xpgrad.graph.methods import text as text
