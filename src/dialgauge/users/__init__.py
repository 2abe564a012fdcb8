"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.users.config import GcdfConfig as GcdfConfig, load_config as load_config
    from dialgauge.users.corpus_likeness import likeness as likeness
    from dialgauge.users.figures import (
        BAR_WORDS as BAR_WORDS,
        PaperFigure as PaperFigure,
        paper_figures as paper_figures,
    )
    from dialgauge.users.gcdf1_results import gcdf1_tree as gcdf1_tree
    from dialgauge.users.labels import LABELS as LABELS, REASONS as REASONS
    from dialgauge.users.profile import (
        domain_profile as domain_profile,
        load_profile as load_profile,
        shipped as shipped,
    )
    from dialgauge.users.results import score_users as score_users, user_scores as user_scores
    from dialgauge.users.scorer import (
        Scorer as Scorer,
        UserOptions as UserOptions,
        load_map as load_map,
    )
    from dialgauge.users.verdicts import CAUSES as CAUSES, VERDICTS as VERDICTS
    from dialgauge.users.views import find_conversations as find_conversations


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
