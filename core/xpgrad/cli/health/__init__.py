"""The examinations of `xpgrad doctor`: each plugin in a process of its own, and the machine."""
