"""What options and arguments may be, where that is a list of names: for completion, and to check the project file.

Words that the command line itself defines are ``Literal`` types. Names that a room knows are asked of the room, when
they are needed: ``Option("--profile", known=PROFILES)``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dialgauge import data, formats, measures, rendering, users
from dialgauge.errors import DialgaugeError
from dialgauge.text import split_at_commas


class KnownNames(NamedTuple):
    """Known values of an option. Unless ``closed``, others are allowed too; ``check`` raises for any that is not."""

    names: Callable[[], Iterable[str]]
    closed: bool = True
    #: Several, separated by commas.
    several: bool = False
    check: Callable[[str], object] | None = None
    #: What follows a name: ``JGA=50%``.
    ending: str = ""

    def parts(self, text: str) -> list[str]:
        """The names in a value."""
        return [part.strip() for part in split_at_commas(text)] if self.several else [text]

    def problem(self, text: str) -> str | None:
        """Why a value is not allowed, as the end of a sentence; None if it is."""
        for part in self.parts(text):
            known = list(self.names()) if self.closed else []
            if known and part not in known:
                return f"must be one of {', '.join(known)} (got '{part}')"
            try:
                if self.check is not None:
                    self.check(part)
            except DialgaugeError as error:
                return f"cannot be '{part}': {error}"
        return None


def names_of(module: str, name: str, *, check: str = "", closed: bool = True, several: bool = False) -> KnownNames:
    """The names in a list, a dictionary or the answer of a function of a room's face.

    ``check`` is the room's function that raises for a name it does not know; then others than those listed may do.
    """

    def of_room(attribute: str) -> Any:
        return getattr(importlib.import_module(f"dialgauge.{module}"), attribute)

    def names() -> Iterable[str]:
        matches = of_room(name)
        return list(matches() if callable(matches) else matches)

    def known(text: str) -> object:
        return of_room(check)(text)

    return KnownNames(names, closed and not check, several, known if check else None)


def measures_of(*chosen: str, check: Sequence[str] | None = None, several: bool = True, ending: str = "") -> KnownNames:
    """The measures of some families; with ``check``, a name must be a measure of the first family or one of these."""

    def names() -> list[str]:
        return list(dict.fromkeys(name for family in chosen or measures.families() for name in measures.cards(family)))

    def parse(text: str) -> object:
        return None if text.lower() in (check or ()) else measures.parse_measure(text, chosen[0])

    return KnownNames(names, False, several, None if check is None else parse, ending)


def _writable() -> list[str]:
    return [
        name
        for name, format_ in formats.formats().items()
        if isinstance(format_, formats.DialogueFormat) and format_.writes
    ]


AGENTS = names_of("agents", "agent_names", closed=False)
BEHAVIOURS = KnownNames(lambda: [*users.LABELS, *users.REASONS], closed=False)
DATASETS = KnownNames(lambda: data.catalogue().names())
EXPLAINED_MEASURES = KnownNames(lambda: [*measures.families(), *measures.cards()], closed=False)
FIGURE_FORMATS = KnownNames(lambda: [ending.removeprefix(".") for ending in rendering.ENDINGS], several=True)
FORMATS = names_of("formats", "formats", check="format_named")
KINDS = names_of("kinds", "run_kinds", closed=False)
MODELS = names_of("rankers", "ranker_names", closed=False)
PROFILES = names_of("values", "profile_names", check="profile_named")
TOOL_DOMAINS = names_of("worlds.tools", "installed_domains", closed=False)
WORLDS = names_of("worlds.restaurant", "BUILT_IN", closed=False)
WRITABLE_FORMATS = KnownNames(_writable)
