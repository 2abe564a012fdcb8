"""When two values are the same: comparison profiles made of named rules, and canonical value maps."""

from __future__ import annotations

from dialgauge.values.profile import Profile
from dialgauge.values.registry import DEFAULT, HOUSE, profile_named, profile_names

__all__ = ["DEFAULT", "HOUSE", "Profile", "profile_named", "profile_names"]
