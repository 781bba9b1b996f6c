"""The seeded faults, by what is wrong, and the freedoms that are not."""
