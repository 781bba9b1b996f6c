"""ChainerX's routines beyond the standard, a module for each chapter of its reference.

NumPy's routines call NumPy's functions of the buffers; routines for networks call `xpgrad.functions`. Both return
arrays, which are in the graph of their arguments.
"""
