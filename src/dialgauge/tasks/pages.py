"""Pages of tasks runs: for each domain of the goal what was offered and told, by both rule sets, and why it failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.presentation import (
    Badge,
    Breakdown,
    DialogueRows,
    DialogueView,
    Facet,
    Glossary,
    RunPages,
    RunTables,
    StateRowReader,
    StateView,
    Tone,
    TurnView,
    columns,
    first_scores,
    is_number,
    known,
    listed,
    value_with_interval,
)
from dialgauge.rendering import Column, Table, domain_bars, plain
from dialgauge.stats import share_interval
from dialgauge.tasks.reason_groups import dialogue_reasons, frequent_reasons, reason_counts, reason_pairs
from dialgauge.tasks.reasons import REASONS, TOLD_IN_VAIN, reason_texts, reasons_table
from dialgauge.tasks.results import warnings
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Dialogue, Goal, Turn
    from dialgauge.runs import Run

_VERDICTS, _SCORES = "task_verdicts", "dialogue_scores"
RULES = ("mwzeval", "grounded")
#: The measures of both rule sets, as runs name them.
_ASPECTS = {("Inform", "mwzeval"): "Inform", ("Success", "mwzeval"): "Success",
            ("Inform", "grounded"): "Inform(rules=grounded)",
            ("Success", "grounded"): "Success(rules=grounded)"}  # fmt: skip
_PLACEHOLDER = re.compile(r"(\[[\w\s]+\])")
#: What a run must say of a system for the doubts about its numbers to be known.
_DOUBTED = {"stuffed_responses", "request_precision", "domains_per_turn", "domains"}


class TaskRow(Struct, frozen=True):
    """A domain of the goal under one rule set."""

    domain: str
    rules: str
    inform: Badge
    success: Badge
    turn: int | None
    offer: str
    #: What was asked for, and what is wrong with how it was told; nothing where it was told.
    asked: tuple[tuple[str, str], ...]
    reason: str


class TasksOverview(Struct, frozen=True):
    """All domains of the goal, and what this run and the human responses reach in all dialogues."""

    domains: Mapping[str, Sequence[TaskRow]]
    reached: Sequence[tuple[str, float | None, float | None]]


class ResponseCell(Struct, frozen=True):
    """A response in pieces, each with whether it is a placeholder."""

    pieces: tuple[tuple[str, bool], ...]


class RequestCell(Struct, frozen=True):
    """What stands beside a user turn: both states, and what the next response is taken to be about."""

    states: StateView | None
    active: tuple[str, ...]


# Facets


def _measured(frame: polars.DataFrame) -> polars.DataFrame:
    """Whether a measure that is one or nothing is one."""
    import polars as pl

    whole = pl.when(pl.col("num") >= pl.col("den")).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return frame.filter(pl.col("den") > 0).select("dialogue", whole.alias("value"))


def _failed(frame: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    return frame.filter(~pl.col("success")).select("dialogue", pl.format("{} ({})", "domain", "rules").alias("value"))


_FACETS = (
    *(
        Facet(f"{aspect.lower()}-{rules}", f"{aspect}, {rules}", _SCORES, (), ("measure", name), _measured)
        for (aspect, rules), name in _ASPECTS.items()
    ),
    Facet("reason", "why a domain failed", REASONS, (), pairs=reason_pairs),
    Facet("failed", "domain that failed", _VERDICTS, (), pairs=_failed),
)


class TasksPages(RunPages):
    """Tasks runs."""

    template = "dialgauge.tasks:pages.html"
    facets = _FACETS
    breakdowns = (
        Breakdown("Why domains failed", "reason", tone="bad", note="dialogues in which a domain failed so"),
        Breakdown("Domains that failed", "failed", tone="bad", note="dialogues"),
    )

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The responses with their placeholders marked, both states, and above them the verdicts."""
        rows = library.rows(run, _VERDICTS, dialogue.id)
        offers = _offers(rows)
        reader = StateRowReader()
        turns = []
        for index, turn in enumerate(dialogue.turns):
            cell = _cell(turn, reader)
            marks = cell.states.badges() if isinstance(cell, RequestCell) and cell.states else offers.get(index, ())
            turns.append(TurnView(index, turn.speaker, turn.text, marks, cell))
        reasons = library.rows(run, REASONS, dialogue.id)
        overview = TasksOverview(_domains(rows, reasons, dialogue.goal), list(_reached(run)))
        return DialogueView(self.template, turns, overview, list(_verdicts(rows)))

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """By domain and by reason under both rule sets, and beside the human responses."""
        verdicts = _table(library, run)
        made = [] if verdicts is None else [_domain_table(verdicts), _reason_table(_reasons(library, run))]
        return [*made, *_human_table(run)]

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Inform and Success by domain."""
        verdicts = _table(library, run)
        return {} if verdicts is None else {"by domain": partial(_domain_chart, verdicts)}

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """Inform and Success beside those of human responses, why domains fail, and what to beware of."""
        human = run.details.get("human")
        human = human if isinstance(human, Mapping) else {}
        inform, success = known(run, "Inform"), known(run, "Success")
        if inform is None and success is None:
            yield from first_scores(run, words)
        else:
            parts = [_beside_humans(run, name, words, human) for name in ("Inform", "Success") if known(run, name)]
            yield f"{plain(run.name)} has {listed(parts)}"
        grounded = [f"{name}(rules=grounded)" for name in ("Inform", "Success")]
        parts = [_beside_humans(run, name, words, human) for name in grounded if known(run, name)]
        if parts:
            yield f"By the rule set grounded, which credits only what is supported, it has {listed(parts)}"
        texts = [
            f"{value_with_interval(run.scores[name])} by {words.said(name)}"
            for name in ("BLEU", "Combined")
            if known(run, name)
        ]
        if texts:
            yield f"Its wording has {listed(texts)}" if len(texts) == 1 else f"It has {listed(texts)}"
        yield from _failed_domains(run)
        yield from _doubts(run)

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        return "; ".join(dialogue_reasons(tables, dialogue, "grounded")[:2])


# One dialogue


def _verdicts(rows: Sequence[Mapping[str, Any]]) -> Iterator[Badge]:
    """Inform and Success of the whole dialogue: all of its domains must have it."""
    for rules in RULES:
        own = [row for row in rows if row["rules"] == rules]
        for aspect in ("inform", "success") if own else ():
            flags = [row[aspect] for row in own]
            yield _flag(None if None in flags else all(flags), f"{aspect.capitalize()} ({rules})")


def _flag(value: bool | None, name: str = "") -> Badge:
    word = "not known" if value is None else "yes" if value else "no"
    tone: Tone = "plain" if value is None else "good" if value else "bad"
    return Badge(f"{name}: {word}" if name else word, tone)


def _domains(
    rows: Iterable[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]], goal: Goal | None
) -> dict[str, list[TaskRow]]:
    by_domain: dict[str, list[TaskRow]] = {}
    whys = reason_texts(reasons)
    for row in rows:
        domain = row["domain"] or "unknown"
        own = [reason for reason in reasons if (reason["domain"], reason["rule"]) == (row["domain"], row["rules"])]
        by_domain.setdefault(domain, []).append(
            TaskRow(
                domain,
                row["rules"] or "",
                _flag(row["inform"]),
                _flag(row["success"]),
                row["turn"],
                _offer(row, own, named=_is_named(goal, domain)),
                tuple(_asked(row, own)),
                whys.get((row["dialogue"], row["domain"], row["rules"]), ""),
            )
        )
    return by_domain


#: What reasons say of a request.
_TOLD = {"never_told": "not told", **dict.fromkeys(TOLD_IN_VAIN, "told in vain")}


def _asked(row: Mapping[str, Any], reasons: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What was asked for, each with what is wrong with how it was told. Where it is the offer that failed, the reasons
    do not say whether it was told."""
    explanations = {reason["slot"]: _TOLD[reason["reason"]] for reason in reasons if reason["reason"] in _TOLD}
    for name in row["requested"] or ():
        yield name, explanations.get(name, "not credited") if name in (row["missing"] or ()) else ""


def _is_named(goal: Goal | None, domain: str) -> bool:
    """Whether the goal says what the venue is called: mwzeval does not look at what is offered then."""
    return goal is not None and domain in goal.tasks and "name" in goal.tasks[domain].info


def _offer(row: Mapping[str, Any], reasons: Iterable[Mapping[str, Any]], *, named: bool) -> str:
    """How many rows were offered, how many of them fit, and how many there are that fit. Not every domain needs an
    offer, and what is offered of a taxi is nothing that can be looked up."""
    offered, fitting = row["offered"], row["fitting"]
    if not offered:
        none = "none needed" if row["inform"] else "none"
        return none if row["turn"] is None else "" if offered is None else "no rows"
    unfit = next((reason["unfit"] for reason in reasons if reason["unfit"] is not None), None)
    if unfit is not None:
        fit = f", {offered - unfit:,} of which fit the goal"
    elif row["inform"] and not (named and row["rules"] == "mwzeval"):
        fit = ", which fits the goal" if offered == 1 else ", all of which fit the goal"
    else:
        fit = ""
    known = "" if fitting is None else f"; {fitting:,} in the database {'does' if fitting == 1 else 'do'}"
    return f"{counted(offered, 'row')}{fit}{known if fit else ''}"


def _offers(rows: Iterable[Mapping[str, Any]]) -> dict[int, list[Badge]]:
    """The offers that count, by turn."""
    badges: dict[int, list[Badge]] = {}
    for row in rows:
        if row["turn"] is not None:
            fits = row["inform"]
            title = f"the offer of {row['domain']} that counts under {row['rules']}"
            mark = Badge(f"offer: {row['domain']}, {row['rules']}", "good" if fits else "bad", title)
            badges.setdefault(row["turn"], []).append(mark)
    return badges


def _cell(turn: Turn, reader: StateRowReader) -> ResponseCell | RequestCell | None:
    if turn.speaker == "system":
        pieces = _PLACEHOLDER.split(turn.text)
        return ResponseCell(tuple((piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece))
    states = reader.read(turn)
    return RequestCell(states, turn.active or ()) if states is not None or turn.active else None


def _reached(run: Run) -> Iterator[tuple[str, float | None, float | None]]:
    """Inform and Success over all dialogues, of this run and of the human responses."""
    human = run.details.get("human") or {}
    for (aspect, rules), name in _ASPECTS.items():
        if name in run.scores and name in human:
            yield f"{aspect} ({rules})", run.scores[name].value, human[name]


# The page of a run


def _table(library: RunTables, run: Run) -> polars.DataFrame | None:
    """The verdicts, with a name for every domain; None where there are none."""
    import polars as pl

    if _VERDICTS not in run.tables:
        return None
    frame = library.table(run, _VERDICTS)
    return frame.with_columns(pl.col("domain").fill_null("unknown")) if frame.height else None


def _reasons(library: RunTables, run: Run) -> polars.DataFrame:
    """Why domains failed; of a run that does not say, an empty table."""
    return library.table(run, REASONS) if REASONS in run.tables else reasons_table(())


def _shares(verdicts: polars.DataFrame) -> dict[str, dict[tuple[str, str], float | None]]:
    """By domain the share of dialogues that were informed, and served, under each rule set."""
    import polars as pl

    means = verdicts.group_by("domain", "rules").agg(pl.col("inform", "success").mean()).sort("domain").rows()
    shares: dict[str, dict[tuple[str, str], float | None]] = {}
    for domain, rules, inform, success in means:
        shares.setdefault(domain, {}).update({("Inform", rules): inform, ("Success", rules): success})
    return shares


def _domain_table(verdicts: polars.DataFrame) -> Table:
    import polars as pl

    heads = [Column(f"{aspect}, {rules}", percent=True, digits=2, align="right") for aspect, rules in _ASPECTS]
    table = Table("By domain", ["domain", Column("dialogues", align="right"), *heads])
    counts = dict(verdicts.group_by("domain").agg(pl.col("dialogue").n_unique()).rows())
    for domain, shares in _shares(verdicts).items():
        table.add(domain, counts[domain], *(shares.get(key) for key in _ASPECTS))
    table.notes.append("Under mwzeval no domain succeeds in a dialogue in which another was not informed.")
    return table


def _reason_table(reasons: polars.DataFrame) -> Table:
    counts = reason_counts(reasons, "rule")
    table = Table("Why domains failed", ["reason", *(Column(rules, align="right") for rules in RULES)])
    for name in sorted(counts, key=lambda group: (-sum(counts[group].values()), group)):
        table.add(name, *(counts[name].get(rules, 0) for rules in RULES))
    table.notes.append("Domains of goals; one that was never told one thing, and another in vain, counts twice.")
    return table


def _human_table(run: Run) -> list[Table]:
    """This run beside the human responses, with what should make a reader doubt its numbers."""
    rows = list(_reached(run))
    doubts = warnings(run) if run.details.keys() >= _DOUBTED else []
    if not rows and not doubts:
        return []
    heads = [Column(name, percent=True, digits=2, align="right") for name in ("this run", "human responses")]
    return [Table("Beside the human responses", ["measure", *heads], rows, [f"Doubt: {doubt}." for doubt in doubts])]


def _domain_chart(verdicts: polars.DataFrame) -> Any:
    """Shares of dialogues: a domain has one verdict in each of its dialogues."""
    import polars as pl

    judged = verdicts.unpivot(["inform", "success"], index=["domain", "rules"], variable_name="aspect").drop_nulls()
    groups = judged.group_by("domain", "rules", "aspect").agg(pl.col("value").sum(), pl.len().alias("cases"))
    bars: dict[str, dict[str, float | None]] = {}
    ends: dict[str, dict[str, tuple[float, float]]] = {}
    for domain, rules, aspect, count, cases in groups.sort("domain").iter_rows():
        name = f"{aspect.capitalize()}, {rules}"
        bars.setdefault(domain, {})[name] = count / cases
        ends.setdefault(domain, {})[name] = share_interval(count, cases)
    order = [f"{aspect}, {rules}" for aspect, rules in _ASPECTS]
    return domain_bars(
        {domain: {name: of.get(name) for name in order} for domain, of in bars.items()},
        title="Inform and Success by domain",
        value="dialogues",
        percent=True,
        counts=dict(verdicts.group_by("domain").agg(pl.col("dialogue").n_unique()).rows()),
        intervals=ends,
        note="95% intervals; n: dialogues with the domain",
    )


# Sentences


def _beside_humans(run: Run, name: str, words: Glossary, human: Mapping[str, Any]) -> str:
    theirs = human.get(name)
    beside = f"human responses: {100 * theirs:.1f}%" if isinstance(theirs, float) and is_number(theirs) else ""
    return f"{value_with_interval(run.scores[name])} by {words.said(name, beside)}"


def _failed_domains(run: Run) -> Iterator[str]:
    frame = columns(run, _VERDICTS, text=("rules",), number=("success",))
    reasons = frequent_reasons(run, "grounded")
    if frame is not None and reasons:
        failed = frame.filter((frame["rules"] == "grounded") & (frame["success"] == 0))
        yield f"Of {counted(failed.height, 'domain')} that fail by grounded the most frequent reasons are: {reasons}"


def _doubts(run: Run) -> Iterator[str]:
    try:
        doubts = warnings(run)
    except (DialgaugeError, KeyError, TypeError, ValueError):  # details and coverage are those of another version
        return
    for doubt in doubts:
        yield f"Beware: {doubt}"


PAGES = TasksPages()
