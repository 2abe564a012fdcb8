"""How runs of simulated users are shown: how well goals are expressed, whose fault lost points are, loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import polars as pl

from dialgauge.dialogue import Act, Dialogue, Goal
from dialgauge.report import (
    PERCENT,
    Cell,
    Chart,
    Column,
    Finding,
    Mark,
    Number,
    Table,
    Tone,
    Transcript,
    Turn,
    View,
    count_cell,
    count_table,
    part_table,
    score_cell,
)
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.users.acts import EQUALS
from dialgauge.users.causes import CAUSES, main_confusion, misheard
from dialgauge.users.conversations import act_text, because, loop_cause, loop_turns
from dialgauge.users.figures import BAR_WORDS, FIGURE_NAMES, paper_figures
from dialgauge.users.fit import fit_line
from dialgauge.users.labels import meaning
from dialgauge.users.measures import FAULTS, POINT_KINDS
from dialgauge.users.sentences import misheard_sentences
from dialgauge.users.verdicts import COMBINED, MEASURES, VERDICTS, ProfileFit

Rows = Sequence[Mapping[str, Any]]

ENDS: Mapping[str, Mark] = {
    "loop": Mark("ends in a loop", "bad"),
    "goodbye": Mark("ends with a goodbye", "good"),
    "open": Mark("ends open", "warn"),
}
NOTHING = "(nothing)"
_COUNTS = ("tp", "fp", "fn")


def verdict(run: Run) -> str:
    """How much of its goals the user says, and how much of what it says belongs to them."""
    parts = []
    for measure, what in POINT_KINDS.items():
        f1, recall, precision = (run.scores.get(f"{measure}{aspect}") for aspect in ("", " recall", " precision"))
        if f1 is None or recall is None or precision is None or None in (f1.value, recall.value, precision.value):
            continue
        interval = f" {Column('', PERCENT).interval(score_cell(f1))}" if f1.low is not None else ""
        parts.append(
            f"says {float(recall):.1%} of the {what} of its goals, and {float(precision):.1%} of those it says belong "
            f"there: {measure} {float(f1):.1%}{interval}"
        )
    return f"{run.name} {'; it '.join(parts)}." if parts else ""


def warnings(run: Run) -> list[str]:
    """Conversations that could not be scored."""
    failed = run.coverage["dialogues"].failed if "dialogues" in run.coverage.units else None
    return [f"{counted(failed, 'conversation')} could not be scored."] if failed else []


def by_domain(run: Run) -> Table:
    """F1 of informing and requesting in each domain."""
    rows = run.table("domain_scores").select("dialogue", "domain").unique().filter(pl.col("domain") != COMBINED)
    counts = {name: count_cell(rows, {"domain": name}) for name in sorted(rows["domain"].unique())}
    scores = {name: run.scores[name] for name in sorted(run.scores, key=lambda name: " " in name)}
    table = part_table("Scores by domain", "domain", scores, counts)
    if fit := run.details.get("fit"):
        table.notes.append(fit_line(ProfileFit(**fit), run.details["profile"]))
    return table


def lost(run: Run) -> Table | None:
    """What each fault takes from F1; with F1 they sum to 100."""
    shares: Mapping[str, Mapping[str, Mapping[str, float]]] = run.details.get("lost", {})
    domains = list(dict.fromkeys([COMBINED, *(domain for of in shares.values() for domain in of)]))
    columns = [Column(f"{measure}: {fault}", PERCENT) for measure in MEASURES for fault in FAULTS]
    table = Table("What each fault costs in F1", ["domain", *columns])
    for domain in domains:
        splits = [shares.get(measure, {}).get(domain, {}) for measure in MEASURES]
        if any(splits):
            table.add(domain, *(split.get(fault) for split in splits for fault in FAULTS))
    for side, dialogues in run.details.get("heard", {}).items():
        if not dialogues:
            table.notes.append(f"What the {side} understood was not recorded: its NLU and its policy look alike.")
    return table if table.rows else None


def faults(run: Run) -> Table:
    """Whose fault lost points are."""
    return count_table("Whose fault lost points were", _points(run), "fault", split="measure")


def verdicts(run: Run) -> Table:
    """How often each verdict was given, for both measures."""
    counts = run.table("verdicts").group_by("measure", "verdict").len()
    known = {(measure, name): count for measure, name, count in counts.iter_rows()}
    table = Table("Verdicts on single mentions", ["verdict", *MEASURES, "dialogues", Column("meaning", spare=1)])
    points = _points(run)
    for name, words in VERDICTS.items():
        row = [known.get((measure, name), 0) for measure in MEASURES]
        if any(row):
            table.add(name, *row, count_cell(points, {"verdict": name}), words)
    return table


def behaviours(run: Run) -> Table:
    """What users do, by how many conversations show it."""
    return count_table("Behaviours", _behaviours(run), "behaviour")


def ends(run: Run) -> Table:
    """How conversations ended."""
    return count_table("How conversations ended", _facts(run), "end")


def loops(run: Run) -> Table | None:
    """Loops by domain and cause: how many, how long, and the main confusion behind them."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for loop in run.table("loops").drop_nulls().iter_rows(named=True):
        key = (", ".join(loop["domains"]), loop["cause"], main_confusion(loop))
        groups.setdefault(key, []).append(loop["repeats"])
    mean = Column("mean length", Number(1))
    table = Table(
        "Loops: the same user acts three or more times in a row",
        ["domain", "cause", "main confusion", "loops", Column("longest", spare=1), mean],
        first=10,
    )
    for (domains, cause, confusion), repeats in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        table.add(domains, cause, confusion or NOTHING, len(repeats), max(repeats), sum(repeats) / len(repeats))
    used = {cause for _, cause, _ in groups}
    table.notes += [f"{cause}: {words}." for cause, words in CAUSES.items() if cause in used]
    return table if table.rows else None


def confusions(run: Run) -> Table | None:
    """The commonest differences between what was said and what was heard."""
    keys = ("speaker", "fault", "said", "heard")
    rows = run.table("confusions").select("dialogue", *keys).drop_nulls()
    groups = rows.group_by(keys).agg(times=pl.len(), dialogues=pl.col("dialogue").n_unique())
    table = Table("What was said against what was heard", [*keys, "times", Column("dialogues", spare=1)], first=15)
    order = groups.sort("times", "said", "heard", "speaker", descending=[True, False, False, False])
    for speaker, fault, said, heard, times, dialogues in order.iter_rows():
        table.add(speaker, fault, said or NOTHING, heard or NOTHING, times, dialogues)
    return table if table.rows else None


def sentences(run: Run) -> Table | None:
    """The sentences that were misheard, with their values replaced."""
    columns = map(Column, ("speaker", "sentence", "said", "heard", "times"))
    table = Table("Sentences that were misheard", [*columns, Column("dialogues", spare=1)], first=15)
    for each in misheard_sentences(run):
        table.add(each.speaker, each.sentence, each.said or NOTHING, each.heard or NOTHING, each.times, each.dialogues)
    return table if table.rows else None


def paper_figure(key: str, run: Run) -> Table | None:
    """A figure of the paper: its bars down, the domains across."""
    figure = next(each for each in paper_figures(run) if each.key == key)
    number = Number(1) if figure.unit == "percent" else Number(0)
    table = Table(
        figure.title,
        [figure.unit, *(Column(domain, number) for domain in figure.domains)],
        chart=Chart("heat", tuple(figure.domains)) if figure.unit == "percent" else None,
    )
    for bar, heights in figure.bars.items():
        if any(heights.values()):
            table.add(BAR_WORDS[bar], *(heights.get(domain) for domain in figure.domains))
    if figure.totals:
        table.notes.append(f"Of: {', '.join(f'{domain} {count:,}' for domain, count in figure.totals.items())}.")
    return table if table.rows else None


def findings(run: Run) -> dict[str, Finding]:
    """The first lost point of each conversation."""
    lost = _lost(run).sort("turn", maintain_order=True, nulls_last=True)
    first = lost.group_by("dialogue", maintain_order=True).first()
    lengths = dict(run.table("dialogues").select("dialogue", "turns").iter_rows())
    found = {}
    for name, turn, item, ruling, fault in first.select("dialogue", "turn", "item", "verdict", "fault").iter_rows():
        whose = f" ({fault})" if fault else ""
        shown = turn if turn is not None and turn < lengths.get(name, 0) else None
        found[name] = Finding(f"{(item or '').replace(EQUALS, ' = ')}: {ruling}{whose}", shown)
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By verdict, behaviour, end, cause of a loop, and domain."""
    yield _points(run).drop("item")
    yield _behaviours(run)
    yield _facts(run)
    yield run.table("loops").select("dialogue", pl.col("first_turn").alias("turn"), pl.col("cause"))
    yield run.table("domain_scores").select("dialogue", "domain").unique().filter(pl.col("domain") != COMBINED)


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The words; beside each turn what was said against what was heard, and the points won and lost."""
    points = _rows(run, "verdicts", dialogue.id)
    loops = [loop for loop in _rows(run, "loops", dialogue.id) if None not in (loop["first_turn"], loop["last_turn"])]
    facts = next(iter(_rows(run, "conversation_facts", dialogue.id)), {})
    turns = []
    for number, turn in enumerate(dialogue.turns):
        own = [row for row in points if row["turn"] == number]
        beside = [_acts(turn.acts or (), turn.heard)] if turn.acts or turn.heard else []
        beside += [_rulings(own, loops)] if own else []
        marks = list(_marks(number, own, loops))
        turns.append(Turn(number=number, speaker=turn.speaker, text=turn.text, marks=marks, beside=beside))
    unsaid = [row for row in points if row["turn"] is None or row["turn"] >= len(dialogue.turns)]
    tables = {
        "scores": _scores(_rows(run, "domain_scores", dialogue.id)),
        "unsaid": _rulings(unsaid, loops, "Not tied to a turn"),
        "loops": _loops(loops),
        "goal": _goal(facts),
        "warnings": _warnings(facts, _rows(run, "failures", dialogue.id)),
    }
    end = facts.get("end")
    marks = [ENDS.get(end, Mark(f"ends: {end}"))] if end else []
    shown = {name: table for name, table in tables.items() if table.rows}
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=shown)


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    tables={
        "by-domain": by_domain,
        "faults": faults,
        "lost": lost,
        "ends": ends,
        "loops": loops,
        "verdicts": verdicts,
        "behaviours": behaviours,
        "confusions": confusions,
        "sentences": sentences,
        **{f"figure-{key}": partial(paper_figure, key) for key in FIGURE_NAMES},
    },
    screen=("by-domain", "lost"),
    transcript=transcript,
    columns=("I-GCDF1", "R-GCDF1"),
    findings=findings,
    filters=filters,
    labels={"measure": "measure of a verdict", "fault": "fault of a lost point", "cause": "cause of a loop"},
)


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts() if table in run.tables else []


def _points(run: Run) -> pl.DataFrame:
    """Every verdict; the fault only where points were lost."""
    slot = pl.concat_str("domain", "slot", separator="-").alias("slot")
    fault = pl.when(pl.col("fp") + pl.col("fn") > 0).then("fault").alias("fault")
    return run.table("verdicts").select("dialogue", "turn", "measure", "verdict", fault, slot, "item")


def _lost(run: Run) -> pl.DataFrame:
    return run.table("verdicts").filter(pl.col("fp") + pl.col("fn") > 0)


def _behaviours(run: Run) -> pl.DataFrame:
    frame = run.table("behaviours").drop_nulls("behaviour")
    words = {label: meaning(label) for label in frame["behaviour"].unique()}
    return frame.select("dialogue", turn="first_turn", behaviour=pl.col("behaviour").replace(words))


def _facts(run: Run) -> pl.DataFrame:
    words = {code: mark.text for code, mark in ENDS.items()}
    return run.table("conversation_facts").select("dialogue", pl.col("end").replace(words).fill_null("not recorded"))


def _marks(number: int, points: Rows, loops: Rows) -> Iterator[Mark]:
    wrong, won = _sum(points, "fp", "fn"), _sum(points, "tp")
    if wrong > 0:
        yield Mark(f"{wrong:,} wrong or missing", "bad")
    elif won:
        yield Mark(f"{counted(won, 'point')} won", "good")
    for loop in loops:
        if loop["first_turn"] <= number <= loop["last_turn"]:
            yield Mark(f"in a loop ({loop_turns(loop)})", "warn")


def _sum(rows: Rows, *names: str) -> int:
    return sum(row[name] or 0 for row in rows for name in names)


def _acts(said: Sequence[Act], heard: Sequence[Act] | None) -> Table:
    """What was said against what was heard: errors first, the others folded."""
    errors = list(misheard(said, heard)) if heard is not None else []
    table = Table("", ["said", "heard", "verdict"], first=len(errors) if heard is not None else None)
    for error in errors:
        was = None if error.said is None else act_text(error.said)
        became = None if error.heard is None else act_text(error.heard)
        words = {"missed": "missed", "invented": "never said"}.get(error.fault, f"another {error.fault}")
        table.add(was, became, Cell(words, tone="bad"))
    for act in (act for act in said if all(error.said != act for error in errors)):
        if heard is None:
            table.add(act_text(act), None, None)
        else:
            table.add(act_text(act), act_text(act), Cell("understood", tone="good"))
    return table


def _rulings(rows: Iterable[Mapping[str, Any]], loops: Rows, title: str = "") -> Table:
    """Points won and lost, the lost ones first."""
    names: list[Column | str] = [*_COUNTS, Column("fault", spare=1), Column("because", spare=2)]
    table = Table(title, ["verdict", "item", Column("domain", spare=1), *names])
    for row in sorted(rows, key=lambda row: -_sum([row], "fp", "fn")):
        tone: Tone = "bad" if _sum([row], "fp", "fn") > 0 else "good" if row["tp"] else "plain"
        reason = because(row["behaviours"] or (), [] if row["turn"] is None else [row["turn"]], loops)
        item = (row["item"] or "").replace(EQUALS, " = ")
        counts = (row[name] or None for name in _COUNTS)
        table.add(Cell(row["verdict"], tone=tone), item, row["domain"], *counts, row["fault"], reason or None)
    return table


def _scores(rows: Rows) -> Table:
    aspects = ("f1", "precision", "recall")
    table = Table(
        "How the user expressed its goal", ["measure", "domain", *(Column(name, PERCENT) for name in aspects), *_COUNTS]
    )
    for row in sorted(rows, key=lambda row: (row["measure"] or "", row["domain"] == COMBINED)):
        table.add(row["measure"], row["domain"], *(row[name] for name in (*aspects, *_COUNTS)))
    return table


def _loops(loops: Rows) -> Table:
    table = Table("Loops", ["turns", "repeats", "acts", "whose", "cause"])
    for loop in loops:
        acts = ", ".join(loop["acts"] or ())
        table.add(loop_turns(loop), loop["repeats"], acts, loop["cause"], loop_cause(loop))
    return table


def _goal(facts: Mapping[str, Any]) -> Table:
    table = Table("Its goal", ["domain", "part", "wanted"])
    try:
        goal = msgspec.json.decode(facts.get("goal") or "{}", type=Goal)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return table
    for domain, task in goal.tasks.items():
        for part in ("info", "fail_info", "book", "fail_book"):
            if constraints := getattr(task, part):
                table.add(domain, part, ", ".join(f"{slot} = {value}" for slot, value in constraints.items()))
        if task.requests:
            table.add(domain, "requests", ", ".join(task.requests))
    return table


def _warnings(facts: Mapping[str, Any], failures: Rows) -> Table:
    table = Table("What is odd about it", ["warning"])
    for failure in failures:
        table.add(Cell(f"not scored: {failure['reason']}", tone="bad"))
    if removed := ", ".join(facts.get("requests_removed") or ()):
        table.add(f"the search failed, so {removed} requests are not scored")
    try:
        for warning in msgspec.json.decode(facts.get("warnings") or "[]", type=list[str]):
            table.add(Cell(warning, tone="warn"))
    except (msgspec.DecodeError, msgspec.ValidationError):
        table.add(Cell("the warnings of this conversation are damaged", tone="warn"))
    return table
