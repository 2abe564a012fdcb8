"""The study: which measure of a tracker predicts whether the task gets done?

The system is made hard of hearing, in several ways and degrees, and talks to the same users with the same goals under
each condition. What it believes the user wants is then scored as any tracker is, and what became of the task is judged
from the record. Nothing but the system's hearing differs between conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents import ERROR_KINDS
from dialgauge.dialogue import Dialogue
from dialgauge.engine import SILENT, Progress, Workers
from dialgauge.errors import DialgaugeError, choice
from dialgauge.formats import carries, hold
from dialgauge.lab.domain_source import LoadedDomain
from dialgauge.lab.lab_run import kept_conversations, lab_signature, outcome_of, tracking_scores
from dialgauge.lab.prediction import Estimate, Floats, Predictor, predictors
from dialgauge.lab.services import check_setting, hold_conversations
from dialgauge.lab.sessions import AgentSpec, LabConfig
from dialgauge.report import RunSet
from dialgauge.runs import Parts, Run, Store, new_run
from dialgauge.tracking import DEFAULT_MEASURES

STUDY_KIND = "study"
SUCCESS = "Success(rules=strict)"
#: How often something is heard wrongly.
RATES = (0.02, 0.05, 0.1, 0.2, 0.4)


class Condition(Struct, frozen=True):
    """One way in which the system hears."""

    name: str
    system: AgentSpec


def channel_conditions(
    system: AgentSpec, errors: Sequence[str] = ERROR_KINDS, rates: Sequence[float] = RATES
) -> list[Condition]:
    """A system that hears everything, and the same one with each kind of error at each rate."""
    for error in errors:
        choice(error, ERROR_KINDS, "a kind of error")
    heard = [Condition("clean", system)]
    for error in dict.fromkeys(errors):
        for rate in rates:
            channel = f"{error}={rate:g}"
            heard.append(Condition(channel, AgentSpec(system.name, {**system.options, "channel": channel})))
    return heard


def run_study(
    loaded: LoadedDomain,
    config: LabConfig,
    conditions: Sequence[Condition],
    *,
    store: Store | None = None,
    workers: Workers = None,
    resamples: int = 1000,
    progress: Progress = SILENT,
) -> RunSet:
    """Hold the conversations of all conditions and say which measure predicts success. With a store the run is stored,
    and what is finished outlives the process until it is."""
    check_setting(config, loaded.search.domain)
    for condition in conditions:
        condition.system.make()  # an agent that cannot be made is told before the work
    with progress.bar("conditions", len(conditions)) as advance:
        listed = msgspec.to_builtins(list(conditions))
        with kept_conversations(store, STUDY_KIND, loaded, config, conditions=listed) as done:
            run = _studied(loaded, config, conditions, done, workers, resamples, advance)
            return RunSet([run if store is None else store.add(run)])


def _studied(
    loaded: LoadedDomain,
    config: LabConfig,
    conditions: Sequence[Condition],
    kept: Parts | None,
    workers: Workers,
    resamples: int,
    advance: Callable[[int], None],
) -> Run:
    tables: dict[str, list[Floats]] = {name: [] for name in (SUCCESS, *DEFAULT_MEASURES)}
    for number, condition in enumerate(conditions):
        chosen = replace(config, system=condition.system, trials=1)
        done = kept.part(f"condition-{number}") if kept is not None else None
        held = hold(hold_conversations(loaded.again, loaded.goals, chosen, workers=workers, done=done))
        for name, row in _rows(held, loaded).items():
            tables[name].append(row)
        advance(1)
    arrays = {name: np.array(rows) for name, rows in tables.items()}
    success = arrays.pop(SUCCESS)
    fitted = predictors(success, arrays, resamples=resamples, seed=config.seed)
    return new_run(
        kind=STUDY_KIND,
        name=f"study-{config.system.name}-{config.user.name}",
        tables={
            "conditions": lambda: _condition_frame(conditions, success, arrays),
            "conversations": lambda: _conversation_frame(loaded, conditions, success, arrays),
            "predictors": lambda: _predictor_frame(fitted),
        },
        config={
            "system": str(config.system),
            "user": str(config.user),
            "level": config.level,
            "goals": loaded.name,
            "conditions": [condition.name for condition in conditions],
            "resamples": resamples,
        },
        inputs=loaded.files,
        seeds=config.seed,
        signature=lab_signature(loaded, config).with_(
            conditions=",".join(condition.name for condition in conditions), trials=""
        ),
    )


def _rows(held: Sequence[Dialogue], loaded: LoadedDomain) -> dict[str, Floats]:
    """Success and each measure, conversation by conversation; NaN where there is no score."""
    if not carries(held, "predicted"):
        raise DialgaugeError("the system shows no states, so there is no tracker to score; choose one that does")
    places = {dialogue.id: index for index, dialogue in enumerate(held)}
    rows = {name: np.full(len(held), np.nan) for name in DEFAULT_MEASURES}
    scores = tracking_scores(held, loaded)
    for name in (name for name in DEFAULT_MEASURES if name in scores.sums):  # some need slots that somebody filled
        above, below = scores.sums[name]
        at = [places[dialogue] for dialogue in scores.dialogues]
        with np.errstate(invalid="ignore", divide="ignore"):
            rows[name][at] = np.where(below > 0, above / below, np.nan)
    return rows | {SUCCESS: outcome_of(held, loaded)}


def nothing_to_predict(success: pl.Series) -> list[str]:
    """Why no measure predicts anything, where all conversations ended alike."""
    if success.n_unique() > 1:
        return []
    ended = "succeeded" if success.max() else "failed"
    change = "--rates higher" if success.max() else "--rates lower"
    return [f"Every conversation {ended}, so there is nothing to predict: set {change}, or take more goals (--count)."]


def condition_words(name: str) -> str:
    """``drop=0.05`` in words; what is no such code as it is.

    >>> condition_words("drop=0.05")
    '5% of acts are lost'
    """
    kind, equals, rate = name.partition("=")
    return f"{100 * float(rate):g}% of {_MISHEARD[kind]}" if equals and kind in _MISHEARD else name


#: What a condition does to what the system hears, in words.
_MISHEARD = {
    "clean": "nothing", "drop": "acts are lost", "value": "values change", "relabel": "acts are mistaken",
    "insert": "acts are made up",
}  # fmt: skip


def _condition_frame(conditions: Sequence[Condition], success: Floats, arrays: dict[str, Floats]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "condition": [condition.name for condition in conditions],
            "error": [condition.name.partition("=")[0] for condition in conditions],
            "success": _means(success),
            **{name: _means(values) for name, values in arrays.items()},
        }
    )


def _means(rows: Floats) -> Floats:
    """The mean of each row without its gaps; NaN where there is nothing else."""
    known = ~np.isnan(rows)
    counts = known.sum(axis=1)
    return np.where(counts > 0, np.where(known, rows, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)


def _conversation_frame(
    loaded: LoadedDomain, conditions: Sequence[Condition], success: Floats, arrays: dict[str, Floats]
) -> pl.DataFrame:
    goals = [goal.id for goal in loaded.goals]
    return pl.DataFrame(
        {
            "dialogue": goals * len(conditions),
            "condition": [condition.name for condition in conditions for _ in goals],
            "success": success.ravel(),
            **{name: values.ravel() for name, values in arrays.items()},
        }
    )


def _predictor_frame(fitted: Sequence[Predictor]) -> pl.DataFrame:
    rows = []
    for predictor in fitted:
        row: dict[str, Any] = {"measure": predictor.measure}
        for what in ("auc", "behind", "auc_within", "tau", "error"):
            estimate: Estimate = getattr(predictor, what)
            row |= {what: estimate.value, f"{what}_low": estimate.low, f"{what}_high": estimate.high}
        rows.append(row)
    return pl.DataFrame(rows)
