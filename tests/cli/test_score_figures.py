"""``--figures`` on the commands that score: what is drawn, and what is refused before any work is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dialgauge.rendering import chart_specification
from support.commands import dialgauge
from support.town import responses, write_town

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("own_folder")
Words = list[object]


def _responses(folder: Path) -> Words:
    (folder / "mine.json").write_text(json.dumps(responses()))
    return ["tasks", "score", write_town(folder), "mine.json", "--by", "domain", "--resamples", 50]


@pytest.fixture
def charts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The Vega-Lite specifications of what a command draws, by name."""
    pytest.importorskip("altair")
    specifications: dict[str, Any] = {}

    def keep(folder: Path, figures: Mapping[str, Callable[[], Any]]) -> list[Path]:
        specifications.update({name: chart_specification(draw) for name, draw in figures.items()})
        return []

    monkeypatch.setattr("dialgauge.rendering.save_all", keep)
    return specifications


def test_systems_with_gold_states_are_marked_in_figures_as_in_tables(
    capsys: Capture, tmp_path: Path, charts: dict[str, Any]
) -> None:
    words = _responses(tmp_path)
    stateless = {name: [{"response": turn["response"]} for turn in turns] for name, turns in responses().items()}
    (tmp_path / "policy.json").write_text(json.dumps(stateless))
    outcome = dialgauge(capsys, *words[:4], "policy.json", *words[4:], "--figures", "f")
    assert outcome.code == 0, outcome.err
    assert {"scores", "other_units"} < set(charts)
    for name, chart in charts.items():
        text = json.dumps(chart)
        assert '"policy *"' in text, name
        assert '"policy"' not in text, name
        assert '"mine"' in text, name
        assert "* with gold states: a score of the policy; never rank it with end-to-end scores." in text
    assert "BLEU@mwz21-span" in outcome.out
    assert '"BLEU@mwz21-span, points"' in json.dumps(charts["other_units"])


def _data(chart: object) -> list[dict[str, list[dict[str, float]]]]:
    """All data in a specification."""
    if isinstance(chart, list):
        return [one for each in chart for one in _data(each)]
    if not isinstance(chart, dict):
        return []
    own = [chart["data"]] if "values" in chart.get("data", {}) else []
    return own + [one for each in chart.values() for one in _data(each)]
