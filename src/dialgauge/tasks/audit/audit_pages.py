"""What pages and reports say of a log: is it what it says, what does its pass rate blend, were its tasks fair.

All of it is made from the tables that a run stores (``audit_tables``); what a run lacks is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from dialgauge.dialogue import Dialogue
from dialgauge.measures import pass_rate
from dialgauge.presentation import TRIALS, Facet, Panel, PanelCell, PanelRow, Reason, RunTables, Tone, quoted
from dialgauge.runs import Run
from dialgauge.tasks.audit.audit_tables import FILINGS, REPLAYS, TASK_FACTS, stored_integrity
from dialgauge.tasks.audit.audit_views import FACT_WORDS, SPLITS, belonging_answer
from dialgauge.tasks.audit.task_facts import UNFAIR
from dialgauge.text import counted
from dialgauge.worlds.tools import Integrity, filing_words, withheld_words

#: Filters by what an audit says; their values are words, as people choose from them.
_BELONGING, _TWICE, _CHANGE, _FACT, _REPLAY = "belonging", "twice", "change", "fact", "replay"
_BELONGINGS = {
    "belongs": "belongs to its task",
    "unknown": "cannot be told",
    "foreign": "filed under another task",
}
_SAME = "as another conversation"
_AGREES, _DIFFERS = "gives the recorded verdict", "contradicts the recorded verdict"
_ORDER_ONLY, _LATE = "data wrong only in the order of lists", "right data, but out of steps"
#: Foreign conversations, and values, that are named.
_NAMED = 5


def _belongings(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select("dialogue", pl.col("belonging").replace_strict(_BELONGINGS, default=None).alias("value"))


def _twice(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("same_as").list.len() > 0).select("dialogue", pl.lit(_SAME).alias("value"))


def _replays(library: RunTables, run: Run) -> pl.DataFrame:
    """Each conversation with whatever holds of its replay."""
    frame = library.table(run, REPLAYS).join(library.table(run, TRIALS).select("dialogue", "end"), on="dialogue")
    finished = pl.col("end") == "finished"
    held = {
        _AGREES: pl.col("agrees"),
        _DIFFERS: ~pl.col("agrees"),
        _ORDER_ONLY: pl.col("order_only") & finished,
        _LATE: pl.col("data_right") & ~finished,
    }
    return pl.concat(
        frame.filter(holds.fill_null(value=False)).select("dialogue", pl.lit(words).alias("value"))
        for words, holds in held.items()
    )


def _facts(library: RunTables, run: Run) -> pl.DataFrame:
    """Each conversation with the facts of its task, as codes."""
    facts = library.table(run, TASK_FACTS).select("task", "fact")
    return library.table(run, TRIALS).select("dialogue", "task").join(facts, on="task")


def _fact_words(words: Mapping[str, str], library: RunTables, run: Run) -> pl.DataFrame:
    value = pl.col("fact").replace_strict(words, default=None)
    return _facts(library, run).select("dialogue", value.alias("value")).drop_nulls()


AUDIT_FACETS: tuple[Facet, ...] = (
    Facet(_BELONGING, "its task", FILINGS, (), pairs=_belongings),
    Facet(_TWICE, "word for word the same", FILINGS, (), pairs=_twice),
    Facet(_REPLAY, "the replay", REPLAYS, (), made=_replays),
    Facet(_CHANGE, "in its task", TASK_FACTS, (), made=partial(_fact_words, SPLITS)),
    Facet(_FACT, "about its task", TASK_FACTS, (), made=partial(_fact_words, FACT_WORDS)),
)


def per_task_stands(run: Run) -> bool:
    """Whether what goes by task may be shown of a run: not where its conversations do not belong to their tasks."""
    integrity = stored_integrity(run)
    return integrity is None or integrity.per_task_stands


def audit_panels(library: RunTables, run: Run) -> Iterator[Panel]:
    """Is it what it says, what does the pass rate blend, were the tasks fair: as far as the run has been audited."""
    integrity = stored_integrity(run)
    if integrity is None:
        return
    yield _integrity_panel(library, run, integrity)
    if TASK_FACTS in run.tables and integrity.per_task_stands:
        tasks = _task_trials(library, run)
        facts: dict[str, list[str]] = {}
        for task, fact in library.table(run, TASK_FACTS).select("task", "fact").rows():
            facts.setdefault(fact, []).append(task)
        yield from _split_panel(library, run, tasks, facts)
        yield _fairness_panel(library, run, tasks, facts)


def _integrity_panel(library: RunTables, run: Run, integrity: Integrity) -> Panel:
    linked = FILINGS in run.tables
    tones: dict[str, Tone] = {"belongs": "good", "unknown": "plain", "foreign": "bad"}
    findings = [
        _finding(_BELONGINGS[code], count, {_BELONGING: _BELONGINGS[code]} if linked else {}, tones[code])
        for code, count in integrity.counts.items()
        if count
    ]
    if same := sum(map(len, integrity.identical)):
        words = "word for word the same as another conversation"
        findings.append(_finding(words, same, {_TWICE: _SAME} if linked else {}, "warn"))
    if more := integrity.beyond_plan:
        words = "conversations of tasks with more trials than planned"
        findings.append(PanelRow(words, [PanelCell(f"{sum(more.values()):,}")], tuple(more), "warn"))
    replayed = _replay_counts(library, run) if integrity.per_task_stands else {}
    answers: dict[str, Tone] = {_AGREES: "good", _DIFFERS: "bad", _ORDER_ONLY: "warn", _LATE: "warn"}
    findings += [
        _finding(f"the replay: {words}", replayed[words], {_REPLAY: words}, tone)
        for words, tone in answers.items()
        if replayed.get(words)
    ]
    notes = [f"{filing_words(filing)}." for filing in integrity.foreign[:_NAMED]]
    notes += withheld_words(integrity)
    if TASK_FACTS in run.tables and not replayed:
        notes.append("Calls were not made again: the records and tools of this log's domain were not at hand.")
    bad = bool(integrity.foreign or replayed.get(_DIFFERS))
    unsure = integrity.counts["unknown"] == integrity.conversations
    return Panel(
        "integrity",
        "Is it what it says?",
        " ".join([belonging_answer(integrity), *_replay_answer(replayed)]),
        ("", "conversations"),
        findings,
        notes,
        "bad" if bad else "warn" if unsure or integrity.identical else "good",
    )


def _replay_answer(replayed: Mapping[str, int]) -> Iterator[str]:
    if replayed:
        every = counted(replayed.get(_AGREES, 0) + replayed.get(_DIFFERS, 0), "conversation")
        yield f"Making its calls again gives the recorded verdict in {replayed.get(_AGREES, 0):,} of {every}."


def _finding(words: str, count: int, only: Mapping[str, str], tone: Tone = "plain") -> PanelRow:
    return PanelRow(words, [PanelCell(f"{count:,}", only)], tone=tone)


def _replay_counts(library: RunTables, run: Run) -> dict[str, int]:
    if REPLAYS not in run.tables or not library.table(run, REPLAYS).height:
        return {}
    return dict(_replays(library, run).group_by("value").len().rows())


def _task_trials(library: RunTables, run: Run) -> dict[str, list[bool]]:
    """Which trials of each task passed, of those that have a verdict."""
    tasks: dict[str, list[bool]] = {}
    for task, success in library.table(run, TRIALS).select("task", "success").rows():
        own = tasks.setdefault(str(task), [])
        if success is not None:
            own.append(success)
    return tasks


def _split_panel(
    library: RunTables, run: Run, tasks: Mapping[str, Sequence[bool]], facts: Mapping[str, Sequence[str]]
) -> Iterator[Panel]:
    """pass^k over all tasks, and apart by whether anything must change."""
    groups = {code: [task for task in facts.get(code, ()) if tasks.get(task)] for code in SPLITS if code != "all"}
    if not all(groups.values()):
        return
    most = max(map(len, tasks.values()))
    findings = [
        _split_finding(SPLITS[code], named, tasks, {} if code == "all" else {_CHANGE: SPLITS[code]}, most)
        for code, named in {"all": [task for task in tasks if tasks[task]], **groups}.items()
    ]
    rates = {code: _pass_rate([tasks[task] for task in named], 1) for code, named in groups.items()}
    notes = []
    if (idle := _passed_without_writes(library, run)) is not None:
        passed = sum(map(sum, tasks.values()))
        notes.append(f"{idle:,} of the {passed:,} passes make no call of a tool that writes.")
    yield Panel(
        "blend",
        "What does the pass rate blend?",
        f"Two tests: where something must change {rates['writes_needed']}% pass, where nothing may change "
        f"{rates['null_pass']}%: there, doing nothing passes the test of the data.",
        ("tasks in which", "tasks", "trials", "passed", *(f"pass^{k}" for k in range(1, most + 1))),
        findings,
        notes,
    )


def _split_finding(
    words: str, named: Sequence[str], tasks: Mapping[str, Sequence[bool]], only: Mapping[str, str], most: int
) -> PanelRow:
    trials = [tasks[task] for task in named]
    rates = [PanelCell(_pass_rate(trials, k)) for k in range(1, most + 1)]
    passed, every = sum(map(sum, trials)), sum(map(len, trials))
    return PanelRow(
        words,
        [PanelCell(f"{len(named):,}"), PanelCell(f"{every:,}", only),
         PanelCell(f"{passed:,}", {**only, "passed": "yes"}), *rates],
    )  # fmt: skip


def _pass_rate(trials: Sequence[Sequence[bool]], k: int) -> str:
    rate = pass_rate(trials, k)
    return "–" if rate is None else f"{100 * rate:.1f}"


def _passed_without_writes(library: RunTables, run: Run) -> int | None:
    if REPLAYS not in run.tables or not library.table(run, REPLAYS).height:
        return None
    idle = (pl.col("writes_done") + pl.col("writes_failed")) == 0
    passed = library.table(run, TRIALS).filter(pl.col("success")).select("dialogue")
    return library.table(run, REPLAYS).filter(idle).join(passed, on="dialogue").height


def _fairness_panel(
    library: RunTables, run: Run, tasks: Mapping[str, Sequence[bool]], facts: Mapping[str, Sequence[str]]
) -> Panel:
    frame = _facts(library, run).group_by("fact").agg(pl.col("dialogue").n_unique())
    conversations: dict[str, int] = dict(frame.rows())
    findings = [
        PanelRow(
            words,
            [PanelCell(f"{len(facts[code]):,}"), PanelCell(f"{conversations.get(code, 0):,}", {_FACT: words})],
            facts[code],
            "bad" if code in UNFAIR else "plain",
        )
        for code, words in sorted(FACT_WORDS.items(), key=lambda each: each[0] not in UNFAIR)
        if code in facts
    ]
    if never := [task for task, trials in tasks.items() if trials and not any(trials)]:
        trials = sum(len(tasks[task]) for task in never)
        cells = [PanelCell(f"{len(never):,}"), PanelCell(f"{trials:,}", {"steady": "none passes"})]
        findings.append(PanelRow("passed in no trial", cells, never, "warn"))
    unfair = dict.fromkeys(task for code in UNFAIR for task in facts.get(code, ()))
    every = counted(len(tasks), "task")
    answer = f"Something is unfair about {len(unfair):,} of {every}." if unfair else f"Of {every}, none looks unfair."
    notes = [] if REPLAYS in run.tables and library.table(run, REPLAYS).height else [
        "Without the records and tools of the domain, only what the texts of the tasks say was checked."
    ]  # fmt: skip
    heads = ("what", "tasks", "conversations", "which")
    return Panel("fairness", "Were its tasks fair?", answer, heads, findings, notes, "warn" if unfair else "good")


def audit_reasons(library: RunTables, run: Run, dialogue: Dialogue) -> list[Reason]:
    """What the audit says of one conversation, and of its task where it failed; the gravest first."""
    reasons = []
    for row in library.rows(run, FILINGS, dialogue.id) if FILINGS in run.tables else ():
        if row["belonging"] == "foreign":
            fits = f": it fits task {row['fits']}" if row["fits"] else ""
            reasons.append(Reason(f"Filed under task {row['task']}, to which it does not belong{fits}"))
        if row["same_as"]:
            reasons.append(Reason(f"Word for word the same as {', '.join(row['same_as'][:_NAMED])}", tone="warn"))
    for row in library.rows(run, REPLAYS, dialogue.id) if REPLAYS in run.tables else ():
        reasons += _replay_reasons(row, dialogue)
    if dialogue.outcome is not None and dialogue.outcome.success is False:
        unfair = [(code, about) for code, about in _task_facts(library, run, dialogue) if code in UNFAIR]
        reasons += [Reason(f"Its task is unfair: {_fact_sentence(code, about)}", tone="warn") for code, about in unfair]
    return reasons


def contradictions(library: RunTables, run: Run) -> dict[str, tuple[int | None, str]]:
    """Conversations that are not what the log says of them, each with why."""
    reasons: dict[str, tuple[int | None, str]] = {}
    if REPLAYS in run.tables:
        for row in library.table(run, REPLAYS).filter(~pl.col("agrees")).to_dicts():
            reasons[row["dialogue"]] = (None, _verdicts(row))
    if FILINGS in run.tables:
        for row in library.table(run, FILINGS).filter(pl.col("belonging") == "foreign").to_dicts():
            reasons[row["dialogue"]] = (None, f"fits task {row['fits']}" if row["fits"] else f"not task {row['task']}")
    return reasons


def _verdicts(row: Mapping[str, Any]) -> str:
    return f"recorded {_reward(row['recorded'])}, replayed {_reward(row['replayed'])}"


def _replay_reasons(row: Mapping[str, Any], dialogue: Dialogue) -> Iterator[Reason]:
    if row["agrees"] is False:
        at = None if row["drift_message"] is None else turn_of(dialogue, row["drift_message"])
        tool = f": {row['drift_tool']} comes out otherwise than recorded" if row["drift_tool"] else ""
        yield Reason(f"Making its calls again contradicts its verdict ({_verdicts(row)}){tool}", at)
    if row["order_only"]:
        yield Reason("Its data are wrong only in the order of lists", tone="warn")


def _reward(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"


def task_facts_of(library: RunTables, run: Run, dialogue: Dialogue) -> list[tuple[str, str]]:
    """What is to be known of the task of a conversation, as facts for the top of its page."""
    facts = _task_facts(library, run, dialogue)
    sentences = [SPLITS[code] for code, _ in facts if code in SPLITS]
    sentences += [_fact_sentence(code, about) for code, about in facts if code in FACT_WORDS and code not in SPLITS]
    return [("its task", "; ".join(sentences))] if sentences else []


def _task_facts(library: RunTables, run: Run, dialogue: Dialogue) -> list[tuple[str, list[str]]]:
    row = next(iter(library.rows(run, TRIALS, dialogue.id)), None)
    if row is None or row["task"] is None or TASK_FACTS not in run.tables:
        return []
    return library.table(run, TASK_FACTS).filter(pl.col("task") == row["task"]).select("fact", "about").rows()


def _fact_sentence(code: str, about: Sequence[str]) -> str:
    shown = ", ".join(map(quoted, about[:_NAMED])) if code not in ("failing_write", "failing_read") else ""
    return f"{FACT_WORDS[code]} ({shown})" if shown else FACT_WORDS[code]


def turn_of(dialogue: Dialogue, message: int) -> int | None:
    """The turn in which a message of the file is shown: a call is shown with the words that follow it."""
    if all(turn.source is None for turn in dialogue.turns):  # every message is a turn
        return message if message < len(dialogue.turns) else None
    places = (index for index, turn in enumerate(dialogue.turns) if turn.source is not None and turn.source >= message)
    return next(places, None)
