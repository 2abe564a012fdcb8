"""Whose fault was it that a recorded conversation failed? Evidence first, then a verdict by a few rules, no model."""
