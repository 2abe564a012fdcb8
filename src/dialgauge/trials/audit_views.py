"""An audit for people and programs: sentences and tables that fit a screen, and the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from dialgauge.dialogue import contradicted_sentence
from dialgauge.rendering import Cell, Column, Table
from dialgauge.text import capitalised, counted, some_of
from dialgauge.trials.facts import tasks_by_fact
from dialgauge.trials.log_audit import LogAudit, ReplayedConversation
from dialgauge.trials.regrading import Regrading
from dialgauge.trials.task_set import TaskSetAudit
from dialgauge.worlds.tools import Integrity, integrity_document

SPLITS = {
    "all": "all tasks",
    "writes_needed": "something must change",
    "null_pass": "nothing may change",
}
#: What a fact of a task means, in the order in which facts are told.
FACT_WORDS: dict[str, str] = {
    "null_pass": "passed by doing nothing (test of the data)",
    "failing_write": "an expected write fails",
    "failing_read": "an expected read fails (harmless)",
    "order_matters": "another order of the writes ends elsewhere",
    "orders_untried": "too many writes to try all orders",
    "pair_order_matters": "another order of the items ends elsewhere",
    "unsupported": "an expected value that nobody was given",
    "unidentified": "the user cannot be identified",
    "short_output": "an output so short that it occurs by chance",
    "outside_basis": "criteria that the reward ignores",
    "basis_without_content": "a part of the reward that is always 1",
}
_DRIFT = {
    "equal": "results equal to the recorded ones",
    "renamed": "equal but for a renamed key",
    "errors": "errors, recorded and replayed",
    "prose": "sentences, not compared",
    "differs": "results that differ",
    "skipped": "not made again",
}
#: Tasks that a table names; the JSON has all.
_NAMED = 12
#: Foreign conversations that a sentence names.
_FOREIGN = 4


def belonging_answer(integrity: Integrity) -> str:
    """Whether conversations belong to their tasks, in a sentence."""
    total, foreign = counted(integrity.conversations, "conversation"), integrity.foreign
    if integrity.counts["unknown"] == integrity.conversations:
        return "Whether conversations belong to their tasks cannot be told: no call names an id of one or is expected."
    if not foreign:
        untold = "; the rest cannot be told" if integrity.counts["unknown"] else ""
        return f"{integrity.counts['belongs']:,} of {total} belong to their tasks{untold}."
    verb = "is" if len(foreign) == 1 else "are"
    finding = f"{len(foreign):,} of {total} {verb} filed under another task"
    finding += f" ({some_of((each.conversation for each in foreign), _FOREIGN)})"
    if mapping := integrity.mapping:
        shown = some_of((f"{name} task {task}" for name, task in mapping), _FOREIGN)
        fit = "fits" if len(mapping) == 1 else "fit"
        finding += f"; {len(mapping):,} {fit} exactly one other task ({shown})"
    return f"The log is not what it claims to be: {finding}."


def task_set_tables(audit: TaskSetAudit) -> list[Table]:
    """What is odd about tasks, each with the tasks it is odd about."""
    table = Table("Tasks", ["what", Column("tasks", align="right"), "which"])
    held = tasks_by_fact(audit.facts)
    for code, words in FACT_WORDS.items():
        if tasks := held.get(code):
            table.add(words, len(tasks), some_of(tasks, _NAMED))
    table.notes.append(f"{counted(len(audit.facts), 'task')} in all.")
    if audit.domain is None:
        table.notes.append(
            "Without the records and tools of the domain (--domain), only what the texts say is checked."
        )
    if (null := audit.null_agent) is not None:
        table.notes.append(
            f"An agent that does nothing has the right data in {100 * null.database:.1f}% of the tasks and the whole "
            f"reward in {100 * null.reward:.1f}%."
        )
    return [table]


def log_tables(audit: LogAudit, limit: int | None = None) -> list[Table]:
    """One log: the replay beside what was recorded, pass^k split, and what contradicts (at most ``limit`` rows).

    Where too many conversations do not belong to their tasks, nothing is shown that rests on tasks.
    """
    tables = [_replay_table(audit)]
    if audit.integrity.per_task_stands:
        tables.append(_split_table(audit))
        if audit.differences:
            tables.append(_difference_table(audit.differences, audit.name, limit))
    return [table for table in tables if len(table) or table.notes]


def _replay_table(audit: LogAudit) -> Table:
    table = Table(f"Replay: {audit.name}", ["what", Column("number", align="right"), Column("of", align="right")])
    by_task = audit.integrity.per_task_stands
    for words, (same, stored) in (
        ("recorded rewards that the replay gives", audit.rewards_reproduced),
        ("recorded verdicts on the data", audit.reproduced("DB")),
        ("recorded verdicts on what was told", audit.reproduced("COMMUNICATE")),
        ("recorded verdicts on actions", audit.reproduced("ACTION")),
    ):
        if stored and by_task:
            table.add(words, same, stored)
    drift = audit.drift
    for code, words in _DRIFT.items():
        if drift[code]:
            table.add(f"calls: {words}", drift[code], drift.total())
    if audit.no_replay is None and by_task:
        finished = [one for one in audit.conversations if one.finished]
        wrong = [one for one in finished if one.replay_parts.get("DB") is False]
        stopped = [one for one in audit.conversations if one.finished is False]
        late = [one for one in stopped if one.replay_parts.get("DB")]
        table.add("finished conversations with wrong data", len(wrong), len(finished))
        table.add("of these wrong only in the order of lists", sum(one.order_only for one in wrong), len(wrong))
        table.add("right data, but out of steps", len(late), len(stopped))
    table.notes += _replay_notes(audit)
    return table


def _replay_notes(audit: LogAudit) -> Iterator[str]:
    if odd := audit.self_contradicted:
        yield capitalised(contradicted_sentence(odd, len(audit.conversations), _NAMED))
    if audit.no_replay == "no world":
        yield (
            "No calls were made again: the records and tools of this log's domain are not here (--domain FOLDER names "
            "one); what texts and calls alone say is checked."
        )
    elif audit.no_replay == "calls in prose":
        yield "Not replayable: the agent wrote its calls into its texts."
    renamed = Counter(pair for conversation in audit.conversations for pair in conversation.renamed)
    for (old, new), _ in renamed.most_common():
        yield f"In the records the key '{old}' is now '{new}'; no verdict rests on it."
    unknown = sum((Counter(conversation.unknown_tools) for conversation in audit.conversations), Counter[str]())
    if unknown:
        yield "Calls of unknown tools: " + ", ".join(f"{name} ({number})" for name, number in unknown.items()) + "."
    if doubtful := [conversation.id for conversation in audit.conversations if not conversation.reliable]:
        named = some_of(doubtful, _NAMED)
        yield f"A write came out otherwise than recorded, so the replayed verdict is in doubt: {named}."


def _split_table(audit: LogAudit) -> Table:
    most = max((max(split.pass_k, default=0) for split in audit.split.values()), default=0)
    ks = [Column(f"pass^{k}", percent=True, digits=1, align="right") for k in range(1, most + 1)]
    columns = [Column("tasks in which"), *(Column(name, align="right") for name in ("tasks", "trials", "passed")), *ks]
    table = Table(f"What the pass rate blends: {audit.name}", columns, unit="percent")
    for name, words in SPLITS.items():
        if (split := audit.split.get(name)) is not None and split.tasks:
            table.add(words, split.tasks, split.conversations, split.passed, *map(split.pass_k.get, range(1, most + 1)))
    if (without := audit.passed_without_any_write_call) is not None and "all" in audit.split:
        passed = audit.split["all"].passed
        table.notes.append(f"{without:,} of the {passed:,} passes have no call of a tool that writes.")
    if audit.never_passed:
        table.notes.append(f"Passed in no trial: {some_of(audit.never_passed, _NAMED)}.")
    return table


def _difference_table(differences: Sequence[ReplayedConversation], name: str, limit: int | None) -> Table:
    table = Table(
        f"Verdicts that the replay contradicts: {name}",
        ["conversation", "recorded", "replayed", "first call that came out otherwise"],
    )
    for conversation in differences[:limit]:
        first = conversation.first_drift
        where = f"message {first['message']}, {first['tool']}" if first else "none: the same calls, another verdict"
        table.add(conversation.id, _reward(conversation.recorded_reward), _reward(conversation.replay_reward), where)
    if limit is not None and len(differences) > limit:
        table.notes.append(f"{len(differences) - limit:,} more; --limit 0 and files have all.")
    return table


def _reward(reward: float | None) -> str:
    return "open" if reward is None else f"{reward:g}"


def regrading_sentences(regrading: Regrading) -> list[str]:
    """What was graded again, what could not be, and which verdicts flip."""
    name, flips = regrading.name, regrading.flips
    sentences = [
        f"{name}: {counted(regrading.graded, 'conversation')} graded again, "
        f"{counted(len(flips), 'verdict')} {'flips' if len(flips) == 1 else 'flip'}"
        + (f" ({some_of([f'{flip.conversation} {_WAYS[flip.after]}' for flip in flips], _NAMED)})." if flips else ".")
    ]
    if regrading.other_instruction:
        sentences.append(
            f"{name}: not graded again, as their users were told something else: tasks "
            f"{some_of(regrading.other_instruction, _NAMED)}."
        )
    if regrading.missing:
        sentences.append(f"{name}: the other version has no tasks {some_of(regrading.missing, _NAMED)}.")
    if regrading.open:
        sentences.append(f"{name}: only a model could judge again: {some_of(regrading.open, _NAMED)}.")
    return sentences


_WAYS = {True: "now passes", False: "now fails"}


def regrading_table(regrading: Regrading) -> Table:
    """pass^k under both versions, over the same tasks."""
    shares = [Column(name, percent=True, digits=1, align="right") for name in ("recorded", "again", "difference")]
    columns = [Column("measure"), Column("tasks", align="right"), *shares]
    table = Table(f"Graded again: {regrading.name}", columns, unit="percent")
    for row in regrading.pass_k:
        table.add(f"pass^{row.k}", row.tasks, row.before, row.after, Cell(row.difference, row.low, row.high))
    table.notes.append("The interval (95%) of the difference resamples tasks, both verdicts of each together.")
    return table


def audit_document(
    task_set: TaskSetAudit, logs: Sequence[LogAudit], same: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """The whole audit as JSON."""
    return {
        "domain": task_set.domain,
        "tasks": msgspec.to_builtins(task_set.facts),
        "null_agent": msgspec.to_builtins(task_set.null_agent),
        "logs": [_log_document(audit) for audit in logs],
        "never_passed": never_passed(logs),
        "same_logs": [list(names) for names in same],
    }


def never_passed(logs: Sequence[LogAudit]) -> list[str]:
    """Tasks that no trial of any log passes; nothing where a log cannot speak of tasks."""
    if not logs or not all(audit.integrity.per_task_stands for audit in logs):
        return []
    common = set.intersection(*(set(audit.never_passed) for audit in logs)) if logs else set()
    return [task for task in logs[0].never_passed if task in common]


def _log_document(audit: LogAudit) -> dict[str, Any]:
    stands = audit.integrity.per_task_stands
    reproduced = {"rewards": audit.rewards_reproduced}
    reproduced |= {part: audit.reproduced(part) for part in ("DB", "COMMUNICATE")}
    return {
        "name": audit.name,
        "file": audit.file,
        "benchmark": audit.benchmark,
        "domain": audit.domain,
        "integrity": integrity_document(audit.integrity),
        "no_replay": audit.no_replay,
        "reproduced": {part: {"same": same, "of": of} for part, (same, of) in reproduced.items()},
        "calls": dict(audit.drift),
        "split": {
            name: {
                "tasks": split.tasks,
                "conversations": split.conversations,
                "passed": split.passed,
                **{f"pass^{k}": value for k, value in split.pass_k.items()},
            }
            for name, split in audit.split.items()
        }
        if stands
        else None,
        "passed_without_any_write_call": audit.passed_without_any_write_call,
        "passed_without_successful_write": audit.passed_without_successful_write,
        "never_passed": list(audit.never_passed) if stands else None,
        "conversations": msgspec.to_builtins(audit.conversations),
        "differences": [difference.id for difference in audit.differences],
    }
