"""Taylor mode: arrays that are truncated power series of one number, with the rules of forward mode."""
