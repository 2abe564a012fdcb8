"""Pages of responses runs: the gold reply beside the chosen one, ranked candidates, and where a memory network looked.

Runs of systems in front of simulated users have no replies to compare; of them the words and the outcomes are shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.presentation import (
    Badge,
    Breakdown,
    DialogueRows,
    DialogueView,
    Facet,
    Glossary,
    RunPages,
    RunTables,
    TurnView,
    columns,
    first_scores,
    known,
    listed,
    percent,
    quoted,
    value_of,
    value_with_interval,
)
from dialgauge.rendering import INK, Column, Table, altair, data, plain, shades, styled
from dialgauge.stats import ratio_intervals
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Dialogue, Turn
    from dialgauge.runs import Run

Row = Mapping[str, Any]

_REPLIES, _CANDIDATES, _ATTENTION, _OUTCOMES = "replies", "candidates", "attention", "outcomes"
#: Memories that stand open; those with less weight are folded away.
_OPEN = 6
#: Steps of shade.
_SHADES = 10
#: Where the bars of ranks begin.
_STEPS = (1, 2, 3, 6, 11, 21, 51, 101, 501, 1001)
_UNKNOWN = "not known"


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
    """Runs whose replies are held against gold replies."""

    template = "dialgauge.responses:pages.html"
    facets = (
        Facet("class", "class of a reply", _REPLIES, ("class",)),
        Facet("wrong", "class of a wrong reply", _REPLIES, ("class",), only=("correct", False)),
        Facet("right", "a reply is right", _REPLIES, ("correct",)),
        Facet("tied", "best score is tied", _REPLIES, ("tied",)),
        Facet("success", "carried to its end", _OUTCOMES, ("success",)),
        Facet("reason", "why not", _OUTCOMES, ("reason",)),
    )
    breakdowns = (
        Breakdown("Wrong replies by class", "wrong", tone="bad", note="dialogues with a wrong reply of the class"),
        Breakdown("Why conversations were not carried to their end", "reason", tone="bad"),
    )

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The words, and beside each reply of the system what was chosen, the best candidates and the attention."""
        replies = {row["turn"]: row for row in library.rows(run, _REPLIES, dialogue.id)}
        candidates = _by_turn(library.rows(run, _CANDIDATES, dialogue.id))
        attention = _by_turn(library.rows(run, _ATTENTION, dialogue.id))
        among = _candidates_of(run)
        turns = []
        for index, turn in enumerate(dialogue.turns):
            reply = replies.get(index)
            cell, badges = None, []
            if reply is not None or index in candidates or index in attention:
                cell = _cell(reply or {}, _count(turn, among), candidates.get(index, ()), attention.get(index, ()))
            if reply is not None:
                badges = list(_badges(reply))
            turns.append(TurnView(index, turn.speaker, turn.text, badges, cell))
        ends = library.rows(run, _OUTCOMES, dialogue.id)
        explained = tuple(row["explanation"] for row in ends if row.get("explanation"))
        overview = RepliesOverview(explained, any(turn.cell is not None for turn in turns))
        return DialogueView(self.template, turns, overview, list(_summary(replies.values())))

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """Accuracy by class of reply, and ranks of the gold reply."""
        tables = []
        if "replies" in run.tables and run.tables["replies"].rows:
            ranks = Table("Rank of the gold reply", ["rank", "replies"], _ranks(library, run))
            tables += [_class_table(library, run), ranks]
        if "outcomes" in run.tables and run.tables["outcomes"].rows:
            tables.append(_outcome_table(library, run))
        return tables

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
        right, whole = known(run, "per-response"), known(run, "per-dialog")
        if right is None:
            yield from first_scores(run, words)
        else:
            carried = f", and every reply right in {value_of(whole)} of the dialogues" if whole is not None else ""
            measures = [
                words.said(name, value_with_interval(run.scores[name]))
                for name in ("per-response", "per-dialog")
                if known(run, name)
            ]
            yield f"{plain(run.name)} gets {value_of(right)} of the replies right{carried}: {listed(measures)}"
        frame = columns(run, "replies", text=("class", "chosen"), number=("correct", "tied"))
        if frame is None or not frame.height:
            return
        yield from _reply_classes(frame)
        ties, unanswered = int((frame["tied"] > 0).sum()), int((frame["chosen"] == "").sum())
        if ties:
            yield (
                f"Several candidates shared the highest score in {counted(ties, 'reply', 'replies')} "
                f"({percent(ties, frame.height)}): there the order of the candidate file decided"
            )
        if unanswered:
            yield f"{counted(unanswered, 'reply', 'replies')} ({percent(unanswered, frame.height)}) had no answer"

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """The first wrong reply."""
        rows = tables.rows(_REPLIES, dialogue, text=("gold", "chosen"), number=("turn", "correct"))
        if rows is None or not (rows["correct"] == 0).any():
            return ""
        _, gold, chosen, turn, _ = rows.filter(rows["correct"] == 0).sort("turn").row(0)
        answer = f"says {quoted(chosen)}" if chosen else "says nothing"
        return f"first, in turn {turn:.0f}, it {answer} instead of {quoted(gold)}"


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
    heaviest = {memory.number for memory in sorted(memories, key=lambda memory: -memory.most)[:_OPEN]}
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
        memories=tuple(memory for memory in memories if memory.number in heaviest),
        rest=tuple(memory for memory in memories if memory.number not in heaviest),
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
    for index, by_hop in sorted(places.items()):
        first = next(iter(by_hop.values()))
        given = [_known(by_hop[hop]["weight"]) if hop in by_hop else None for hop in hops]
        most = max((weight for weight in given if weight is not None), default=0.0)
        memories.append(
            MemoryRow(index + 1, first["speaker"] or "", first["text"] or "", tuple(map(_weight, given)), most)
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


# The page of a run


def _classes(library: RunTables, run: Run) -> list[dict[str, Any]]:
    """What became of the replies of each class, by the name of the class."""
    import polars as pl

    replies = library.table(run, "replies").with_columns(pl.col("class").fill_null(_UNKNOWN))
    counts = replies.group_by("class").agg(
        pl.len().alias("replies"),
        pl.col("correct").fill_null(False).sum().alias("right"),
        (pl.col("chosen").fill_null("") == "").sum().alias("unanswered"),
        pl.col("tied").fill_null(False).sum().alias("tied"),
        pl.col("rank").median().alias("median rank"),
    )
    return counts.sort("class").to_dicts()


def _class_table(library: RunTables, run: Run) -> Table:
    columns = [Column("accuracy %", digits=2, percent=True), Column("median rank of gold", digits=1)]
    table = Table("Accuracy by class of reply", ["class", "replies", "right", *columns, "no answer", "tied"])
    for row in library.of_run("classes of replies", run, lambda: _classes(library, run)):
        share = row["right"] / row["replies"]
        table.add(row["class"], row["replies"], row["right"], share, row["median rank"], row["unanswered"], row["tied"])
    return table


def class_chart(library: RunTables, run: Run) -> Any:
    """Accuracy of each class as a point in its interval, with its number of replies; dialogues are resampled."""
    share = Column("", digits=1, percent=True)
    rows = [
        {**row, "text": f"{share.text(row['value'] / 100)}% of {row['replies']:,}"}
        for row in library.of_run("accuracy of classes", run, lambda: _class_accuracy(library, run))
    ]
    alt = altair()
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("class:N", sort=[row["class"] for row in rows], title=None), tooltip=["class:N", "text:N"]
    )
    across = {
        "title": "replies that are right, in percent",
        "scale": {"domain": [0, 100], "nice": False},
        "axis": {"grid": True, "values": [0, 25, 50, 75, 100]},
    }
    rules = base.mark_rule(color=shades(2)[1], strokeWidth=3).encode(x=alt.X("low:Q", **across), x2=alt.X2("high:Q"))
    points = base.mark_circle(color=INK, size=48, opacity=1).encode(x=alt.X("value:Q", **across))
    numbers = base.mark_text(align="left", fontSize=10).encode(x=alt.value(428), text=alt.Text("text:N"))
    drawn = (rules + points + numbers).properties(width=420, height=alt.Step(20))
    return styled(drawn, title="Accuracy by class of reply", note="95% intervals")


def _class_accuracy(library: RunTables, run: Run) -> list[dict[str, Any]]:
    """By class its replies, the percentage that is right, and the ends of its interval."""
    import polars as pl

    replies = library.table(run, "replies").select(
        "dialogue", pl.col("class").fill_null(_UNKNOWN), pl.col("correct").fill_null(False)
    )
    sums = replies.group_by("class", "dialogue").agg(pl.col("correct").sum(), pl.len())
    classes = sums["class"].unique().sort().to_list()
    places = {name: index for index, name in enumerate(sums["dialogue"].unique().sort().to_list())}
    right, whole = (np.zeros((len(classes), len(places))) for _ in range(2))
    for name, dialogue, correct, size in sums.iter_rows():
        at = classes.index(name), places[dialogue]
        right[at], whole[at] = correct, size
    values = right.sum(axis=1) / whole.sum(axis=1)
    ends = ratio_intervals(right, whole, bounds=(0.0, 1.0))
    rows = zip(classes, whole.sum(axis=1).tolist(), values.tolist(), ends.tolist(), strict=True)
    return [
        {"class": name, "replies": int(size), "value": 100 * value, **_percent_ends(low, high, value)}
        for name, size, value, (low, high) in rows
    ]


def _percent_ends(low: float, high: float, value: float) -> dict[str, float]:
    known = (low, high) if low == low else (value, value)
    return {"low": 100 * known[0], "high": 100 * known[1]}


def _ranks(library: RunTables, run: Run) -> list[tuple[str, int]]:
    """How many gold replies stand at which ranks."""
    ranks = library.table(run, "replies")["rank"].drop_nulls()
    steps = [*_STEPS, max([_STEPS[-1], *ranks.to_list()]) + 1]
    counted = [
        (f"{low:,}" if high - low == 1 and low < _STEPS[3] else f"{low:,}–{high - 1:,}", low, high)
        for low, high in pairwise(steps)
    ]
    bars = [(name, int(ranks.is_between(low, high, closed="left").sum())) for name, low, high in counted]
    last = max((index for index, (_, count) in enumerate(bars) if count), default=0)
    return bars[: last + 1]


def stated_ranks(library: RunTables, run: Run) -> Any:
    """The ranks of the gold reply as bars, which grow wider as ranks get worse."""
    ranks = _ranks(library, run)
    rows = [{"rank": name, "replies": count, "text": f"{count:,}"} for name, count in ranks]
    alt = altair()
    largest = max(count for _, count in ranks) or 1
    scale = {"domain": [0, 1.2 * largest], "nice": False}  # room for the number beside the longest bar
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("rank:N", sort=[row["rank"] for row in rows], title="rank of the gold reply"),
        x=alt.X("replies:Q", title="replies", scale=scale, axis={"grid": False, "tickMinStep": 1}),
        tooltip=["rank:N", "replies:Q"],
    )
    bars = base.mark_bar(color=shades(3)[1], stroke=INK, strokeWidth=0.6)
    numbers = base.mark_text(align="left", dx=4, fontSize=10).encode(text=alt.Text("text:N"))
    return styled((bars + numbers).properties(width=420, height=alt.Step(20)), title="Rank of the gold reply")


def _outcome_table(library: RunTables, run: Run) -> Table:
    import polars as pl

    ends = library.table(run, "outcomes").select(
        pl.col("success").cast(pl.String).replace({"true": "done", "false": "not done"}).fill_null("not judged"),
        pl.col("reason", "ended_by").fill_null(""),
    )
    counts = ends.group_by("success", "reason", "ended_by").len()
    order = ["len", "success", "reason", "ended_by"]
    rows = counts.sort(order, descending=[True, False, False, False]).iter_rows()
    return Table("How the conversations ended", ["task", "reason", "ended by", "conversations"], rows)


def _reply_classes(frame: polars.DataFrame) -> Iterator[str]:
    import polars as pl

    by_class = frame.group_by("class").agg(right=(pl.col("correct") > 0).sum(), every=pl.len()).sort("class")
    rows = [(plain(name or ""), int(right), int(every)) for name, right, every in by_class.iter_rows()]
    wrong = sum(every - right for _, right, every in rows)
    if not wrong:
        yield "No reply of any class is wrong"
        return
    name, right, every = max(rows, key=lambda row: row[2] - row[1])
    never = [reply_class for reply_class, good, _ in rows if not good and reply_class != name]
    also = f"; of the class{'es' if len(never) > 1 else ''} {listed(never)} none is right either" if never else ""
    own = f"{percent(right, every)} of that class are right" if right else "none of that class is right"
    yield (
        f"Most wrong replies are of the class {name} ({percent(every - right, wrong)} of "
        f"{counted(wrong, 'wrong reply', 'wrong replies')}; {own}){also if not right else also.replace(' either', '')}"
    )


class ConversationPages(ResponsesPages):
    """Runs of systems in front of simulated users, and of attention: not every reply is judged, so scores speak."""

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """The first scores."""
        return first_scores(run, words)


PAGES = ResponsesPages()
CONVERSATION_PAGES = ConversationPages()
