"""Pages of responses runs: gold beside chosen, ranked candidates, attention; with or without the tables for them."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.explorer import DialogueList, DialogueQuery, Library
from dialgauge.lab import interact
from dialgauge.presentation import pages_of
from dialgauge.rankers import RankingTask, TfIdf, fit_model, load_task
from dialgauge.responses import CellKey, class_table, evaluation_run
from dialgauge.responses.pages import ReplyCell
from dialgauge.runs import Run, Store, new_run
from dialgauge.worlds.restaurant import Parameters
from support.drawn_charts import datasets, marks, scales
from support.family_pages import (
    dialogue_html,
    run_html,
    view_of_dialogue,
)
from support.tiny_world import TINY, tiny_task

PAGES = pages_of("responses")


def fitted(task: RankingTask) -> TfIdf:
    model = TfIdf()
    fit_model(model, task)
    return model


@cache
def simulated() -> Run:
    """TF-IDF on ten dialogues of the tiny world."""
    task = tiny_task(3, dialogs=10)
    model = fitted(task)
    return evaluation_run(CellKey.of(model, task, "tst"), model, task)


REPLIES = {
    "dialogue": ["d1"] * 3,
    "turn": [1, 3, 5],
    "class": ["fixed", "api 1", "fixed"],
    "gold": ["hello", "api_call rome", "bye"],
    "chosen": ["hello", "hello", ""],
    "correct": [True, False, False],
    "rank": [1, 7, 13],
    "tied": [False, True, False],
}
CANDIDATES = {
    "dialogue": ["d1"] * 3,
    "turn": [3, 3, 3],
    "rank": [2, 1, 7],
    "text": ["bye", "hello", "api_call rome"],
    "score": [0.25, 0.5, -1.5],
    "gold": [False, False, True],
}


def attention(memories: int = 8) -> dict[str, list[Any]]:
    """Two hops over some memories before turn 3; the last memory has all the weight of the second hop."""
    places = [(hop, place) for hop in (1, 2) for place in range(memories)]
    return {
        "dialogue": ["d1"] * len(places),
        "turn": [3] * len(places),
        "memory": [place for _, place in places],
        "speaker": ["user"] * len(places),
        "text": [f"memory {place}" for _, place in places],
        "hop": [hop for hop, _ in places],
        "weight": [1 / memories if hop == 1 else float(place == memories - 1) for hop, place in places],
    }


@cache
def by_hand() -> Run:
    """One dialogue with all there is to show."""
    words = ("hi", "hello", "rome please", "api_call rome", "thanks", "bye")
    turns = tuple(Turn(speaker=("user", "system")[place % 2], text=text) for place, text in enumerate(words))
    tables: dict[str, Any] = {"replies": REPLIES, "candidates": CANDIDATES, "attention": attention()}
    return new_run(
        kind="responses",
        name="by hand",
        corpus=[Dialogue(id="d1", turns=turns)],
        tables={name: pl.DataFrame(columns) for name, columns in tables.items()},
        signature="model:hand|candidates:12|version:0.2.0",
    )


def cell(place: int, run: Run | None = None) -> ReplyCell:
    found = view_of_dialogue(run or by_hand(), "d1").turns[place].cell
    assert isinstance(found, ReplyCell)
    return found


def badges(place: int) -> list[str]:
    return [badge.text for badge in view_of_dialogue(by_hand(), "d1").turns[place].badges]


def test_gold_stands_beside_what_was_chosen() -> None:
    assert [badges(place) for place in (1, 3, 5)] == [
        ["right", "fixed"],
        ["wrong", "api 1", "tied"],
        ["no answer", "fixed"],
    ]
    assert [turn.cell is None for turn in view_of_dialogue(by_hand(), "d1").turns] == [True, False] * 3
    assert [cell(place).rank for place in (1, 3, 5)] == ["1 of 12", "7 of 12", "behind all 12 candidates"]
    html = dialogue_html(by_hand(), "d1")
    assert html.count("chosen = gold") == 1
    assert "(no answer)" in html
    assert [badge.text for badge in view_of_dialogue(by_hand(), "d1").badges] == ["1 of 3 replies right"]


def test_turns_that_bring_their_candidates_say_how_many() -> None:
    run = by_hand()
    (dialogue,) = run.dialogues()
    turns = list(dialogue.turns)
    turns[3] = msgspec.structs.replace(turns[3], candidates=tuple("abcdefgh"))
    own = new_run(
        kind="responses",
        name="own",
        corpus=[msgspec.structs.replace(dialogue, turns=tuple(turns))],
        tables={"replies": run.table("replies")},
    )
    assert [cell(place, own).rank for place in (1, 3)] == ["1", "7 of 8"]


def test_candidates_stand_by_rank_with_the_gold_one_marked() -> None:
    rows = cell(3).candidates
    assert [(row.rank, row.text, row.score, row.gold) for row in rows] == [
        (1, "hello", "0.5", False),
        (2, "bye", "0.25", False),
        (7, "api_call rome", "−1.5", True),
    ]
    assert dialogue_html(by_hand(), "d1").count("✓ gold") == 1
    assert cell(1).candidates == ()


def test_attention_is_a_table_of_numbers_and_shades() -> None:
    shown = cell(3)
    assert shown.hops == (1, 2)
    assert [one.number for one in shown.memories] == [1, 2, 3, 4, 5, 8]
    assert [one.number for one in shown.rest] == [6, 7]
    last = shown.memories[-1]
    assert [(weight.text, weight.shade) for weight in last.weights] == [("0.125", 1), ("1.000", 10)]
    assert [(weight.text, weight.shade) for weight in shown.rest[0].weights] == [("0.125", 1), ("0.000", 0)]
    html = dialogue_html(by_hand(), "d1")
    assert '<td class="n w10">1.000</td>' in html
    assert "style=" not in html


def test_weights_that_are_none_have_a_dash_and_no_shade() -> None:
    columns = attention(2) | {"weight": [None, float("nan"), 2.0, -1.0]}
    run = new_run(
        kind="responses",
        name="odd",
        corpus=list(by_hand().dialogues()),
        tables={"attention": pl.DataFrame(columns, strict=False)},
    )
    weights = [[(one.text, one.shade) for one in row.weights] for row in cell(3, run).memories]
    assert weights == [[("–", 0), ("2.000", 10)], [("–", 0), ("−1.000", 0)]]


def test_a_simulated_task() -> None:
    run = simulated()
    replies = run.table("replies")
    name = replies["dialogue"][0]
    own = replies.filter(pl.col("dialogue") == name)
    view = view_of_dialogue(run, name)
    assert [turn.place for turn in view.turns if turn.cell is not None] == own["turn"].to_list()
    assert [turn.cell.right for turn in view.turns if turn.cell is not None] == own["correct"].to_list()
    assert f" of {len(tiny_task(3, dialogs=10).candidates):,}" in dialogue_html(run, name)


def test_the_table_by_class_is_the_one_of_the_family() -> None:
    ours = {
        row["class"]: row["accuracy %"] for row in PAGES.tables(Library(runs=[simulated()]), simulated())[0].records()
    }
    (theirs,) = class_table([simulated()]).records()
    assert ours == {name: pytest.approx(theirs[name]) for name in ours}
    assert set(ours) == set(simulated().details["by_class"])


def test_ranks_are_counted_once() -> None:
    ranks = PAGES.tables(Library(runs=[simulated()]), simulated())[1].records()
    replies = simulated().table("replies")
    assert sum(row["replies"] for row in ranks) == replies.height
    assert ranks[0] == {"rank": "1", "replies": replies["correct"].sum()}
    assert [row["rank"] for row in PAGES.tables(Library(), by_hand())[1].records()] == [
        "1",
        "2",
        "3–5",
        "6–10",
        "11–20",
    ]


def test_charts() -> None:
    charts = PAGES.charts(Library(), by_hand())
    assert set(charts) == {"accuracy by class", "rank of the gold reply"}
    chart = charts["accuracy by class"]()
    assert {"rule", "circle"} <= {mark for mark, _ in marks(chart)}
    assert {tuple(scale["domain"]) for scale in scales(chart, "x")} == {(0, 100)}
    rows = datasets(chart)
    assert "50.0% of 2" in {row["text"] for row in rows}
    assert all(0 <= row["low"] <= row["value"] <= row["high"] <= 100 for row in rows)


def test_facets_find_the_dialogues(tmp_path: Path) -> None:
    stored = Store(tmp_path).add(simulated())
    listed = DialogueList(Library(runs=[stored]), stored)
    replies = stored.table("replies")

    def found(**facets: str) -> set[str]:
        return {row.dialogue for row in listed.page(DialogueQuery(facets=facets)).rows}

    def having(*conditions: pl.Expr) -> set[str]:
        return set(replies.filter(*conditions)["dialogue"])

    assert found(right="false") == having(~pl.col("correct"))
    assert found(right="true") == having(pl.col("correct"))
    assert found(tied="true") == having(pl.col("tied"))
    for name in replies["class"].unique():
        assert found(**{"class": name}) == having(pl.col("class") == name)
        assert found(wrong=name) == having(pl.col("class") == name, ~pl.col("correct"))


def test_conversations_with_simulated_users_show_words_and_ends() -> None:
    task = tiny_task(3, dialogs=10)
    run = interact(fitted(task), TINY, 3, "A", 4, Parameters())
    assert run.kind == "interaction"
    name, why = run.table("outcomes").select("dialogue", "explanation").row(0)
    html = dialogue_html(run, name)
    assert why
    assert escape(why).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in html
    assert "right reply" not in html
    assert "How the conversations ended" in run_html(run)
    listed = DialogueList(Library(runs=[run]), run)
    assert (
        listed.page(DialogueQuery(facets={"success": "false"})).found
        == run.table("outcomes").filter(~pl.col("success")).height
    )


@pytest.mark.soak
def test_the_released_task(shared_data: Path) -> None:
    task = load_task(shared_data / "babi", 5, ("trn", "tst"))
    model = fitted(task)
    view = view_of_dialogue(evaluation_run(CellKey.of(model, task, "tst"), model, task), "task5-tst-0001")
    first = view.turns[1].cell
    assert isinstance(first, ReplyCell)
    assert (first.gold, first.rank) == ("hello what can i help you with today", "150 of 4,212")
