"""How much of a score is the comparison rule: one measure under several profiles, and what each rule does to it.

Other profiles need the dialogues compared anew, so this is measured while scoring; runs keep it as a table
``sensitivity`` (measure, profile, rule, value, gained, lost). Without a rule, the value is that under the whole
profile; with one, that without this rule, and the turns that are exact only with it, and only without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from dialgauge.measures import Measure
from dialgauge.values import Profile

if TYPE_CHECKING:
    from dialgauge.tracking.encode import Flags
    from dialgauge.tracking.prepared_inputs import PreparedInputs

SENSITIVITY = "sensitivity"
_SCHEMA = {"measure": pl.String, "profile": pl.String, "rule": pl.String, "value": pl.Float64} | dict.fromkeys(
    ("gained", "lost"), pl.Int64
)


def profile_sensitivity(
    inputs: PreparedInputs,
    measure: Measure[Any],
    profiles: Sequence[Profile],
    advance: Callable[[int], None] = lambda steps: None,
) -> dict[str, pl.DataFrame]:
    """The table of every system; ``advance`` is told of every comparison done."""
    frames = {}
    for name in inputs.systems:
        rows: list[tuple[str, str, str | None, float, int | None, int | None]] = []
        exact: dict[str, Flags] = {}
        for profile in profiles:
            counts = inputs.comparison(name, profile).counts
            rows.append((str(measure), profile.name, None, measure.value(counts), None, None))
            exact[profile.name] = counts.exact
            advance(1)
        for profile in profiles:
            for rule in profile.values:
                counts = inputs.comparison(name, profile.without(rule)).counts
                gained = int((exact[profile.name] & ~counts.exact).sum())
                lost = int((counts.exact & ~exact[profile.name]).sum())
                rows.append((str(measure), profile.name, rule.name, measure.value(counts), gained, lost))
                advance(1)
        frames[name] = pl.DataFrame(rows, schema=_SCHEMA, orient="row").with_columns(pl.col("value").fill_nan(None))
    return frames
