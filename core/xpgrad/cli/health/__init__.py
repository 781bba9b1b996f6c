"""The examinations of `xpgrad doctor`: of each plugin in a separate process, and of the machine."""
