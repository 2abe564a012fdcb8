"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.api import score_users
    from dialgauge.users.evaluation import (
        Settings,
        UserEvaluation,
        evaluate,
        evaluate_one,
        load_canonical_map,
        score_of,
    )
    from dialgauge.users.explain import explanation, transcript
    from dialgauge.users.figures import PaperFigure, chart, constraint_counts, goals_per_domain_set, paper_figures
    from dialgauge.users.records import LABELS, Measure
    from dialgauge.users.reference import reference_report
    from dialgauge.users.run_tables import frames
    from dialgauge.users.search import NEEDED, Query, find
    from dialgauge.users.store import store_run
    from dialgauge.users.summary import DomainSummary, as_system, shared_signature, summarise
    from dialgauge.users.tables import (
        confusion_table,
        failure_lines,
        figure_table,
        loop_table,
        score_table,
        slot_table,
        verdict_table,
    )

__all__ = [
    "LABELS",
    "NEEDED",
    "DomainSummary",
    "Measure",
    "PaperFigure",
    "Query",
    "Settings",
    "UserEvaluation",
    "as_system",
    "chart",
    "confusion_table",
    "constraint_counts",
    "evaluate",
    "evaluate_one",
    "explanation",
    "failure_lines",
    "figure_table",
    "find",
    "frames",
    "goals_per_domain_set",
    "load_canonical_map",
    "loop_table",
    "paper_figures",
    "reference_report",
    "score_of",
    "score_table",
    "score_users",
    "shared_signature",
    "slot_table",
    "store_run",
    "summarise",
    "transcript",
    "verdict_table",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
