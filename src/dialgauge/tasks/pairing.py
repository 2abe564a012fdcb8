"""How runs of responses are paired."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from dialgauge.comparison import Pairing
from dialgauge.runs import Run
from dialgauge.tasks.measures import COMPANIONS


class TasksPairing(Pairing):
    """Systems that were given other states are not ranked; mwzeval counts only dialogues that all systems have."""

    cautions: ClassVar[Mapping[str, str]] = {
        "states": "With gold states only the policy is scored: do not rank it with end-to-end systems"
    }

    def excluded(self, run: Run, measure: str) -> Collection[str]:
        """Under mwzeval a missing dialogue is not counted, and dropping hard ones would pay; grounded has it failed."""
        if "(rules=grounded)" in measure or measure in COMPANIONS or run.coverage["dialogues"].complete:
            return ()
        missing: list[str] = run.details.get("missing_dialogues", [])
        return missing


PAIRING = TasksPairing()
