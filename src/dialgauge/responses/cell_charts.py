"""Models on the bAbI tasks as figures: a panel for each task, every model in its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.report import interval_plot
from dialgauge.responses.cells import CellKey
from dialgauge.responses.measures import PER_DIALOG, PER_RESPONSE
from dialgauge.responses.tables import task_name
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run


def cell_figures(runs: Sequence[Run]) -> dict[str, Callable[[], Any]]:
    """File name without ending to the function that draws it: both accuracies, on each split."""
    splits: dict[str, list[tuple[CellKey, Run]]] = {}
    for run in runs:
        key = CellKey.of_run(run)
        splits.setdefault(key.split, []).append((key, run))
    return {
        f"{measure}_{split}": partial(_cells, measure, split, cells)
        for split, cells in splits.items()
        for measure in (PER_RESPONSE, PER_DIALOG)
    }


def _cells(measure: str, split: str, cells: Sequence[tuple[CellKey, Run]]) -> Any:
    seeds = {key.seed for key, _ in cells}
    rows = []
    for key, run in cells:
        score = run.scores[measure]
        model = f"{key.model} ({key.options})" if key.options else key.model
        ends = (score.low, score.high) if score.low is not None and score.high is not None else (score.value,) * 2
        rows.append({
            "system": f"{model}, seed {key.seed}" if len(seeds) > 1 else model,
            "measure": f"{task_name(key.task)}, n = {run.coverage['dialogues'].scored:,}",
            "value": score.value,
            "low": ends[0],
            "high": ends[1],
            "percent": True,
        })  # fmt: skip
    told = counted(len({row["system"] for row in rows}), "model")
    return interval_plot(
        rows,
        whole_axis=True,
        title=f"{measure.capitalize()} accuracy on {split}",
        note=[f"{told}; n: dialogues", "bars: 95% confidence intervals"],
    )
