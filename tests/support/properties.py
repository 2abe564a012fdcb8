"""How many examples a property test draws."""

from __future__ import annotations

import os


def examples(many: int) -> int:
    """All of them in ``make soak`` and ``make properties``, a quarter in ``make test``."""
    return many if os.environ.get("DIALGAUGE_EXAMPLES") else max(10, many // 4)
