"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.behaviour_features import FEATURES, Feature, UserTalk, user_talk
    from dialgauge.users.beside_people import Likeness, likeness, likeness_document, likeness_table
    from dialgauge.users.config import GcdfConfig, load_config
    from dialgauge.users.conversation_files import conversation_named
    from dialgauge.users.conversations import because, explanation, explanation_record, transcript
    from dialgauge.users.corpus_profiles import (
        CorpusProfile,
        FeatureDistance,
        FeatureMean,
        FeatureValues,
        behaviour_profile,
        feature_distances,
        feature_values,
        profile_document,
        profile_tables,
        split_in_halves,
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
    from dialgauge.users.goals import VenueDatabase, derived_goal, derived_map, load_database
    from dialgauge.users.labels import LABELS, REASONS
    from dialgauge.users.loops import CAUSES, Loop
    from dialgauge.users.map_builder import BuiltMap, Unplaced, build_map
    from dialgauge.users.measures import FAULTS, UserEvidence, score_name
    from dialgauge.users.mishearing import Confusion, misheard
    from dialgauge.users.patterns import expression_pattern
    from dialgauge.users.presentation import as_system, failure_sentences, score_tables, warnings
    from dialgauge.users.profile import domain_profile, load_profile
    from dialgauge.users.queries import Query, find, several_meanings
    from dialgauge.users.records import (
        COMBINED,
        MEASURES,
        VERDICTS,
        DialogueScore,
        MeasureName,
        MentionVerdict,
        prf_score,
    )
    from dialgauge.users.reference import SECTIONS, behaviour_tree, reference_report
    from dialgauge.users.results import UserRuns, score_users, user_scores, users_run, users_scored
    from dialgauge.users.schemas import load_schema
    from dialgauge.users.scorer import Failure, Scorer
    from dialgauge.users.scorer_settings import ScorerSettings, UserOptions, load_map
    from dialgauge.users.scoring import ScoredConversations, score_conversations
    from dialgauge.users.sentences import MisheardSentence, misheard_sentences, sentence_table

__all__ = [
    "BAR_WORDS",
    "CAUSES",
    "COMBINED",
    "FAULTS",
    "FEATURES",
    "LABELS",
    "MEASURES",
    "REASONS",
    "SECTIONS",
    "VERDICTS",
    "BuiltMap",
    "Confusion",
    "CorpusProfile",
    "DialogueScore",
    "Failure",
    "Feature",
    "FeatureDistance",
    "FeatureMean",
    "FeatureValues",
    "GcdfConfig",
    "Likeness",
    "Loop",
    "MeasureName",
    "MentionVerdict",
    "MisheardSentence",
    "PaperFigure",
    "Query",
    "ScoredConversations",
    "Scorer",
    "ScorerSettings",
    "Unplaced",
    "UserEvidence",
    "UserOptions",
    "UserRuns",
    "UserTalk",
    "VenueDatabase",
    "as_system",
    "because",
    "behaviour_profile",
    "behaviour_tree",
    "build_map",
    "confusion_table",
    "constraint_counts",
    "conversation_named",
    "derived_goal",
    "derived_map",
    "domain_profile",
    "draw",
    "explanation",
    "explanation_record",
    "expression_pattern",
    "failure_sentences",
    "feature_distances",
    "feature_values",
    "figure_numbers",
    "figure_table",
    "find",
    "goals_per_domain_set",
    "likeness",
    "likeness_document",
    "likeness_table",
    "load_config",
    "load_database",
    "load_map",
    "load_profile",
    "load_schema",
    "loop_table",
    "misheard",
    "misheard_sentences",
    "paper_figures",
    "prf_score",
    "profile_document",
    "profile_tables",
    "reference_report",
    "score_conversations",
    "score_name",
    "score_tables",
    "score_users",
    "sentence_table",
    "several_meanings",
    "slot_table",
    "split_in_halves",
    "transcript",
    "user_scores",
    "user_talk",
    "users_run",
    "users_scored",
    "verdict_table",
    "warnings",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
