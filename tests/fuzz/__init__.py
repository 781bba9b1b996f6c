"""Random programs against other libraries: `python -m tests.fuzz --count 20000` looks for silent differences."""
