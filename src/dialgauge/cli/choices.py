"""What options and arguments may be, where that is a list of names: for completion.

Words that the command line itself defines are ``Literal`` types. Names that a room knows are asked of the room, when
they are needed: ``Option("--profile", known=PROFILES)``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dialgauge import data, formats, measures, users


class KnownNames(NamedTuple):
    """Known values of an option, for completion; others may be allowed too."""

    names: Callable[[], Iterable[str]]
    #: Several, separated by commas.
    several: bool = False
    #: What follows a name: ``JGA=50%``.
    ending: str = ""


def names_of(module: str, name: str, *, several: bool = False) -> KnownNames:
    """The names in a list, a dictionary or the answer of a function of a room's face."""

    def names() -> Iterable[str]:
        matches = getattr(importlib.import_module(f"dialgauge.{module}"), name)
        return list(matches() if callable(matches) else matches)

    return KnownNames(names, several)


def measures_of(*chosen: str, several: bool = True, ending: str = "") -> KnownNames:
    """The measures of some families, or of all."""

    def names() -> list[str]:
        return list(dict.fromkeys(name for family in chosen or measures.families() for name in measures.cards(family)))

    return KnownNames(names, several, ending)


def _writable() -> list[str]:
    return [
        name
        for name, format_ in formats.formats().items()
        if isinstance(format_, formats.DialogueFormat) and format_.writes
    ]


AGENTS = names_of("agents", "agent_names")
BEHAVIOURS = KnownNames(lambda: [*users.LABELS, *users.REASONS])
DATASETS = KnownNames(lambda: data.catalogue().names())
EXPLAINED_MEASURES = KnownNames(lambda: [*measures.families(), *measures.cards()])
FORMATS = names_of("formats", "formats")
KINDS = names_of("kinds", "run_kinds")
MODELS = names_of("rankers", "ranker_names")
PROFILES = names_of("values", "profile_names")
TOOL_DOMAINS = names_of("worlds.tools", "installed_domains")
WORLDS = names_of("worlds.restaurant", "BUILT_IN")
WRITABLE_FORMATS = KnownNames(_writable)
