"""Build and check the distributions of a release: `python -m release --help`."""
