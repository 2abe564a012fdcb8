"""What an audit found as tables of a run: codes with arguments, which the pages and the report put into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dialgauge.tasks.audit.log_audit import LogAudit
from dialgauge.tasks.audit.task_facts import fact_codes
from dialgauge.worlds.tools import Integrity

if TYPE_CHECKING:
    import polars

#: Where each conversation belongs, what is to be known of each task, and verdicts recorded and replayed.
FILINGS, TASK_FACTS, REPLAYS = "filings", "task_facts", "replays"


def filings_frame(integrity: Integrity) -> polars.DataFrame:
    """Whether each conversation belongs to its task, and those that are word for word the same."""
    import polars as pl

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
    schema: dict[str, Any] = {
        "dialogue": pl.String, "task": pl.String, "belonging": pl.String, "evidence": pl.String, "fits": pl.String,
        "identifiers": pl.List(pl.String), "same_as": pl.List(pl.String),
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def facts_frame(audit: LogAudit) -> polars.DataFrame:
    """What is to be known of each task that the log has conversations of."""
    import polars as pl

    rows = [(facts.id, code, list(about)) for facts in audit.tried_facts for code, about in fact_codes(facts)]
    schema: dict[str, Any] = {"task": pl.String, "fact": pl.String, "about": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def replays_frame(audit: LogAudit) -> polars.DataFrame:
    """Recorded verdicts beside those that the calls lead to; empty where calls were not made again."""
    import polars as pl

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
    schema = {
        "dialogue": pl.String, "recorded": pl.Float64, "replayed": pl.Float64, "agrees": pl.Boolean,
        "data_right": pl.Boolean, "order_only": pl.Boolean, "writes_done": pl.Int64, "writes_failed": pl.Int64,
        "reliable": pl.Boolean, "drift_message": pl.Int64, "drift_tool": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
