"""The world of Variables: nodes, functions, rules, and the sweep that differentiates."""
