"""Forward mode: arrays that carry a tangent, so that results carry their derivative."""
