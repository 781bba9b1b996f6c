"""The world of Variables: nodes, functions, rules, and the sweep that differentiates."""

from xpgrad.graph import backward as backward  # binds methods of Variable, like the imports below
from xpgrad.graph.methods import copies as copies
from xpgrad.graph.methods import moving as moving
from xpgrad.graph.methods import text as text
