"""The list of dialogues against a list made straight from the run's tables."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest

from dialgauge import Store, score
from dialgauge.errors import DialgaugeError
from dialgauge.explorer import DialogueList, DialogueQuery, Library
from dialgauge.presentation import pages_of
from dialgauge.runs import Run, worst_first
from support.explorer_store import large_run, tracking_store

PAGE_SIZE = 50

PAGES = pages_of("tracking")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> tuple[DialogueList, Run]:
    store, (run, _) = tracking_store(tmp_path_factory.mktemp("store") / "runs")
    return DialogueList(Library(store), run), run


def oracle(run: Run, parameters: dict[str, str]) -> list[str]:
    """The ids that a query finds, in plain Python."""
    values = {row["dialogue"]: row["num"] / row["den"] for row in run.table("dialogue_scores").to_dicts()
              if row["measure"] == parameters.get("measure", parameters.get("sort", "JGA"))}  # fmt: skip
    errors = run.table("slot_errors").to_dicts()
    found = []
    for dialogue in run.dialogues():
        own = [row for row in errors if row["dialogue"] == dialogue.id]
        text = parameters.get("q", "").lower()
        fits = (
            (not text or text in dialogue.id.lower() or any(text in turn.text.lower() for turn in dialogue.turns))
            and ("domain" not in parameters or parameters["domain"] in dialogue.domains)
            and (not {"error", "slot"} & parameters.keys() or any(_same_row(row, parameters) for row in own))
            and ("least" not in parameters or round(100 * values[dialogue.id], 2) >= float(parameters["least"]))
            and ("most" not in parameters or round(100 * values[dialogue.id], 2) <= float(parameters["most"]))
        )
        if fits:
            found.append(dialogue.id)
    if "sort" in parameters:
        ranking = worst_first(run)
        assert ranking is not None
        found.sort(key=ranking.dialogues.index)
        found.sort(key=lambda name: -values[name] if parameters.get("falling") else values[name])
    return found


def _same_row(row: dict[str, str], parameters: dict[str, str]) -> bool:
    slot = f"{row['domain']}-{row['slot']}"
    return parameters.get("error", row["kind"]) == row["kind"] and parameters.get("slot", slot) == slot


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"error": "wrong", "slot": "hotel-area"},
        {"error": "missed", "slot": "hotel-area"},
        {"q": "ITALIAN"},
        {"q": "d001"},
        {"q": "%"},
        {"q": "[a-z"},
        {"domain": "hotel"},
        {"error": "missed"},
        {"slot": "hotel-area", "domain": "hotel"},
        {"measure": "JGA", "least": "30", "most": "66.67"},
        {"measure": "AGA", "most": "0"},
        {"sort": "JGA"},
        {"sort": "AGA", "falling": "1", "error": "wrong", "q": "cheap"},
    ],
)
def test_filters_and_sorting_agree_with_plain_python(
    listed: tuple[DialogueList, Run], parameters: dict[str, str]
) -> None:
    dialogues, run = listed
    query = DialogueQuery.read(parameters, PAGES)
    assert [dialogues.ids[int(place)] for place in dialogues.order(query)] == oracle(run, parameters)
    assert DialogueQuery.read(dict(parse_qsl(query.address())), PAGES) == query


def test_pages_show_each_dialogue_once_and_a_page_too_far_is_the_last(listed: tuple[DialogueList, Run]) -> None:
    dialogues, run = listed
    pages = [dialogues.page(DialogueQuery(sort="JGA", page=number)) for number in (1, 2)]
    shown = [row.dialogue for page in pages for row in page.rows]
    assert len(pages[0].rows) == PAGE_SIZE and sorted(shown) == sorted(dialogue.id for dialogue in run.dialogues())
    assert dialogues.page(DialogueQuery(sort="JGA", page=99)) == pages[1]
    assert {row.dialogue: row.opening for page in pages for row in page.rows} == {
        dialogue.id: dialogue.turns[0].text for dialogue in run.dialogues()
    }


def test_neighbours_follow_the_order_of_the_query(listed: tuple[DialogueList, Run]) -> None:
    dialogues, run = listed
    parameters = {"sort": "JGA", "error": "missed"}
    names, query = oracle(run, parameters), DialogueQuery.read(parameters, PAGES)
    for place, name in enumerate(names):
        before = names[place - 1] if place else None
        after = names[place + 1] if place + 1 < len(names) else None
        assert dialogues.neighbours(query, name) == (before, after, place + 1, len(names))
    other = next(dialogue.id for dialogue in run.dialogues() if dialogue.id not in names)
    assert dialogues.neighbours(query, other) == (None, None, 0, len(names))


def test_choices_count_dialogues_not_rows(listed: tuple[DialogueList, Run]) -> None:
    dialogues, run = listed
    choices = {choice.name: dict(choice.values) for choice in dialogues.choices(DialogueQuery())}
    for kind, count in choices["error"].items():
        assert count == len(oracle(run, {"error": kind}))
    assert choices["domain"]["hotel"] == len(oracle(run, {"domain": "hotel"}))


def test_labels_are_seen_at_once(tmp_path: Path) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=12)
    dialogues, query = DialogueList(Library(store), run), DialogueQuery(facets={"label": "odd"})
    assert len(dialogues.order(query)) == 0
    store.annotate_dialogue(run.id, "D0003", labels=["odd"])
    assert [dialogues.ids[int(place)] for place in dialogues.order(query)] == ["D0003"]
    assert [(choice.name, list(choice.values)) for choice in dialogues.choices(query)][-1] == ("label", [("odd", 1)])


@pytest.mark.parametrize("parameters", [{"least": "much"}, {"page": "x"}, {"most": "inf"}, {"least": "1e999"}])
def test_numbers_that_are_none_are_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(DialgaugeError, match="must be a number"):
        DialogueQuery.read(parameters, PAGES)


def test_unknown_measures_are_refused(listed: tuple[DialogueList, Run]) -> None:
    with pytest.raises(DialgaugeError, match="no measure 'XYZ'"):
        listed[0].order(DialogueQuery(sort="XYZ"))


@pytest.mark.soak
def test_100_000_dialogues_are_paged_through(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    run = store.add(large_run(100_000))
    dialogues = DialogueList(Library(store), run)
    page = dialogues.page(DialogueQuery(sort="JGA", falling=True, page=2000))
    assert (page.found, page.pages, len(page.rows)) == (100_000, 2000, PAGE_SIZE)
    assert np.array_equal(np.sort(dialogues.order(DialogueQuery(sort="JGA"))), np.arange(100_000))
    assert [row.dialogue for row in dialogues.page(DialogueQuery(text="number 77777 ")).rows] == ["D077777"]


def test_two_filters_of_one_table_hold_for_the_same_row(tmp_path: Path) -> None:
    """One dialogue misses the area and has the stars wrong; the other has the area wrong."""
    right = {"hotel-area": "north", "hotel-stars": "4"}
    predicted = {"apart": [{"hotel-stars": "3"}], "together": [{"hotel-area": "south", "hotel-stars": "4"}]}
    run = Store(tmp_path).add(score({name: [right] for name in predicted}, {"mine": predicted})[0])
    dialogues = DialogueList(Library(Store(tmp_path)), run)
    query = DialogueQuery.read({"slot": "hotel-area", "error": "wrong"}, PAGES)
    assert [dialogues.ids[int(place)] for place in dialogues.order(query)] == ["together"]
