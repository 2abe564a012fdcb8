"""The rankers: one module each, found through the entry-point group ``turnwise.rankers``."""
