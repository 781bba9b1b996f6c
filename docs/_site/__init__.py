"""Build the documentation site: pages of the reference, links to files outside docs, and additional files."""
