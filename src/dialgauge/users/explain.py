"""One dialogue explained: where every point of its scores was won or lost, and why."""

from __future__ import annotations

from collections.abc import Iterator

from dialgauge.dialogue import Act, Dialogue, Goal
from dialgauge.report import Column, Table, plain
from dialgauge.users.loops import CAUSES
from dialgauge.users.records import COMBINED, MEASURES, DialogueScore, Measure, MentionVerdict, meaning
from dialgauge.users.turns import EQUALS


def explanation(score: DialogueScore) -> list[Table]:
    """The goal, one table of verdicts for each measure, and the loops."""
    tables = [_goal(score), *(_verdicts(score, measure) for measure in MEASURES if score.scores[measure])]
    return [*tables, _loops(score)] if score.loops else tables


def transcript(dialogue: Dialogue) -> Iterator[str]:
    """The conversation turn by turn: the words, the acts behind them, and what was heard where that differs."""
    for position, turn in enumerate(dialogue.turns):
        yield f"{position:>3} {turn.speaker:<6} {plain(turn.text)}"
        if turn.acts:
            yield f"{'':>11}said  {plain(_acts(turn.acts))}"
        if turn.heard is not None and turn.heard != turn.acts:
            yield f"{'':>11}heard {plain(_acts(turn.heard)) or 'nothing'}"


def _goal(score: DialogueScore) -> Table:
    table = Table(f"{score.id}: the goal", ["domain", "part", "wanted"])
    for domain, part, wanted in _wishes(score.goal):
        table.add(domain, part, wanted)
    if score.requests_removed:
        removed = ", ".join(score.requests_removed)
        table.notes.append(f"a search that failed made the requests of {removed} pointless; they do not count")
    table.notes += score.warnings
    return table


def _wishes(goal: Goal) -> Iterator[tuple[str, str, str]]:
    for domain, task in goal.tasks.items():
        for part in ("info", "fail_info", "book", "fail_book"):
            constraints: dict[str, str] = getattr(task, part)
            if constraints:
                yield domain, part, ", ".join(f"{slot}={value}" for slot, value in constraints.items())
        if task.requests:
            yield domain, "requests", ", ".join(task.requests)


def _verdicts(score: DialogueScore, measure: Measure) -> Table:
    columns: list[str | Column] = [
        "domain",
        Column("turns", align="left"),
        "constraint" if measure == "I-GCDF1" else "request",
    ]
    table = Table(f"{measure} of {score.id}", [*columns, "verdict", "TP", "FP", "FN", "because"])
    for (domain, item, verdict, behaviours), group in _grouped(score, measure).items():
        counts = (sum(getattr(each, key) for each in group) or None for key in ("tp", "fp", "fn"))
        because = "; ".join(meaning(label) for label in behaviours)
        turns = _turns([each.turn for each in group if each.turn is not None])
        table.add(domain, turns, item.replace(EQUALS, "="), verdict, *counts, because)
    for domain, found in score.scores[measure].items():
        table.notes.append(
            f"{domain}: F1 {found.f1:.4f}, precision {found.precision:.4f}, recall {found.recall:.4f} "
            f"(TP {found.tp}, FP {found.fp}, FN {found.fn})"
        )
    return table


def _grouped(
    score: DialogueScore, measure: Measure
) -> dict[tuple[str, str, str, tuple[str, ...]], list[MentionVerdict]]:
    """Verdicts that differ in the turn only, together; by domain, then by first turn, what was never said last."""
    groups: dict[tuple[str, str, str, tuple[str, ...]], list[MentionVerdict]] = {}
    for each in score.verdicts:
        if each.measure == measure:
            groups.setdefault((each.domain, each.item, each.verdict, each.behaviours), []).append(each)
    places = {domain: place for place, domain in enumerate([*score.scores[measure], COMBINED])}
    first = {key: group[0].turn for key, group in groups.items()}
    order = sorted(groups, key=lambda key: (places[key[0]], first[key] is None, first[key] or 0))
    return {key: groups[key] for key in order}


def _turns(turns: list[int]) -> str:
    """Turns as people write them: ``4``, ``4, 8``, ``6–38 (17 times)``."""
    if len(turns) <= 3:
        return ", ".join(map(str, turns))
    return f"{turns[0]}–{turns[-1]} ({len(turns)} times)"


def _loops(score: DialogueScore) -> Table:
    table = Table("Loops: the same user acts three or more times running", ["turns", "times", "acts", "cause"])
    for loop in score.loops:
        detail = f" ({loop.detail})" if loop.detail else ""
        table.add(f"{loop.first}–{loop.last}", loop.repeats, ", ".join(loop.acts), f"{CAUSES[loop.cause]}{detail}")
    return table


def _acts(acts: tuple[Act, ...]) -> str:
    return ", ".join(
        f"{act.name}({act.slot}{'=' if act.slot and act.values else ''}{'|'.join(act.values)})" for act in acts
    )
