"""What the check of a log's integrity says, in sentences and as JSON: before any number that rests on the log."""

from __future__ import annotations

from typing import Any

from dialgauge.text import counted, some_of
from dialgauge.worlds.tools.integrity import MOST_FOREIGN, Filing, Integrity

#: How many conversations are named as examples.
_NAMED = 5


def integrity_sentences(name: str, integrity: Integrity) -> list[str]:
    """One sentence where all is well; more where conversations do not belong to their tasks."""
    counts, total = integrity.counts, integrity.conversations
    if counts["unknown"] == total:
        sentence = (
            "it cannot be told whether conversations belong to their tasks: no call names a user or an order of one, "
        )
        return [f"{name}: {sentence}and no expected actions are stored.", *_twice(name, integrity)]
    parts = [f"{counts['belongs']:,} of {counted(total, 'conversation')} belong to their tasks"]
    if counts["unknown"]:
        parts.append(f"{counts['unknown']:,} cannot be told")
    foreign = counts["foreign"]
    parts.append(f"{foreign:,} {'is' if foreign == 1 else 'are'} foreign" if foreign else "none is foreign")
    sentences = [f"{name}: {', '.join(parts)}.{_reach(integrity)}"]
    if integrity.foreign:
        sentences += _foreign_sentences(name, integrity)
    return [*sentences, *_twice(name, integrity)]


def _twice(name: str, integrity: Integrity) -> list[str]:
    groups = "; ".join(", ".join(group) for group in integrity.identical[:_NAMED])
    others = len(integrity.identical) - _NAMED
    more = f"; and {counted(others, 'more group')}" if others > 0 else ""
    return [f"{name}: conversations that are word for word the same: {groups}{more}."] if groups else []


def _reach(integrity: Integrity) -> str:
    share = integrity.others_hit
    if integrity.tasks_from == "majority":
        return " No task file was at hand: ids that are permuted as a whole would not show."
    if share is None:
        return " Only stored actions could tell: no identifier in the calls could be held against another task."
    return f" Identifiers in the calls fit {100 * share:.1f}% of the other tasks."


def _foreign_sentences(name: str, integrity: Integrity) -> list[str]:
    sentences = [f"{name}: {filing_words(filing)}." for filing in integrity.foreign[:_NAMED]]
    if (others := len(integrity.foreign) - _NAMED) > 0:
        sentences.append(f"{name}: and {others:,} more.")
    if mapping := integrity.mapping:
        shown = some_of((f"{conversation} → task {task}" for conversation, task in mapping), _NAMED)
        fit = "of them fits" if len(mapping) == 1 else "of them fit"
        sentence = f"{name}: {len(mapping):,} {fit} exactly one other task of the file ({shown})"
        stands = ": the ids seem to be mixed up, so totals may stand" if integrity.permuted else ""
        sentences.append(f"{sentence}{stands}. Nothing was moved; --json has the whole mapping.")
    return [*sentences, *(f"{name}: {words[0].lower()}{words[1:]}" for words in withheld_words(integrity))]


def withheld_words(integrity: Integrity) -> list[str]:
    """Why nothing is said by task, where that is so."""
    if integrity.per_task_stands:
        return []
    many = integrity.foreign_share >= MOST_FOREIGN
    why = f"{100 * MOST_FOREIGN:.0f}% or more do not belong to their tasks" if many else "Ids are mixed up"
    return [
        f"{why}, so nothing is said per task: no pass^k above k = 1, no split, no tasks that never pass. "
        "File each conversation under its own task and audit again."
    ]


def filing_words(filing: Filing) -> str:
    """What shows that a conversation does not belong to its task."""
    if filing.evidence == "actions":
        return f"{filing.conversation} stores the expected actions of another task than {filing.task}"
    if filing.evidence == "instruction":
        return f"{filing.conversation} stores the instruction of another task than {filing.task}"
    ids = ", ".join(filing.identifiers[:3])
    return f"{filing.conversation} calls tools for {ids}, which task {filing.task} nowhere names"


def integrity_document(integrity: Integrity) -> dict[str, Any]:
    """The check as JSON."""
    return {
        "belongs": integrity.counts["belongs"],
        "unknown": integrity.counts["unknown"],
        "foreign": integrity.counts["foreign"],
        "foreign_share": integrity.foreign_share,
        "per_task_stands": integrity.per_task_stands,
        "permuted": integrity.permuted,
        "others_hit": integrity.others_hit,
        "tasks_from": integrity.tasks_from,
        "mapping": [{"conversation": each, "task": task} for each, task in integrity.mapping],
        "identical": [list(group) for group in integrity.identical],
        "beyond_plan": integrity.beyond_plan,
        "conversations": [
            {
                "conversation": filing.conversation,
                "task": filing.task,
                "belonging": filing.belonging,
                "evidence": filing.evidence,
                "identifiers": list(filing.identifiers),
                "fits": filing.fits,
            }
            for filing in integrity.filings
        ],
    }
