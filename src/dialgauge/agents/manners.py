"""Acts that no service owns."""

from __future__ import annotations

from dialgauge.dialogue import Act
from dialgauge.worlds.domain import GENERAL

AFFIRM, BYE, GREET, MORE, NEGATE, THANK, WELCOME = (
    Act(f"{GENERAL}-{intent}", GENERAL)
    for intent in ("affirm", "bye", "greet", "reqmore", "negate", "thank", "welcome")
)
