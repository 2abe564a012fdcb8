"""Runs with tables that no family made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars

from dialgauge.dialogue import Dialogue
from dialgauge.runs import Run, empty_table, new_run, run_in_memory

Frame = polars.DataFrame | Callable[[], polars.DataFrame]


def run_with(
    tables: Mapping[str, Frame],
    corpus: Sequence[Dialogue] | None = None,
    *,
    kind: str = "k",
    name: str = "n",
    **facts: Any,
) -> Run:
    """A run in memory with these tables, which may say ``dialogue_scores`` without having scores.

    A table may be a function: it is called while the run is stored, after the dialogues are.
    """
    manifest = new_run(kind=kind, name=name, **facts).manifest
    return run_in_memory(manifest, {"dialogue_scores": empty_table("dialogue_scores"), **tables}, corpus)
