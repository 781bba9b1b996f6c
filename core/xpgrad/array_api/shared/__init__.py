"""What the chapters share: axes, half precision, copies, lazy cotangents, and primitives that rules call."""
