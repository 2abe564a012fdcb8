"""What corpora, dialogues, results, comparisons and runs show of themselves in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import dialgauge
from dialgauge import Act, Dialogue, Goal, Task, Turn
from dialgauge.dialogue import Outcome, State
from dialgauge.formats import Corpus

ODD = '<img src=x onerror="alert(1)"> & \x1b[31m'
GOLD: State = {"hotel": {"area": ("east",)}}


def dialogue(identifier: str, predicted: State, text: str = "hello") -> Dialogue:
    return Dialogue(
        id=identifier,
        domains=("hotel",),
        goal=Goal(tasks={"hotel": Task(info={"area": "east"}, requests=("phone",))}),
        outcome=Outcome(success=False, reason="no offer"),
        turns=(
            Turn(speaker="user", text=text, state=GOLD, predicted=predicted),
            Turn(speaker="system", acts=(Act("request", "hotel", "stars"),)),
            Turn(speaker="user", text=text, state={**GOLD, "train": {"day": ("monday",)}}, predicted={}),
            Turn(speaker="user", text=text, state={"train": {"day": ("monday",)}}, predicted={}),
        ),
    )


class Balanced(HTMLParser):
    """Every tag that opens is closed, in order, and nothing in it runs."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "iframe")
        assert all(name == "class" for name, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(thing: Any) -> str:
    html: str = thing._repr_html_()
    Balanced(html)
    assert "\x1b" not in html
    return html


def test_a_dialogue_turn_by_turn() -> None:
    html = shown(dialogue("d1", {"hotel": {"area": ("north", "west")}}))
    assert "<caption>Dialogue d1</caption>" in html
    assert "<small>request(hotel, stars)</small>" in html
    rows = re.findall(r"<tr class=.*?</tr>", html)
    assert "<strong>hotel-area: east</strong>" in rows[0] and "<strong>hotel-area: north | west</strong>" in rows[0]
    assert "hotel-area: east<br><strong>train-day: monday</strong>" in rows[2]
    assert "<s>hotel-area: north | west</s>" in rows[2]
    assert "train-day: monday<br><s>hotel-area: east</s>" in rows[3] and "<small>empty</small>" in rows[3]
    assert "Goal: hotel: area east, asks for phone." in html
    assert "Outcome: the task was not done (no offer)." in html


def test_a_corpus_says_how_much_it_holds() -> None:
    corpus = Corpus(
        source="some/test.json", format="x", kind="dialogues", dialogues=[dialogue(f"d{n}", {}) for n in range(7)]
    )
    corpus.notes.add("field span_info dropped", 3)
    html = shown(corpus)
    assert "<caption>test.json: 7 dialogues, 28 turns</caption>" in html
    assert "d4" in html and "d5" not in html and "and 2 more" in html
    assert "text 21, acts 7, state 21, predicted 21." in html
    assert "field span_info dropped (3)" in html


def scored(*names: str) -> Any:
    gold = [dialogue(f"d{number}", {}) for number in range(8)]
    east = [dialogue(f"d{number}", GOLD if number else {}) for number in range(8)]  # not the same on all
    return dialgauge.score(gold, {name: east if place else gold for place, name in enumerate(names)})


@pytest.mark.parametrize("systems", [2, 3])
def test_scores_and_comparisons_have_intervals(systems: int) -> None:
    results = scored(*"abc"[:systems])
    assert re.search(r"<small>\[\d+\.\d\d, \d+\.\d\d\]</small>", shown(results))
    assert "<caption>tracking b</caption>" in shown(results["b"])
    assert "<caption>tracking b</caption>" in shown(results["b"])
    html = shown(dialgauge.compare(results.runs, measures=["JGA"], resamples=100))
    assert re.search(r"<small>\[\+\d+\.\d\d, \+\d+\.\d\d\]</small>|<small>\[-\d+\.\d\d, [-+]\d", html)
    assert "--" not in re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL), (
        "options of commands do not belong here"
    )
    assert html.count("<details>") == html.count("<table>") - 2
    assert "<caption>Differences, first minus second</caption>" in html
    folded = shown(dialgauge.compare(results.runs, resamples=100))
    assert ("<summary>Differences, first minus second</summary>" in folded) == (systems == 3), "27 rows"


def test_nothing_from_data_is_markup() -> None:
    one = dialogue(ODD, {ODD: {ODD: (ODD,)}}, ODD)
    corpus = Corpus(source=ODD, format=ODD, kind="dialogues", dialogues=[one])
    results = scored(ODD, "b")
    comparison = dialgauge.compare(results.runs, measures=["JGA"], resamples=100)
    for thing in (one, corpus, results, results[0], results.table(), comparison):
        html = shown(thing)
        assert "<img" not in html
        assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp;" in html


def test_colours_let_the_page_show_through() -> None:
    """A fixed colour of text or paper would be unreadable in a dark or in a light notebook."""
    style = re.search(r"<style>(.*?)</style>", shown(dialogue("d", {})), re.DOTALL)
    assert style is not None
    colours = re.findall(r"(?:color|background|border[\w-]*): ([^;]+);", style[1])
    assert colours
    assert all(re.search(r"inherit|transparent|\b0$|^collapse$|#888\d$", colour) for colour in colours), colours


def test_results_say_first_what_is_missing() -> None:
    gold = {"d": [{"hotel-area": "north"}], "e": [{"hotel-area": "south"}]}
    results = dialgauge.score(gold, {"mine": {"d": gold["d"]}}, measures="JGA", intervals=False)
    said = "mine: 1 of 2 dialogues scored; 1 of 2 turns scored."
    assert str(results).startswith(said) and said in results._repr_html_()
    assert "scored" not in str(dialgauge.score(gold, {"mine": gold}, measures="JGA", intervals=False))
