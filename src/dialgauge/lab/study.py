"""The study: which measure of a tracker predicts whether the task gets done?

The system is made hard of hearing, in several ways and degrees, and talks to the same users with the same goals under
each condition. What it believes the user wants is then scored as any tracker is, and what became of the task is judged
from the record. Nothing but the system's hearing differs between conditions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents.town import ERROR_KINDS
from dialgauge.dialogue import Dialogue
from dialgauge.engine import SILENT, Progress, Workers
from dialgauge.errors import DialgaugeError, choice
from dialgauge.lab.domain_source import LoadedDomain
from dialgauge.lab.lab_config import AgentSpec, LabConfig, check_setting, hold_conversations
from dialgauge.lab.lab_run import lab_signature, lab_workbench, outcome_of, tracking_scores
from dialgauge.lab.prediction import Estimate, Floats, Predictor, predictors
from dialgauge.rendering import LINES, Cell, Column, RunSet, Table, altair as chart_library, data, styled
from dialgauge.runs import Parts, Run, Store, new_run
from dialgauge.stats import ratio_intervals, share_interval
from dialgauge.text import counted
from dialgauge.tracking import DEFAULT_MEASURES

if TYPE_CHECKING:
    import altair

STUDY_KIND = "study"
SUCCESS = "Success(rules=strict)"
#: How often something is heard wrongly.
RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
#: Scores closer than this differ in their last bits only.
_SAME = 1e-12


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


class StudyRuns(RunSet):
    """Studies of how far the measures of a tracker predict success."""

    def tables(self) -> list[Table]:
        """For each study the measures by how well they predict success, and the conditions."""
        return [table for run in self.runs for table in study_tables(run)]

    def document(self) -> dict[str, Any]:
        """The JSON that ``dialgauge lab study --json`` writes; of several studies a list of them."""
        studies = [{name: run.table(name).to_dicts() for name in ("predictors", "conditions")} for run in self.runs]
        return studies[0] if len(studies) == 1 else {"runs": studies}

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """Success over each measure."""
        names = ["study"] if len(self) == 1 else [f"study_{number}" for number in range(1, len(self) + 1)]
        return {name: partial(study_figure, run) for name, run in zip(names, self.runs, strict=True)}


def run_study(
    loaded: LoadedDomain,
    config: LabConfig,
    conditions: Sequence[Condition],
    *,
    store: Store | None = None,
    workers: Workers = None,
    resamples: int = 1000,
    progress: Progress = SILENT,
) -> StudyRuns:
    """Hold the conversations of all conditions and say which measure predicts success. With a store the run is stored,
    and what is finished outlives the process until it is."""
    check_setting(config, loaded.search.domain)
    for condition in conditions:
        condition.system.make()  # an agent that cannot be made is told before the work
    with progress.bar("conditions", len(conditions)) as advance:
        if store is None:
            return StudyRuns([_studied(loaded, config, conditions, None, workers, resamples, advance)])
        listed = msgspec.to_builtins(list(conditions))
        with lab_workbench(store, STUDY_KIND, loaded, config, conditions=listed) as folder:
            made = store.add(_studied(loaded, config, conditions, folder, workers, resamples, advance))
    progress.say(f"stored as run {made.id} in {store.folder}")
    return StudyRuns([made])


def _studied(
    loaded: LoadedDomain,
    config: LabConfig,
    conditions: Sequence[Condition],
    folder: Path | None,
    workers: Workers,
    resamples: int,
    advance: Callable[[int], None],
) -> Run:
    tables: dict[str, list[Floats]] = {name: [] for name in (SUCCESS, *DEFAULT_MEASURES)}
    for number, condition in enumerate(conditions):
        chosen = replace(config, system=condition.system, trials=1)
        done = Parts(folder / f"condition-{number}") if folder is not None else None
        held = list(hold_conversations(loaded.again, loaded.goals, chosen, workers=workers, done=done))
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
    if not any(turn.predicted is not None for dialogue in held for turn in dialogue.turns):
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


# What people see


def study_tables(run: Run) -> list[Table]:
    """The measures by how well they predict success, and the conditions."""
    best = Table(
        "Which measure of the tracker predicts success?",
        [
            "measure",
            Column("AUC", digits=3),
            Column("gap", digits=3),
            Column("within", digits=3),
            Column("tau", digits=2),
            Column("error", digits=1, percent=True),
        ],
        notes=[
            "AUC: how often a conversation that succeeds scores above one that fails (0.5: guessing); gap: "
            "to the best measure, on the same conversations; within: the AUC within conditions.",
            "tau: rank correlation of conditions with their rate of success; error: how far off, in points, a line "
            "through the other conditions predicts it. 95% intervals resample goals.",
        ],
    )
    for row in run.table("predictors").iter_rows(named=True):
        best.add(row["measure"], _cell(row, "auc"), _cell(row, "behind"), row["auc_within"], row["tau"], row["error"])
    shown = ("JGA", "FGA@0.5", "F1", "SA")
    conditions = Table(
        "Conditions",
        [
            "the system's hearing",
            Column("success", digits=1, percent=True),
            *(Column(name, digits=1, percent=True) for name in shown),
        ],
        notes=[f"{counted(len(run.manifest.config['conditions']), 'condition')}, the same goals in each."],
    )
    for row in run.table("conditions").iter_rows(named=True):
        conditions.add(condition_words(row["condition"]), row["success"], *(row[name] for name in shown))
    best.notes[:0] = nothing_to_predict(run.table("conversations")["success"])
    best.signature = run.signature
    return [best, conditions]


def study_sentences(run: Run) -> Iterator[str]:
    """Which measure predicts success best, how well, and which do not differ from it."""
    if reasons := nothing_to_predict(run.table("conversations")["success"]):
        yield from reasons
        return
    best, *others = run.table("predictors").iter_rows(named=True)
    between = f"[{100 * best['auc_low']:.1f}, {100 * best['auc_high']:.1f}]"
    yield (
        f"{best['measure']} predicts success best: of a conversation that succeeds and one that fails, the first scores"
        f" higher in {best['auc']:.1%} {between} of such pairs (AUC)"
    )
    if level := [row["measure"] for row in others if row["behind_low"] <= 0]:
        yield f"Not told apart from it: {', '.join(level)}"


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


def _cell(row: dict[str, Any], what: str) -> Cell:
    return Cell(row[what], row[f"{what}_low"], row[f"{what}_high"])


#: What a condition does to what the system hears, in words.
_MISHEARD = {
    "clean": "nothing", "drop": "acts are lost", "value": "values change", "relabel": "acts are mistaken",
    "insert": "acts are made up",
}  # fmt: skip


#: Shapes of dots, one for each kind of error: colour is not the only sign.
_MARKS = ("cross", "circle", "square", "triangle-up", "diamond", "triangle-down", "triangle-left", "triangle-right")


def study_figure(run: Run) -> altair.FacetChart:
    """Success over each measure, a dot with both of its intervals for each condition."""
    alt = chart_library()
    conditions = run.table("conditions")
    goals = run.tables["conversations"].rows // max(len(conditions), 1)
    score_ends = _score_ends(run)
    index, measures = ["condition", "error", "success"], list(DEFAULT_MEASURES)
    dots = conditions.unpivot(index=index, on=measures, variable_name="measure", value_name="score").to_dicts()
    rows = [_dot(row, goals, ends) for row, ends in zip(dots, score_ends, strict=True)]
    kinds = list(dict.fromkeys(row["error"] for row in rows))
    rows.reverse()  # where dots coincide, that of the condition named first is on top
    # Two scales with the same domain share one legend; left to themselves the layers give two.
    legend = {"title": "what is misheard", "symbolOpacity": 1}
    colour = alt.Color("error:N", scale={"domain": kinds, "range": list(LINES[: len(kinds)])}, legend=legend)
    shape = alt.Shape("error:N", scale={"domain": kinds, "range": list(_MARKS[: len(kinds)])}, legend=legend)
    across = {
        "title": "score of the tracker",
        "scale": {"zero": False, "domainMax": 1, "nice": False},
        "axis": {"tickCount": 3, "format": "%"},
    }
    y = alt.Y("success:Q", title="success", scale={"domain": [0, 1]}, axis={"format": "%"})
    base = alt.Chart().encode(color=colour)
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=alt.X("score:Q", **across), y=y, shape=shape, tooltip=["condition:N", "score:Q", "success:Q"]
    )
    rule = base.mark_rule(strokeWidth=1, opacity=0.6)
    of_success = rule.encode(x=alt.X("score:Q", **across), y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    of_score = rule.encode(x=alt.X("score_low:Q", **across), x2=alt.X2("score_high:Q"), y=y)
    panel = alt.layer(of_score, of_success, points, data=data(rows)).properties(width=170, height=150)
    facets = panel.facet(alt.Facet("measure:N", sort=list(DEFAULT_MEASURES), title=None), columns=3)
    held = f"{counted(goals, 'goal')} in each of {counted(len(conditions), 'condition')}"
    note = f"{held}; whiskers: 95% intervals over goals"
    if any(math.isnan(low) for low, _ in score_ends):
        note += " (none across where all goals score the same)"
    figure: altair.FacetChart = styled(
        facets.resolve_scale(x="independent"), title="Does the tracker's score predict success?", note=note
    )
    return figure


def _score_ends(run: Run) -> list[tuple[float, float]]:
    """The intervals of the scores in the same order; goals are resampled. NaN where all goals score the same: how much
    they would vary is not known then."""
    frame = run.table("conversations")
    conditions = run.table("conditions")["condition"].to_list()
    parts = frame.partition_by("condition", as_dict=True)
    rows = [parts[(condition,)][name].to_numpy() for name in DEFAULT_MEASURES for condition in conditions]
    values = np.stack(rows).astype(np.float64)
    known = ~np.isnan(values)
    ends = ratio_intervals(np.where(known, values, 0.0), known.astype(np.float64), bounds=(0.0, 1.0))
    highest, lowest = np.where(known, values, -np.inf).max(axis=1), np.where(known, values, np.inf).min(axis=1)
    ends[highest - lowest < _SAME] = np.nan
    return [(low, high) for low, high in ends.tolist()]


def _dot(row: dict[str, Any], goals: int, ends: tuple[float, float]) -> dict[str, Any]:
    low, high = share_interval(round(row["success"] * goals), goals)
    score_low, score_high = (row["score"], row["score"]) if math.isnan(ends[0]) else ends
    bounds = {"low": low, "high": high, "score_low": score_low, "score_high": score_high}
    return {**row, **bounds, "error": _MISHEARD.get(row["error"], row["error"])}


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
