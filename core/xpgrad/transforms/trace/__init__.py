"""Programs: a function's calls of the array library, recorded once and run without the graph's cost."""
