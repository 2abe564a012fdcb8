"""The fresh environment, for the tests of this folder."""

from install.fresh import bare

__all__ = ["bare"]
