"""Pages of users runs: what was said against what was heard, every verdict with its reason, loops and their causes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from dialgauge.presentation import (
    NAMED,
    Badge,
    Breakdown,
    DialogueRows,
    DialogueView,
    Facet,
    Glossary,
    RunPages,
    RunTables,
    Tone,
    TurnView,
    columns,
    first_scores,
    known,
    listed,
    percent,
    tallied,
    value_of,
    value_with_interval,
)
from dialgauge.report import Table, plain, stacked_bars
from dialgauge.text import counted
from dialgauge.users.analyses import misheard
from dialgauge.users.conversations import act_text, because, loop_cause, loop_turns
from dialgauge.users.figures import confusion_table, loop_table, verdict_table
from dialgauge.users.labels import LABELS, meaning
from dialgauge.users.measures import FAULTS
from dialgauge.users.presentation import score_tables
from dialgauge.users.records import COMBINED, MEASURES, VERDICTS
from dialgauge.users.sentences import sentence_table
from dialgauge.users.turns import EQUALS

if TYPE_CHECKING:
    from dialgauge.dialogue import Act, Dialogue, Turn
    from dialgauge.runs import Run

Row = Mapping[str, Any]

_VERDICTS, _BEHAVIOURS, _LOOPS, _FACTS = "verdicts", "behaviours", "loops", "conversation_facts"
_COLUMNS = 6
_COUNTS = ("tp", "fp", "fn")
#: Faults of hearing to the kinds of rows that a page marks.
_HEARD = {"missed": "missed", "invented": "spurious"}
#: How conversations end.
_ENDS = {
    "loop": Badge("ends in a loop", "bad", "when the user last spoke of anything, it was in a loop"),
    "goodbye": Badge("ends with a goodbye", "good", "the user said goodbye"),
    "open": Badge("ends open", "warn", "neither with the user's goodbye nor in a loop"),
}
#: Domains that a chart tells apart.
_MOST_DOMAINS = 4
_OTHER = "other domains"
#: What the behaviours are about whose labels have two parts.
_MENTIONS = {
    "multiple_constraint_informs": "repeated constraint",
    "constraints_not_in_goal": "constraint outside the goal",
    "multiple_slot_requests": "repeated request",
}


def _in_words(label: str) -> str:
    """What a behaviour means, after the kind of mention it is about."""
    kind = _MENTIONS.get(label.partition("/")[0])
    return f"{kind}: {meaning(label)}" if kind else meaning(label)


_BEHAVIOUR_WORDS = {label: _in_words(label) for label in LABELS}
_LOST = {fault: f"lost_{fault.lower().replace(' ', '_')}" for fault in FAULTS}


class ActRow(Struct, frozen=True):
    """An act, said beside heard; ``kind`` is ``right``, ``wrong``, ``missed`` or ``spurious`` (heard, never said)."""

    kind: str
    said: str
    heard: str
    word: str


class Ruling(Struct, frozen=True):
    """Verdicts of one turn, or of none, that differ in the item only, with the points that they gave and took."""

    measure: str
    domain: str
    items: tuple[str, ...]
    verdict: str
    meaning: str
    points: str
    fault: str
    reason: str
    tone: Tone


class LoopMark(Struct, frozen=True):
    """A loop: where it stands, how often the same was said, and why."""

    turns: str
    repeats: int
    acts: str
    fault: str
    cause: str


class TalkCell(Struct, frozen=True):
    """What stands beside a turn; ``loop`` where one begins, ``inside`` one or not."""

    acts: tuple[ActRow, ...]
    listener: str
    recorded: bool
    rulings: tuple[Ruling, ...]
    loop: LoopMark | None
    inside: bool


class ScoreRow(Struct, frozen=True):
    """F1 of a measure in a domain, the counts behind it, and the lost points by fault."""

    measure: str
    domain: str
    values: tuple[float | None, ...]
    counts: tuple[int | None, ...]
    lost: tuple[int | None, ...]


class Overview(Struct, frozen=True):
    """What is true of the whole conversation."""

    scores: tuple[ScoreRow, ...]
    faults: tuple[str, ...]
    unsaid: tuple[Ruling, ...]
    loops: tuple[LoopMark, ...]
    end: Badge | None
    notes: tuple[str, ...]
    behaviours: tuple[Row, ...]
    patterns: tuple[Row, ...]
    values: tuple[Row, ...]


class UsersPages(RunPages):
    """Users runs. The domains of the goals are a filter that every run has."""

    template = "dialgauge.users:pages.html"
    facets = (
        Facet("behaviour", "behaviour", _BEHAVIOURS, ("behaviour",), words=_BEHAVIOUR_WORDS),
        Facet("verdict", "verdict", _VERDICTS, ("verdict",)),
        Facet("fault", "fault of a lost point", _VERDICTS, ("fault",)),
        Facet("cause", "cause of a loop", _LOOPS, ("cause",)),
        Facet(
            "end",
            "end",
            _FACTS,
            ("end",),
            words={code: badge.text for code, badge in _ENDS.items()},
            absent="not recorded",
        ),
        Facet("slot", "slot", _VERDICTS, ("domain", "slot")),
    )
    breakdowns = (
        Breakdown("Whose fault lost points were", "fault", tone="bad", note="conversations that lost one so"),
        Breakdown("Behaviours", "behaviour", tone="warn", note="conversations that show each"),
        Breakdown("How they ended", "end"),
    )

    def columns(self, run: Run) -> list[str]:
        """The measures over all domains, F1 rather than precision and recall; the rest is on the page of the run."""
        whole = [name for name in run.scores if "[" not in name]
        return ([name for name in whole if " " not in name] or whole)[:_COLUMNS]

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The words; beside each turn said against heard, the verdicts and the loop it is part of."""
        loops = _spans(library.rows(run, _LOOPS, dialogue.id))
        verdicts = library.rows(run, _VERDICTS, dialogue.id)
        by_turn: dict[int | None, list[Row]] = {}
        for row in verdicts:
            by_turn.setdefault(row["turn"], []).append(row)
        turns = []
        repetitions = [0] * len(loops)
        for index, turn in enumerate(dialogue.turns):
            inside = [number for number, loop in enumerate(loops) if loop["first_turn"] <= index <= loop["last_turn"]]
            if turn.speaker == "user":
                for number in inside:
                    repetitions[number] += 1
            marks = [(loops[number], repetitions[number]) for number in inside]
            turns.append(_turn(index, turn, by_turn.get(index, []), loops, marks))
        known = set(range(len(dialogue.turns)))
        unsaid = [row for turn, rows in by_turn.items() if turn not in known for row in rows]
        overview = _overview(library, run, dialogue.id, unsaid, loops)
        return DialogueView(self.template, turns, overview, list(_summary(library, run, dialogue.id, verdicts)))

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """By domain, what each fault takes, verdicts, behaviours, loops, confusions and the sentences behind them."""
        tables = score_tables(run) if "scored_dialogues" in run.details else []
        makers: tuple[tuple[str, Callable[[Run], Table]], ...] = (
            ("verdicts", verdict_table),
            ("behaviours", partial(_behaviour_table, library)),
            ("loops", loop_table),
            ("confusions", confusion_table),
            ("confusions", sentence_table),
        )
        return [*tables, *(make(run) for name, make in makers if name in run.tables and run.tables[name].rows)]

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Lost points by fault and domain, and behaviours by domain."""
        charts: dict[str, Callable[[], Any]] = dict(lost_charts(library, run))
        if _BEHAVIOURS in run.tables and run.tables[_BEHAVIOURS].rows:
            charts["behaviours"] = partial(behaviour_chart, library, run)
        return charts

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """How much of its goal the user says, and whose fault its repetitions and loops are."""
        explained = False
        for measure, what in _SAYS.items():
            f1, recall, precision = (known(run, f"{measure}{aspect}") for aspect in ("", " recall", " precision"))
            parts = [f"expresses {value_of(recall)} of the {what} of its goal"] if recall else []
            # These are means over conversations; sentences that pool all of them say so.
            if precision:
                parts.append(
                    f"{value_of(precision)} of the {what} it expresses belong there or are warranted by the context"
                )
            if f1:
                parts.append(f"together that is {words.said(measure, value_with_interval(f1))}")
            if parts:
                explained = True
                yield (
                    f"On average the user {'; '.join(parts)}"
                    if recall
                    else f"Of the user, on average: {'; '.join(parts)}"
                )
        if not explained:
            yield from first_scores(run, words)
        yield from _repetitions(run)
        yield from _lost_to(run)
        ends = columns(run, "conversation_facts", text=("end",))
        if ends is not None and ends.height:
            loops = int((ends["end"] == "loop").sum())
            if loops:
                share = f"{percent(loops, ends.height)} of {counted(ends.height, 'conversation')}"
                yield f"{share} end in a loop{_causes(run)}"

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """The most frequent verdicts but for credit."""
        rows = tables.rows(_VERDICTS, dialogue, text=("verdict",))
        bad = [] if rows is None else tallied(rows.filter(rows["verdict"] != "credited")["verdict"])
        return ", ".join(f"{count:,} {plain(verdict)}" for verdict, count in bad[:3])


def _spans(rows: Iterable[Row]) -> list[Row]:
    """The loops that say where they stand."""
    return [row for row in rows if row["first_turn"] is not None and row["last_turn"] is not None]


def _turn(
    number: int, turn: Turn, verdicts: Sequence[Row], loops: Sequence[Row], marks: Sequence[tuple[Row, int]]
) -> TurnView:
    acts = tuple(_acts(turn.acts or (), turn.heard))
    rulings = tuple(_rulings(verdicts, loops))
    begun = next((_mark(loop) for loop, _ in marks if loop["first_turn"] == number), None)
    listener = "system" if turn.speaker == "user" else "user"
    badges = [*_points(verdicts), *_hearing(acts, listener), *_looping(turn, marks)]
    cell = None
    if acts or rulings or marks:
        cell = TalkCell(acts, listener, turn.heard is not None, rulings, begun, bool(marks))
    return TurnView(number, turn.speaker, turn.text, badges, cell)


def _acts(said: Sequence[Act], heard: Sequence[Act] | None) -> Iterator[ActRow]:
    """Acts in the order in which they were said, each with what was heard for it; then what nobody said."""
    if heard is None:
        yield from (ActRow("plain", act_text(act), "", "") for act in said)
        return
    errors = list(misheard(said, heard))
    for act in said:
        error = next((mishearing for mishearing in errors if mishearing.said == act), None)
        if error is None:
            yield ActRow("right", act_text(act), act_text(act), "understood")
            continue
        errors.remove(error)
        text = "" if error.heard is None else act_text(error.heard)
        word = "missed" if error.heard is None else f"another {error.fault}"
        yield ActRow(_HEARD.get(error.fault, "wrong"), act_text(act), text, word)
    yield from (
        ActRow("spurious", "", act_text(mishearing.heard), "never said")
        for mishearing in errors
        if mishearing.heard is not None
    )


def _rulings(rows: Iterable[Row], loops: Sequence[Row]) -> Iterator[Ruling]:
    """Verdicts with what they have in common told once, the lost points first."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        reason = because(row["behaviours"] or (), [] if row["turn"] is None else [row["turn"]], loops)
        key = (row["measure"], row["domain"], row["verdict"], row.get("fault"), reason)
        groups.setdefault(key, []).append(row)
    ruled = [_ruling(group, *key) for key, group in groups.items()]
    yield from sorted(ruled, key=lambda ruling: ruling.tone != "bad")


def _ruling(rows: Sequence[Row], measure: str, domain: str, verdict: str, fault: str | None, reason: str) -> Ruling:
    sums = {name: sum(row[name] or 0 for row in rows) for name in _COUNTS}
    lost = sums["fp"] + sums["fn"] > 0
    return Ruling(
        measure=measure or "",
        domain=domain or "",
        items=tuple((row["item"] or "").replace(EQUALS, " = ") for row in rows),
        verdict=verdict or "",
        meaning=next((words for name, words in VERDICTS.items() if name == verdict), ""),
        points=", ".join(f"{name.upper()} {count}" for name, count in sums.items() if count).replace("-", "−"),
        fault=fault or "",
        reason=reason,
        tone="bad" if lost else "good" if sums["tp"] else "plain",
    )


def _mark(loop: Row) -> LoopMark:
    return LoopMark(
        loop_turns(loop), loop["repeats"] or 0, ", ".join(loop["acts"] or ()), loop["cause"] or "", loop_cause(loop)
    )


def _lost(rows: Iterable[Row]) -> int:
    return sum((row["fp"] or 0) + (row["fn"] or 0) for row in rows)


def _points(rows: Sequence[Row]) -> Iterator[Badge]:
    if lost := _lost(rows):
        yield Badge(f"{lost:,} wrong or missing", "bad", "false positives and false negatives of this turn")
    elif won := sum(row["tp"] or 0 for row in rows):
        yield Badge(f"{counted(won, 'point')} won", "good", "true positives of this turn")


def _hearing(acts: Iterable[ActRow], listener: str) -> Iterator[Badge]:
    if wrong := sum(row.kind not in ("right", "plain") for row in acts):
        yield Badge("misheard", "warn", f"the {listener} understood {counted(wrong, 'act')} otherwise")


def _looping(turn: Turn, marks: Iterable[tuple[Row, int]]) -> Iterator[Badge]:
    for loop, number in marks:
        text = f"↻ {number} of {loop['repeats']} in a loop" if turn.speaker == "user" else "↻ inside a loop"
        yield Badge(text, "plain", f"{loop_turns(loop)}, {loop['cause']}: {loop_cause(loop)}")


def _summary(library: RunTables, run: Run, dialogue: str, verdicts: Sequence[Row]) -> Iterator[Badge]:
    for failure in library.rows(run, "failures", dialogue):
        yield Badge("not scored", "bad", failure["reason"] or "")
    if verdicts:
        lost = _lost(verdicts)
        yield Badge(f"{lost:,} wrong or missing", "bad") if lost > 0 else Badge("nothing wrong or missing", "good")


def _overview(library: RunTables, run: Run, dialogue: str, unsaid: Sequence[Row], loops: Sequence[Row]) -> Overview:
    facts = next(iter(library.rows(run, _FACTS, dialogue)), {})
    failures = [f"not scored: {row['reason']}" for row in library.rows(run, "failures", dialogue) if row["reason"]]
    end = facts.get("end")
    behaviours = library.rows(run, _BEHAVIOURS, dialogue)
    return Overview(
        scores=tuple(_scores(library.rows(run, "domain_scores", dialogue))),
        faults=tuple(FAULTS),
        unsaid=tuple(_rulings(unsaid, loops)),
        loops=tuple(map(_mark, loops)),
        end=_ENDS.get(end, Badge(f"ends: {end}")) if end else None,
        notes=(*failures, *_notes(facts)),
        behaviours=tuple(_behaviour(row) for row in behaviours),
        patterns=tuple(library.rows(run, "patterns", dialogue)),
        values=tuple(library.rows(run, "normalisation", dialogue)),
    )


def _scores(rows: Iterable[Row]) -> Iterator[ScoreRow]:
    ordered = sorted(rows, key=lambda row: (row["measure"] or "", row["domain"] == COMBINED))
    for row in ordered:
        lost = (row.get(f"lost_{fault.lower().replace(' ', '_')}") for fault in FAULTS)
        yield ScoreRow(
            row["measure"] or "", row["domain"] or "", tuple(row[name] for name in ("f1", "precision", "recall")),
            tuple(row[name] for name in _COUNTS), tuple(lost),
        )  # fmt: skip


def _notes(facts: Row) -> Iterator[str]:
    if facts.get("goal_source") == "derived":
        yield "the goal is derived from the conversation's own states"
    if removed := ", ".join(facts.get("requests_removed") or ()):
        yield f"the search failed, so {removed} requests are not scored"
    try:
        yield from msgspec.json.decode(facts.get("warnings") or "[]", type=list[str])
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield "the warnings of this conversation are damaged"


def _behaviour(row: Row) -> Row:
    label, item = row["behaviour"] or "", (row["item"] or "").replace(EQUALS, " = ")
    return {
        **row,
        "behaviour": label,
        "item": item,
        "meaning": meaning(label),
        "at_turns": ", ".join(map(str, row["at_turns"] or ())),
    }


# The page of a run


def _behaviour_table(library: RunTables, run: Run) -> Table:
    import polars as pl

    labelled = library.table(run, "behaviours").drop_nulls("behaviour").group_by("behaviour")
    counts = labelled.agg(pl.len(), pl.col("dialogue").n_unique().alias("dialogues"))
    table = Table("Behaviours", ["behaviour", "records", "dialogues", "meaning"])
    for label, records, dialogues in counts.sort(["len", "behaviour"], descending=[True, False]).iter_rows():
        table.add(label, records, dialogues, meaning(label))
    return table


def lost_charts(library: RunTables, run: Run) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A chart of lost points for each measure that lost any."""
    if "domain_scores" not in run.tables or not set(_LOST.values()) <= set(library.table(run, "domain_scores").columns):
        return
    for measure in MEASURES:
        bars = library.of_run(f"lost points {measure}", run, partial(_lost_points, library, run, measure))
        if any(points for split in bars.values() for points in split.values()):
            yield f"lost points {measure}", partial(_lost_chart, bars, measure)


def _lost_points(library: RunTables, run: Run, measure: str) -> dict[str, dict[str, int]]:
    """Domain to fault to points."""
    import polars as pl

    rows = library.table(run, "domain_scores").drop_nulls("domain")
    rows = rows.filter(pl.col("measure") == measure, pl.col("domain") != COMBINED)
    sums = rows.group_by("domain").agg(pl.col(*_LOST.values()).sum())
    return {row["domain"]: {fault: row[column] for fault, column in _LOST.items()} for row in sums.to_dicts()}


def _lost_chart(bars: dict[str, dict[str, int]], measure: str) -> Any:
    title = f"Points lost in {measure}, by domain and fault"
    return stacked_bars(bars, list(FAULTS), title=title, value="lost points (FP + FN)")


def behaviour_chart(library: RunTables, run: Run) -> Any:
    """In how many dialogues each behaviour was seen, by domain."""
    import polars as pl

    seen = library.table(run, "behaviours").select("dialogue", "behaviour", pl.col("domain").fill_null(""))
    counts = seen.drop_nulls("behaviour").unique().group_by("behaviour", "domain").len()
    domains = counts.group_by("domain").agg(pl.col("len").sum()).sort(["len", "domain"], descending=[True, False])
    shown = domains["domain"].head(_MOST_DOMAINS).to_list()
    bars: dict[str, dict[str, int]] = {}
    for label, domain, count in counts.iter_rows():
        group = (domain or "no domain") if domain in shown else _OTHER
        of_label = bars.setdefault(_in_words(label), {})
        of_label[group] = of_label.get(group, 0) + count
    groups = [*(domain or "no domain" for domain in shown), _OTHER]
    return stacked_bars(bars, groups, title="Behaviours by domain", value="dialogues, counted once for each domain")


#: Who caused something, in words.
_BLAMED = {
    "user NLU": "the user's understanding",
    "user policy": "the user's policy",
    "system NLU": "the system's understanding",
    "system policy": "the system's policy",
    "system": "the system",
}
#: Verdicts on what the user did not say.
_NEVER_SAID = ("missing", "pre-empted", "excused", "pooled")
_SAYS = {"I-GCDF1": "constraints", "R-GCDF1": "requests"}


def _causes(run: Run) -> str:
    frame = columns(run, "loops", text=("cause",))
    causes = tallied(frame["cause"]) if frame is not None else []
    if not causes:
        return ""
    every = sum(count for _, count in causes)
    shares = [f"{_fault(cause)} ({percent(count, every)})" for cause, count in causes[:NAMED]]
    return f"; loops are caused by {listed(shares)}"


def _fault(name: str) -> str:
    return _BLAMED.get(name, plain(name))


def _repetitions(run: Run) -> Iterator[str]:
    frame = columns(run, "verdicts", text=("verdict", "fault"))
    if frame is None:
        return
    mentions = frame.filter(~frame["verdict"].is_in(_NEVER_SAID))
    repeated = mentions.filter(mentions["verdict"] == "repeated-penalised")
    if not mentions.height:
        return
    if not repeated.height:
        yield "The user repeats nothing needlessly"
        return
    faults = [
        f"{_fault(name)} ({percent(count, repeated.height)})" for name, count in tallied(repeated["fault"])[:NAMED]
    ]
    blamed = f", caused by {listed(faults)}" if faults else ""
    yield (
        f"Over all conversations together, {percent(repeated.height, mentions.height)} of what the user says are "
        f"needless repetitions{blamed}"
    )


def _lost_to(run: Run) -> Iterator[str]:
    lost = run.details.get("lost")
    shares = lost.get("I-GCDF1", {}).get("combined", {}) if isinstance(lost, Mapping) else {}
    losses = [(str(name), share) for name, share in shares.items() if isinstance(share, float) and share > 0]
    if losses:
        losses.sort(key=lambda loss: -loss[1])
        parts = [f"{_fault(name)} {100 * share:.1f} points" for name, share in losses]
        yield f"What I-GCDF1 lacks is lost to {listed(parts)}"


PAGES = UsersPages()
