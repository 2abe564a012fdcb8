"""An act-level stand-in for errors of understanding."""

from __future__ import annotations

from collections.abc import Sequence

from dialgauge.dialogue import Act, Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.restaurant import Draws


class Channel:
    """What lies between what was said and what is heard."""

    clean = True

    @classmethod
    def named(cls, name: str) -> Channel:
        if name != "clean":
            raise DialgaugeError(f"there is no channel '{name}'")
        return cls()

    def damage(self, acts: Sequence[Act], speaker: Speaker, draws: Draws) -> tuple[Act, ...]:
        return tuple(acts)
