"""Pages of families without a server: a dialogue as HTML, and runs whose tables were tampered with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dialgauge.runs import Run, new_run

if TYPE_CHECKING:
    import polars

#: What no page may let through: markup in text and in attributes, control characters, reversed reading order.
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}\x1b[31m\x00\u202e&amp;"


def changed(run: Run, change: Callable[[str, polars.DataFrame], polars.DataFrame | None]) -> Run:
    """The run with its family's tables changed, or left out where the change gives None."""
    own = [name for name in run.tables if name not in ("dialogues", "turns", "dialogue_scores")]
    tables = {name: change(name, run.table(name)) for name in own}
    return new_run(
        kind=run.kind,
        name=run.name,
        tables={name: frame for name, frame in tables.items() if frame is not None},
        corpus=list(run.dialogues()),
        signature=run.signature,
        config=run.manifest.config,
        details=run.details,
    )


def without(run: Run, table: str) -> Run:
    """The run without one of its tables."""
    return changed(run, lambda name, frame: None if name == table else frame)


def emptied(run: Run) -> Run:
    """The run with tables that have no rows."""
    return changed(run, lambda name, frame: frame.clear())


def nulled(run: Run, table: str) -> Run:
    """The run with a table that knows nothing but the dialogues and turns it is about."""
    import polars

    def change(name: str, frame: polars.DataFrame) -> polars.DataFrame:
        kept = ("dialogue", "turn") if name == table else tuple(frame.columns)
        return frame.with_columns(
            polars.lit(None, frame[one].dtype).alias(one) for one in frame.columns if one not in kept
        )

    return changed(run, change)


def hostile(run: Run) -> Run:
    """The run with hostile text in every column of text but those that say which dialogue it is."""
    import polars

    def change(name: str, frame: polars.DataFrame) -> polars.DataFrame:
        texts = [one for one in frame.columns if frame[one].dtype == polars.String and one not in ("dialogue", "goal")]
        bad = {one: '{"<script>": 1.0}' if one == "usage" else f"{HOSTILE}{one}" for one in texts}  # usage is JSON
        return frame.with_columns(polars.lit(text).alias(one) for one, text in bad.items())

    return changed(run, change)
