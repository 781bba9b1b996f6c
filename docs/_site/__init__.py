"""What builds the documentation site: pages of the reference, links out of docs, and files beside the pages."""
