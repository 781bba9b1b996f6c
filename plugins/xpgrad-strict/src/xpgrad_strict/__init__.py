"""array-api-strict as a backend of xpgrad: ``@strict:cpu``, ``@strict:device1``, and three more pretend devices."""
