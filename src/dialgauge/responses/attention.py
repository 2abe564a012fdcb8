"""Where a memory network looks: the weight of every memory in every hop (the paper's Tables 3 to 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Line, Point, Ranker, RankingTask
from dialgauge.report import INK, PAPER, Column, Table, altair, data, styled
from dialgauge.responses.cells import options_text
from dialgauge.runs import Store

if TYPE_CHECKING:
    import polars

KIND = "attention"
#: Characters of a memory that a figure shows.
_LABEL = 60
#: The colour of a weight that is not known.
_UNKNOWN = "#efefef"


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """The memories of a point, their weights per hop, and what the model then said."""

    dialogue: str
    turn: int
    utterance: str
    gold: str
    chosen: str
    memories: tuple[Line, ...]
    #: Per hop one weight for each memory; the weights of a hop sum to 1.
    hops: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, point: Point, chosen: str, hops: Sequence[Sequence[float]]) -> Attention:
        """The attention at a point."""
        return cls(
            dialogue=point.dialogue,
            turn=point.turn,
            utterance=point.utterance,
            gold=point.reply,
            chosen=chosen,
            memories=point.history,
            hops=tuple(tuple(hop) for hop in hops),
        )

    def top(self, most: int | None = None) -> list[int]:
        """The places of the memories with the largest weights (the mean over hops), in the dialog's order."""
        total = [sum(hop[place] for hop in self.hops) for place in range(len(self.memories))]
        places = sorted(range(len(self.memories)), key=lambda place: -total[place])
        return sorted(places if most is None else places[:most])


@runtime_checkable
class Attentive(Protocol):
    """A ranker that can say where it looks."""

    def attention(self, point: Point) -> Attention:
        """Where it looks before it answers at a point."""


def attend(ranker: Ranker, points: Iterable[Point]) -> list[Attention]:
    """Where a ranker looks at each point; one that has no memories is an error."""
    if not isinstance(ranker, Attentive):
        raise DialgaugeError(f"the model {ranker.name} has no attention to show; memory networks have")
    return [ranker.attention(point) for point in points]


def keep_attention(ranker: Ranker, task: RankingTask, split: str, seen: Sequence[Attention], store: Store) -> str:
    """Store the weights as a run; its id."""
    config = {"model": ranker.name, "task": task.number, "split": split, "options": options_text(ranker.options)}
    with store.create(
        kind=KIND, name=f"{ranker.name}-task{task.number}", config=config, inputs=task.files, seed=ranker.seed
    ) as run:
        run.table("attention", attention_frame(seen))
    return run.id


def attention_table(seen: Attention, most: int | None = None) -> Table:
    """Memories with their weights, as the paper prints them; ``most`` leaves out those with the least weight."""
    hops = [Column(f"hop {number}", digits=3, best="max") for number in range(1, len(seen.hops) + 1)]
    shown = seen.top(most)
    left_out = len(seen.memories) - len(shown)
    verdict = "right" if seen.chosen == seen.gold else f"wrong; right is: {seen.gold}"
    table = Table(
        f"Attention in {seen.dialogue}, reply {seen.turn + 1}",
        [Column("#", align="right"), "who", "memory", *hops],
        notes=[
            f"user says: {seen.utterance}",
            f"bot says: {seen.chosen} ({verdict})",
            *([f"{left_out} memories with less weight are left out."] if left_out else []),
            *([] if seen.hops else ["The dialog has no memories yet."]),
        ],
    )
    for place in shown:
        line = seen.memories[place]
        table.add(place + 1, line.kind, line.text, *(hop[place] for hop in seen.hops))
    return table


def attention_frame(all_seen: Sequence[Attention]) -> polars.DataFrame:
    """One row per point, memory and hop, for the run store."""
    import polars as pl

    rows = [
        (seen.dialogue, seen.turn, place, line.kind, line.text, number, hop[place])
        for seen in all_seen
        for number, hop in enumerate(seen.hops, start=1)
        for place, line in enumerate(seen.memories)
    ]
    columns = {
        "dialogue": pl.String, "turn": pl.Int64, "memory": pl.Int64, "speaker": pl.String,
        "text": pl.String, "hop": pl.Int64, "weight": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=columns, orient="row")


def attention_figure(seen: Attention, most: int | None = 24) -> Any:
    """A heat map: memories down, hops across, every cell with its number."""
    places = seen.top(most)
    columns = {f"hop {number}": [hop[place] for place in places] for number, hop in enumerate(seen.hops, start=1)}
    labels = [memory_label(place + 1, seen.memories[place]) for place in places]
    title = f"Attention in {seen.dialogue}, reply {seen.turn + 1}"
    return heat_map(labels, columns, title=title, note=f"user: {seen.utterance}  →  bot: {seen.chosen}")


def heat_map(
    labels: Sequence[str], columns: Mapping[str, Sequence[float | None]], *, title: str, note: str = ""
) -> Any:
    """Weights between 0 and 1: labels down, columns across; a weight that is not known is a pale cell with a dash."""
    alt = altair()
    rows = [
        {"column": name, "memory": label, "weight": weight, "text": "–" if weight is None else f"{weight:.2f}"}
        for name, weights in columns.items()
        for label, weight in zip(labels, weights, strict=True)
    ]
    axis = alt.Axis(ticks=False, domain=False, labelLimit=420)
    top = alt.Axis(labelAngle=0, orient="top", ticks=False, domain=False)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("column:N", sort=list(columns), title=None, axis=top),
        y=alt.Y("memory:N", sort=list(labels), title=None, axis=axis),
    )
    colour = alt.Color("weight:Q", scale=alt.Scale(domain=[0, 1], scheme="blues"), legend=None)
    cells = base.mark_rect(stroke=PAPER, strokeWidth=1, invalid="show").encode(
        color=alt.condition("datum.weight === null", alt.value(_UNKNOWN), colour)
    )
    numbers = base.mark_text(fontSize=10).encode(
        text="text:N", color=alt.condition("datum.weight > 0.6", alt.value(PAPER), alt.value(INK))
    )
    step = max(54, *(7 * len(name) for name in columns)) if columns else 54
    chart = (cells + numbers).properties(width=alt.Step(step), height=alt.Step(20))
    return styled(chart, title=title, note=note)


def memory_label(number: int, line: Line) -> str:
    """A line of the dialog for the axis of a figure, cut where it is long."""
    text = f"{number} {line.kind}: {line.text}"
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
