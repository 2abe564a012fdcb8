"""What options and arguments may be, where that is a list of names: for completion, and to check the project file.

The parser knows types; the rooms know names. What a room can list is asked of the room, when it is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from dialgauge.errors import DialgaugeError
from dialgauge.text import split_at_commas


class KnownNames(NamedTuple):
    """The names that are known; unless ``closed``, others may do, and ``check`` says whether one does."""

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
        """Why a value cannot be, as a sentence's end; None where it can."""
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


def choice_of(command: str, parameter: str) -> KnownNames | None:
    """The choice for an option (``--engine``) or an argument (``name``) of a command (``lab run``), if it is one."""
    group = command.split(" ")[0]
    return next((found for key in (f"{command} {parameter}", f"{group} {parameter}", parameter)
                 if (found := _CHOICES.get(key)) is not None), None)  # fmt: skip


def _of(module: str, name: str) -> Callable[[], Iterable[str]]:
    """A list, a dictionary or a function of a room's face that gives names."""

    def names() -> Iterable[str]:
        found = getattr(importlib.import_module(f"dialgauge.{module}"), name)
        return list(found() if callable(found) else found)

    return names


def _words(text: str) -> Callable[[], Sequence[str]]:
    return text.split


def _checked(module: str, name: str) -> Callable[[str], object]:
    """A function of a room that raises for a name that it does not know."""

    def check(text: str) -> object:
        return getattr(importlib.import_module(f"dialgauge.{module}"), name)(text)

    return check


def _measures_of(*families: str) -> Callable[[], list[str]]:
    def names() -> list[str]:
        from dialgauge.measures import cards

        return list(dict.fromkeys(name for family in families for name in cards(family)))

    return names


def _is_measure(family: str | None, *lists: str) -> Callable[[str], object]:
    def check(text: str) -> object:
        from dialgauge.measures import parse_measure

        return None if text.lower() in lists else parse_measure(text, family)

    return check


def _writable() -> list[str]:
    from dialgauge.formats import DialogueFormat, formats

    return [name for name, one in formats().items() if isinstance(one, DialogueFormat) and one.writes]


def _datasets() -> list[str]:
    from dialgauge.data import catalogue

    return catalogue().names()


def _figure_formats() -> list[str]:
    from dialgauge.report import ENDINGS

    return [ending.removeprefix(".") for ending in ENDINGS]


def _schemas() -> list[str]:
    from dialgauge.schemas import schema_names

    return list(schema_names())


def _correlations() -> list[str]:
    from dialgauge.stats import CORRELATIONS

    return [*CORRELATIONS, "all"]


def _families_and_measures() -> list[str]:
    from dialgauge.measures import cards, families

    return [*families(), *cards()]


def _behaviours() -> list[str]:
    from dialgauge.users import LABELS, REASONS

    return [*LABELS, *REASONS]


_FORMAT = KnownNames(_of("formats", "formats"), closed=False, check=_checked("formats", "format_named"))
_PROFILE = KnownNames(_of("values", "profile_names"), closed=False, check=_checked("values", "profile_named"))
_TRACKING = _measures_of("tracking")
_LAB = _measures_of("lab", "outcomes", "tracking", "users")
_TASKS = _measures_of("tasks", "trials")
_SPLITS = _words("dev tst tst-OOV")
_KINDS = _words("tracking responses interaction attention training users faults tasks trials lab study")
_AGENTS = KnownNames(_of("agents", "agent_names"), closed=False)
_MODELS = KnownNames(_of("rankers", "ranker_names"), closed=False)

#: By command and parameter, by group and parameter, or by parameter alone where it means the same everywhere.
_CHOICES: dict[str, KnownNames] = {
    "--engine": KnownNames(_of("engine", "ENGINES")),
    "--figure-format": KnownNames(_figure_formats, several=True),
    "--format": _FORMAT,
    "--gold-format": _FORMAT,
    "--pred-format": _FORMAT,
    "--coverage": KnownNames(_words("intersection empty")),
    "--correlation": KnownNames(_correlations),
    "--device": KnownNames(_words("cpu cuda auto"), closed=False),
    "--preset": KnownNames(_words("default paper margin")),
    "--channel": KnownNames(_words("clean mild paper2021"), closed=False),
    "--failures": KnownNames(_words("live paper masked")),
    "--level": KnownNames(_words("act text")),
    "--profile": _PROFILE,
    "--mode": KnownNames(_words("reference recommended")),
    "--world": KnownNames(_words("restaurant bakery"), closed=False),
    "--kind": KnownNames(_KINDS, closed=False),
    "--system": _AGENTS,
    "--user": _AGENTS,
    "users --dataset": KnownNames(_words("multiwoz21 multiwoz21-people sgd"), closed=False),
    "score --by": KnownNames(_words("domain service slot turn n-domains")),
    "tasks --by": KnownNames(_words("domain")),
    "score --sgd-matching": KnownNames(_of("tracking", "MATCHINGS")),
    "score --measures": KnownNames(
        _TRACKING, closed=False, several=True, check=_is_measure("tracking", "all", "default")
    ),
    "score --worst-by": KnownNames(_TRACKING, closed=False, check=_is_measure("tracking")),
    "score --fail-under": KnownNames(_TRACKING, closed=False, ending="="),
    "compare --measures": KnownNames(_TRACKING, closed=False, several=True),
    "compare --show-by": KnownNames(_TRACKING, closed=False),
    "runs --measures": KnownNames(_TRACKING, closed=False, several=True),
    "runs --show-by": KnownNames(_TRACKING, closed=False),
    "tasks --measures": KnownNames(_TASKS, closed=False, several=True),
    "tasks --fail-under": KnownNames(_TASKS, closed=False, ending="="),
    "users --measures": KnownNames(_measures_of("users"), closed=False, several=True),
    "users --measure": KnownNames(_measures_of("users"), closed=False),
    "users --fail-under": KnownNames(_measures_of("users"), closed=False, ending="="),
    "lab --fail-under": KnownNames(_LAB, closed=False, ending="="),
    "babi --measures": KnownNames(
        _measures_of("responses"), closed=False, several=True, check=_is_measure("responses", "default")
    ),
    "babi --fail-under": KnownNames(_measures_of("responses"), closed=False, ending="="),
    "--missing": KnownNames(_words("shared empty without refuse")),
    "tasks --unanswered": KnownNames(_words("skip fail")),
    "tasks --domains": KnownNames(_words("file state placeholders")),
    "tasks --references-are": KnownNames(_words("raw clean")),
    "compare --to": KnownNames(_of("report", "FORMATS")),
    "runs --to": KnownNames(_of("report", "FORMATS")),
    "data --to": KnownNames(_writable),
    "babi --model": _MODELS,
    "babi --models": KnownNames(_of("rankers", "ranker_names"), closed=False, several=True),
    "babi evaluate --split": KnownNames(_SPLITS),
    "babi attention --split": KnownNames(_words("trn dev tst tst-OOV")),
    "babi table --splits": KnownNames(_SPLITS, several=True),
    "babi simulate --splits": KnownNames(_words("trn dev tst tst-OOV"), several=True),
    "lab --errors": KnownNames(_words("drop value relabel insert"), several=True),
    "users --behaviour": KnownNames(_behaviours, closed=False),
    "users --end": KnownNames(_words("loop goodbye open")),
    "users --verdict": KnownNames(_of("users", "VERDICTS")),
    "users --fault": KnownNames(_of("users", "CAUSES")),
    "users --cause": KnownNames(_of("users", "CAUSES")),
    "data name": KnownNames(_datasets),
    "explain profile name": _PROFILE,
    "explain measures name": KnownNames(_families_and_measures, closed=False),
    "explain behaviours name": KnownNames(_behaviours, closed=False),
    "reproduce paper": KnownNames(_of("reproduce", "PAPERS")),
    "schema name": KnownNames(_schemas),
}
