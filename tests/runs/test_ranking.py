"""The one ranking of worst dialogues: its keys against plain sorting, and all screens against each other."""

from __future__ import annotations

import pytest

from dialgauge import Store
from dialgauge.runs import Run, worst_first
from support.explorer_store import tracking_store


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Run]:
    store, (run, _) = tracking_store(tmp_path_factory.mktemp("store") / "runs")
    return store, run


def plainly(run: Run, first: str, measures: list[str]) -> list[str]:
    """The same order from the tables, in plain Python."""
    values: dict[str, dict[str, float]] = {}
    for dialogue, measure, num, den in run.table("dialogue_scores").iter_rows():
        values.setdefault(dialogue, {})[measure] = num / den
    wrong = dict.fromkeys(values, 0)
    for row in run.table("turn_scores").iter_rows(named=True):
        wrong[row["dialogue"]] += row["wrong_value"] + row["missed"] + row["spurious"]
    others = [measure for measure in measures if measure != first]
    having = [name for name in values if first in values[name]]
    return sorted(having, key=lambda d: (values[d][first], -wrong[d], *(values[d][name] for name in others), d))


def test_by_fga_then_wrong_slots_then_the_other_measures(stored: tuple[Store, Run]) -> None:
    _, run = stored
    paired = set(run.table("dialogue_scores")["measure"])
    measures = [name for name in run.scores if name in paired and not name.endswith("]")]
    assert worst_first(run) == plainly(run, "FGA@0.5", measures)
