"""What a measure is: a declared card, and the card with its parameters filled in.

A card says what a measure is called, what it means, where it comes from and which parameters it takes, and names one
pure function that gives every turn a numerator and a denominator. The value over any set of turns is the sum of the
one over the sum of the other; that makes dialogues, domains, intervals, shards and streams the same code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.tracking.counts import Counts, SlotCounts
from dialgauge.tracking.encode import Floats

Setting: TypeAlias = str | float
Settings: TypeAlias = Mapping[str, Setting]
#: Per turn: numerator and denominator.
Rows: TypeAlias = tuple[Floats, Floats]
RowsFunction: TypeAlias = Callable[[Counts, Settings], Rows]
GroupsFunction: TypeAlias = Callable[[SlotCounts, Settings], Rows]
#: What a measure cannot do without: gold states, values on both sides (not only flags), the turns in their order.
Need: TypeAlias = Literal["gold", "values", "history"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure: a choice of words, or a number that is not negative."""

    name: str
    default: Setting
    choices: tuple[str, ...] = ()
    summary: str = ""

    def parse(self, text: str, measure: str) -> Setting:
        """The setting a text stands for."""
        if self.choices:
            if text not in self.choices:
                raise DialgaugeError(
                    f"{measure}: {self.name} is one of {', '.join(self.choices)}, not '{text}'."
                    f"{nearest(text, self.choices)}"
                )
            return text
        try:
            number = float(text)
        except ValueError:
            raise DialgaugeError(f"{measure}: {self.name} is a number, not '{text}'") from None
        if math.isnan(number) or number < 0:
            raise DialgaugeError(f"{measure}: {self.name} is a number that is not negative, not {text}")
        return number


OVER = Parameter("over", "turns", ("turns", "dialogues"), "mean over all turns, or mean of the dialogues' means")


@dataclass(frozen=True, kw_only=True)
class Card:
    """The declaration of a measure."""

    name: str
    title: str
    summary: str
    formula: str
    source: str
    rows: RowsFunction = field(repr=False)
    #: For means over slots or domains: numerators and denominators as (groups, dialogues).
    groups: GroupsFunction | None = field(default=None, repr=False)
    parameters: tuple[Parameter, ...] = (OVER,)
    #: The parameter written after ``@``, if there is one.
    cutoff: Parameter | None = None
    needs: frozenset[Need] = frozenset({"gold", "values"})
    lower: float = 0.0
    upper: float = 1.0
    higher_is_better: bool = True

    def parameter(self, name: str) -> Parameter:
        """A parameter by name."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = [parameter.name for parameter in self.parameters]
        raise DialgaugeError(f"{self.name} has no parameter '{name}'.{nearest(name, known)}")


@dataclass(frozen=True)
class Measure:
    """A card with settings. ``given`` holds what was written; everything else has its default."""

    card: Card
    given: tuple[tuple[str, Setting], ...] = ()

    def __str__(self) -> str:
        """The shortest name: defaults left out; parses back to the same measure."""
        return self._written([(name, value) for name, value in self._named() if value != self._default(name)])

    def full(self, counts: Counts | None = None) -> str:
        """The name with every setting, as signatures print it; with counts, ``auto`` settings resolved."""
        resolved = self.settings(counts)
        return self._written([(parameter.name, resolved[parameter.name]) for parameter in self.card.parameters])

    def settings(self, counts: Counts | None = None) -> dict[str, Setting]:
        """All settings by name."""
        from dialgauge.tracking.fga import default_rule

        filled = {parameter.name: parameter.default for parameter in self.card.parameters}
        if self.card.cutoff:
            filled[self.card.cutoff.name] = self.card.cutoff.default
        filled.update(self.given)
        if counts is not None and filled.get("rule") == "auto":
            filled["rule"] = default_rule(counts)
        return filled

    def rows(self, counts: Counts) -> Rows:
        """Numerator and denominator of every turn."""
        return self.card.rows(counts, self.settings(counts))

    def by_dialogue(self, counts: Counts) -> Rows:
        """Numerator and denominator of every dialogue, 0 / 0 where it has no score."""
        numerator, denominator = self.rows(counts)
        above, below = (_by_dialogue(part, counts) for part in (numerator, denominator))
        if self.settings().get("over") != "dialogues":
            return above, below
        scored = below > 0
        return np.divide(above, below, out=np.zeros(len(scored)), where=scored), scored.astype(np.float64)

    @property
    def grouped(self) -> bool:
        """Is the value a mean over slots or domains, and so no ratio of sums over turns?"""
        return self.card.groups is not None and self.settings().get("average") in ("slot", "domain")

    def by_group(self, counts: Counts) -> Rows:
        """Numerator and denominator, (groups, dialogues), of a measure that averages over slots or domains."""
        if self.card.groups is None or counts.slots is None:
            raise ValueError(f"{self} needs the counts of every slot")
        return self.card.groups(counts.slots, self.settings(counts))

    def value(self, counts: Counts) -> float:
        """The value over all turns; NaN where it is undefined."""
        if self.grouped:
            numerators, denominators = (part.sum(axis=1) for part in self.by_group(counts))
            occurring = denominators > 0
            return float((numerators[occurring] / denominators[occurring]).mean()) if occurring.any() else math.nan
        numerator, denominator = self.by_dialogue(counts)
        total = float(denominator.sum())
        return float(numerator.sum()) / total if total else math.nan

    def obstacle(self, counts: Counts) -> str | None:
        """Why the measure cannot be computed from these counts, as the end of a sentence; None when it can."""
        if "values" in self.card.needs and counts.flags_only:
            return "it needs predicted values, and the predictions are only right or wrong flags"
        if "gold" in self.card.needs and not counts.has_gold:
            return "it needs gold states, and there are only correctness flags: give the gold file too"
        settings = self.settings()
        if counts.flags_only and settings.get("form") == "jaccard":
            return "it counts a wrong value twice, and flags do not tell wrong values from missed ones"
        rule = settings.get("rule")
        if counts.flags_only and rule in ("code", "paper"):
            return f"rule {rule} needs predicted states, and there are only flags: use rule=error-set"
        return None

    def _named(self) -> list[tuple[str, Setting]]:
        given: dict[str, Any] = dict(self.given)
        return [
            (parameter.name, given[parameter.name]) for parameter in self.card.parameters if parameter.name in given
        ]

    def _default(self, name: str) -> Setting:
        return self.card.parameter(name).default

    def _written(self, named: list[tuple[str, Setting]]) -> str:
        text = self.card.name
        if self.card.cutoff:
            text += f"@{number(self.settings()[self.card.cutoff.name])}"
        if named:
            text += "(" + ",".join(f"{name}={number(value)}" for name, value in named) + ")"
        return text


def _by_dialogue(rows: Floats, counts: Counts) -> Floats:
    return np.bincount(counts.dialogue, weights=rows, minlength=counts.dialogues).astype(np.float64, copy=False)


def number(value: Setting) -> str:
    """A setting as written in names: ``0.5``, ``1``, ``inf``, ``paper``.

    >>> number(1.0), number(0.25), number("paper")
    ('1', '0.25', 'paper')
    """
    if isinstance(value, str):
        return value
    return repr(int(value)) if value < 1e6 and value == int(value) else repr(float(value))
