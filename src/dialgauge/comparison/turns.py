"""What turn tables add to a comparison: correlations over turns, and flexible goal accuracy at any strictness.

A turn table has ``dialogue``, ``turn``, ``error_type`` (``exact``, ``type1``, ``type2``) and a column for each measure,
as tracking runs store it under the name ``turn_scores``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dialgauge.comparison.scores import Scores
from dialgauge.comparison.sweep import LAMBDAS, Sweep
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.stats import Floats, Matrix, correlation_matrix
from dialgauge.tracking import number

if TYPE_CHECKING:
    import polars

TURN_TABLE = "turn_scores"

#: Dialogue key to the numbers of its scored turns.
TurnNumbers: TypeAlias = Mapping[str, tuple[int, ...]]


def shared_turns(frame: polars.DataFrame, dialogues: Collection[str]) -> polars.DataFrame:
    """The turns of the compared dialogues."""
    import polars

    keys = {dialogue_key(name) for name in dialogues}
    chosen = [dialogue_key(name) in keys for name in frame["dialogue"].to_list()]
    return frame.filter(polars.Series(chosen, dtype=polars.Boolean))


def on_the_same_turns(scores: Scores, turns: Mapping[str, TurnNumbers]) -> Scores:
    """The scores without dialogues of which systems were scored on different turns; a note tells of them.

    A paired test compares like with like: a system without the last turns of a dialogue has an easier dialogue.
    """
    unlike = [name for name in scores.dialogues if len({one.get(dialogue_key(name)) for one in turns.values()}) > 1]
    if not unlike:
        return scores
    if len(unlike) == len(scores.dialogues):
        raise DialgaugeError(
            "in every dialogue the systems were scored on different turns; predict all turns, or score those without "
            "prediction as empty states (--coverage empty)"
        )
    why = (
        f"{number(len(unlike), 'dialogue')} left out: the systems were scored on different turns there "
        "(--coverage empty scores all turns of all systems)"
    )
    return scores.without(unlike, why)


def turn_numbers(frame: polars.DataFrame) -> TurnNumbers:
    """The turns of each dialogue in a turn table."""
    found: dict[str, list[int]] = {}
    for dialogue, turn in frame.select("dialogue", "turn").iter_rows():
        found.setdefault(dialogue_key(dialogue), []).append(turn)
    return {key: tuple(numbers) for key, numbers in found.items()}


def turn_correlations(frame: polars.DataFrame, measures: Sequence[str], kind: str) -> tuple[list[str], Matrix]:
    """The measures that have a value per turn, and their correlations over the turns with both scores."""
    known = [name for name in measures if name in frame.columns]
    columns = [frame[name].cast(float).fill_null(float("nan")).to_numpy() for name in known]
    return known, correlation_matrix(columns, kind)


def dialogue_correlations(scores: Scores, system: str, kind: str) -> Matrix:
    """Correlations of the measures over the dialogues of one system."""
    return correlation_matrix(list(scores.by_dialogue[scores.place_of_system(system)]), kind)


def sweep_turns(frames: Mapping[str, polars.DataFrame], lambdas: Sequence[float] = LAMBDAS) -> Sweep | None:
    """FGA over all turns at each lambda, by system; None where a table has no error types."""
    if not all("error_type" in frame.columns for frame in frames.values()):
        return None
    return Sweep(tuple(lambdas), {name: _flexible(frame, lambdas) for name, frame in frames.items()})


def _flexible(frame: polars.DataFrame, lambdas: Sequence[float]) -> list[float]:
    types, since = frame["error_type"].to_numpy(), _turns_since_error(frame)
    carried = since[types == "type2"]
    exact = float((types == "exact").sum())
    return [float((exact - np.expm1(-at * carried).sum()) / len(types)) for at in lambdas]


def _turns_since_error(frame: polars.DataFrame) -> Floats:
    """User turns since the last error that was made in its own turn, within the dialogue."""
    import polars

    origin = polars.when(polars.col("error_type") == "type1").then(polars.col("turn")).forward_fill().over("dialogue")
    since: Floats = (
        frame.select((polars.col("turn") - origin).cast(polars.Float64).fill_null(float("inf"))).to_series().to_numpy()
    )
    return since
