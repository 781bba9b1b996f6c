"""The case table: what a case is, and what is asserted of each one."""
