"""The profiles that come with turnwise, one module per family. Others add theirs through the entry points."""
