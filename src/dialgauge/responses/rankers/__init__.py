"""The rankers: one module each, found through the entry-point group ``dialgauge.rankers``."""
