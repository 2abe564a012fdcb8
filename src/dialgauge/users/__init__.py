"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.conversations import Query, explanation, find, transcript
    from dialgauge.users.figures import (
        PaperFigure,
        confusion_table,
        constraint_counts,
        draw,
        figure_numbers,
        figure_table,
        goals_per_domain_set,
        loop_table,
        paper_figures,
        slot_table,
        verdict_table,
    )
    from dialgauge.users.measures import UserEvidence, score_name
    from dialgauge.users.records import LABELS, DialogueScore, MeasureName
    from dialgauge.users.reference import reference_report
    from dialgauge.users.results import (
        UserScores,
        as_system,
        failure_sentences,
        score_tables,
        score_users,
        users_scored,
        warnings,
    )
    from dialgauge.users.scoring import UserOptions, conversation_named, load_map

__all__ = [
    "LABELS",
    "DialogueScore",
    "MeasureName",
    "PaperFigure",
    "Query",
    "UserEvidence",
    "UserOptions",
    "UserScores",
    "as_system",
    "confusion_table",
    "constraint_counts",
    "conversation_named",
    "draw",
    "explanation",
    "failure_sentences",
    "figure_numbers",
    "figure_table",
    "find",
    "goals_per_domain_set",
    "load_map",
    "loop_table",
    "paper_figures",
    "reference_report",
    "score_name",
    "score_tables",
    "score_users",
    "slot_table",
    "transcript",
    "users_scored",
    "verdict_table",
    "warnings",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
