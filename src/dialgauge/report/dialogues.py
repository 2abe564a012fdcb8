"""The dialogues of a run as a list: filtered, searched, and ranked from the worst on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import polars as pl

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.kinds import kind_named
from dialgauge.report.page import Choice
from dialgauge.report.table import Cell, Column, Link, Table
from dialgauge.report.tables import number_of
from dialgauge.report.view import Finding, View, stored_as_expected, view_of
from dialgauge.runs import worst_first
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: What an address says of a list beside its filters: the words that are searched, the order, and which page of it.
TEXT, SORT, PAGE = "text", "sort", "page"
#: The filter by what people noted.
LABEL = "label"
#: Dialogues on a page, values that a filter offers (the most frequent), and letters of the first message.
PAGE_SIZE, _OFFERED, _OPENING = 50, 100, 100
_WORST = "worst first"
#: Ends a measure in an address where its largest values come first.
_FALLING = ", largest first"


@lru_cache(maxsize=8)
def dialogue_list(run: Run, labels: tuple[tuple[str, str], ...] = ()) -> DialogueList:
    """The list of a run's dialogues, made once; ``labels`` are pairs of a dialogue and a label that people gave it."""
    return DialogueList(run, view_of(run), labels)


class DialogueList:
    """The dialogues of one run."""

    def __init__(self, run: Run, view: View, labels: Sequence[tuple[str, str]] = ()) -> None:
        self.run = run
        self.view = view
        self._labels = labels
        self.measures = [name for name in self.view.columns or kind_named(run.kind).headline if name in run.scores]

    @cached_property
    def frames(self) -> list[pl.DataFrame]:
        """The frames of the view's filters; where none is by domain, also that of the dialogues' domains."""
        with stored_as_expected():
            frames = list(self.view.filters(self.run))
        if self._labels:
            frames.append(pl.DataFrame(list(self._labels), schema=["dialogue", LABEL], orient="row"))
        if not any("domain" in frame.columns for frame in frames):
            domains = self.run.table("dialogues").select("dialogue", domain="domains").explode("domain")
            frames.append(domains.drop_nulls())
        return frames

    @cached_property
    def filters(self) -> list[str]:
        """The filters that this run has."""
        return [name for frame in self.frames for name in _filters(frame)]

    @cached_property
    def ranked(self) -> list[str]:
        """The ids of all dialogues, the worst first."""
        ids: list[str] = self.run.table("dialogues")["dialogue"].to_list()
        with stored_as_expected():
            return list(dict.fromkeys([*worst_first(self.run), *ids]))

    @cached_property
    def orders(self) -> dict[str, tuple[str, bool]]:
        """The orders other than the worst first: by what a list is sorted, and whether its largest values lead."""
        sorts = ["length", *self.measures]
        return {f"{name}{_FALLING if falling else ''}": (name, falling) for name in sorts for falling in (False, True)}

    def matching(self, only: Mapping[str, str]) -> list[str]:
        """The dialogues that pass all filters, the worst first unless another order is asked for."""
        if unknown := [name for name in only if name not in (*self.filters, TEXT, SORT, PAGE)]:
            raise DialgaugeError(f"there is no filter '{unknown[0]}'.{nearest(unknown[0], self.filters)}")
        found = set(self.ranked)
        for frame in self.frames:
            if own := {name: value for name, value in only.items() if name in _filters(frame)}:
                found &= set(_passing(frame, own)["dialogue"])
        for word in search_words(only.get(TEXT, "")):
            found &= self._saying(word)
        return [dialogue for dialogue in self._sorted(only.get(SORT, "")) if dialogue in found]

    def turns(self, dialogue: str, only: Mapping[str, str]) -> list[int]:
        """The turns of a dialogue that the filters are about."""
        turns: set[int] = set()
        for frame in self.frames:
            own = {name: value for name, value in only.items() if name in _filters(frame)}
            if own and "turn" in frame.columns:
                turns.update(_passing(frame, own).filter(pl.col("dialogue") == dialogue)["turn"].drop_nulls())
        return sorted(turns)

    def choices(self, only: Mapping[str, str]) -> list[Choice]:
        """The filters with their values, each with the number of dialogues that have it; then words and order."""
        choices = []
        for frame in self.frames:
            for name in _filters(frame):
                pairs = frame.select("dialogue", value=name).drop_nulls().unique()
                counts = pairs.group_by("value").len().sort(["len", "value"], descending=[True, False]).head(_OFFERED)
                label, chosen = self.view.labels.get(name, name), only.get(name, "")
                if counts.height > 1 or chosen or name == LABEL:
                    choices.append(Choice(name=name, label=label, values=dict(counts.rows()), chosen=chosen))
        orders = dict.fromkeys(self.orders, 0)
        return [
            *choices,
            Choice(name=TEXT, label="words", chosen=only.get(TEXT, "")),
            Choice(name=SORT, label="order", values=orders, chosen=only.get(SORT, "")),
        ]

    def table(self, names: Sequence[str], only: Mapping[str, str], first: int | None = None) -> Table:
        """Dialogues with their scores and what is most worth knowing about each, leading to the turn that shows it."""
        columns = [
            Column(name, number_of(self.run.scores[name]), spare=min(place, 1))
            for place, name in enumerate(self.measures)
        ]
        order = only.get(SORT) or _WORST
        table = Table(
            f"Dialogues, {order if order == _WORST else f'by {order}'}",
            ["dialogue", Column("length", spare=1), *columns, "finding", Column("begins", spare=2)],
            first=first,
            chosen_from=first is None,
        )
        with stored_as_expected():
            findings = self.view.findings(self.run)
        lengths = dict(self.run.table("dialogues").select("dialogue", "turns").iter_rows())
        openings = dict(self.run.table("turns").filter(pl.col("turn") == 0).select("dialogue", "text").iter_rows())
        values = self._values()
        for name in names:
            finding = findings.get(name, Finding(""))
            turns = self.turns(name, only) if only else []
            opening = openings.get(name, "")
            table.add(
                Cell(name, link=Link(dialogue=name, turn=next(iter(turns), finding.turn), only=only)),
                lengths.get(name),
                *(values.get((name, measure)) for measure in self.measures),
                finding.text,
                opening if len(opening) <= _OPENING else f"{opening[: _OPENING - 1]}…",
            )
        return table

    def answer(self, names: Sequence[str], only: Mapping[str, str]) -> str:
        """How many dialogues pass the filters."""
        asked = {name: value for name, value in only.items() if name not in (SORT, PAGE)}
        if not asked:
            return ""
        where = ", ".join(f"{self.view.labels.get(name, name)} ‘{value}’" for name, value in asked.items())
        return f"{len(names):,} of {counted(len(self.ranked), 'dialogue')}: {where}."

    def _sorted(self, order: str) -> Iterable[str]:
        if not order:
            return self.ranked
        if order not in self.orders:
            raise DialgaugeError(f"dialogues cannot be sorted by '{order}'.{nearest(order, self.orders)}")
        name, falling = self.orders[order]
        known: Mapping[str, float]
        if name == "length":
            known = dict(self.run.table("dialogues").select("dialogue", "turns").iter_rows())
        else:
            known = {dialogue: value for (dialogue, measure), value in self._values().items() if measure == name}
        sign = -1 if falling else 1
        return sorted(self.ranked, key=lambda dialogue: (dialogue not in known, sign * known.get(dialogue, 0)))

    def _saying(self, word: str) -> set[str]:
        """The dialogues in which a word is said, or is part of the id."""
        turns = self.run.table("turns")
        spoken = turns.filter(turns["text"].str.to_lowercase().str.contains(word, literal=True))["dialogue"]
        return {*spoken, *(name for name in self.ranked if word in name.lower())}

    def _values(self) -> dict[tuple[str, str], float]:
        """The value of each dialogue by each measure; those of amounts that are all whole numbers are so written."""
        frame = self.run.table("dialogue_scores")
        frame = frame.filter(pl.col("measure").is_in(self.measures) & (pl.col("den") > 0))
        values = {(dialogue, measure): num / den for dialogue, measure, num, den in frame.iter_rows()}
        broken = {measure for (_, measure), value in values.items() if not value.is_integer()}
        broken |= {measure for measure in self.measures if number_of(self.run.scores[measure]).percent}
        return {key: value if key[1] in broken else int(value) for key, value in values.items()}


def search_words(text: str) -> list[str]:
    """What a search looks for: each word, or a phrase in quotation marks.

    >>> search_words('cheap "north side" Hotel')
    ['cheap', 'north side', 'hotel']
    """
    return [phrase.strip() or word for phrase, word in re.findall(r'"([^"]+)"|(\S+)', text.lower())]


def _filters(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if name not in ("dialogue", "turn")]


def _passing(frame: pl.DataFrame, only: Mapping[str, str]) -> pl.DataFrame:
    return frame.filter(*(pl.col(name) == value for name, value in only.items()))
