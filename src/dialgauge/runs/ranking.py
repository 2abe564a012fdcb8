"""The dialogues of a run from the worst on: the one ranking that screens, pages and reports share.

The first key is a measure. Many dialogues have the same value of it, so the mistakes that the kind counts break ties,
then the other measures in the run's order, then the ids. Where the kind says which dialogues failed, these come before
all others, and first of them those whose task passed in another trial: there is something to hold them against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.kinds import Kind, kind_named
from dialgauge.runs.tables import DIALOGUE_SCORES

if TYPE_CHECKING:
    import polars

    from dialgauge.runs.run import Run


def worst_first(run: Run) -> list[str]:
    """The dialogues that have a value of the measure that the kind names, the worst first."""
    import polars as pl

    kind = kind_named(run.kind)
    scores, verdicts = run.table(DIALOGUE_SCORES), _verdicts(run, kind)
    measures = _measures(run, kind, _known(scores, whole=verdicts is not None))
    if not measures:
        return []
    ranked = scores.select("dialogue").unique()
    for index, measure in enumerate(measures):
        own = scores.filter(pl.col("measure") == measure)
        value = (pl.col("num") / pl.col("den")).alias(f"value {index}")
        ranked = ranked.join(own.select("dialogue", value), on="dialogue", how="left" if index else "inner")
    keys = [f"value {index}" for index in range(len(measures))]
    falling = [run.scores[measure].higher_is_better is False for measure in measures]
    if (mistakes := _mistakes(run, kind)) is not None:
        ranked = ranked.join(mistakes, on="dialogue", how="left")
        keys.insert(1, "mistakes")
        falling.insert(1, True)
    if verdicts is not None:
        ranked = ranked.join(verdicts, on="dialogue", how="left")
        keys, falling = ["passed", "steady", *keys], [False, False, *falling]
    ranked = ranked.sort([*keys, "dialogue"], descending=[*falling, False], nulls_last=True)
    return ranked["dialogue"].to_list()


def _known(scores: polars.DataFrame, *, whole: bool) -> set[str]:
    """The measures that dialogues have values of; all of them where ``whole`` is asked for.

    A measure of tasks, such as pass^1, stands at the first trial of each and says nothing of the others.
    """
    counts = dict(scores.group_by("measure").len().rows())
    most = max(counts.values(), default=0)
    return {name for name, count in counts.items() if not whole or count == most}


def _verdicts(run: Run, kind: Kind) -> polars.DataFrame | None:
    """``passed`` of each dialogue, and whether its task went the same way in all trials; None where nobody knows."""
    import polars as pl

    if kind.verdicts is None or kind.verdicts.table not in run.tables:
        return None
    frame = run.table(kind.verdicts.table)
    if not frame[kind.verdicts.column].count():
        return None
    passed = pl.col(kind.verdicts.column)
    steady = (passed.min() == passed.max()).over(kind.verdicts.task).fill_null(value=True)
    return frame.select("dialogue", passed.alias("passed"), steady.alias("steady"))


def _measures(run: Run, kind: Kind, known: set[str]) -> list[str]:
    """The measures of whole dialogues that rank them, the first one first."""
    fit = [
        name
        for name, score in run.scores.items()
        if name in known and not name.endswith("]") and score.higher_is_better is not None
    ]
    first = next((name for name in (*kind.worst_by, *kind.headline, *fit) if name in fit), None)
    return [] if first is None else [first, *(name for name in fit if name != first)]


def _mistakes(run: Run, kind: Kind) -> polars.DataFrame | None:
    """How many mistakes each dialogue has; None where the run does not tell."""
    import polars as pl

    if kind.mistakes is None or kind.mistakes.table not in run.tables:
        return None
    counts = [pl.col(name).cast(pl.Float64).sum() for name in kind.mistakes.columns]
    return run.table(kind.mistakes.table).group_by("dialogue").agg(pl.sum_horizontal(counts).alias("mistakes"))
