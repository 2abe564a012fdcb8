"""What an audit found as tables of a run: codes with arguments, which the pages and the report put into words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dialgauge.runs import Run, frame_of
from dialgauge.trials.facts import fact_codes
from dialgauge.trials.log_audit import LogAudit
from dialgauge.worlds.tools import Integrity

if TYPE_CHECKING:
    import polars

#: Where each conversation belongs, what is to be known of each task, and verdicts recorded and replayed.
FILINGS, TASK_FACTS, REPLAYS = "filings", "task_facts", "replays"
_FILINGS: dict[str, str] = {
    "dialogue": "String", "task": "String", "belonging": "String", "evidence": "String", "fits": "String",
    "identifiers": "List(String)", "same_as": "List(String)",
}  # fmt: skip
_FACTS: dict[str, str] = {"task": "String", "fact": "String", "about": "List(String)"}
_REPLAYS: dict[str, str] = {
    "dialogue": "String", "recorded": "Float64", "replayed": "Float64", "agrees": "Boolean",
    "data_right": "Boolean", "order_only": "Boolean", "writes_done": "Int64", "writes_failed": "Int64",
    "reliable": "Boolean", "drift_message": "Int64", "drift_tool": "String",
}  # fmt: skip


def stored_integrity(run: Run) -> Integrity | None:
    """Whether the conversations of a run belong to their tasks; None where that was not checked."""
    checked = run.details.get("integrity")
    return None if checked is None else msgspec.convert(checked, Integrity)


def per_task_stands(run: Run) -> bool:
    """Whether what goes by task may be shown of a run: not where its conversations do not belong to their tasks."""
    integrity = stored_integrity(run)
    return integrity is None or integrity.per_task_stands


def filings_table(integrity: Integrity) -> polars.DataFrame:
    """Whether each conversation belongs to its task, and those that are word for word the same."""
    same = {name: [other for other in group if other != name] for group in integrity.identical for name in group}
    rows = [
        (
            filing.conversation,
            filing.task,
            filing.belonging,
            filing.evidence,
            filing.fits,
            list(filing.identifiers),
            same.get(filing.conversation, []),
        )
        for filing in integrity.filings
    ]
    return frame_of(rows, _FILINGS)


def facts_table(audit: LogAudit) -> polars.DataFrame:
    """What is to be known of each task that the log has conversations of."""
    rows = [(facts.id, code, list(about)) for facts in audit.tried_facts for code, about in fact_codes(facts)]
    return frame_of(rows, _FACTS)


def replays_table(audit: LogAudit) -> polars.DataFrame:
    """Recorded verdicts beside those that the calls lead to; empty where calls were not made again."""
    differing = {one.id for one in audit.differences}
    rows = [
        (
            one.id,
            one.recorded_reward,
            one.replay_reward,
            one.id not in differing,
            one.replay_parts.get("DB"),
            one.order_only,
            one.writes_done,
            one.writes_failed,
            one.reliable,
            one.first_drift["message"] if one.first_drift else None,
            one.first_drift["tool"] if one.first_drift else None,
        )
        for one in (audit.conversations if audit.no_replay is None else ())
    ]
    return frame_of(rows, _REPLAYS)
