"""What a recorded call has read from outside of it, followed instruction by instruction; and whether it still holds."""
