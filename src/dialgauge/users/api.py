"""GCDF1 from Python: one call, and an object with scores, tables, figures and explanations.

users = dialgauge.score_users("talks/", canonical_map="map.json")
users["I-GCDF1"], users["R-GCDF1[hotel]"]
print(users.explain("MUL0003"))
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.users.evaluation import Settings, UserEvaluation, evaluate, score_of
from dialgauge.users.explain import explanation
from dialgauge.users.figures import PaperFigure, paper_figures
from dialgauge.users.run_tables import frames
from dialgauge.users.summary import ASPECTS, DomainSummary, as_system, score_name, summarise
from dialgauge.users.tables import score_table

if TYPE_CHECKING:
    import polars


class UserScores:
    """The scores of one user model and everything behind them."""

    def __init__(self, evaluation: UserEvaluation, *, resamples: int, seed: int) -> None:
        self.evaluation = evaluation
        self.summary: list[DomainSummary] = summarise(evaluation, resamples=resamples, seed=seed)
        self._values: dict[str, float] = {
            score_name(row.measure, aspect, row.domain): getattr(row, aspect).value
            for row in self.summary
            for aspect in ASPECTS
        }

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            raise DialgaugeError(f"there is no score '{name}'.{nearest(name, self._values)}")
        return self._values[name]

    @cached_property
    def tables(self) -> Mapping[str, polars.DataFrame]:
        """The tables of a run: dialogue_scores, domain_scores, explanations, behaviours, loops, ..."""
        return frames(self.evaluation)

    @cached_property
    def figures(self) -> list[PaperFigure]:
        """The paper's analyses, Figures 1 to 7."""
        return paper_figures(self.evaluation)

    def explain(self, dialogue: str) -> str:
        """Where every point of one dialogue's scores was won or lost, as Markdown."""
        return "\n".join(table.render("markdown") for table in explanation(score_of(self.evaluation, dialogue)))

    def as_dict(self, *, per_dialogue: bool = False) -> dict[str, Any]:
        """The shape of ``dialgauge users score --json``, for this one user model."""
        return as_system(self.evaluation, self.summary, per_dialogue=per_dialogue)

    def _repr_markdown_(self) -> str:
        return score_table(self.evaluation, self.summary).render("markdown")

    __str__ = _repr_markdown_


def score_users(
    conversations: str | Path,
    *,
    canonical_map: str | Path | None = None,
    config: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    mode: str | None = None,
    profile: str | None = None,
    database: str | Path | None = None,
    workers: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> UserScores:
    """I-GCDF1 and R-GCDF1 of the user in recorded conversations. ``overrides`` maps dotted option paths to values."""
    import json

    changed = [f"{path}={json.dumps(value)}" for path, value in (overrides or {}).items()]
    settings = Settings(
        canonical_map=canonical_map,
        config=None if config is None else Path(config),
        overrides=(*changed, *([f"mode={mode}"] if mode else ())),
        profile=profile,
        database=database,
    )
    return UserScores(evaluate(conversations, settings, workers=workers), resamples=resamples, seed=seed)
