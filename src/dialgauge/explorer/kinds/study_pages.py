"""Pages of the lab's studies, which have measures and conditions and no dialogues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.explorer.families import FamilyPages

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.report import Table
    from dialgauge.runs import Run

_TABLES = {"predictors", "conditions"}


class StudyPages(FamilyPages):
    """Studies of what predicts success."""

    def tables(self, library: Library, run: Run) -> list[Table]:
        """The measures by how well they predict success, and the conditions."""
        from dialgauge.lab import study_tables

        return study_tables(run) if run.tables.keys() >= _TABLES else []

    def charts(self, library: Library, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Success over each measure."""
        from dialgauge.lab import study_figure

        return {"success by measure": partial(study_figure, run)} if run.tables.keys() >= _TABLES else {}


PAGES = StudyPages()
