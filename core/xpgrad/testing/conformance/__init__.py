"""The conformance suite for backends: checks in families, on every device, tested itself by seeded faults."""
