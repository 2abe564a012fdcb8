"""Where a memory network looks: the weight of every memory in every hop (the paper's Tables 3 to 7), as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialgauge.formats import SILENCE
from dialgauge.rankers import Attention, Episode, Line, RankingTask, ReplyModel, attend
from dialgauge.rendering import INK, PAPER, RISING, Column, Table, altair, data, styled
from dialgauge.responses.cells import CellKey, candidates_table
from dialgauge.responses.evaluation import corpus_of, evaluate
from dialgauge.responses.memories import attention_frame
from dialgauge.runs import Run, new_run

KIND = "attention"
#: Characters of a memory that a figure shows.
_LABEL = 60
#: The colour of a weight that is not known.
_UNKNOWN = "#efefef"


def attention_run(
    model: ReplyModel, task: RankingTask, split: str, dialog: Episode, replies: Sequence[int], *, answers: int = 0
) -> Run:
    """Where a model looks before some replies of a dialogue (by their numbers): a run in memory, without scores.

    ``answers`` is how many of its best answers to each the run keeps.
    """
    points = dialog.points()
    weights = attend(model, [points[number] for number in replies])
    result = evaluate(model, [dialog], task.candidates, keep=answers).only(replies)
    key = CellKey.of(model, task, split)
    return new_run(
        kind=KIND,
        name=f"{model.name}-task{task.number}",
        corpus=corpus_of([dialog]),
        tables={
            "attention": lambda: attention_frame(weights, dialog.reply_turns),
            "replies": lambda: result.frame(task.candidates),
            **candidates_table(result, task.candidates),
        },
        config=key.config(),
        inputs=task.inputs,
        seeds=model.seed,
        signature=key.signature(task, result),
    )


def attention_of(run: Run) -> list[Attention]:
    """What a run of attention holds, reply by reply."""
    import polars as pl

    turns, weights = run.table("turns"), run.table("attention")
    shown = []
    for reply in run.table("replies").iter_rows(named=True):
        here = (pl.col("dialogue") == reply["dialogue"], pl.col("turn") == reply["turn"])
        before = turns.filter(here[0], pl.col("turn") < reply["turn"])
        heard = before["text"][-1].strip() if before.height and before["speaker"][-1] == "user" else ""
        by_hop = weights.filter(*here).partition_by("hop", maintain_order=True)
        shown.append(
            Attention(
                dialogue=reply["dialogue"],
                turn=before.filter(pl.col("speaker") == "system").height,
                utterance=heard or SILENCE,
                gold=reply["gold"],
                chosen=reply["chosen"],
                memories=tuple(map(Line, by_hop[0]["speaker"], by_hop[0]["text"])) if by_hop else (),
                hops=tuple(tuple(hop["weight"]) for hop in by_hop),
            )
        )
    return shown


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
            *([] if seen.hops else ["The dialogue has no memories yet."]),
        ],
    )
    for index in shown:
        line = seen.memories[index]
        table.add(index + 1, line.kind, line.text, *(hop[index] for hop in seen.hops))
    return table


def answers_table(run: Run, seen: Attention, turn: int) -> Table:
    """The best answers to one reply, and the right one where it is lower (the paper's Table 7)."""
    import polars as pl

    table = Table(
        f"Answers in {seen.dialogue}, reply {seen.turn + 1}",
        [Column("rank", align="right"), "answer", Column("score", digits=3), "right"],
    )
    rows = run.table("candidates").filter(pl.col("dialogue") == seen.dialogue, pl.col("turn") == turn).sort("rank")
    for row in rows.iter_rows(named=True):
        table.add(row["rank"], row["text"], row["score"], row["gold"])
    return table


def attention_figure(seen: Attention, most: int | None = 24) -> Any:
    """A heat map: memories down, hops across, every cell with its number."""
    places = seen.top(most)
    columns = {f"hop {number}": [hop[index] for index in places] for number, hop in enumerate(seen.hops, start=1)}
    labels = [memory_label(index + 1, seen.memories[index]) for index in places]
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
    axis = {"ticks": False, "domain": False, "labelLimit": 420}
    top = {"labelAngle": 0, "orient": "top", "ticks": False, "domain": False}
    base = alt.Chart(data(rows)).encode(
        x=alt.X("column:N", sort=list(columns), title=None, axis=top),
        y=alt.Y("memory:N", sort=list(labels), title=None, axis=axis),
    )
    scale = {"domain": [0, 0.6, 1], "range": list(RISING), "interpolate": "rgb"}
    colour = alt.Color("weight:Q", scale=scale, legend=None)
    cells = base.mark_rect(stroke=PAPER, strokeWidth=1, invalid="show").encode(
        color=alt.condition("datum.weight === null", alt.value(_UNKNOWN), colour)
    )
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("text:N"), color=alt.condition("datum.weight > 0.5", alt.value(PAPER), alt.value(INK))
    )
    step = max(54, *(7 * len(name) for name in columns)) if columns else 54
    chart = (cells + numbers).properties(width=alt.Step(step), height=alt.Step(20))
    return styled(chart, title=title, note=note)


def memory_label(number: int, line: Line) -> str:
    """A line of the dialog for the axis of a figure, cut where it is long."""
    text = f"{number} {line.kind}: {line.text}"
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
