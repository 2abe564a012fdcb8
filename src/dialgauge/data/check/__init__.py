"""``dialgauge data check``: what is this, what is in it, what is wrong with it."""

from __future__ import annotations

from dialgauge.data.check.examine import check
from dialgauge.data.check.report import Report

__all__ = ["Report", "check"]
