"""Scores as tables for other tools: per dialogue, per turn, per slot. The run store keeps them as Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dialgauge.tracking.fga import default_rule, error_types

if TYPE_CHECKING:
    import polars

    from dialgauge.tracking.results import SystemScores

_TYPES = ("exact", "type1", "type2")


def dialogue_scores(system: SystemScores) -> polars.DataFrame:
    """dialogue, measure, num, den. The corpus value is sum(num) / sum(den); a dialogue without a score has no row.

    Means over slots or domains are no ratio of sums over dialogues and have no rows here.
    """
    import polars

    counts, ids = system.comparison.counts, np.array(system.comparison.aligned.ids, dtype=object)
    parts = []
    for measure in system.measures:
        if measure.grouped:
            continue
        numerator, denominator = measure.by_dialogue(counts)
        scored = denominator > 0
        parts.append(
            polars.DataFrame(
                {
                    "dialogue": polars.Series(ids[scored].tolist(), dtype=polars.String),
                    "measure": polars.Series([str(measure)] * int(scored.sum()), dtype=polars.String),
                    "num": numerator[scored],
                    "den": denominator[scored],
                }
            )
        )
    if parts:
        return polars.concat(parts)
    return polars.DataFrame(
        schema={"dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64}
    )


def turn_table(system: SystemScores) -> polars.DataFrame:
    """dialogue, turn, the counts, the error type under the default rule, and a column per turn-level measure."""
    import polars

    counts, ids = system.comparison.counts, system.comparison.aligned.ids
    columns: dict[str, object] = {
        "dialogue": [ids[number] for number in counts.dialogue.tolist()],
        "turn": counts.turn,
        "correct": counts.turns.correct,
        "wrong_value": counts.turns.wrong,
        "missed": counts.turns.missed,
        "spurious": counts.turns.spurious,
        "exact": counts.exact,
        "error_type": [_TYPES[kind] for kind in error_types(counts, default_rule(counts)).tolist()],
    }
    for measure in system.measures:
        if not measure.grouped:
            above, below = measure.rows(counts)
            value = np.full(len(counts), np.nan)
            np.divide(above, below, out=value, where=below > 0)
            columns[str(measure)] = polars.Series(value).fill_nan(None)
    return polars.DataFrame(columns)


def slot_table(system: SystemScores) -> polars.DataFrame:
    """dialogue, domain, slot and the four counts, for every slot that occurs in the dialogue."""
    import polars

    table, ids = system.comparison.slot_counts, system.comparison.aligned.ids
    occurring = (table.correct + table.wrong + table.missed + table.spurious) > 0
    slot, dialogue = np.nonzero(occurring)
    order = np.lexsort((slot, dialogue))
    slot, dialogue = slot[order], dialogue[order]
    return polars.DataFrame(
        {
            "dialogue": [ids[number] for number in dialogue.tolist()],
            "domain": [table.pairs[number][0] for number in slot.tolist()],
            "slot": [table.pairs[number][1] for number in slot.tolist()],
            "correct": table.correct[slot, dialogue],
            "wrong_value": table.wrong[slot, dialogue],
            "missed": table.missed[slot, dialogue],
            "spurious": table.spurious[slot, dialogue],
        }
    )
