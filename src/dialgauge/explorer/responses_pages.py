"""Pages of responses runs."""

from __future__ import annotations

from dialgauge.explorer.families import FamilyPages

PAGES = FamilyPages()
