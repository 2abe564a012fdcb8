"""What the drawn figures show: the cases behind each panel, and bars of height 0 with label and interval."""

from __future__ import annotations

from typing import Any

import pytest

from dialgauge.users import PaperFigure, draw

pytest.importorskip("altair", reason="figures need altair: pip install 'dialgauge[figures]'")


def rows(figure: PaperFigure) -> list[dict[str, Any]]:
    values = draw(figure).to_dict()["data"]["values"]
    return [dict(row) for row in values]


def test_a_share_of_zero_has_its_label_and_its_interval() -> None:
    figure = PaperFigure(
        "5",
        "Domains never discussed",
        "percent",
        {"missed": {"hotel": 25.0, "train": 0.0}},
        {"missed": {"hotel": 2.0}},
        {"hotel": 8, "train": 12},
    )
    hotel, train = rows(figure)
    assert (hotel["domain"], hotel["text"]) == ("hotel (n = 8)", "25.0")
    assert (train["domain"], train["value"], train["text"], train["low"]) == ("train (n = 12)", 0.0, "0.0", 0.0)
    assert train["high"] == pytest.approx(100 * (1 - 30 ** (-1 / 12)), abs=1e-9)


def test_panels_of_counts_say_how_many_goals_have_the_domain() -> None:
    figure = PaperFigure(
        "2",
        "Why users repeat constraints",
        "dialogues",
        {"sys_q": {"hotel": 3.0}, "unmatched": {"train": 1.0}},
        goals={"hotel": 15, "train": 23},
        source="mine",
        dialogues=40,
    )
    shown = {(row["domain"], row["bar"]): row["text"] for row in rows(figure)}
    assert shown == {
        ("hotel (n = 15)", "system asked"): "3",
        ("train (n = 23)", "system asked"): "0",
        ("hotel (n = 15)", "no reason found"): "0",
        ("train (n = 23)", "no reason found"): "1",
    }
    assert "n: dialogues with the domain in the goal" in str(draw(figure).to_dict()["title"])


def test_figures_without_any_case_still_show_their_zeros() -> None:
    figure = PaperFigure("5", "Never discussed", "percent", {"missed": {"hotel": 0.0}}, {"missed": {}}, {"hotel": 4})
    assert [row["text"] for row in rows(figure)] == ["0.0"]
