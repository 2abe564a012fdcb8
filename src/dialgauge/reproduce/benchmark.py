"""Evidence of the MultiWOZ benchmark table: what it prints, and the same scores of the systems whose files are here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from dialgauge import tasks
from dialgauge.data import dataset_file
from dialgauge.reproduce.claims import Paper
from dialgauge.reproduce.evidence import ClaimTables, NotComputable
from dialgauge.runs import Run

#: Column of the table: what it is called here, our measure, and how the table prints it.
_COLUMNS = {
    "inform": ("Inform", "Inform", "{:.1f}%"),
    "success": ("Success", "Success", "{:.1f}%"),
    "bleu": ("BLEU", "BLEU", "{}"),
    "tokens": ("words per response", "tokens", "{:.2f}"),
    "conditional entropy": ("conditional entropy of words", "conditional entropy", "{:.2f}"),
    "unigrams": ("different words", "unigrams", "{}"),
    "trigrams": ("different triples of words", "trigrams", "{}"),
}


@cache
def published_rows() -> list[tuple[str, str, dict[str, Any]]]:
    """Kind, system and figures of each row; ``mode`` is that of its active domains, where it could be told."""
    content = msgspec.json.decode(resources.files(__package__).joinpath("published.json").read_bytes())
    return [(kind, system, row) for kind in ("end-to-end", "policy") for system, row in content[kind].items()] + [
        ("human", "people", content["human"])
    ]


def evidence(paper: Paper, data: Path | None, runs: Mapping[str, Run]) -> ClaimTables:
    """``printed`` (kind, system, measure, printed) and ``computed`` (system, measure, ours)."""
    gold = dataset_file(data, "multiwoz-2.1", "test.json")
    systems = [system for kind, system, _ in published_rows() if kind != "human"]
    files = {name: dataset_file(data, "dst_predictions", f"{name}.json") for name in systems}
    missing, datasets_to_get = [], []
    if gold is None:
        missing.append(
            "the gold file and its database: multiwoz-2.1/test.json and multiwoz-2.1/db (dialgauge data get "
            "multiwoz-2.1)"
        )
        datasets_to_get.append("multiwoz-2.1")
    if unknown := [f"{name}.json" for name, path in files.items() if path is None]:
        listed = ", ".join(unknown)
        missing.append(f"predictions in dst_predictions: {listed} (dialgauge data get dst_predictions)")
        datasets_to_get.append("dst_predictions")
    tables = {"printed": _printed, "computed": lambda: _computed(gold, files)}
    return ClaimTables(tables, missing_data=missing, datasets_to_get=datasets_to_get)


def _printed() -> pl.DataFrame:
    return pl.DataFrame(
        [
            (kind, system, title, look.format(figures[column]))
            for kind, system, figures in published_rows()
            for column, (title, _, look) in _COLUMNS.items()
            if column in figures
        ],
        schema=["kind", "system", "measure", "printed"],
        orient="row",
    )


def _computed(gold: Path | None, files: Mapping[str, Path | None]) -> pl.DataFrame:
    if gold is None:
        raise NotComputable("the gold file is not here", "dialgauge data get multiwoz-2.1")
    evaluation = tasks.TaskEvaluation(gold, measures=("default", "richness"), resamples=0)
    values: dict[str, Mapping[str, float | None]] = {"people": evaluation.human_values}
    for _, system, figures in published_rows():
        if (path := files.get(system)) is not None:
            run = evaluation.score(tasks.read_predictions(path), human=False, mode=figures.get("mode"))
            values[system] = {measure: score.value for measure, score in run.scores.items()}
    rows = [
        (system, title, value)
        for system, known in values.items()
        for title, measure, _ in _COLUMNS.values()
        if (value := known.get(measure)) is not None
    ]
    return pl.DataFrame(rows, schema=["system", "measure", "ours"], orient="row")
