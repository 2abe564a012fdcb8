"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.beside_people import (
        likeness as likeness,
        likeness_document as likeness_document,
        likeness_table as likeness_table,
    )
    from dialgauge.users.causes import (
        CAUSES as CAUSES,
        Confusion as Confusion,
        Loop as Loop,
        main_confusion as main_confusion,
        misheard as misheard,
    )
    from dialgauge.users.config import GcdfConfig as GcdfConfig, load_config as load_config
    from dialgauge.users.conversation_files import conversation_named as conversation_named
    from dialgauge.users.conversations import (
        because as because,
        explanation as explanation,
        explanation_record as explanation_record,
        transcript as transcript,
    )
    from dialgauge.users.figures import (
        BAR_WORDS as BAR_WORDS,
        PaperFigure as PaperFigure,
        confusion_table as confusion_table,
        constraint_counts as constraint_counts,
        draw as draw,
        figure_numbers as figure_numbers,
        figure_table as figure_table,
        goals_per_domain_set as goals_per_domain_set,
        loop_table as loop_table,
        paper_figures as paper_figures,
        slot_table as slot_table,
        verdict_table as verdict_table,
    )
    from dialgauge.users.labels import LABELS as LABELS, REASONS as REASONS
    from dialgauge.users.measures import FAULTS as FAULTS, UserEvidence as UserEvidence, score_name as score_name
    from dialgauge.users.patterns import expression_pattern as expression_pattern
    from dialgauge.users.presentation import (
        as_system as as_system,
        failure_sentences as failure_sentences,
        score_tables as score_tables,
        warnings as warnings,
    )
    from dialgauge.users.profile import (
        domain_profile as domain_profile,
        load_profile as load_profile,
        shipped as shipped,
    )
    from dialgauge.users.queries import Query as Query, find as find, several_meanings as several_meanings
    from dialgauge.users.reference import (
        SECTIONS as SECTIONS,
        behaviour_tree as behaviour_tree,
        reference_report as reference_report,
    )
    from dialgauge.users.results import (
        UserRuns as UserRuns,
        score_users as score_users,
        user_scores as user_scores,
        users_run as users_run,
        users_scored as users_scored,
    )
    from dialgauge.users.scorer import Failure as Failure, Scorer as Scorer
    from dialgauge.users.scorer_settings import (
        ScorerSettings as ScorerSettings,
        UserOptions as UserOptions,
        load_map as load_map,
    )
    from dialgauge.users.scoring import (
        ScoredConversations as ScoredConversations,
        score_conversations as score_conversations,
    )
    from dialgauge.users.sentences import (
        misheard_sentences as misheard_sentences,
        sentence_table as sentence_table,
    )
    from dialgauge.users.verdicts import (
        COMBINED as COMBINED,
        MEASURES as MEASURES,
        VERDICTS as VERDICTS,
        DialogueScore as DialogueScore,
        MeasureName as MeasureName,
        Verdict as Verdict,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
