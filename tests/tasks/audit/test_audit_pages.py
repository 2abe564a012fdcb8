"""What an audit found, stored with a run: its tables, the pages and reports that show them, and what is withheld."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge import api
from dialgauge.demo import DESK_TASKS
from dialgauge.explorer import DialogueList, Library, report_html
from dialgauge.presentation import Panel, pages_of
from dialgauge.runs import Run, Store
from dialgauge.tasks import Review, write_scripted_log
from dialgauge.worlds.tools import load_tool_domain
from runs.contract import assert_run_contract
from support.family_pages import dialogues_with


def desk_log(path: Path, trials: int = 3) -> Path:
    """A log of an agent that does everything right in five tasks, and the same in every trial."""
    write_scripted_log(load_tool_domain("depot"), DESK_TASKS, "gold", path, trials=trials)
    return path


def tampered(path: Path) -> Path:
    """The same, one conversation filed under another task, and one failure called a success."""
    content = json.loads(desk_log(path).read_text())
    simulations = content["simulations"]
    filed = {key: simulations[4][key] for key in ("task_id", "trial", "id")}
    simulations[4] = {**simulations[0], **filed}
    lazy = simulations[8]
    lazy["messages"] = [message for message in lazy["messages"] if not message.get("tool_calls")]
    path.write_text(json.dumps(content))
    return path


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review:
    folder = tmp_path_factory.mktemp("audit")
    return api.review_log(tampered(folder / "log.json"), domain="depot", store=Store(folder / "runs"))


def panels(run: Run) -> dict[str, Panel]:
    return {panel.name: panel for panel in pages_of(run.kind).panels(Library(runs=[run]), run)}


def test_the_audit_is_stored_as_codes_with_arguments(review: Review) -> None:
    run = review.run
    assert_run_contract(run)
    facts = {(task, fact) for task, fact, _ in run.table("task_facts").rows()}
    assert ("full-window", "failing_write") in facts
    assert all(code == code.lower() and " " not in code for _, code in facts)
    filings = {row["dialogue"]: row for row in run.table("filings").to_dicts()}
    assert (filings["pay-duty#1"]["belonging"], filings["pay-duty#1"]["fits"]) == ("foreign", "later-window")
    assert "later-window#0" in filings["pay-duty#1"]["same_as"]
    replays = {row["dialogue"]: row for row in run.table("replays").to_dicts()}
    assert review.audit is not None
    assert {name for name, row in replays.items() if not row["agrees"]} == {one.id for one in review.audit.differences}


def test_every_number_of_a_panel_is_that_of_the_list_it_leads_to(review: Review) -> None:
    shown = panels(review.run)
    assert list(shown)[:1] == ["integrity"] and "fairness" in shown
    listed = DialogueList(Library(runs=[review.run]), review.run)
    cells = [cell for panel in shown.values() for finding in panel.findings for cell in finding.cells if cell.only]
    assert len(cells) > 5
    for cell in cells:
        assert listed.count(cell.only) == int(cell.text), cell


def test_what_contradicts_the_log_comes_first(review: Review) -> None:
    run = review.run
    panel = panels(run)["integrity"]
    assert panel.tone == "bad" and panel.answer.startswith(
        "The log is not what it claims to be: 1 of 15 conversations is filed"
    )
    assert dialogues_with(run, first="filed under another task") == ["pay-duty#1"]
    pages, library = pages_of(run.kind), Library(runs=[run])
    foreign = next(one for one in run.dialogues() if one.id == "pay-duty#1")
    assert any("it fits task later-window" in reason.text for reason in pages.dialogue(library, run, foreign).reasons)
    [lied] = dialogues_with(run, replay="contradicts the recorded verdict", belonging="belongs to its task")
    dialogue = next(one for one in run.dialogues() if one.id == lied)
    assert "recorded 1, replayed 0" in pages.dialogue(library, run, dialogue).reasons[0].text
    page = report_html([run])
    assert page.index("The log is not what it claims to be") < page.index("has 100.0%")
    assert "Were its tasks fair?" in page and "an expected write fails" in page


def test_nothing_by_task_is_shown_of_a_log_with_mixed_up_tasks(tmp_path: Path) -> None:
    content = json.loads(desk_log(tmp_path / "log.json").read_text())
    tasks = [each["task_id"] for each in content["simulations"]]
    for place, simulation in enumerate(content["simulations"]):
        simulation["task_id"] = tasks[place - 3]
    (tmp_path / "log.json").write_text(json.dumps(content))
    run = api.review_log(tmp_path / "log.json", domain="depot").run
    assert list(panels(run)) == ["integrity"]
    library = Library(runs=[run])
    assert pages_of(run.kind).trials(library, run) == [] and not library.has_table(run, "faults")
    view = pages_of(run.kind).dialogue(library, run, next(iter(run.dialogues())))
    assert view.overview.siblings == () and "Filed under" in view.reasons[0].text
    assert not any("expected" in each.text for each in view.reasons)


def test_panels_of_a_sound_log_without_its_world(tmp_path: Path) -> None:
    run = api.review_log(desk_log(tmp_path / "log.json", trials=1)).run
    shown = panels(run)
    assert shown["integrity"].tone == "good"
    assert any("were not at hand" in note for note in shown["integrity"].notes)
    assert not run.table("replays").height
