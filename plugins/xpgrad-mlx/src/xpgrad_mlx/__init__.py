"""MLX as a backend of xpgrad: ``@mlx``."""
