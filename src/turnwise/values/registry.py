"""Finding profiles: by name through the entry points ``turnwise.profiles``, or in a file of the user's own."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

from turnwise.errors import TurnwiseError, nearest
from turnwise.values.profile import Profile

GROUP = "turnwise.profiles"
DEFAULT = "canon"
#: What ``--sensitivity`` shows.
HOUSE = ("plain", "canon", "plain_nodc", "canon_nodc")


def profile_names() -> list[str]:
    """The names of all installed profiles."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def profile_named(name: str) -> Profile:
    """A profile by name, or from a file when the name ends in ``.yaml`` or ``.yml``."""
    if name.lower().endswith((".yaml", ".yml")):
        from turnwise.values.file import read_profile

        return read_profile(Path(name))
    for point in entry_points(group=GROUP, name=name):
        loaded = point.load()
        if not isinstance(loaded, Profile):
            raise TurnwiseError(f"the profile '{name}' of another package is not a turnwise Profile; tell its authors")
        return loaded
    raise TurnwiseError(f"there is no profile named '{name}'.{nearest(name, profile_names())}")
