"""Models that choose replies: baselines and learned networks."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rankers.bags import (
        SparseRows as SparseRows,
        TypedEntities as TypedEntities,
        WordIndex as WordIndex,
        history_bags as history_bags,
        matches as matches,
        tokens as tokens,
        utterance_bags as utterance_bags,
    )
    from dialgauge.rankers.episode import (
        NO_ANSWER as NO_ANSWER,
        AnsweredPoint as AnsweredPoint,
        Episode as Episode,
        Line as Line,
        Point as Point,
        episodes as episodes,
        points_of as points_of,
    )
    from dialgauge.rankers.identity import code_of as code_of, files_named as files_named
    from dialgauge.rankers.model_folder import (
        claim_folder as claim_folder,
        load_ranker as load_ranker,
        read_manifest as read_manifest,
        save_ranker as save_ranker,
    )
    from dialgauge.rankers.nearest import NearestNeighbour as NearestNeighbour
    from dialgauge.rankers.neural.config import (
        MEMORY_SIZES as MEMORY_SIZES,
        TIMES as TIMES,
        embedding_preset as embedding_preset,
        memory_preset as memory_preset,
    )
    from dialgauge.rankers.ranker import (
        BUILT_IN as BUILT_IN,
        RUNTIME_OPTIONS as RUNTIME_OPTIONS,
        Provenance as Provenance,
        Ranker as Ranker,
        ReplyModel as ReplyModel,
        ScoreMatrix as ScoreMatrix,
        Tell as Tell,
        attentive as attentive,
        checked_scores as checked_scores,
        fit_model as fit_model,
        fresh_model as fresh_model,
        options_by_model as options_by_model,
        ranker_class as ranker_class,
        ranker_names as ranker_names,
        silent as silent,
    )
    from dialgauge.rankers.task import (
        EVALUATED as EVALUATED,
        LOGS as LOGS,
        SPLITS as SPLITS,
        TASKS as TASKS,
        RankingTask as RankingTask,
        load_task as load_task,
        log_task as log_task,
        task_of_dialogues as task_of_dialogues,
    )
    from dialgauge.rankers.tfidf import (
        TfIdf as TfIdf,
        TfIdfChosen as TfIdfChosen,
        TfIdfTypes as TfIdfTypes,
        TfIdfTypesChosen as TfIdfTypesChosen,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
