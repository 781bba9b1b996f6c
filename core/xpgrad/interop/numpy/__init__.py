"""NumPy's functions and ufuncs of Variables, with NumPy's names and arguments, and the protocols that call them."""
