"""Finding profiles: by name through the entry points ``dialgauge.profiles``, or in a file of the user's own."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values.profile import Profile

GROUP = "dialgauge.profiles"
DEFAULT = "canon"
#: What ``--sensitivity`` shows.
HOUSE = ("plain", "canon", "plain_nodc", "canon_nodc")


def profile_names() -> list[str]:
    """The names of all installed profiles."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def profile_named(name: str) -> Profile:
    """A profile by name, or from a file when the name ends in ``.yaml`` or ``.yml``."""
    if name.lower().endswith((".yaml", ".yml")):
        from dialgauge.values.file import read_profile

        return read_profile(Path(name))
    for point in entry_points(group=GROUP, name=name):
        loaded = point.load()
        if not isinstance(loaded, Profile):
            raise DialgaugeError(
                f"the profile '{name}' of another package is not a dialgauge Profile; tell its authors"
            )
        return loaded
    raise DialgaugeError(f"there is no profile named '{name}'.{nearest(name, profile_names())}")
