"""Pages of lab runs."""

from __future__ import annotations

from dialgauge.explorer.families import FamilyPages

PAGES = FamilyPages()
