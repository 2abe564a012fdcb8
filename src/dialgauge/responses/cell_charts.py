"""Models on the bAbI tasks as figures: a panel for each task, every model in its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.report import interval_note, interval_plot
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
    sizes = {run.coverage["dialogues"].scored or 0 for _, run in cells}
    rows = []
    for key, run in cells:
        score, cases = run.scores[measure], run.coverage["dialogues"].scored
        model = f"{key.model} ({key.options})" if key.options else key.model
        rows.append({
            "system": f"{model}, seed {key.seed}" if len(seeds) > 1 else model,
            "measure": task_name(key.task),
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "percent": True,
            "cases": cases if len(sizes) > 1 else None,
        })  # fmt: skip
    told = counted(len({row["system"] for row in rows}), "model")
    return interval_plot(
        rows,
        whole_axis=True,
        title=f"{measure.capitalize()} accuracy on {split}",
        note=[
            f"{told}; n: dialogues"
            if len(sizes) > 1
            else f"{told}; {counted(sizes.pop() or 0, 'dialogue')} of each task",
            interval_note([run.scores[measure] for _, run in cells], [run for _, run in cells]),
        ],
    )
