"""What `xpgrad doctor` finds out: each plugin in a process of its own, and what the machine says of itself."""
