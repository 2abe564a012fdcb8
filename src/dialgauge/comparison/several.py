"""Measures whose values come from several sums over dialogues, such as BLEU, read from the tables of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import parse_measure
from dialgauge.stats import Floats, SeveralSums

if TYPE_CHECKING:
    import polars


def several_sums(dialogues: Sequence[str], frames: Sequence[polars.DataFrame]) -> dict[str, SeveralSums]:
    """The measures that all tables ``dialogue_sums`` have and that this dialgauge knows, over these dialogues."""
    first, *others = frames
    found = {}
    for measure in first["measure"].unique(maintain_order=True):
        try:
            of = parse_measure(measure).card.of_sums
        except DialgaugeError:  # of a run that another version, or a package that is not here, wrote
            continue
        if of is not None and all(measure in other["measure"] for other in others):
            sums = [_sums(frame, measure, dialogues) for frame in frames]
            if len({part.shape for part in sums}) == 1:
                found[measure] = SeveralSums(np.stack(sums), of)
    return found


def without_scores(frame: polars.DataFrame) -> polars.DataFrame:
    """The dialogues of a table ``dialogue_sums`` as a table ``dialogue_scores`` in which none has a score."""
    import polars

    dialogues = frame.select("dialogue").unique(maintain_order=True)
    return dialogues.with_columns(measure=polars.lit(""), num=polars.lit(0.0), den=polars.lit(0.0))


def _sums(frame: polars.DataFrame, measure: str, dialogues: Sequence[str]) -> Floats:
    """The sums of each dialogue, (sums, dialogues)."""
    import polars

    rows = frame.filter(polars.col("measure") == measure)
    places = {dialogue_key(name): place for place, name in enumerate(dialogues)}
    columns = np.array([places.get(dialogue_key(name), -1) for name in rows["dialogue"]], np.int64)
    table = np.zeros((int(rows["place"].max() or 0) + 1, len(dialogues)))  # type: ignore[arg-type]
    known = columns >= 0
    np.add.at(table, (rows["place"].to_numpy()[known], columns[known]), rows["sum"].to_numpy()[known])
    return table
