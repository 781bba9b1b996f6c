"""Transformations whose arrays enclose those of the level below, and whose graph stays connected to the one outside."""
