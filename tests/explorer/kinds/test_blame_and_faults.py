"""Blame and faults of the user, marked where they happened, and the conversations to read first."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge import Store
from dialgauge.explorer.dialogue_list import DialogueList, DialogueQuery
from dialgauge.explorer.families import pages_of
from dialgauge.explorer.library import Library
from dialgauge.lab import AgentSpec, Sitting, open_town, town_run
from dialgauge.runs import Run
from dialgauge.tasks import score_results
from dialgauge.users import faults
from support.agent_results import tau_file
from support.family_pages import assert_harmless, dialogue_html, emptied, hostile


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Conversations with much misunderstanding, of which some fail."""
    sitting = Sitting(
        user=AgentSpec("agenda-baseline", {"channel": "paper2021"}),
        system=AgentSpec("rule-system", {"channel": "paper2021"}),
        level="act",
        seed=1,
    )
    store = Store(tmp_path_factory.mktemp("blame") / "runs")
    return town_run(open_town(count=40, seed=1), sitting, store=store)


def found(library: Library, run: Run, **facets: str) -> set[str]:
    listed = DialogueList(library, run)
    return {listed.ids[int(place)] for place in listed.order(DialogueQuery(facets=facets))}


def test_blame_stands_at_the_turn_where_the_chain_broke(failing: Run) -> None:
    library, pages = Library(runs=[failing]), pages_of("lab")
    rows = failing.table("blame").to_dicts()
    assert rows
    for row in rows:
        view = pages.dialogue(library, failing, library.dialogue(failing, row["dialogue"]))
        assert row["sentence"] in {one[3] for one in view.overview.blame}
        if row["turn"] is not None:
            assert any(row["sentence"] == badge.title for badge in view.turns[row["turn"]].badges)


def test_what_to_read_first_is_what_the_table_of_sides_says(failing: Run) -> None:
    library = Library(runs=[failing])
    sides = failing.table("blame_sides").to_dicts()
    only_user = {row["dialogue"] for row in sides
                 if not row["success"] and row["user_erred"] and not row["system_erred"]}  # fmt: skip
    lucky = {row["dialogue"] for row in sides if row["success"] and (row["user_erred"] or row["system_erred"])}
    assert found(library, failing, first="failed, only the user erred") == only_user
    assert found(library, failing, first="done although somebody erred") == lucky


def test_faults_are_seen_in_their_own_run_and_in_the_results_of_the_same_conversations(tmp_path: Path) -> None:
    file = tau_file(tmp_path / "r.json", {"a": "++", "b": "+-", "c": "--"})
    store = Store(tmp_path / "runs")
    trials = store.add(score_results([file], resamples=10)[0])
    checked = store.add(faults.check_faults(file))
    library = Library(store)
    assert checked.manifest.corpus == trials.manifest.corpus
    marked = set(checked.table("faults")["dialogue"].to_list())
    assert {name for kind in faults.KINDS for name in found(library, checked, fault=kind)} == marked
    assert {name for kind in faults.KINDS for name in found(library, trials, fault=kind)} == marked
    for run in (trials, checked):
        for dialogue in run.dialogues():
            assert pages_of(run.kind).dialogue(library, run, dialogue).turns


def test_hostile_and_poor_tables_have_pages(failing: Run, tmp_path: Path) -> None:
    blamed = failing.table("blame")["dialogue"][0]
    assert_harmless(dialogue_html(hostile(failing), blamed))
    checked = faults.check_faults(tau_file(tmp_path / "r.json", {"a": "+-"}))
    for run in (failing, checked):
        assert dialogue_html(emptied(run), next(iter(run.dialogues())).id)


def test_real_faults_are_marked_at_their_messages(shared_data: Path) -> None:
    run = faults.check_faults(shared_data / "tau" / "tau2_airline_grok-3.json.gz")
    library, pages = Library(runs=[run]), pages_of("faults")
    for row in run.table("faults").to_dicts():
        dialogue = library.dialogue(run, row["dialogue"])
        view = pages.dialogue(library, run, dialogue)
        assert dialogue.turns[row["turn"]].source == row["message"]
        assert row["kind"].replace("_", " ") in [badge.text for badge in view.turns[row["turn"]].badges]
