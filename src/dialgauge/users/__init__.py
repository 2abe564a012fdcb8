"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.analyses import CAUSES, misheard
    from dialgauge.users.conversation_files import conversation_named
    from dialgauge.users.conversations import (
        act_text,
        because,
        explanation,
        explanation_record,
        loop_cause,
        loop_turns,
        transcript,
    )
    from dialgauge.users.figures import (
        BAR_WORDS,
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
    from dialgauge.users.labels import LABELS, REASONS, meaning
    from dialgauge.users.measures import FAULTS, UserEvidence, score_name
    from dialgauge.users.presentation import as_system, failure_sentences, score_tables, warnings
    from dialgauge.users.queries import Query, find, several_meanings
    from dialgauge.users.records import COMBINED, MEASURES, VERDICTS, DialogueScore, MeasureName
    from dialgauge.users.reference import reference_report
    from dialgauge.users.results import UserRuns, score_users, users_scored
    from dialgauge.users.scorer_settings import UserOptions, load_map
    from dialgauge.users.turns import EQUALS

__all__ = [
    "BAR_WORDS",
    "CAUSES",
    "COMBINED",
    "EQUALS",
    "FAULTS",
    "LABELS",
    "MEASURES",
    "REASONS",
    "VERDICTS",
    "DialogueScore",
    "MeasureName",
    "PaperFigure",
    "Query",
    "UserEvidence",
    "UserOptions",
    "UserRuns",
    "act_text",
    "as_system",
    "because",
    "confusion_table",
    "constraint_counts",
    "conversation_named",
    "draw",
    "explanation",
    "explanation_record",
    "failure_sentences",
    "figure_numbers",
    "figure_table",
    "find",
    "goals_per_domain_set",
    "load_map",
    "loop_cause",
    "loop_table",
    "loop_turns",
    "meaning",
    "misheard",
    "paper_figures",
    "reference_report",
    "score_name",
    "score_tables",
    "score_users",
    "several_meanings",
    "slot_table",
    "transcript",
    "users_scored",
    "verdict_table",
    "warnings",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
