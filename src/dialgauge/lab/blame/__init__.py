"""Whose fault a failed conversation of the lab was: the first broken link of the chain from goal to outcome."""
