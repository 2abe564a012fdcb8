"""What decides the scores of users: the options as a person names them, and everything a scorer is made of."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, CanonicalMapFile, Notes, resolve
from dialgauge.measures import Signature
from dialgauge.users.config import GcdfConfig, load_config
from dialgauge.users.profile import DatasetProfile, load_profile
from dialgauge.users.scorer import Scorer
from dialgauge.values import CanonicalMap

#: Which profile goes with dialogues of a format, unless one is named.
PROFILES = {"multiwoz": "multiwoz21-people"}
DEFAULT_PROFILE = "multiwoz21"


class UserOptions(Struct, frozen=True):
    """What a user of dialgauge chooses; files are named, not yet read."""

    canonical_map: str | Path | None = None
    config: str | Path | None = None
    overrides: tuple[str, ...] = ()
    #: A shipped one by name, one of your own by its file or the folder of a domain, or the profile itself.
    profile: str | DatasetProfile | None = None
    format: str | None = None
    limit: int = DEFAULT_LIMIT


class ScorerSettings(Struct, frozen=True):
    """Everything a scorer is made of, read once, so that all processes score alike."""

    config: GcdfConfig
    profile: DatasetProfile
    canonical_map: dict[str, Any]

    @classmethod
    def load(cls, options: UserOptions, format: str = "") -> ScorerSettings:
        """The settings that the options name, for dialogues of a format."""
        chosen = options.profile or PROFILES.get(format, DEFAULT_PROFILE)
        profile = load_profile(chosen) if isinstance(chosen, str) else chosen
        return cls(
            config=load_config(options.config, options.overrides, defaults=profile.defaults),
            profile=profile,
            canonical_map={} if options.canonical_map is None else load_map(options.canonical_map, options.limit),
        )

    def scorer(self) -> Scorer:
        values = CanonicalMap(self.canonical_map) if self.canonical_map else None
        return Scorer(self.config, self.profile, values)

    def signature(self) -> Signature:
        """Everything here that could change a score."""
        return Signature(
            mode=self.config.mode,
            profile=f"{self.profile.name}-{_digest(self.profile)}",
            map=_digest(self.canonical_map) if self.canonical_map else "none",
            config=_digest(self.config, order="deterministic"),
        )


def load_map(source: str | Path, limit: int = DEFAULT_LIMIT) -> dict[str, Any]:
    """The content of a canonical map."""
    parts = resolve(source, limit=limit)
    if len(parts) != 1:
        raise DialgaugeError("a canonical map is one file", file=os.fspath(source))
    return dict(CanonicalMapFile().load(parts[0], Notes()).values)


def _digest(content: Any, order: Any = None) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order=order)).hexdigest()[:8]
