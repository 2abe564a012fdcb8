"""What a measure is: a declared card, and the card with its parameters filled in.

A card says what a measure is called, what it means, where it comes from and which parameters it takes, and names one
pure function that gives every unit of the evidence (a turn, a reply, a dialogue) a numerator and a denominator. The
value over any set of units is the sum of the one over the sum of the other; that makes dialogues, domains, intervals,
shards and streams the same code, for every family of measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import unquote

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest

Floats: TypeAlias = NDArray[np.float64]
Setting: TypeAlias = str | float
Settings: TypeAlias = Mapping[str, Setting]
#: Numerators and denominators: of each unit, of each dialogue, or (groups, dialogues).
Rows: TypeAlias = tuple[Floats, Floats]

#: The setting under which functions see the part that is measured, as in ``I-GCDF1[hotel]``.
PART = "part"


class Evidence(Protocol):
    """What is measured: units that belong to dialogues, numbered from 0. A family adds what its measures need."""

    @property
    def dialogues(self) -> int:
        """How many dialogues there are."""

    @property
    def dialogue(self) -> NDArray[np.integer[Any]]:
        """The number of the dialogue that each unit belongs to."""


E = TypeVar("E", bound=Evidence)


class Parameter(Struct, frozen=True):
    """A parameter of a measure: a choice of words, a number that is not negative, or a ``whole`` number from 1."""

    name: str
    default: Setting
    choices: tuple[str, ...] = ()
    summary: str = ""
    whole: bool = False

    def parse(self, text: str, measure: str) -> Setting:
        """The setting a text stands for."""
        if self.choices:
            if text not in self.choices:
                raise DialgaugeError(f"{measure}: {self.name} must be one of {', '.join(self.choices)} (got '{text}')")
            return text
        try:
            value = float(text)
        except ValueError:
            raise DialgaugeError(f"{measure}: {self.name} must be a number (got '{text}')") from None
        if self.whole:
            if not (value >= 1 and value.is_integer()):
                raise DialgaugeError(f"{measure}: {self.name} must be a whole number ≥ 1 (got {text})")
            return int(value)
        if math.isnan(value) or value < 0:
            raise DialgaugeError(f"{measure}: {self.name} must be ≥ 0 (got {text})")
        if math.isinf(value) and "inf" not in text.lower():
            raise DialgaugeError(f"{measure}: {self.name} is too large a number (got {text})")
        return value


OVER = Parameter("over", "turns", ("turns", "dialogues"), "mean over all turns, or mean of the dialogues' means")


@dataclass(frozen=True, kw_only=True)
class Card(Generic[E]):
    """The declaration of a measure."""

    name: str
    #: The kind of run that it measures.
    family: str
    title: str
    summary: str
    formula: str
    source: str
    #: What the letters of the formula mean, such as ``{"T": "slots of the inventory"}``.
    symbols: Mapping[str, str] = field(default_factory=dict, hash=False)
    rows: Callable[[E, Settings], Rows] = field(repr=False)
    #: For values that are means over groups, such as slots: numerators and denominators as (groups, dialogues).
    groups: Callable[[E, Settings], Rows] | None = field(default=None, repr=False)
    #: The parameter, and those of its values, for which the value is a mean over groups.
    grouped_by: tuple[str, tuple[str, ...]] | None = None
    #: Those values of that parameter for which the system's own mistakes decide which groups there are: a sample shows
    #: only some of them, so that no interval from it could hold.
    open_groups: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    #: The parameter written after the mark, if there is one: ``FGA@0.5``, ``pass^4``.
    cutoff: Parameter | None = None
    mark: Literal["@", "^"] = "@"
    #: Is the cutoff left out of the name where it is the usual one? ``per-dialog`` is ``per-dialog@1``.
    bare: bool = False
    #: Does it have parts, such as ``I-GCDF1[hotel]``? Then its functions see the part among the settings, and its
    #: ``obstacle`` refuses one that the evidence lacks.
    parts: bool = False
    #: What the evidence must offer, in the family's own words; its ``obstacle`` and its views look at it.
    needs: frozenset[str] = frozenset()
    #: ``share`` is a fraction, shown as percent; anything else is a word such as ``turns``.
    unit: str = "share"
    lower: float = 0.0
    upper: float = 1.0
    #: Is each unit's value one from a few trials, as with pass^k? Where it has two bounds, its interval asks what one
    #: more unit would change, and keeps the order of such measures.
    one_more: bool = False
    #: None where neither is better, as with the length of a response.
    higher_is_better: bool | None = True
    #: Settings that depend on the evidence, such as ``rule=auto``, filled in.
    resolve: Callable[[E, Settings], Settings] | None = field(default=None, repr=False)
    #: Why the measure cannot be computed, as the end of a sentence. It sees the settings before they are resolved.
    obstacle: Callable[[E, Settings], str | None] | None = field(default=None, repr=False)
    #: Settings that other words stand for; it takes those words out of the written pairs.
    shorthand: Callable[[dict[str, str]], dict[str, Setting]] | None = field(default=None, repr=False)
    #: The value itself, where it is no ratio of the dialogues' sums or not to the last bit.
    value: Callable[[E, Settings], float] | None = field(default=None, repr=False)
    #: For values that come from several sums, such as BLEU: the sums of each dialogue, (sums, dialogues), and the
    #: function that makes values of them, whose last axis holds the sums.
    statistics: Callable[[E, Settings], Floats] | None = field(default=None, repr=False)
    of_sums: Callable[[Floats], Floats] | None = field(default=None, repr=False)

    def parameter(self, name: str) -> Parameter:
        """A parameter by name, the cutoff included."""
        known = (*self.parameters, *([self.cutoff] if self.cutoff else []))
        for parameter in known:
            if parameter.name == name:
                return parameter
        raise DialgaugeError(f"{self.name} has no parameter '{name}'.{nearest(name, (each.name for each in known))}")


@dataclass(frozen=True)
class Measure(Generic[E]):
    """A card with settings. ``given`` holds what was written; everything else has its default."""

    card: Card[E]
    given: tuple[tuple[str, Setting], ...] = ()
    #: What part of the evidence is measured, as in ``I-GCDF1[hotel]``; empty: all of it.
    part: str = ""
    #: Other words that the cutoff was given in, as in ``FGA(tf=6,p=0.95)``: a table shows what was asked for.
    shorthand: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """The shortest name: defaults left out; parses back to the same measure."""
        given = dict(self.given)
        named = ((parameter, given[parameter.name]) for parameter in self.card.parameters if parameter.name in given)
        shown = {parameter.name: value for parameter, value in named if value != parameter.default}
        return self._written({**dict(self.shorthand), **shown}, cutoff=not self.shorthand)

    def full(self, evidence: E | None = None) -> str:
        """The name with every setting, as signatures print it; with evidence, automatic settings resolved."""
        resolved = self.settings(evidence)
        return self._written({parameter.name: resolved[parameter.name] for parameter in self.card.parameters})

    def settings(self, evidence: E | None = None) -> dict[str, Setting]:
        """All settings by name; the part, where there is one, under ``part``."""
        filled = {parameter.name: parameter.default for parameter in self.card.parameters}
        if self.card.cutoff:
            filled[self.card.cutoff.name] = self.card.cutoff.default
        filled.update(self.given)
        if self.part:
            filled[PART] = self.part
        if evidence is not None and self.card.resolve:
            return dict(self.card.resolve(evidence, filled))
        return filled

    def rows(self, evidence: E) -> Rows:
        """Numerator and denominator of every unit."""
        settings = self.settings(evidence)
        if self.card.rows.__module__.startswith("dialgauge."):
            return self.card.rows(evidence, settings)
        return _foreign_rows(self.card, evidence, settings)

    def by_dialogue(self, evidence: E) -> Rows:
        """Numerator and denominator of every dialogue, 0 / 0 where it has no score."""
        above, below = (_by_dialogue(part, evidence) for part in self.rows(evidence))
        if self.settings().get(OVER.name) != "dialogues":
            return above, below
        scored = below > 0
        return np.divide(above, below, out=np.zeros(len(scored)), where=scored), scored.astype(np.float64)

    @property
    def settled(self) -> bool:
        """Is what the value is a mean over the same in every sample, so that it can have an interval?"""
        return self.card.grouped_by is None or self.settings().get(self.card.grouped_by[0]) not in self.card.open_groups

    @property
    def grouped(self) -> bool:
        """Is the value a mean over groups, such as slots, and so no ratio of sums over dialogues?"""
        if self.card.grouped_by is None:
            return False
        parameter, values = self.card.grouped_by
        return self.settings().get(parameter) in values

    def by_group(self, evidence: E) -> Rows:
        """Numerator and denominator, (groups, dialogues), of a measure that averages over groups."""
        if self.card.groups is None:
            raise ValueError(f"{self} does not average over groups")
        return self.card.groups(evidence, self.settings(evidence))

    def value(self, evidence: E) -> float:
        """The value over all units; NaN where it is undefined."""
        if self.card.value:
            return self.card.value(evidence, self.settings(evidence))
        if self.card.statistics and self.card.of_sums:
            return float(self.card.of_sums(self.card.statistics(evidence, self.settings(evidence)).sum(axis=1)))
        if self.grouped:
            numerators, denominators = (part.sum(axis=1) for part in self.by_group(evidence))
            occurring = denominators > 0
            return float((numerators[occurring] / denominators[occurring]).mean()) if occurring.any() else math.nan
        numerator, denominator = self.by_dialogue(evidence)
        total = float(denominator.sum())
        return float(numerator.sum()) / total if total else math.nan

    def obstacle(self, evidence: E) -> str | None:
        """Why the measure cannot be computed from this evidence, as the end of a sentence; None when it can."""
        return self.card.obstacle(evidence, self.settings()) if self.card.obstacle else None

    def _written(self, named: Mapping[str, Setting], *, cutoff: bool = True) -> str:
        text = self.card.name
        if self.card.cutoff and cutoff:
            reached = self.settings()[self.card.cutoff.name]
            if not (self.card.bare and reached == self.card.cutoff.default):
                text += f"{self.card.mark}{setting_text(reached)}"
        if named:
            text += "(" + ",".join(f"{name}={setting_text(value)}" for name, value in named.items()) + ")"
        return f"{text}[{part_text(self.part)}]" if self.part else text


def _foreign_rows(card: Card[E], evidence: E, settings: Settings) -> Rows:
    """The rows of another package's measure; what goes wrong in it is a sentence that names the measure."""
    try:
        above, below = (np.asarray(part, np.float64) for part in card.rows(evidence, settings))
    except Exception as error:
        raise DialgaugeError(f"the measure {card.name} failed ({type(error).__name__}: {error})") from error
    units = (len(evidence.dialogue),)
    if above.shape != units or below.shape != units:
        raise DialgaugeError(
            f"the measure {card.name} gave arrays of the shapes {above.shape} and {below.shape}, "
            f"where the {units[0]:,} units of the evidence need one number each"
        )
    return above, below


def _by_dialogue(rows: Floats, evidence: Evidence) -> Floats:
    ones: tuple[Floats, Floats] | None = getattr(evidence, "ones", None)  # rows whose sums the family knows
    if ones is not None and rows is ones[0]:
        return ones[1]
    return np.bincount(evidence.dialogue, weights=rows, minlength=evidence.dialogues).astype(np.float64, copy=False)


def setting_text(value: Setting) -> str:
    """A setting as written in names: ``0.5``, ``1``, ``inf``, ``paper``.

    >>> setting_text(1.0), setting_text(0.25), setting_text("paper")
    ('1', '0.25', 'paper')
    """
    if isinstance(value, str | int):
        return str(value)
    return repr(int(value)) if value < 1e6 and value == int(value) else repr(float(value))


def part_text(part: str) -> str:
    """A part as written between brackets, which it cannot hold itself.

    >>> part_text("hotel"), part_text("a[1]")
    ('hotel', 'a%5B1%5D')
    """
    return part.replace("%", "%25").replace("[", "%5B").replace("]", "%5D")


def read_part(text: str) -> str:
    """The part that stands between brackets: the inverse of :func:`part_text`."""
    return unquote(text)
