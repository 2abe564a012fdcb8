"""The dialogues of a run that went worst, each with what went wrong there in a phrase."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from dialgauge.explorer.answers.phrases import value_of
from dialgauge.explorer.answers.run_columns import columns, tallied
from dialgauge.measures import Score
from dialgauge.report import plain
from dialgauge.runs import Run
from dialgauge.tasks import REASONS, reason_texts

if TYPE_CHECKING:
    import polars

#: Letters of a text that is quoted.
_QUOTED = 60


class WorstDialogue(NamedTuple):
    """A dialogue, its value of the run's first measure, and what went wrong."""

    dialogue: str
    measure: str
    value: str
    phrase: str


def worst_of(run: Run, most: int) -> list[WorstDialogue]:
    """The dialogues with the worst value of the run's first measure, the longest first; none that are flawless."""
    import polars as pl

    measure = next((name for name in run.scores if not name.endswith("]")), None)
    frame = columns(run, "dialogue_scores", text=("dialogue", "measure"), number=("num", "den"))
    if measure is None or frame is None or run.scores[measure].higher_is_better is None:
        return []
    score = run.scores[measure]
    rows = frame.filter((pl.col("measure") == measure) & (pl.col("den") > 0)).with_columns(
        value=pl.col("num") / pl.col("den")
    )
    flawless = score.upper if score.higher_is_better else score.lower
    if flawless is not None:
        rows = rows.filter(pl.col("value") != flawless)
    worst = rows.sort("value", "den", "dialogue", descending=[not score.higher_is_better, True, False]).head(most)
    said, looked = _PHRASES.get(run.kind), _TablesOnce(run)
    return [
        WorstDialogue(plain(name), plain(measure), _value(score, value), said(looked, name) if said is not None else "")
        for name, value in worst.select("dialogue", "value").iter_rows()
    ]


def _value(score: Score, value: float) -> str:
    return value_of(Score(value=value, unit=score.unit))


class _TablesOnce:
    """Tables of a run, each read once however many dialogues are looked at."""

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

    def reasons(self, dialogue: str, rule: str) -> list[str]:
        """Why each domain of a dialogue failed by a rule set."""
        if REASONS not in self._read:
            self._read[REASONS] = self._run.table(REASONS) if REASONS in self._run.tables else None
        frame = self._read[REASONS]
        if frame is None:
            return []
        rows = frame.filter((frame["dialogue"] == dialogue) & (frame["rule"] == rule)).to_dicts()
        return [f"{plain(domain or '')}: {plain(why)}" for (_, domain, _), why in reason_texts(rows).items()]


def _slots(run: _TablesOnce, dialogue: str) -> str:
    rows = run.rows("slot_errors", dialogue, text=("domain", "slot", "kind", "gold", "predicted"), number=("turn",))
    if rows is None or not rows.height:
        return ""
    _, domain, slot, kind, gold, predicted, turn = rows.sort("turn", maintain_order=True).row(0)
    what = {"wrong": f"is {_quoted(predicted)}, not {_quoted(gold)}", "missed": "is missed", "spurious": "is spurious"}
    return f"first, in turn {turn:.0f}, {plain(domain or '')}-{plain(slot or '')} {what.get(kind, plain(kind or ''))}"


def _reply(run: _TablesOnce, dialogue: str) -> str:
    rows = run.rows("replies", dialogue, text=("gold", "chosen"), number=("turn", "correct"))
    if rows is None or not (rows["correct"] == 0).any():
        return ""
    _, gold, chosen, turn, _ = rows.filter(rows["correct"] == 0).sort("turn").row(0)
    said = f"says {_quoted(chosen)}" if chosen else "says nothing"
    return f"first, in turn {turn:.0f}, it {said} instead of {_quoted(gold)}"


def _verdicts(run: _TablesOnce, dialogue: str) -> str:
    rows = run.rows("verdicts", dialogue, text=("verdict",))
    bad = [] if rows is None else tallied(rows.filter(rows["verdict"] != "credited")["verdict"])
    return ", ".join(f"{count:,} {plain(verdict)}" for verdict, count in bad[:3])


def _reasons(run: _TablesOnce, dialogue: str) -> str:
    return "; ".join(run.reasons(dialogue, "grounded")[:2])


def _outcome(run: _TablesOnce, dialogue: str) -> str:
    talks = run.rows("conversations", dialogue, text=("reason",))
    end = [f"ended by {plain(reason)}" for reason in talks["reason"].drop_nulls()] if talks is not None else []
    return "; ".join([*run.reasons(dialogue, "strict")[:2], *end])


def _quoted(text: str | None) -> str:
    shown = plain(text or "nothing")
    return f"‘{shown if len(shown) <= _QUOTED else f'{shown[: _QUOTED - 1]}…'}’"


_PHRASES: dict[str, Callable[[_TablesOnce, str], str]] = {
    "tracking": _slots,
    "responses": _reply,
    "training": _reply,
    "users": _verdicts,
    "tasks": _reasons,
    "lab": _outcome,
}
