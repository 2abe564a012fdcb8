"""Finding measures by name (entry points ``dialgauge.measures``) and reading them from strings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.tracking.fga import forgetting_rate
from dialgauge.tracking.measures.base import Card, Measure, Setting

GROUP = "dialgauge.measures"

#: What is reported unless measures are named.
DEFAULT_MEASURES = ("JGA", "SA", "AGA", "RSA", "F1", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1")
#: What ``all`` stands for: the defaults, and every other form.
ALL_MEASURES = (
    *DEFAULT_MEASURES,
    "Precision",
    "Recall",
    "F1(average=turn)",
    "F1(average=slot)",
    "F1(average=domain)",
    "AGA(form=jaccard)",
    "RSA(empty=one)",
    "RSA(empty=skip)",
    "FGA@0.5(rule=paper)",
    "FGA@0.5(over=dialogues)",
    "TurnMatch",
    "TurnLabel",
    "FinalJGA",
    "DialogueExact",
)

_LISTS = {"default": DEFAULT_MEASURES, "all": ALL_MEASURES}

_FORM = re.compile(r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:@\s*(?P<cutoff>[^()\s]+))?\s*(?:\((?P<settings>[^()]*)\))?\s*")


@cache
def cards() -> dict[str, Card]:
    """All installed measures by name."""
    found = {point.name: point.load() for point in entry_points(group=GROUP)}
    return {name: card for name, card in sorted(found.items()) if isinstance(card, Card)}


def parse_measure(text: str) -> Measure:
    """A measure from its name, such as ``JGA``, ``FGA@0.5(rule=paper)`` or ``FGA(tf=6,p=0.95)``.

    >>> str(parse_measure("FGA@1.0(rule=paper, over=turns)"))
    'FGA@1(rule=paper)'
    """
    match = _FORM.fullmatch(text)
    if not match:
        raise DialgaugeError(f"'{text}' is no measure; measures are written like JGA, FGA@0.5 or RSA(empty=one)")
    card = _card(match["name"])
    settings = _settings(card, match["settings"], text)
    if match["cutoff"] is not None:
        if card.cutoff is None:
            raise DialgaugeError(f"{card.name} takes no '@' value")
        if card.cutoff.name in settings:
            raise DialgaugeError(f"'{text}' gives {card.cutoff.name} twice")
        settings[card.cutoff.name] = card.cutoff.parse(match["cutoff"], card.name)
    measure = Measure(card, tuple(sorted(settings.items())))
    if measure.grouped and settings.get("over") == "dialogues":
        raise DialgaugeError(f"'{text}': a mean over slots or domains is taken over all turns, not over dialogues")
    return measure


def parse_measures(texts: Iterable[str]) -> list[Measure]:
    """Measures from strings, each holding one or several separated by commas; ``default`` and ``all`` are lists."""
    measures: dict[str, Measure] = {}
    for text in texts:
        for one in _split(text):
            for name in _LISTS.get(one.strip().lower(), (one,)):
                measure = parse_measure(name)
                measures.setdefault(str(measure), measure)
    if not measures:
        raise DialgaugeError("no measure was named; leave --measures out for the usual ones")
    return list(measures.values())


def asked_for(texts: Iterable[str]) -> frozenset[str]:
    """The measures that are named one by one, not by ``default`` or ``all``: these must be computed, or it is an error.

    >>> sorted(asked_for(["all", "FGA@1.0,JGA"]))
    ['FGA@1', 'JGA']
    """
    named = [one for text in texts for one in _split(text) if one.strip().lower() not in _LISTS]
    return frozenset(str(parse_measure(one)) for one in named)


def _card(name: str) -> Card:
    known = cards()
    by_lower = {other.lower(): other for other in known}
    if name.lower() not in by_lower:
        raise DialgaugeError(f"there is no measure named '{name}'.{nearest(name, known)}")
    return known[by_lower[name.lower()]]


def _settings(card: Card, text: str | None, whole: str) -> dict[str, Setting]:
    pairs: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in (text or "").split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise DialgaugeError(f"'{whole}': write parameters as name=value, not '{part}'")
        if name in pairs:
            raise DialgaugeError(f"'{whole}' gives {name} twice")
        pairs[name] = value
    settings: dict[str, Setting] = {}
    if card.cutoff and card.cutoff.name == "lambda" and {"tf", "p"} & pairs.keys():
        settings["lambda"] = _rate(pairs, whole)
    for name, value in pairs.items():
        parameter = card.cutoff if card.cutoff and card.cutoff.name == name else card.parameter(name)
        settings[name] = parameter.parse(value, card.name)
    return settings


def _rate(pairs: dict[str, str], whole: str) -> float:
    try:
        return forgetting_rate(float(pairs.pop("tf")), float(pairs.pop("p")))
    except (KeyError, ValueError):
        raise DialgaugeError(f"'{whole}': lambda from t_f and p needs both, as numbers: FGA(tf=6,p=0.95)") from None


def _split(text: str) -> list[str]:
    """At commas outside parentheses."""
    return [part for part in re.split(r",(?![^(]*\))", text) if part.strip()]
