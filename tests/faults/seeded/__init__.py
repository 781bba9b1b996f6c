"""The seeded faults, by subject, and the freedoms, which are not faults."""
