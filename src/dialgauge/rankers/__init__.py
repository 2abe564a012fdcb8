"""Models that choose replies: baselines, learned networks, templates."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rankers.episode import NO_RESULT, SILENCE, AnsweredPoint, Episode, Line, Point, episodes, points_of
    from dialgauge.rankers.features import (
        TypedEntities,
        WordIndex,
        history_bags,
        matches,
        tokens,
        utterance_bags,
        words_and_pairs,
    )
    from dialgauge.rankers.identity import code_of, files_named
    from dialgauge.rankers.model_folder import (
        CHECKPOINT,
        check_task,
        claim_folder,
        fitted_on,
        load_ranker,
        save_ranker,
        seed_of,
    )
    from dialgauge.rankers.nearest import NearestNeighbour
    from dialgauge.rankers.neural.config import MEMORY_SIZES, TIMES, embedding_preset, memory_preset
    from dialgauge.rankers.ranker import (
        BUILT_IN,
        RUNTIME_OPTIONS,
        Attention,
        Attentive,
        Provenance,
        Ranker,
        ReplyModel,
        ScoreMatrix,
        Tell,
        attend,
        attentive,
        checked_scores,
        fit_model,
        fresh_model,
        options_by_model,
        ranker_class,
        ranker_listing,
        ranker_names,
        silent,
    )
    from dialgauge.rankers.sparse_rows import SparseRows
    from dialgauge.rankers.task import (
        EVALUATED,
        LOGS,
        SPLITS,
        TASKS,
        RankingTask,
        joined_messages,
        load_task,
        log_task,
        operator_candidates,
        place_of,
        task_of_dialogues,
    )
    from dialgauge.rankers.tfidf import TfIdf, TfIdfChosen, TfIdfTypes, TfIdfTypesChosen

__all__ = [
    "BUILT_IN",
    "CHECKPOINT",
    "EVALUATED",
    "LOGS",
    "MEMORY_SIZES",
    "NO_RESULT",
    "RUNTIME_OPTIONS",
    "SILENCE",
    "SPLITS",
    "TASKS",
    "TIMES",
    "AnsweredPoint",
    "Attention",
    "Attentive",
    "Episode",
    "Line",
    "NearestNeighbour",
    "Point",
    "Provenance",
    "Ranker",
    "RankingTask",
    "ReplyModel",
    "ScoreMatrix",
    "SparseRows",
    "Tell",
    "TfIdf",
    "TfIdfChosen",
    "TfIdfTypes",
    "TfIdfTypesChosen",
    "TypedEntities",
    "WordIndex",
    "attend",
    "attentive",
    "check_task",
    "checked_scores",
    "claim_folder",
    "code_of",
    "embedding_preset",
    "episodes",
    "files_named",
    "fit_model",
    "fitted_on",
    "fresh_model",
    "history_bags",
    "joined_messages",
    "load_ranker",
    "load_task",
    "log_task",
    "matches",
    "memory_preset",
    "operator_candidates",
    "options_by_model",
    "place_of",
    "points_of",
    "ranker_class",
    "ranker_listing",
    "ranker_names",
    "save_ranker",
    "seed_of",
    "silent",
    "task_of_dialogues",
    "tokens",
    "utterance_bags",
    "words_and_pairs",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
