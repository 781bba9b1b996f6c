"""The chx backend of xpgrad: arrays that carry their own graph and fuse their own work (`native:0`, `cuda:0`)."""
