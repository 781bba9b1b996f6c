"""Values that a recorded call has read from outside, followed instruction by instruction, and their checks."""
