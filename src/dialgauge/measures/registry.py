"""Measures by name: those of the families, and those that other packages bring (entry points ``dialgauge.measures``).

    JGA    FGA@0.5(rule=paper)    hits@10    pass^4    I-GCDF1[hotel]

A family is a kind of run that has cards in its record (``kinds.py``); they are imported when the family is first asked
for. A plugin is looked up only when a name is not ours, or for a listing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from dialgauge import plugins
from dialgauge.errors import DialgaugeError, UnknownNameError, nearest
from dialgauge.kinds import BUILT_IN, Kind, kind_named
from dialgauge.measures.base import Card, Measure, Setting, read_part
from dialgauge.text import split_at_commas

_NAME = r"[A-Za-z][\w-]*+(?: [\w-]++)*+"
#: No repetition gives back what it took (``+`` after it): with that, 500 spaces after a name took 20 seconds.
_FORM = re.compile(
    rf"\s*+(?P<name>{_NAME})\s*+(?:(?P<mark>[@^])\s*+(?P<cutoff>[^()\[\]\s]++))?+\s*+"
    r"(?:\((?P<settings>[^()]*+)\))?+\s*+(?:\[(?P<part>[^\[\]]++)\])?+\s*+"
)

#: Names for several measures: the measures, or a function that gives them when the name is used.
Lists = Mapping[str, Iterable[str] | Callable[[], Iterable[str]]]


def families() -> list[str]:
    """Our own kinds of run that have measures of their own."""
    return [name for name in BUILT_IN if kind_named(name).cards]


def cards(family: str | None = None) -> dict[str, Card[Any]]:
    """All usable measures by name, those of a family or of all; :func:`card_listing` also names faulty plugins."""
    return {card.name: card for entry in card_listing(family) if (card := entry.content) is not None}


def card_listing(family: str | None = None) -> list[plugins.Plugin[Card[Any]]]:
    """Every measure of a family, or of all, by name; a plugin that cannot be used stands there with the reason."""
    ours: dict[str, plugins.Plugin[Card[Any]]] = {}
    for card in _own(family):
        ours.setdefault(card.name, plugins.Plugin(card.name, "dialgauge", kind_named(card.family).cards, card))
    return sorted([*ours.values(), *_foreign(family, ours)], key=lambda entry: (entry.name, entry.package))


def card_named(name: str, family: str | None = None) -> Card[Any]:
    """The card with this name, in any case of letters; our own come first and cost no search."""
    for card in _own(family):
        if card.name.lower() == name.lower():
            return card
    foreign = plugins.names(plugins.MEASURES, {})
    same = [other for other in foreign if other.lower() == name.lower()]
    if not same:
        known = [*(card.name for card in _own(family)), *foreign]
        unknown = family is not None and not kind_named(family).cards
        reason = f": no record of a kind of run '{family}' names its cards" if unknown else ""
        raise DialgaugeError(f"there is no measure named '{name}'{reason}.{nearest(name, known)}")
    registered = name if name in same else same[0]
    card = plugins.load(plugins.MEASURES, registered, Card, {})
    if why := _unfit(card, registered):
        raise DialgaugeError(why)
    if family is not None and card.family != family:
        raise DialgaugeError(f"{card.name} is a measure of {card.family}, but measures of {family} are needed here")
    return card


def parse_measure(text: str, family: str | None = None) -> Measure[Any]:
    """A measure from its name, such as ``JGA``, ``FGA@0.5(rule=paper)``, ``pass^4`` or ``I-GCDF1[hotel]``."""
    match = _FORM.fullmatch(text)
    if not match:
        raise DialgaugeError(f"'{text}' is not a measure; measures are written like JGA, FGA@0.5 or RSA(empty=one)")
    card = card_named(match["name"], family)
    if match["part"] and not card.parts:
        raise DialgaugeError(f"'{text}': {card.name} has no parts; leave out [{match['part']}]")
    settings, shorthand = _settings(card, match["settings"], text)
    if match["cutoff"] is not None:
        if card.cutoff is None or card.mark != match["mark"]:
            raise DialgaugeError(f"{card.name} takes no '{match['mark']}' value")
        if card.cutoff.name in settings:
            raise DialgaugeError(f"'{text}' gives {card.cutoff.name} twice")
        settings[card.cutoff.name] = card.cutoff.parse(match["cutoff"], card.name)
    return Measure(card, tuple(sorted(settings.items())), read_part(match["part"] or ""), shorthand)


def no_score(measure: object, scores: Collection[str], left_out: Mapping[str, str], of: str = "") -> UnknownNameError:
    """The error for a score that is not there: left out for a reason, not asked for, or unknown. ``of``: the system."""
    if (why := left_out.get(str(measure))) is None:
        try:
            parse_measure(str(measure))
            why = "it was not requested"
        except DialgaugeError:
            why = "there is no such measure"
        why += f".{nearest(measure, scores)}"
    return UnknownNameError(f"{f'{of} has' if of else 'there is'} no score {measure}: {why}")


def measure_of_kind(text: str, kind: str) -> Measure[Any]:
    """A measure that a run of a kind has: one of its own family, which may be a plugin's, or of any other."""
    if kind_named(kind).cards:
        with suppress(DialgaugeError):
            return parse_measure(text, kind)
    return parse_measure(text)


def measure_names(measures: object) -> list[str]:
    """Names of measures as a caller gives them: several, or one by itself.

    >>> measure_names("JGA"), measure_names(("JGA", "SA"))
    (['JGA'], ['JGA', 'SA'])
    """
    if isinstance(measures, str):
        return [measures]
    given = list(measures) if isinstance(measures, Iterable) else [measures]
    names = [name for name in given if isinstance(name, str)]
    if len(names) < len(given):
        raise DialgaugeError(f"measures are names such as 'JGA', one or a list of them (got {given[0]!r:.60})")
    return names


def parse_measures(texts: Iterable[str], family: str | None = None, lists: Lists | None = None) -> list[Measure[Any]]:
    """Measures from strings, each holding one or several separated by commas; ``lists`` are names for several."""
    measures: dict[str, Measure[Any]] = {}
    for text in texts:
        for each in filter(str.strip, split_at_commas(text)):
            several = (lists or {}).get(each.strip().lower(), (each,))
            for name in several() if callable(several) else several:
                measure = parse_measure(name, family)
                measures.setdefault(str(measure), measure)
    if not measures:
        raise DialgaugeError("no measure was named; leave --measures out for the defaults")
    return list(measures.values())


def asked_for(texts: Iterable[str], family: str | None = None, lists: Lists | None = None) -> frozenset[str]:
    """The measures that are named one by one, not by a list such as ``all``: these must be computed, or it is an error.

    They come back under their shortest names.
    """
    named = [
        name
        for text in texts
        for name in filter(str.strip, split_at_commas(text))
        if name.strip().lower() not in (lists or {})
    ]
    return frozenset(str(parse_measure(name, family)) for name in named)


@cache
def _cards_of(kind: Kind) -> tuple[Card[Any], ...]:
    return kind.part("cards", tuple) or ()


def _own(family: str | None) -> Iterator[Card[Any]]:
    """Our own cards of a family or of all; a family's module is imported when its turn comes."""
    for name in BUILT_IN if family is None else (family,):
        yield from _cards_of(kind_named(name))


def _foreign(family: str | None, owned: Container[str]) -> Iterable[plugins.Plugin[Card[Any]]]:
    """What other packages bring to a family; a faulty one belongs to every family, as it does not say."""
    for entry in plugins.listing(plugins.MEASURES, Card, {}):
        card = entry.content
        if card is None:
            yield entry
        elif entry.name in owned:
            why = f"'{entry.name}' of the package {entry.package} has the name of one of dialgauge's own measures"
            yield entry._replace(content=None, reason=why)
        elif why := _unfit(card, entry.name) or "":
            yield entry._replace(content=None, reason=why)
        elif family in (None, card.family):
            yield entry


def _unfit(card: Card[Any], name: str) -> str | None:
    """Why a card from elsewhere cannot be used under the name it is registered with."""
    if card.name != name:
        return f"the measure registered as '{name}' calls itself '{card.name}': its package must use one name"
    if not re.fullmatch(_NAME, card.name):
        return f"no measure can be called '{card.name}': use letters, digits, hyphens and single spaces"
    return None


def _settings(card: Card[Any], text: str | None, whole: str) -> tuple[dict[str, Setting], tuple[tuple[str, str], ...]]:
    """The settings, and those of the written pairs that stand for others."""
    pairs: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in (text or "").split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise DialgaugeError(f"'{whole}': write parameters as name=value, not '{part}'")
        if name in pairs:
            raise DialgaugeError(f"'{whole}' gives {name} twice")
        pairs[name] = value
    written = dict(pairs)
    settings = _shorthand(card, pairs, whole)
    for name, value in pairs.items():
        settings[name] = card.parameter(name).parse(value, card.name)
    return settings, tuple((name, value) for name, value in written.items() if name not in pairs)


def _shorthand(card: Card[Any], pairs: dict[str, str], whole: str) -> dict[str, Setting]:
    if card.shorthand is None:
        return {}
    try:
        return dict(card.shorthand(pairs))
    except DialgaugeError as error:
        raise DialgaugeError(f"'{whole}': {error.message}") from error
