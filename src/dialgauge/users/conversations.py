"""Single conversations of a run: explained and printed.

Everything is read from the tables of the run, so it is the same for a fresh run and for a stored one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from dialgauge.dialogue import Act, Dialogue, Goal, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.rendering import Column, Table, plain
from dialgauge.runs import Run
from dialgauge.users.acts import EQUALS
from dialgauge.users.causes import CAUSES, LIMIT, LOOP, STUCK, main_confusion
from dialgauge.users.conversation_files import nearest_id
from dialgauge.users.labels import meaning
from dialgauge.users.verdicts import COMBINED, MEASURES, MeasureName


def explanation(run: Run, dialogue: str) -> list[Table]:
    """Where every point of a dialogue was won or lost: the goal, verdicts for each measure, and the loops."""
    identifier = scored_id(run, dialogue)
    tables = [_goal(run, identifier)]
    loops = _rows(run, "loops", identifier)
    for measure in MEASURES:
        scores = [row for row in _rows(run, "domain_scores", identifier) if row["measure"] == measure]
        if scores:
            tables.append(_verdicts(run, identifier, measure, scores, loops))
    return [*tables, _loops(loops)] if loops else tables


def explanation_record(run: Run, dialogue: str, *, talk: bool = False) -> dict[str, Any]:
    """The same for programs: the goal, the scores, every verdict with its reason and fault, the loops."""
    identifier = scored_id(run, dialogue)
    (facts,) = _rows(run, "conversation_facts", identifier)
    loops = _rows(run, "loops", identifier)
    verdicts = _rows(run, "verdicts", identifier)
    for row in verdicts:
        row["because"] = because(row["behaviours"], [] if row["turn"] is None else [row["turn"]], loops)
    record = {
        "dialogue": identifier,
        "signature": run.signature,
        "goal": msgspec.json.decode(facts["goal"]),
        "requests_removed": facts["requests_removed"],
        "warnings": msgspec.json.decode(facts["warnings"] or "[]"),
        "scores": _unnamed(_rows(run, "domain_scores", identifier)),
        "verdicts": _unnamed(verdicts),
        "loops": [{**loop, "detail": main_confusion(loop)} for loop in _unnamed(loops)],
    }
    return record | {"turns": msgspec.to_builtins(_conversation(run, dialogue).turns)} if talk else record


def _unnamed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "dialogue"} for row in rows]


def scored_id(run: Run, dialogue: str) -> str:
    """The id of a scored dialogue as the run writes it, or the reason why the dialogue has no score."""
    key = dialogue_key(dialogue)
    ids: list[str] = run.table("conversation_facts")["dialogue"].to_list()
    for identifier in ids:
        if dialogue_key(identifier) == key:
            return identifier
    for row in run.table("failures").iter_rows(named=True):
        if dialogue_key(row["dialogue"]) == key:
            raise DialgaugeError(row["reason"], file=row["file"], dialogue=row["dialogue"], turn=row["turn"])
    raise DialgaugeError(f"{run.name} has no dialogue '{dialogue}'.{nearest_id(dialogue, ids)}")


def transcript(run: Run, dialogue: str) -> Iterator[str]:
    """The conversation turn by turn: the words, the acts behind them, and what was heard where that differs."""
    for position, turn in enumerate(_conversation(run, dialogue).turns):
        yield f"{position:>3} {turn.speaker:<6} {plain(turn.text)}"
        if turn.acts:
            yield f"{'':>11}said  {plain(_acts(turn.acts))}"
        if turn.heard is not None and turn.heard != turn.acts:
            yield f"{'':>11}heard {plain(_acts(turn.heard)) or 'nothing'}"


def _conversation(run: Run, dialogue: str) -> Dialogue:
    key = dialogue_key(dialogue)
    for each in run.dialogues():
        if dialogue_key(each.id) == key:
            return each
    raise DialgaugeError(f"the run {run.id} has no conversation '{dialogue}': it was stored without its text")


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    import polars as pl

    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts()


def _goal(run: Run, dialogue: str) -> Table:
    (facts,) = _rows(run, "conversation_facts", dialogue)
    table = Table(f"{dialogue}: the goal", ["domain", "part", "wanted"])
    for domain, task in msgspec.json.decode(facts["goal"], type=Goal).tasks.items():
        for part in ("info", "fail_info", "book", "fail_book"):
            if constraints := getattr(task, part):
                table.add(domain, part, ", ".join(f"{slot}={value}" for slot, value in constraints.items()))
        if task.requests:
            table.add(domain, "requests", ", ".join(task.requests))
    if removed := ", ".join(facts["requests_removed"]):
        table.notes.append(f"the search failed, so {removed} requests are not scored")
    table.notes += msgspec.json.decode(facts["warnings"] or "[]", type=list[str])
    return table


class _Mention(NamedTuple):
    """What verdicts have in common that differ in the turn only."""

    domain: str
    item: str
    verdict: str
    behaviours: tuple[str, ...]
    fault: str | None


def _verdicts(
    run: Run, dialogue: str, measure: MeasureName, scores: list[dict[str, Any]], loops: list[dict[str, Any]]
) -> Table:
    columns: list[str | Column] = ["domain", Column("turns", align="left")]
    columns.append(Column("constraint" if measure == "I-GCDF1" else "request", exact=True))
    columns += [Column("verdict", exact=True), Column("because", drop=1, exact=True), "fault"]
    columns += [Column(name, drop=index) for index, name in enumerate(("TP", "FP", "FN"), start=2)]
    table = Table(f"{measure} of {dialogue}", columns)
    reasons: dict[tuple[str, str, str], list[str]] = {}
    verdicts = [row for row in _rows(run, "verdicts", dialogue) if row["measure"] == measure]
    for mention, group in _grouped(verdicts, [row["domain"] for row in scores]):
        counts = (sum(row[key] for row in group) or None for key in ("tp", "fp", "fn"))
        places = [row["turn"] for row in group if row["turn"] is not None]
        reason = because(mention.behaviours, places, loops)
        item, fault = mention.item.replace(EQUALS, "="), mention.fault or ""
        table.add(mention.domain, _turns(places), item, mention.verdict, reason, fault, *counts)
        if reason:
            reasons.setdefault((mention.domain, mention.verdict, reason), []).append(item)
    table.instead("because", _reason_notes(reasons))
    for row in scores:
        aspects = [("F1", row["f1"]), ("precision", row["precision"]), ("recall", row["recall"])]
        shown = ", ".join(f"{name} {value:.1%}" for name, value in aspects if value is not None)
        table.notes.append(f"{row['domain']}: {shown} (TP {row['tp']}, FP {row['fp']}, FN {row['fn']})")
    return table


def _reason_notes(reasons: Mapping[tuple[str, str, str], Sequence[str]]) -> Iterator[str]:
    """The reasons of verdicts as sentences, each once for all that it holds of."""
    for (domain, verdict, reason), items in reasons.items():
        yield f"{verdict} ({domain} {', '.join(dict.fromkeys(items))}): {reason}."


def because(labels: Collection[str], turns: Sequence[int], loops: Sequence[Mapping[str, Any]]) -> str:
    """The reasons of a verdict in words. An excuse that no longer counts is none; a loop is named with its cause."""
    if LIMIT in labels:
        excuses = [meaning(label) for label in labels if label not in (LIMIT, LOOP)]
        parts = [f"{meaning(LIMIT)} (the excuse was: {'; '.join(excuses)})"]
    else:
        parts = [meaning(label) for label in labels if label not in (LOOP, STUCK)]
    if LOOP in labels or STUCK in labels:
        inside = [loop for loop in loops if turns and loop["first_turn"] < turns[0] <= loop["last_turn"]]
        kind = meaning(LOOP if LOOP in labels else STUCK)
        causes = [f"{kind} ({loop_turns(loop)}): {loop_cause(loop)}" for loop in (*inside, *loops[-1:])[:1]]
        parts += causes or [kind]
    return "; ".join(parts)


def loop_turns(loop: Mapping[str, Any]) -> str:
    """Where a loop stands."""
    return f"turns {loop['first_turn']}–{loop['last_turn']}"


def loop_cause(loop: Mapping[str, Any]) -> str:
    """Why a loop came about, in words, with the main confusion behind it."""
    confusion = f" ({words})" if (words := main_confusion(loop)) else ""
    return f"{CAUSES.get(loop['cause'], loop['cause'])}{confusion}"


def _grouped(verdicts: Iterable[dict[str, Any]], domains: list[str]) -> Iterator[tuple[_Mention, list[dict[str, Any]]]]:
    """Verdicts that differ in the turn only, together; by domain, then by first turn, what was never said last."""
    groups: dict[_Mention, list[dict[str, Any]]] = {}
    for row in verdicts:
        mention = _Mention(row["domain"], row["item"], row["verdict"], tuple(row["behaviours"]), row.get("fault"))
        groups.setdefault(mention, []).append(row)
    places = {domain: index for index, domain in enumerate([*domains, COMBINED])}

    def order(mention: _Mention) -> tuple[int, bool, int]:
        first = groups[mention][0]["turn"]
        return places[mention.domain], first is None, first or 0

    return ((mention, groups[mention]) for mention in sorted(groups, key=order))


def _turns(turns: list[int]) -> str:
    """Turns as people write them: ``4``, ``4, 8``, ``6–38 (17 times)``."""
    if len(turns) <= 3:
        return ", ".join(map(str, turns))
    return f"{turns[0]}–{turns[-1]} ({len(turns)} times)"


def _loops(loops: list[dict[str, Any]]) -> Table:
    table = Table(
        "Loops: the same user acts three or more times in a row",
        ["turns", "times", Column("acts", exact=True), "cause"],
    )
    for loop in loops:
        table.add(
            f"{loop['first_turn']}–{loop['last_turn']}", loop["repeats"], ", ".join(loop["acts"]), loop_cause(loop)
        )
    return table


def _acts(acts: tuple[Act, ...]) -> str:
    return ", ".join(map(act_text, acts))


def act_text(act: Act) -> str:
    """An act as a transcript writes it: ``Hotel-Inform(area=north)``."""
    return f"{act.name}({act.slot}{'=' if act.slot and act.values else ''}{'|'.join(act.values)})"
