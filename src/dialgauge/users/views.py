"""How runs of simulated users are shown: how well goals are expressed, why points are lost, loops, mishearings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import polars as pl

from dialgauge.dialogue import Act, Dialogue, Goal
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import (
    PERCENT,
    Cell,
    Column,
    Finding,
    Mark,
    Number,
    Page,
    Table,
    Tone,
    Transcript,
    Turn,
    View,
    count_cell,
    count_table,
    dialogue_list,
    part_of,
    part_table,
    score_cell,
)
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.users.acts import EQUALS
from dialgauge.users.causes import main_confusion, misheard
from dialgauge.users.figures import BEHAVIOURS, FIGURES, PaperFigure, figure_table, paper_figure, slot_table
from dialgauge.users.labels import meaning, whole_label
from dialgauge.users.measures import HEADS, SIDES, loss_name
from dialgauge.users.verdicts import CAUSES, COMBINED, MEASURES, VERDICTS, PrfScore

Rows = Sequence[Mapping[str, Any]]

ENDS: Mapping[str, Mark] = {
    "loop": Mark("ends in a loop", "bad"),
    "goodbye": Mark("ends with a goodbye", "good"),
    "open": Mark("ends open", "warn"),
}
NOTHING = "(nothing)"
_COUNTS = ("tp", "fp", "fn")
_LOST = pl.sum_horizontal("fp", "fn") > 0


def verdict(run: Run) -> str:
    """How much of its goals the user says, and how much of what it says is warranted."""
    sentences = {
        "I-GCDF1": "the user states {} of the constraints in its goals, and {} of what it states is warranted",
        "R-GCDF1": "it asks for {} of what its goals want to know, and {} of its requests are warranted",
    }
    parts = []
    for measure, sentence in sentences.items():
        f1, recall, precision = (run.scores.get(f"{measure}{aspect}") for aspect in ("", " recall", " precision"))
        if f1 is None or recall is None or precision is None or None in (f1.value, recall.value, precision.value):
            continue
        interval = f" {Column('', PERCENT).interval(score_cell(f1))}" if f1.low is not None else ""
        said = sentence.format(f"{float(recall):.1%}", f"{float(precision):.1%}")
        parts.append(f"{said} ({measure} {float(f1):.1%}{interval})")
    return f"{run.name}: {'; '.join(parts)}." if parts else ""


def warnings(run: Run) -> list[str]:
    """Conversations that could not be scored."""
    failed = run.coverage["dialogues"].failed if "dialogues" in run.coverage.units else None
    return [f"{counted(failed, 'conversation')} could not be scored."] if failed else []


def by_domain(run: Run) -> Table:
    """F1 of informing and requesting in each domain."""
    rows = mentions(run)
    domains = rows["domain"].unique().drop_nulls().sort()
    counts = {name: count_cell(rows, {"domain": name}) for name in domains}
    names = sorted((name for name in run.scores if name.partition("[")[0] in HEADS), key=lambda name: " " in name)
    table = part_table("Scores by domain", "domain", {name: run.scores[name] for name in names}, counts)
    table.notes += filter(None, [run.details.get("fit", "")])
    return table


def lost(run: Run) -> Table | None:
    """What F1 loses to each side; with F1 it sums to 100."""
    table = Table("Where F1 is lost", ["measure", "domain", *(Column(side, PERCENT) for side in SIDES)])
    domains = sorted({part for name in run.scores if (part := part_of(name))})
    for measure in MEASURES:
        for domain in ("", *domains):
            part = f"[{domain}]" if domain else ""
            scores = [run.scores.get(f"{loss_name(measure, side)}{part}") for side in SIDES]
            if any(scores):
                table.add(measure, domain or COMBINED, *(None if score is None else score.value for score in scores))
    for side, dialogues in run.details.get("heard", {}).items():
        if not dialogues:
            table.notes.append(
                f"What the {side} understood was not recorded, so its policy gets the errors of its NLU."
            )
    return table if table.rows else None


def causes(run: Run) -> Table:
    """Why points were lost."""
    return count_table("Why points were lost", mentions(run), "cause", split="measure")


def verdicts(run: Run) -> Table:
    """How often each verdict was given, for both measures."""
    counts = run.table("verdicts").group_by("measure", "verdict").len()
    known = {(measure, name): count for measure, name, count in counts.iter_rows()}
    table = Table("Verdicts", ["verdict", *MEASURES, "dialogues", Column("meaning", spare=1)])
    rows = mentions(run)
    for name, words in VERDICTS.items():
        row = [known.get((measure, name), 0) for measure in MEASURES]
        if any(row):
            table.add(name, *row, count_cell(rows, {"verdict": name}), words)
    return table


def behaviours(run: Run) -> Table:
    """What users do, by how many conversations show it."""
    return count_table("Behaviours", mentions(run), "behaviour")


def ends(run: Run) -> Table:
    """How conversations ended."""
    return count_table("How conversations ended", _ends(run), "end")


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
        table.add(domains, cause, confusion or None, len(repeats), max(repeats), sum(repeats) / len(repeats))
    used = {cause for _, cause, _ in groups}
    table.notes += [f"{cause}: {words}." for cause, words in CAUSES.items() if cause in used]
    return table if table.rows else None


def confusions(run: Run) -> Table | None:
    """The commonest differences between what was said and what was heard."""
    return _misheard(run, "Misunderstandings", ("speaker", "error", "said", "heard"))


def sentences(run: Run) -> Table | None:
    """The sentences that were misheard, with their values replaced."""
    return _misheard(run, "Misunderstood sentences", ("speaker", "sentence", "said", "heard"))


def failures(run: Run) -> Table | None:
    """The conversations that could not be scored, and why."""
    table = Table("Not scored", ["dialogue", "turn", "reason", Column("file", spare=1)], first=10)
    for name, turn, reason, file in run.table("failures").select("dialogue", "turn", "reason", "file").iter_rows():
        table.add(name, turn, reason, file)
    return table if table.rows else None


def odd(run: Run) -> Table | None:
    """Warnings about conversations that were scored."""
    table = Table("Odd conversations", ["dialogue", "warning"], first=10)
    rows = run.table("conversation_facts").select("dialogue", "warnings").explode("warnings").drop_nulls()
    for row in rows.iter_rows():
        table.add(*row)
    return table if table.rows else None


def findings(run: Run) -> dict[str, Finding]:
    """The first lost point of each conversation."""
    lost = run.table("verdicts").filter(_LOST).sort("turn", maintain_order=True, nulls_last=True)
    first = lost.group_by("dialogue", maintain_order=True).first()
    lengths = dict(run.table("dialogues").select("dialogue", "turns").iter_rows())
    found = {}
    for name, turn, item, ruling, cause in first.select("dialogue", "turn", "item", "verdict", "cause").iter_rows():
        whose = f" ({cause})" if cause else ""
        shown = turn if turn is not None and turn < lengths.get(name, 0) else None
        found[name] = Finding(f"{_item(item)}: {ruling}{whose}", shown)
    return found


def mentions(run: Run) -> pl.DataFrame:
    """Every verdict with each of its behaviours, and every behaviour that is about no single mention.

    The cause stands only where points were lost.
    """
    cause = pl.when(_LOST).then("cause").alias("cause")
    columns = ("dialogue", "turn", "measure", "behaviour", "domain", "slot")
    labels = pl.col("behaviours")
    rulings = run.table("verdicts").with_columns(pl.col("domain").replace({COMBINED: None}))
    rulings = rulings.with_columns(behaviour=pl.when(labels.list.len() > 0).then(labels)).explode("behaviour")
    single = rulings.select(*columns, "verdict", cause)
    whole = run.table("behaviours").rename({"first_turn": "turn"}).select(columns)
    whole = whole.filter(~pl.col("behaviour").is_in(single["behaviour"].drop_nulls().unique().implode()))
    words = {label: meaning(label) for frame in (single, whole) for label in frame["behaviour"].drop_nulls().unique()}
    frame = pl.concat([single, whole], how="diagonal")
    return frame.with_columns(pl.col("behaviour").replace(words), pl.col("slot").replace({"": None}))


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By mention (verdict, behaviour, cause, domain, slot), by end, and by the cause of a loop."""
    yield mentions(run)
    yield _ends(run)
    yield run.table("loops").select("dialogue", turn="first_turn", loop="cause")


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The words; beside each turn what was said against what was heard, and the points won and lost."""
    points = _rows(run, "verdicts", dialogue.id)
    loops = [loop for loop in _rows(run, "loops", dialogue.id) if None not in (loop["first_turn"], loop["last_turn"])]
    facts = next(iter(_rows(run, "conversation_facts", dialogue.id)), {})
    turns = []
    before: list[tuple[str, str]] = []
    for number, turn in enumerate(dialogue.turns):
        own = [row for row in points if row["turn"] == number]
        beside = [_acts(turn.acts or (), turn.heard)] if turn.acts or turn.heard else []
        if own:
            rulings, ruled = _rulings(own), [(row["verdict"], row["item"]) for row in own]
            if ruled == before:  # as in a loop
                rulings.first, rulings.notes = 0, ["As before."]
            beside, before = [*beside, rulings], ruled
        marks = list(_marks(number, own, loops))
        turns.append(Turn(number=number, speaker=turn.speaker, text=turn.text, marks=marks, beside=beside))
    unsaid = [row for row in points if row["turn"] is None or row["turn"] >= len(dialogue.turns)]
    tables = {
        "scores": _scores(points),
        "unsaid": _rulings(unsaid, "Never said"),
        "loops": _loops(loops),
        "goal": _goal(facts),
        "warnings": _warnings(facts, _rows(run, "failures", dialogue.id)),
    }
    end = facts.get("end")
    marks = [ENDS.get(end, Mark(f"ends: {end}"))] if end else []
    shown = {name: table for name, table in tables.items() if table.rows}
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=shown)


def _figure(make: Callable[[PaperFigure], Table], key: str, run: Run) -> Table | None:
    table = make(paper_figure(run, key))
    return table if table.rows else None


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    scores=lambda run: HEADS,
    tables={
        "by-domain": by_domain,
        "lost": lost,
        "causes": causes,
        "ends": ends,
        "loops": loops,
        "verdicts": verdicts,
        "behaviours": behaviours,
        "confusions": confusions,
        "sentences": sentences,
        **{f"figure-{key}": partial(_figure, figure_table, key) for key in FIGURES},
        **{f"figure-{key}-slots": partial(_figure, slot_table, key) for key in BEHAVIOURS},
        "failures": failures,
        "odd": odd,
    },
    screen=("by-domain", "lost", "failures"),
    transcript=transcript,
    columns=MEASURES,
    findings=findings,
    filters=filters,
    labels={"measure": "measure of a verdict", "cause": "cause of a lost point", "loop": "cause of a loop"},
)


def find_conversations(
    run: Run,
    *,
    behaviour: str = "",
    verdict: str = "",
    cause: str = "",
    domain: str = "",
    slot: str = "",
    end: str = "",
) -> Page:
    """The conversations for which everything holds; all but the end hold for the same mention."""
    if run.kind != "users":
        raise DialgaugeError(f"run {run.id} is not a run of 'dialgauge users score'")
    for name, value, known in (("verdict", verdict, VERDICTS), ("cause", cause, CAUSES), ("end", end, ENDS)):
        if value and value not in known:
            raise DialgaugeError(f"there is no {name} '{value}'.{nearest(value, known)}")
    frame = mentions(run)
    for name, value in (("domain", domain), ("slot", slot)):
        if value and value not in frame[name]:
            raise DialgaugeError(
                f"no conversation has the {name} '{value}'.{nearest(value, frame[name].drop_nulls().unique())}"
            )
    asked = {
        "behaviour": meaning(whole_label(behaviour)) if behaviour else "",
        "verdict": verdict,
        "cause": cause,
        "domain": domain,
        "slot": slot,
        "end": ENDS[end].text if end else "",
    }
    only = {name: value for name, value in asked.items() if value}
    dialogues = dialogue_list(run)
    names = dialogues.matching(only)
    table = dialogues.table(names, only, first=20)
    return Page(title=run.name, runs=[run.id], verdict=dialogues.answer(names, only), tables={"dialogues": table})


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts() if table in run.tables else []


def _ends(run: Run) -> pl.DataFrame:
    words = {code: mark.text for code, mark in ENDS.items()}
    return run.table("conversation_facts").select("dialogue", pl.col("end").replace(words).fill_null("not recorded"))


def _misheard(run: Run, title: str, keys: tuple[str, ...]) -> Table | None:
    rows = run.table("confusions").select("dialogue", *keys).drop_nulls()
    groups = rows.group_by(keys).agg(times=pl.len(), dialogues=pl.col("dialogue").n_unique())
    table = Table(title, [*keys, "times", Column("dialogues", spare=1)], first=15)
    for *texts, times, dialogues in groups.sort("times", *keys, descending=[True, *(False for _ in keys)]).iter_rows():
        table.add(*(text or NOTHING for text in texts), times, dialogues)
    return table if table.rows else None


def _item(item: str | None) -> str:
    return (item or "").replace(EQUALS, " = ")


def _marks(number: int, points: Rows, loops: Rows) -> Iterator[Mark]:
    wrong, won = _sum(points, "fp", "fn"), _sum(points, "tp")
    if wrong > 0:
        yield Mark(f"{wrong:,} wrong or missing", "bad")
    elif won:
        yield Mark(f"{counted(won, 'point')} won", "good")
    for loop in loops:
        if loop["first_turn"] <= number <= loop["last_turn"]:
            yield Mark(f"in a loop ({_loop_turns(loop)})", "warn")


def _sum(rows: Rows, *names: str) -> int:
    return sum(row[name] or 0 for row in rows for name in names)


def _acts(said: Sequence[Act], heard: Sequence[Act] | None) -> Table:
    """What was said against what was heard: errors first, the others folded."""
    errors = list(misheard(said, heard)) if heard is not None else []
    table = Table("", ["said", "heard", "verdict"], first=len(errors) if heard is not None else None)
    for error in errors:
        was = None if error.said is None else _act_text(error.said)
        became = None if error.heard is None else _act_text(error.heard)
        words = {"missed": "missed", "invented": "never said"}.get(error.error, f"another {error.error}")
        table.add(was, became, Cell(words, tone="bad"))
    for act in (act for act in said if all(error.said != act for error in errors)):
        if heard is None:
            table.add(_act_text(act), None, None)
        else:
            table.add(_act_text(act), _act_text(act), Cell("understood", tone="good"))
    return table


def _act_text(act: Act) -> str:
    """An act as a transcript writes it: ``Hotel-Inform(area=north)``."""
    return f"{act.name}({act.slot}{'=' if act.slot and act.values else ''}{'|'.join(act.values)})"


def _rulings(rows: Iterable[Mapping[str, Any]], title: str = "") -> Table:
    """Points won and lost, the lost ones first; why stands below them, once for all that it is the reason of."""
    table = Table(title, ["verdict", "item", Column("domain", spare=1), *_COUNTS, Column("cause", spare=1)])
    because: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: -_sum([row], "fp", "fn")):
        lost = _sum([row], "fp", "fn") > 0
        tone: Tone = "bad" if lost else "good" if row["tp"] else "plain"
        reason = "; ".join(map(meaning, row["behaviours"] or ()))
        counts = (row[name] or None for name in _COUNTS)
        cause = row["cause"] if lost else None
        item = _item(row["item"])
        table.add(Cell(row["verdict"], tone=tone), item, row["domain"], *counts, cause)
        because.setdefault(reason, []).append(item)
    table.notes = [f"{', '.join(items)}: {reason}." for reason, items in because.items() if reason]
    return table


def _loop_turns(loop: Mapping[str, Any]) -> str:
    return f"turns {loop['first_turn']}–{loop['last_turn']}"


def _scores(points: Rows) -> Table:
    aspects = ("f1", "precision", "recall")
    columns = [Column(name, PERCENT) for name in aspects]
    table = Table("Scores", ["measure", "domain", *columns, *_COUNTS])
    for measure in MEASURES:
        rows = [row for row in points if row["measure"] == measure]
        for domain in (*sorted({row["domain"] for row in rows} - {COMBINED}), COMBINED):
            own = [row for row in rows if domain in (COMBINED, row["domain"])]
            score = PrfScore.of(*(_sum(own, name) for name in _COUNTS))
            if score.tp or score.fp or score.fn:
                table.add(measure, domain, *(getattr(score, name) for name in (*aspects, *_COUNTS)))
    return table


def _loops(loops: Rows) -> Table:
    table = Table("Loops", ["turns", "repeats", "acts", "cause", "main confusion"])
    for loop in loops:
        acts = ", ".join(loop["acts"] or ())
        table.add(_loop_turns(loop), loop["repeats"], acts, loop["cause"], main_confusion(loop) or None)
    used = {loop["cause"] for loop in loops}
    table.notes += [f"{cause}: {words}." for cause, words in CAUSES.items() if cause in used]
    return table


def _goal(facts: Mapping[str, Any]) -> Table:
    table = Table("Goal", ["domain", "part", "wanted"])
    goal = msgspec.json.decode(facts.get("goal") or "{}", type=Goal)
    for domain, task in goal.tasks.items():
        for part in ("info", "fail_info", "book", "fail_book"):
            if constraints := getattr(task, part):
                table.add(domain, part, ", ".join(f"{slot} = {value}" for slot, value in constraints.items()))
        if task.requests:
            table.add(domain, "requests", ", ".join(task.requests))
    return table


def _warnings(facts: Mapping[str, Any], failures: Rows) -> Table:
    table = Table("Warnings", ["warning"])
    for failure in failures:
        table.add(Cell(f"not scored: {failure['reason']}", tone="bad"))
    if removed := ", ".join(facts.get("requests_removed") or ()):
        table.add(f"the search failed, so requests about {removed} are not scored")
    for warning in facts.get("warnings") or ():
        table.add(Cell(warning, tone="warn"))
    return table
