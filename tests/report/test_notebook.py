"""What a notebook shows of dialogues, corpora and runs."""

from __future__ import annotations

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
