"""Numbers and measures in words: amounts with their interval, lists of names, what a measure means, first scores.

Sentences are made from what a run has: columns of the expected types, defined scores, counts of texts.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Card, Score, measure_of_kind
from dialgauge.rendering import SHARE, plain
from dialgauge.text import counted, some_of, upper_first

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run

#: Digits after the point, at least and at most: as many as keep a number that is not 0 from being printed as one.
_LEAST, _MOST = 1, 6
#: Measures, reasons, classes and the like that are named one by one.
NAMED = 3
#: Letters of a text that is quoted.
_QUOTED = 60


class Glossary:
    """What measures are called: by name, and where one is first named with what it means."""

    def __init__(self, kind: str = "") -> None:
        self._kind = kind
        self._explained: set[str] = set()

    def said(self, measure: str, *more: str) -> str:
        """The name, with its meaning in brackets where that was not said before, and what else is to be said there."""
        explanation = "; ".join(filter(None, [self.meaning(measure), *more]))
        return f"{plain(measure)} ({explanation})" if explanation else plain(measure)

    def meaning(self, measure: str) -> str:
        """The meaning of a measure; empty if it was given before or is unknown."""
        card = _card(measure, self._kind)
        if card is None or card.name in self._explained:
            return ""
        self._explained.add(card.name)
        # The title of some measures is their name again, and then the summary says more.
        name = card.name.lower()
        meaning = card.summary if card.title.lower() in (name, f"{name}^k") else card.title
        return plain(_lowered(meaning.rstrip(".")))


def _card(measure: str, kind: str) -> Card[Any] | None:
    """The card of a measure: that of the run's family first, as two families may have one of the same name."""
    try:
        return measure_of_kind(measure, kind).card
    except DialgaugeError:
        return None


def _lowered(text: str) -> str:
    """The text as it stands inside a sentence; an abbreviation keeps its capitals."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def is_number(value: float | None) -> bool:
    """Whether there is a value at all."""
    return value is not None and math.isfinite(value)


def numbers(score: Score | None, *values: float | None) -> list[str]:
    """Values of one measure, all with the same number of digits; shares in percent.

    >>> numbers(Score(value=0.5, unit="share"), 0.058, 0.0004)
    ['5.80', '0.04']
    """
    scale = 100.0 if score is not None and score.unit == SHARE else 1.0
    defined = [scale * value for value in values if value is not None and math.isfinite(value)]
    least = _LEAST if scale > 1 else 2
    digits = next((d for d in range(least, _MOST) if all(not n or float(f"{n:.{d}f}") for n in defined)), _MOST)
    return ["undefined" if not is_number(value) else _written(scale * (value or 0.0), digits) for value in values]


def _written(number: float, digits: int) -> str:
    text = f"{number:,.{digits}f}"
    return text.lstrip("-") if not float(text.replace(",", "")) else text


def interval(low: str, high: str) -> str:
    """``, [low, high]``, or nothing where the ends are not known."""
    return "" if "undefined" in (low, high) else f", [{low}, {high}]"


def unit_of(score: Score | None) -> str:
    """What follows a difference: points of percent for shares, else the unit's own name, where a number can precede it.

    >>> unit_of(Score(value=7.19, unit="exchanges")), unit_of(Score(value=0.5, unit="reciprocal rank"))
    (' exchanges', '')
    """
    if score is None or score.unit is None:
        return ""
    if score.unit == SHARE:
        return " points"
    return f" {score.unit}" if score.unit.isalpha() and score.unit.endswith("s") else ""


def amount(score: Score | None, value: float, low: float, high: float) -> str:
    """A difference with its interval: ``5.8 points, [4.1, 7.5]``."""
    number, lower, upper = numbers(score, value, low, high)
    return f"{number}{unit_of(score)}{interval(lower, upper)}"


def value_of(score: Score) -> str:
    """A value as people say it: ``49.5%``, or ``7.19 exchanges``."""
    (number,) = numbers(score, score.value)
    if number == "undefined":
        return number
    return f"{number}%" if score.unit == SHARE else f"{number}{unit_of(score)}"


def value_with_interval(score: Score) -> str:
    """The same with its interval: ``49.5% [47.4, 51.6]``."""
    number, lower, upper = numbers(score, score.value, score.low, score.high)
    if number == "undefined":
        return number
    ends = interval(lower, upper).lstrip(",")
    return f"{number}{'%' if score.unit == SHARE else unit_of(score)}{ends}"


def percent(part: float, whole: float) -> str:
    """A share of a whole in percent: no digits where that says enough.

    >>> percent(1, 3), percent(1, 5000), percent(4999, 5000), percent(0, 5)
    ('33%', '0.02%', '99.98%', '0%')
    """
    share = 100.0 * part / whole if whole else 0.0
    digits = next((d for d in range(4) if (not part or float(f"{share:.{d}f}")) and _not_all(part, whole, d)), 4)
    return f"{share:.{digits}f}%"


def _not_all(part: float, whole: float, digits: int) -> bool:
    """Whether this number of digits shows that a share is not 100%."""
    return part == whole or float(f"{100.0 * part / whole:.{digits}f}") < 100.0 if whole else True


def listed(items: Sequence[str], most: int = 0) -> str:
    """Items as a list in a sentence; those beyond ``most`` are counted.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    if 0 < most < len(items):
        return some_of(items, most)
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def sentence(text: str) -> str:
    """The text on one line, ended by a full stop."""
    shown = plain(text).strip()
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def capitalised(text: str) -> str:
    """A note, which is a sentence without its full stop, as a sentence."""
    return sentence(upper_first(text))


def quoted(text: str | None) -> str:
    """What somebody said, cut where it is long."""
    shown = plain(text or "nothing")
    return f"‘{shown if len(shown) <= _QUOTED else f'{shown[: _QUOTED - 1]}…'}’"


def columns(
    run: Run, table: str, *, text: tuple[str, ...] = (), number: tuple[str, ...] = ()
) -> polars.DataFrame | None:
    """Some columns of a table of a run, of the types that are expected; None where it does not have them."""
    import polars as pl

    if table not in run.tables:
        return None
    frame = run.table(table)
    kinds = frame.schema
    if not all(isinstance(kinds.get(name), pl.String | pl.Categorical | pl.Enum | pl.Null) for name in text):
        return None
    if not all(name in kinds and (kinds[name].is_numeric() or kinds[name] == pl.Boolean) for name in number):
        return None
    numbers = [pl.col(name).cast(pl.Float64).fill_null(0.0).fill_nan(0.0) for name in number]
    return frame.select(*(pl.col(name).cast(pl.String) for name in text), *numbers)


class DialogueRows:
    """The rows of dialogues in the tables of a run, each table read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._read: dict[str, polars.DataFrame | None] = {}

    def rows(
        self, table: str, dialogue: str, *, text: tuple[str, ...] = (), number: tuple[str, ...] = ()
    ) -> polars.DataFrame | None:
        """The rows of a dialogue, its id first; None where the run has no such table."""
        if table not in self._read:
            self._read[table] = columns(self._run, table, text=("dialogue", *text), number=number)
        frame = self._read[table]
        return None if frame is None else frame.filter(frame["dialogue"] == dialogue)

    def records(self, table: str, dialogue: str) -> list[dict[str, Any]]:
        """The rows of a dialogue with all columns; none where the run has no such table."""
        whole = f"{table}, whole"
        if whole not in self._read:
            self._read[whole] = self._run.table(table) if table in self._run.tables else None
        frame = self._read[whole]
        return [] if frame is None else frame.filter(frame["dialogue"] == dialogue).to_dicts()


def known(run: Run, measure: str) -> Score | None:
    """The score of a measure, if it has a value."""
    score = run.scores.get(measure)
    return score if score is not None and is_number(score.value) else None


def tallied(values: polars.Series) -> list[tuple[str, int]]:
    """The texts of a column, the most frequent first, with their number; absent ones are left out."""
    counts = values.drop_nulls().to_frame("value").group_by("value", maintain_order=True).len()
    rows = [(str(value), int(count)) for value, count in counts.iter_rows()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def scored_units(run: Run, unit: str, noun: str = "") -> str:
    """How many units were scored, in words; nothing where nobody knows."""
    count = run.coverage.units.get(unit)
    return counted(count.scored, noun or unit.removesuffix("s")) if count is not None and count.scored else ""


def is_of_part(measure: str, measures: Container[str]) -> bool:
    """Is it the value of another measure for a part of the data, as ``JGA[hotel]``? ``Score[quality]`` is its own."""
    return measure.endswith("]") and measure.partition("[")[0] in measures


def first_scores(run: Run, words: Glossary) -> Iterator[str]:
    """The first scores in a sentence, for kinds of run without sentences and runs without their kind's headline."""
    name = plain(run.name) or "the run"
    whole = {measure: score for measure, score in run.scores.items() if not is_of_part(measure, run.scores)}
    scores = whole or run.scores
    defined = [(measure, score) for measure, score in scores.items() if is_number(score.value)]
    shown = [
        f"{value_with_interval(score)} by {words.said(measure)}"
        + (", where lower is better," if score.higher_is_better is False else "")
        for measure, score in defined[:NAMED]
    ]
    lacking = [plain(measure) for measure, score in scores.items() if not is_number(score.value)]
    without = f"no value of {listed(lacking, NAMED)}" if lacking else ""
    if shown:
        told = listed(shown).replace(",,", ",").removesuffix(",")
        yield f"{name} has {told}{f', and {without}' if without else ''}"
    else:
        yield f"{name} has {f'{without}: nothing that counts has one' if without else 'no scores'}"
