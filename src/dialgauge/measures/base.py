"""What a measure is: a declared card, and the card with its parameters and its part filled in.

A card names one pure function that gives every unit of the evidence (a turn, a reply, a dialogue) a few numbers, mostly
a numerator and a denominator, and a function ``of`` that makes a value of their totals. A part (``JGA[hotel]``) is the
same measure on a part of the evidence. Values, intervals, breakdowns, paired tests and merging all come from the sums
by dialogue, for every family of measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, Self, TypeAlias, TypeVar
from urllib.parse import unquote

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest

Floats: TypeAlias = NDArray[np.float64]
Setting: TypeAlias = str | float
Settings: TypeAlias = Mapping[str, Setting]
#: k numbers of each unit: mostly numerators and denominators.
UnitNumbers: TypeAlias = "Floats | Sequence[Floats]"


class Evidence(Protocol):
    """What is measured: units that belong to dialogues, numbered from 0. A family adds what its measures need."""

    @property
    def dialogues(self) -> int:
        """How many dialogues there are."""

    @property
    def dialogue(self) -> NDArray[np.integer[Any]]:
        """The number of the dialogue that each unit belongs to."""

    @property
    def scored(self) -> NDArray[np.bool_]:
        """The units that count. Others stay for the sake of history: an earlier turn may explain a later one."""

    def part(self, name: str) -> Self:
        """The part that a measure names in brackets; what is there lies in the same dialogues, by the same numbers."""


class Units:
    """Evidence whose units all count and which has no parts. Subclasses override what differs."""

    dialogues: int
    dialogue: NDArray[np.integer[Any]]

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Every unit."""
        return np.ones(len(self.dialogue), bool)

    def part(self, name: str) -> Self:
        """There is none."""
        raise DialgaugeError(f"it has no part '{name}'")


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


def ratio(totals: Floats) -> Floats:
    """The first sum over the second; NaN where that is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(totals[..., 0] / totals[..., 1])


def mean_of_ratios(totals: Floats) -> Floats:
    """The mean over groups of numerator over denominator, such as F1 over slots: all numerators, all denominators.

    A group whose denominator is 0 does not occur.
    """
    above, below = np.split(totals, 2, axis=-1)
    occurring = below > 0
    ratios = np.divide(above, below, out=np.zeros_like(above), where=occurring)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(ratios.sum(axis=-1) / occurring.sum(axis=-1))


def _always(settings: Settings) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Card(Generic[E]):
    """The declaration of a measure.

    ``units``  the numbers of each unit, mostly numerator and denominator; they are added up by dialogue
    ``sums``   the sums of each dialogue at once, in the place of ``units``
    ``of``     makes the value of the totals: by default the first over the second
    ``value``  computes the value directly, without sums; such a measure has no interval and no paired test
    """

    name: str
    #: The kind of run that it measures.
    family: str
    title: str
    summary: str
    formula: str
    source: str
    #: What the letters of the formula mean, such as ``{"T": "slots of the inventory"}``.
    symbols: Mapping[str, str] = field(default_factory=dict, hash=False)
    units: Callable[[E, Settings], UnitNumbers] | None = field(default=None, repr=False)
    #: (k, dialogues); its answer is None where ``units`` must make them.
    sums: Callable[[E, Settings], Floats | None] | None = field(default=None, repr=False)
    #: The k totals are on the last axis.
    of: Callable[[Floats], Floats] = field(default=ratio, repr=False)
    value: Callable[[E, Settings], float] | None = field(default=None, repr=False)
    #: False if resampling cannot estimate the spread.
    has_interval: Callable[[Settings], bool] = field(default=_always, repr=False)
    parameters: tuple[Parameter, ...] = ()
    #: The parameter written after the mark, if there is one: ``FGA@0.5``, ``pass^4``.
    cutoff: Parameter | None = None
    mark: Literal["@", "^"] = "@"
    #: Is the cutoff left out of the name where it is the usual one? ``per-dialog`` is ``per-dialog@1``.
    omit_default_cutoff: bool = False
    #: The forms of it that ``all`` stands for; empty: its name.
    forms: tuple[str, ...] = ()
    #: May it name a part of the evidence, as in ``I-GCDF1[hotel]``?
    parts: bool = False
    #: ``share`` is a fraction, shown as percent; anything else is a word such as ``turns``.
    unit: str = "share"
    lower: float = 0.0
    upper: float = 1.0
    #: Does each unit's value come from a few trials, as with pass^k? Between two bounds, its interval then asks what
    #: one more unit at either bound would change.
    one_more: bool = False
    #: None where neither is better, as with the length of a response.
    higher_is_better: bool | None = True
    #: Settings that depend on the evidence, such as ``rule=auto``, filled in.
    resolve: Callable[[E, Settings], Settings] | None = field(default=None, repr=False)
    #: Why the measure cannot be computed, as the end of a sentence. It sees the settings before they are resolved.
    obstacle: Callable[[E, Settings], str | None] | None = field(default=None, repr=False)
    #: Settings that other words stand for; it takes those words out of the written pairs.
    shorthand: Callable[[dict[str, str]], dict[str, Setting]] | None = field(default=None, repr=False)

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
        """All settings by name; with evidence, automatic ones resolved."""
        filled = {parameter.name: parameter.default for parameter in self.card.parameters}
        if self.card.cutoff:
            filled[self.card.cutoff.name] = self.card.cutoff.default
        filled.update(self.given)
        if evidence is not None and self.card.resolve:
            return dict(self.card.resolve(evidence, filled))
        return filled

    def seen(self, evidence: E) -> E:
        """The evidence, or the part of it that is measured."""
        return evidence.part(self.part) if self.part else evidence

    def units(self, evidence: E) -> Floats:
        """The numbers of every unit, (k, units); 0 for units that do not count."""
        seen = self.seen(evidence)
        if self.card.units is None:
            return np.zeros((2, len(seen.dialogue)))
        return _checked(self.card, seen, self.settings(seen)) * seen.scored

    def sums(self, evidence: E) -> Floats:
        """The sums of every dialogue, (k, dialogues): values, intervals, paired tests and merging come from these."""
        if self.card.sums:
            seen = self.seen(evidence)
            if (known := self.card.sums(seen, self.settings(seen))) is not None:
                return known
        dialogue, dialogues = evidence.dialogue, evidence.dialogues
        counted = [np.bincount(dialogue, row, dialogues) for row in self.units(evidence)]
        sums = np.stack(counted).astype(np.float64, copy=False)
        if self.settings().get(OVER.name) != "dialogues":
            return sums
        above, below = sums
        scored = below > 0
        return np.stack([np.divide(above, below, out=np.zeros(len(scored)), where=scored), scored.astype(np.float64)])

    def value(self, evidence: E) -> float:
        """The value over all units; NaN where it is undefined."""
        if self.card.value:
            seen = self.seen(evidence)
            return self.card.value(seen, self.settings(seen))
        return float(self.card.of(self.sums(evidence).sum(axis=1)))

    @property
    def has_interval(self) -> bool:
        """Whether a sample of dialogues tells how far the value varies."""
        return self.card.value is None and self.card.has_interval(self.settings())

    def obstacle(self, evidence: E) -> str | None:
        """Why the measure cannot be computed from this evidence, as the end of a sentence; None when it can."""
        try:
            seen = self.seen(evidence)
        except DialgaugeError as error:
            return error.message
        return self.card.obstacle(seen, self.settings()) if self.card.obstacle else None

    def _written(self, named: Mapping[str, Setting], *, cutoff: bool = True) -> str:
        text = self.card.name
        if self.card.cutoff and cutoff:
            reached = self.settings()[self.card.cutoff.name]
            if not (self.card.omit_default_cutoff and reached == self.card.cutoff.default):
                text += f"{self.card.mark}{setting_text(reached)}"
        if named:
            text += "(" + ",".join(f"{name}={setting_text(value)}" for name, value in named.items()) + ")"
        return f"{text}[{part_text(self.part)}]" if self.part else text


def _checked(card: Card[E], evidence: E, settings: Settings) -> Floats:
    """The numbers of every unit; what goes wrong in another package's measure is a sentence that names it."""
    if card.units is None:
        raise TypeError(f"{card.name} has no units")
    function = getattr(card.units, "func", card.units)  # of a functools.partial
    if function.__module__.startswith("dialgauge."):
        return np.asarray(card.units(evidence, settings))
    try:
        numbers = np.asarray(card.units(evidence, settings), np.float64)
    except Exception as error:
        raise DialgaugeError(f"the measure {card.name} failed ({type(error).__name__}: {error})") from error
    if numbers.ndim != 2 or numbers.shape[1] != len(evidence.dialogue):
        raise DialgaugeError(
            f"the measure {card.name} gave an array of the shape {numbers.shape}, where the "
            f"{len(evidence.dialogue):,} units of the evidence need a few numbers each"
        )
    return numbers


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
