"""Forward mode: arrays that carry a tangent, so that what is computed with them carries its derivative."""
