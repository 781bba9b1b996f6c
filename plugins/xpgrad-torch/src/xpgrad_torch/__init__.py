"""torch tensors as a backend of xpgrad: ``@torch:cpu``, ``@torch:cuda:0``, and every other device of PyTorch."""
