"""A run of users as people and programs see it: tables of scores, what each fault takes, JSON, failures, warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.rendering import Cell, Column, Table, score_cell, score_column
from dialgauge.runs import Run
from dialgauge.users.fit import fit_line
from dialgauge.users.measures import ASPECTS, DEFAULT, FAULTS, score_name
from dialgauge.users.verdicts import COMBINED, MEASURES, MeasureName, ProfileFit

#: Where a run keeps over how many dialogues a mean was taken: measure to domain to dialogues.
SCORED = "scored_dialogues"
#: Where a run keeps how many warnings the table ``conversation_facts`` holds.
WARNINGS = "warnings"
#: Where a run keeps what each fault takes from F1: measure to domain to fault to share.
LOST = "lost"
#: Where a run keeps how well its profile fits the conversations.
FIT = "fit"
#: Where a run keeps in how many dialogues it was recorded what a side understood.
HEARD = "heard"


def score_tables(run: Run) -> list[Table]:
    """One row for each domain: F1 with interval, precision, recall and dialogues, for both measures.

    Measures of other packages stand in a table of their own.
    """
    scored: dict[MeasureName, dict[str, int]] = run.details[SCORED]
    domains = [COMBINED, *sorted({domain for measure in MEASURES for domain in scored[measure]} - {COMBINED})]
    shown = [(measure, aspect) for measure in MEASURES for aspect in _shown_aspects(run, measure)]
    columns = [Column("domain")]
    for measure in MEASURES:
        columns += [_column(of, aspect, shown) for of, aspect in shown if of == measure]
        columns.append(Column("dialogues", drop=1, group=measure))
    title = f"{run.name}: how the user expresses its goals"
    table = Table(title, columns, signature=run.signature, unit="percent")
    for domain in domains:
        cells: list[Cell | float | int | None] = []
        for measure in MEASURES:
            count = scored[measure].get(domain, 0)
            for index, aspect in enumerate(aspect for of, aspect in shown if of == measure):
                score = run.scores.get(score_name(measure, aspect, domain)) if count else None
                cells.append(getattr(score, "value", None) if index else score_cell(score))
            cells.append(count or None)
        table.add(domain, *cells)
    table.notes += _notes(run)
    others = {name: score for name, score in run.scores.items() if name.partition("[")[0] not in DEFAULT}
    tables = [table, *_lost_table(run, domains)]
    if not others:
        return tables
    more = Table(f"{run.name}: other measures", ["measure", "value"])
    for name, score in others.items():
        more.add(name, Cell(score.value, score.low, score.high, like=score_column(name, score)))
    return [*tables, more]


def _shown_aspects(run: Run, measure: MeasureName) -> list[str]:
    """The aspects that the run has of a measure; all where it has none, so that the table keeps its shape."""
    present = [aspect for aspect in ASPECTS if score_name(measure, aspect) in run.scores]
    left_out = run.details.get("left_out", {})
    return present or [aspect for aspect in ASPECTS if score_name(measure, aspect) not in left_out]


def _column(measure: MeasureName, aspect: str, shown: Sequence[tuple[MeasureName, str]]) -> Column:
    """F1 goes by the measure's name and the others by a letter, unless they stand alone."""
    if aspect == "f1" or (measure, "f1") not in shown:
        return Column(score_name(measure, aspect), digits=2, percent=True)
    return Column(aspect[0].upper(), digits=2, percent=True, drop=2, group=measure)


def _notes(run: Run) -> list[str]:
    """What belongs below the scores: what was left out and why, how well the profile fits."""
    left_out: dict[str, str] = run.details.get("left_out", {})
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        if "[" not in name:
            by_reason.setdefault(why, []).append(name)
    notes = [f"left out: {', '.join(names)}: {why}" for why, names in by_reason.items()]
    if FIT in run.details:
        notes.append(fit_line(ProfileFit(**run.details[FIT]), run.details["profile"]))
    return list(filter(None, notes))


def _lost_table(run: Run, domains: Sequence[str]) -> list[Table]:
    """What each fault costs in F1, by domain; nothing where no F1 is measured or none is below 1."""
    lost: dict[MeasureName, dict[str, dict[str, float]]] = run.details.get(LOST, {})
    if not any(share for of in lost.values() for split in of.values() for share in split.values()):
        return []
    columns = [Column("domain")]
    columns += [
        Column(fault if number else f"{measure}: {fault}", digits=2, percent=True)
        for measure in MEASURES
        for number, fault in enumerate(FAULTS)
    ]
    table = Table("What each fault costs in F1", columns, unit="percent; with F1 they sum to 100")
    for domain in domains:
        splits = [lost.get(measure, {}).get(domain, {}) for measure in MEASURES]
        if any(splits):
            table.add(domain, *(split.get(fault) for split in splits for fault in FAULTS))
    deaf = [side for side, dialogues in run.details.get(HEARD, {}).items() if not dialogues]
    table.notes += [
        f"what the {side} understood was not recorded, so its NLU cannot be told from its policy" for side in deaf
    ]
    return [table]


def as_system(run: Run, *, per_dialogue: bool = False) -> dict[str, Any]:
    """One system in the shape of ``dialgauge score --json``."""
    coverage = msgspec.to_builtins(run.coverage.units)
    scored: dict[MeasureName, dict[str, int]] = run.details[SCORED]
    system: dict[str, Any] = {
        "name": run.name,
        "mode": run.details["mode"],
        "profile": run.details["profile"],
        "dialogues": coverage["dialogues"]["scored"],
        "turns": coverage["turns"]["scored"],
        "scores": {
            name: score.as_dict() | _dialogues(scored, name) for name, score in run.scores.items() if "[" not in name
        },
        "by": {"domain": _by_domain(run, scored)},
        "left_out": run.details.get("left_out", {}),
        "lost": run.details.get(LOST, {}),
        "fit": run.details.get(FIT, {}),
        "coverage": coverage,
        "failures": failure_sentences(run),
    }
    if per_dialogue:
        system["per_dialogue"] = _per_dialogue(run)
    return system


def failure_sentences(run: Run) -> list[str]:
    """A sentence for each dialogue that failed."""
    if not run.coverage["dialogues"].failed:
        return []
    rows = run.table("failures").select("reason", "file", "dialogue", "turn").rows()
    return [str(DialgaugeError(reason, file=file, dialogue=name, turn=turn)) for reason, file, name, turn in rows]


def warnings(run: Run) -> list[tuple[str, str]]:
    """What was odd about scored dialogues: dialogue and sentence."""
    if not run.details[WARNINGS]:
        return []
    rows = run.table("conversation_facts").select("dialogue", "warnings").drop_nulls().rows()
    decode = msgspec.json.Decoder(list[str]).decode
    return [(dialogue, warning) for dialogue, sentences in rows for warning in decode(sentences)]


def _dialogues(scored: Mapping[MeasureName, Mapping[str, int]], name: str) -> dict[str, int]:
    """Over how many dialogues a mean of ours was taken."""
    measure = next((each for each in MEASURES if name.split(" ")[0] == each), None)
    return {} if measure is None else {"dialogues": scored[measure].get(COMBINED, 0)}


def _by_domain(run: Run, scored: Mapping[MeasureName, Mapping[str, int]]) -> dict[str, Any]:
    groups: dict[str, Any] = {}
    for measure, counts in scored.items():
        for domain, count in counts.items():
            if domain == COMBINED:
                continue
            group = groups.setdefault(domain, {"dialogues": 0, "scores": {}, "details": {}})
            group["dialogues"] = max(group["dialogues"], count)
            for aspect in ASPECTS:
                score = run.scores.get(score_name(measure, aspect, domain))
                if score is not None:
                    name = score_name(measure, aspect)
                    group["scores"][name] = score.value
                    group["details"][name] = score.as_dict() | {"dialogues": count}
    return groups


def _per_dialogue(run: Run) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Dialogue to measure to domain to F1, precision and recall."""
    ids = run.table("conversation_facts")["dialogue"].to_list()
    scores: dict[str, dict[str, Any]] = {dialogue: {measure: {} for measure in MEASURES} for dialogue in ids}
    for dialogue, measure, domain, *values in (
        run.table("domain_scores").select("dialogue", "measure", "domain", *ASPECTS).iter_rows()
    ):
        scores[dialogue][measure][domain] = dict(zip(ASPECTS, values, strict=True))
    return scores
