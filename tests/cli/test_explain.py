"""``dialgauge explain``: a measure, a profile, a behaviour, or a list."""

from __future__ import annotations

import json

import pytest

from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("name", ["JGA", "jga", "JGA(over=dialogues)"])
def test_a_measure_is_explained(name: str, capsys: Capture) -> None:
    outcome = dialgauge(capsys, "explain", name)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("JGA (tracking): Joint goal accuracy\n")
    for field in ("meaning", "formula", "parameters", "unit", "better", "source"):
        assert any(line.startswith(f"{field} ") for line in outcome.out.splitlines()), field


def test_a_measure_of_several_families_is_explained_in_each(capsys: Capture) -> None:
    document = json.loads(dialgauge(capsys, "explain", "Success", "--json", "-").out)
    titles = [table["title"] for table in document["page"]["tables"].values()]
    assert titles and len(set(titles)) == len(titles) and all(title.startswith("Success (") for title in titles)
