"""ChainerX's routines beyond the standard, a module for each chapter of its reference.

Those that are NumPy's are NumPy's functions of the buffers; those of networks are `xpgrad.functions`. Both give arrays,
which are in the graph that an argument is in.
"""
