"""Variables and their graph: nodes, primitives, rules of derivatives, and the backward sweep."""

from xpgrad.graph import backward as backward  # binds methods of Variable, like the imports below
from xpgrad.graph.methods import contents, copies, moving, text  # noqa: F401 - they bind further ones
