"""The case table: the definition of a case, and the assertions that are made for each."""
