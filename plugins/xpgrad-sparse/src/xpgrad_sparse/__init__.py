"""sparse as a backend of xpgrad: ``@sparse``."""
