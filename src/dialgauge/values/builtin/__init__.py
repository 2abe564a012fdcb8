"""The profiles that come with dialgauge, one module per family. Others add theirs through the entry points."""
