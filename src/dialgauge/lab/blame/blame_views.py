"""What people see of blame, from what a run keeps of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.dialogue import Act, Turn, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.lab.blame.blame_scores import BLAME, BLAME_SIDES
from dialgauge.lab.blame.broken_links import CAUSE_WORDS, CAUSES, SIDE_OF, link_sentence
from dialgauge.rendering import Cell, Column, Table
from dialgauge.tasks import REASONS, reason_texts
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run

_SHARE = Column("share", percent=True, digits=2)


def require_blame(run: Run) -> None:
    """An error for a run that cannot have blame."""
    if not {BLAME, BLAME_SIDES} <= run.tables.keys():
        raise DialgaugeError(
            f"the run {run.id} is of kind {run.kind}; blame is for runs of 'dialgauge lab run', which are of kind lab"
        )


def blame_tables(run: Run, *, listed: bool = False) -> list[Table]:
    """Whose fault the failures were, and who erred at all; nothing where nothing failed or blame is not kept.

    ``listed``: the conversations are listed beside them.
    """
    if BLAME_SIDES not in run.tables or BLAME not in run.tables or not run.table(BLAME).height:
        return []
    causes, sides = _causes(run), _sides(run)
    if not listed:
        causes.notes.append("'dialgauge lab blame RUN' lists them, with the turns.")
    causes.signature = run.signature
    return [causes, sides]


def _causes(run: Run) -> Table:
    import polars as pl

    blame = run.table(BLAME)
    first = blame.filter("first")
    table = Table("Whose fault the failures were", ["side", "cause", "conversations", _SHARE, "domains"])
    for cause in CAUSES:
        number = first.filter(pl.col("cause") == cause).height
        domains = blame.filter(pl.col("cause") == cause).height
        if domains:
            score = run.scores.get(f"Blame[{cause}]")
            cell = Cell(score.value, score.low, score.high) if score else Cell(number / first.height)
            table.add(SIDE_OF[cause], CAUSE_WORDS[cause], number, cell, domains)
    failed = counted(first.height, "failed conversation")
    table.notes.append(f"{failed}: the first broken link from goal to outcome decides.")
    return table


def _sides(run: Run) -> Table:
    import polars as pl

    sides = run.table(BLAME_SIDES).drop_nulls()
    columns: list[str | Column] = ["user", "system", "conversations", "done", Column("success", percent=True, digits=2)]
    table = Table("Who erred, in all conversations", columns)
    for user, system in ((False, False), (True, False), (False, True), (True, True)):
        cell = sides.filter((pl.col("user_erred") == user) & (pl.col("system_erred") == system))
        done = int(cell["success"].sum())
        words = ("erred" if user else "faultless", "erred" if system else "faultless")
        table.add(*words, cell.height, done, done / cell.height if cell.height else None)
    score = run.scores.get("SuccessOfFaultlessUser")
    if score is not None and score.value is not None:
        limits = (score.low, score.high)
        bounds = "" if None in limits else " [" + ", ".join(f"{100 * (limit or 0):.2f}" for limit in limits) + "]"
        table.notes.append(f"Success where the user was faultless: {100 * score.value:.2f}{bounds}.")
    if untold := run.table(BLAME_SIDES).height - sides.height:
        table.notes.append(f"Left out: {counted(untold, 'conversation')} whose record does not tell.")
    return table


def blame_rows(blame: Iterable[Mapping[str, Any]], reasons: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the table ``blame``, each with its sentence; ``reasons`` are the rows of why tasks failed."""
    whys = reason_texts(row for row in reasons if row["rule"] == "strict")
    return [
        {**row, "sentence": link_sentence(row, whys.get((row["dialogue"], row["domain"], "strict"), ""))}
        for row in blame
    ]


def _rows(run: Run, blame: polars.DataFrame) -> list[dict[str, Any]]:
    reasons = run.table(REASONS).iter_rows(named=True) if REASONS in run.tables else ()
    return blame_rows(blame.iter_rows(named=True), reasons)


def blame_list(run: Run, number: int | None = None) -> Table:
    """The failed conversations, or the first so many, each with what it is blamed on."""
    first = run.table(BLAME).filter("first")
    number = first.height if number is None else number
    table = Table("Failed conversations", ["dialogue", "domain", "cause", "turn", "sentence"])
    for row in _rows(run, first.head(number)):
        table.add(row["dialogue"], row["domain"], CAUSE_WORDS[row["cause"]], row["turn"], row["sentence"])
    if first.height > number:
        table.notes.append(f"{first.height - number:,} more; --limit 0 lists them.")
    return table


def blame_explanation(run: Run, dialogue: str) -> list[Table]:
    """One conversation: what each failed domain is blamed on, and the turns that show it."""
    import polars as pl

    ids = run.table(BLAME_SIDES)["dialogue"].to_list()
    known = next((name for name in ids if dialogue_key(name) == dialogue_key(dialogue)), None)
    if known is None:
        raise DialgaugeError(f"there is no conversation '{dialogue}' in this run.{nearest(dialogue, ids)}")
    rows = run.table(BLAME).filter(pl.col("dialogue") == known)
    verdict = Table(f"{known}: whose fault it was", ["domain", "side", "cause", "about", "slot", "turn"])
    for row in _rows(run, rows):
        verdict.add(row["domain"], row["side"], CAUSE_WORDS[row["cause"]], row["part"], row["slot"], row["turn"])
        mark = " This came first." if row["first"] and rows.height > 1 else ""
        verdict.notes.append(f"{row['domain'] or 'conversation'}: {row['sentence']}{mark}")
    if REASONS in run.tables:
        whys = run.table(REASONS).filter((pl.col("dialogue") == known) & (pl.col("rule") == "strict"))
        texts = reason_texts(whys.iter_rows(named=True))
        verdict.notes += [f"What failed in {domain}: {why}." for (_, domain, _), why in texts.items()]
    if not rows.height:
        verdict.notes.append("It did all that was asked for; nobody is blamed.")
        return [verdict]
    turns = next((each.turns for each in run.dialogues() if each.id == known), ())
    return [verdict, _evidence(turns, rows)]


def _evidence(turns: tuple[Turn, ...], rows: polars.DataFrame) -> Table:
    columns = ("turn", "said_turn", "heard_turn", "acted_turn", "answered_turn")
    named = {turn for column in columns for turn in rows[column].drop_nulls().to_list()}
    table = Table("The turns that show it", ["turn", "", "what"])
    for turn in sorted(named):
        if turn < len(turns):
            for label, text in _shown(turns[turn]):
                table.add(turn, label, text)
    return table


def _shown(turn: Turn) -> Iterator[tuple[str, str]]:
    """What a turn did, in order: calls, words or acts, and what was heard of it where that is something else."""
    for call in turn.calls or ():
        arguments = ", ".join(f"{slot} {value}" for slot, value in call.arguments.items())
        yield "call", f"{call.name} {call.domain} ({arguments}): {call.outcome_words}"
    if turn.text or turn.acts is None:
        yield f"{turn.speaker} says", turn.text
    if turn.acts is not None:
        yield "in acts" if turn.text else f"{turn.speaker} says", _acts(turn.acts)
    listener = "system" if turn.speaker == "user" else "user"
    if turn.heard is not None and turn.heard != turn.acts:
        yield f"{listener} hears", _acts(turn.heard)


def _acts(acts: tuple[Act, ...] | None) -> str:
    words = [f"{act.name}({', '.join((act.slot, *act.values))})" if act.slot else act.name for act in acts or ()]
    return " ".join(words) or "nothing"


def blame_document(run: Run) -> dict[str, object]:
    """The two tables as JSON has them."""
    return {
        "run": run.id,
        "blame": _rows(run, run.table(BLAME)) if BLAME in run.tables else [],
        "sides": run.table(BLAME_SIDES).to_dicts(),
        "scores": {
            name: msgspec.to_builtins(score)
            for name, score in run.scores.items()
            if name.startswith(("Blame", "Erred", "SuccessOfFaultlessUser"))
        },
    }
