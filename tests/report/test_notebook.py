"""What a notebook shows of dialogues, corpora and runs."""

from __future__ import annotations

import json
from pathlib import Path

import dialgauge
from dialgauge import Act, Dialogue, Turn
from dialgauge.dialogue import Outcome

HOSTILE = "<script>alert(1)</script>"


def test_dialogues_show_words_and_states_and_escape_both() -> None:
    turns = (
        Turn(speaker="user", text=HOSTILE, state={"hotel": {"area": ("north",)}}, predicted={"hotel": {}}),
        Turn(speaker="system", acts=(Act(name="inform", domain="hotel", slot="stars", values=("4",)),)),
    )
    dialogue = Dialogue(id="d", turns=turns, domains=("hotel",), outcome=Outcome(success=False, reason="no booking"))
    html = dialogue._repr_html_()
    assert HOSTILE not in html and "&lt;script&gt;" in html
    for shown in ("hotel-area", "missed", "inform(hotel, stars=4)", "failed: no booking"):
        assert shown in html


def test_corpora_and_runs_show_what_they_hold(tmp_path: Path) -> None:
    states = {f"d{n}": [{"hotel-area": "north"}] for n in range(7)}
    dialogues = [
        Dialogue(id=name, turns=(Turn(speaker="user", text="hello"), Turn(speaker="system", text="hi")))
        for name in states
    ]
    dialgauge.write(dialogues, tmp_path / "talks.jsonl", format="native")
    html = dialgauge.read(tmp_path / "talks.jsonl")._repr_html_()
    assert "7 dialogues, 14 turns" in html and "and 2 more" in html
    (tmp_path / "gold.json").write_text(json.dumps(states))
    assert "JGA" in dialgauge.score(states, {"right": states}, measures="JGA", resamples=0)[0]._repr_html_()
