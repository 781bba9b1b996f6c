"""Tools that test differentiable functions and backends."""
