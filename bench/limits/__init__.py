"""Bare loops that do the same work with nothing around it: what cannot be beaten by much."""
