"""Families of distributions of real numbers in standard form, each a table of formulas on Variables."""
