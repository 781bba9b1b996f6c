"""Code shared by the chapters: axes, half precision, copies, lazy cotangents, and primitives for rules."""
