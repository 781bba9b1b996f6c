"""The case table: what a case is, and the checks that each one goes through."""
