"""Pages of responses runs: the gold reply beside the chosen one, ranked candidates, and where a memory network looked.

Runs of systems in front of simulated users have no replies to compare; of them the words and the outcomes are shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.presentation import (
    Badge,
    DialogueRows,
    DialogueView,
    Facet,
    Glossary,
    RunPages,
    RunTables,
    TurnView,
    quoted,
)
from dialgauge.responses.run_page import class_chart, response_sentences, run_tables, stated_ranks
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue, Turn
    from dialgauge.report import Table
    from dialgauge.runs import Run

Row = Mapping[str, Any]

_REPLIES, _CANDIDATES, _ATTENTION, _OUTCOMES = "replies", "candidates", "attention", "outcomes"
#: Memories that stand open; those with less weight are folded away.
_OPEN = 6
#: Steps of shade.
_SHADES = 10


@dataclass(frozen=True)
class CandidateRow:
    """A candidate with its place and score."""

    rank: int | None
    text: str
    score: str
    gold: bool


@dataclass(frozen=True)
class Weight:
    """A weight as a number, and as a step of shade from 0 to 10."""

    text: str
    shade: int


@dataclass(frozen=True)
class MemoryRow:
    """A memory with its weight in every hop."""

    number: int
    speaker: str
    text: str
    weights: tuple[Weight, ...]
    most: float


@dataclass(frozen=True)
class ReplyCell:
    """What stands beside a reply; ``rank`` says in words where the gold reply stands."""

    gold: str
    chosen: str
    right: bool
    rank: str
    candidates: tuple[CandidateRow, ...]
    hops: tuple[int, ...]
    memories: tuple[MemoryRow, ...]
    rest: tuple[MemoryRow, ...]


@dataclass(frozen=True)
class RepliesOverview:
    """Why a conversation ended as it did, in the words of the simulated user, and whether there are replies to mark."""

    explanations: tuple[str, ...]
    marked: bool


class ResponsesPages(RunPages):
    """Responses runs, and runs of systems in front of simulated users."""

    template = "dialgauge.responses:pages.html"
    facets = (
        Facet("class", "class of a reply", _REPLIES, ("class",)),
        Facet("wrong", "class of a wrong reply", _REPLIES, ("class",), only=("correct", False)),
        Facet("right", "a reply is right", _REPLIES, ("correct",)),
        Facet("tied", "best score is tied", _REPLIES, ("tied",)),
        Facet("success", "carried to its end", _OUTCOMES, ("success",)),
        Facet("reason", "why not", _OUTCOMES, ("reason",)),
    )

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The words, and beside each reply of the system what was chosen, the best candidates and the attention."""
        replies = {row["turn"]: row for row in library.rows(run, _REPLIES, dialogue.id)}
        candidates = _by_turn(library.rows(run, _CANDIDATES, dialogue.id))
        attention = _by_turn(library.rows(run, _ATTENTION, dialogue.id))
        among = _candidates_of(run)
        turns = []
        for place, turn in enumerate(dialogue.turns):
            reply = replies.get(place)
            cell, badges = None, []
            if reply is not None or place in candidates or place in attention:
                cell = _cell(reply or {}, _count(turn, among), candidates.get(place, ()), attention.get(place, ()))
            if reply is not None:
                badges = list(_badges(reply))
            turns.append(TurnView(place, turn.speaker, turn.text, badges, cell))
        ends = library.rows(run, _OUTCOMES, dialogue.id)
        explained = tuple(row["explanation"] for row in ends if row.get("explanation"))
        overview = RepliesOverview(explained, any(turn.cell is not None for turn in turns))
        return DialogueView(self.template, turns, overview, list(_summary(replies.values())))

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """Accuracy by class of reply, and ranks of the gold reply."""
        return run_tables(library, run)

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """The same as charts."""
        if _REPLIES not in run.tables or not run.tables[_REPLIES].rows:
            return {}
        return {
            "accuracy by class": partial(class_chart, library, run),
            "rank of the gold reply": partial(stated_ranks, library, run),
        }

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """How many replies are right, and of which class most wrong ones are."""
        return response_sentences(run, words)

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """The first wrong reply."""
        rows = tables.rows(_REPLIES, dialogue, text=("gold", "chosen"), number=("turn", "correct"))
        if rows is None or not (rows["correct"] == 0).any():
            return ""
        _, gold, chosen, turn, _ = rows.filter(rows["correct"] == 0).sort("turn").row(0)
        said = f"says {quoted(chosen)}" if chosen else "says nothing"
        return f"first, in turn {turn:.0f}, it {said} instead of {quoted(gold)}"


def _by_turn(rows: Iterable[Row]) -> dict[int, list[Row]]:
    turns: dict[int, list[Row]] = {}
    for row in rows:
        turns.setdefault(row["turn"], []).append(row)
    return turns


def _candidates_of(run: Run) -> int | None:
    """Among how many candidates the run's bot chose, where its signature says so."""
    with suppress(DialgaugeError, ValueError):
        return int(Signature.parse(run.signature).get("candidates", ""))
    return None


def _count(turn: Turn, among: int | None) -> int | None:
    """How many candidates there are here; turns may bring their own."""
    return among if turn.candidates is None else len(turn.candidates)


def _cell(reply: Row, among: int | None, candidates: Sequence[Row], attention: Sequence[Row]) -> ReplyCell:
    gold, chosen = reply.get("gold") or "", reply.get("chosen") or ""
    hops, memories = _memories(attention)
    heaviest = {one.number for one in sorted(memories, key=lambda one: -one.most)[:_OPEN]}
    return ReplyCell(
        gold=gold,
        chosen=chosen,
        right=bool(reply.get("correct")),
        rank=_rank(reply.get("rank"), among),
        candidates=tuple(
            CandidateRow(row["rank"], row["text"] or "", _number(row["score"], ".4g"), bool(row["gold"]))
            for row in sorted(candidates, key=lambda row: (row["rank"] is None, row["rank"] or 0))
        ),
        hops=hops,
        memories=tuple(one for one in memories if one.number in heaviest),
        rest=tuple(one for one in memories if one.number not in heaviest),
    )


def _rank(rank: int | None, among: int | None) -> str:
    if rank is None:
        return ""
    if among is None:
        return f"{rank:,}"
    if rank > among:
        return f"behind all {among:,} candidates"
    return f"{rank:,} of {among:,}"


def _number(value: float | None, form: str) -> str:
    known = _known(value)
    return "–" if known is None else format(known, form).replace("-", "−")


def _memories(rows: Sequence[Row]) -> tuple[tuple[int, ...], list[MemoryRow]]:
    """The numbers of the hops, and the memories in the order of the dialogue."""
    hops = tuple(sorted({row["hop"] for row in rows if row["hop"] is not None}))
    places: dict[int, dict[int, Row]] = {}
    for row in rows:
        if row["memory"] is not None:
            places.setdefault(row["memory"], {})[row["hop"]] = row
    memories = []
    for place, by_hop in sorted(places.items()):
        first = next(iter(by_hop.values()))
        given = [_known(by_hop[hop]["weight"]) if hop in by_hop else None for hop in hops]
        most = max((weight for weight in given if weight is not None), default=0.0)
        memories.append(
            MemoryRow(place + 1, first["speaker"] or "", first["text"] or "", tuple(map(_weight, given)), most)
        )
    return hops, memories


def _known(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _weight(weight: float | None) -> Weight:
    return Weight(_number(weight, ".3f"), min(max(round((weight or 0.0) * _SHADES), 0), _SHADES))


def _badges(reply: Row) -> Iterator[Badge]:
    if reply["correct"]:
        yield Badge("right", "good", "the chosen reply is the gold one")
    elif not reply["chosen"]:
        yield Badge("no answer", "bad", "nothing was chosen, or something that is no candidate")
    else:
        yield Badge("wrong", "bad", "the chosen reply is not the gold one")
    if reply["class"]:
        yield Badge(reply["class"], "plain", "class of the reply")
    if reply["tied"]:
        yield Badge("tied", "plain", "several candidates share the best score; the first in the file is chosen")


def _summary(replies: Iterable[Row]) -> Iterator[Badge]:
    rows = list(replies)
    if rows:
        right = sum(bool(row["correct"]) for row in rows)
        text = f"{right:,} of {counted(len(rows), 'reply', 'replies')} right"
        yield Badge(text, "good" if right == len(rows) else "bad")


PAGES = ResponsesPages()
