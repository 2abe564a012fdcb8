"""State-tracking measures: declared cards and their names."""
