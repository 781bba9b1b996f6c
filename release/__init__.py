"""Makes and checks the distributions of a release: `python -m release --help`."""
