"""Reasons of failure in a few groups: the fixed part of their wording, without the names and values in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialgauge.presentation.phrases import tallied
from dialgauge.report import plain

if TYPE_CHECKING:
    import polars

#: The group of a reason that none of the wordings fits.
OTHER = "another reason"


class ReasonGroups:
    """Groups of reasons by patterns of their wording; a text that gives several reasons is in several groups."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._patterns = dict(patterns)

    @property
    def names(self) -> list[str]:
        """All groups, in order."""
        return [*self._patterns, OTHER]

    def of(self, text: str | None) -> list[str]:
        """The groups of one text; none where there is no reason."""
        if not text:
            return []
        return [name for name, pattern in self._patterns.items() if re.search(pattern, text)] or [OTHER]

    def rows(self, frame: polars.DataFrame, column: str) -> polars.DataFrame:
        """The rows of a frame that give reasons, one for each group, which stands in the column ``group``."""
        import polars as pl

        given = frame.filter(pl.col(column).fill_null("") != "")
        # The same few texts occur again and again: each is read once.
        texts = given.select(column).unique(maintain_order=True)
        hits = [
            texts.filter(pl.col(column).str.contains(pattern)).with_columns(pl.lit(name).alias("group"))
            for name, pattern in self._patterns.items()
        ]
        known = pl.concat(hits)
        others = texts.join(known, on=column, how="anti").with_columns(pl.lit(OTHER).alias("group"))
        return given.join(pl.concat([known, others]), on=column, maintain_order="left_right")

    def counts(self, frame: polars.DataFrame, column: str, by: Sequence[str]) -> dict[str, dict[str, int]]:
        """How often each group occurs, by the values of other columns joined by spaces."""
        counted = self.rows(frame, column).group_by("group", *by).len()
        found: dict[str, dict[str, int]] = {}
        for group, *values, count in counted.sort("group", *by).rows():
            found.setdefault(group, {})[" ".join(str(value or "unknown") for value in values)] = count
        return found

    def tally(self, reasons: polars.Series) -> Counter[str]:
        """How often each group occurs in a column; a reason that is in none stands for itself."""
        found: Counter[str] = Counter()
        for reason, count in tallied(reasons):
            for group in self.of(reason):
                found[plain(reason) if group == OTHER else group] += count
        return found
