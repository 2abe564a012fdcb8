"""An evaluation as a run of the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from dialgauge.runs import Store
from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.records import COMBINED
from dialgauge.users.run_tables import frames
from dialgauge.users.summary import ASPECTS, DomainSummary, score_name

KIND = "users"


def store_run(
    evaluation: UserEvaluation, summary: list[DomainSummary], store: Store, *, inputs: Sequence[str | Path], seed: int
) -> str:
    """Store the evaluation and give the run's id. It appears whole or not at all."""
    config = msgspec.to_builtins(evaluation.config) | {"profile": evaluation.profile}
    with store.create(
        kind=KIND,
        name=evaluation.name,
        config=config,
        inputs=[path for path in inputs if str(path) != "-"],
        seed=seed,
        signature=evaluation.signature,
    ) as run:
        for name, frame in frames(evaluation).items():
            run.table(name, frame)
        run.scores = {
            score_name(row.measure, aspect, row.domain): getattr(row, aspect).as_dict()["value"]
            for row in summary
            for aspect in (ASPECTS if row.domain == COMBINED else ASPECTS[:1])
        }
        run.coverage = evaluation.coverage()
        return run.id
