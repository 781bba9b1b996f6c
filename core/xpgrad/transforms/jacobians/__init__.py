"""How Jacobians are computed: by batches of rows or of columns, or element by element."""
