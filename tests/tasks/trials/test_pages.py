"""Pages of agents' results: trials, tool calls, expected actions, faults of the user."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from dialgauge.explorer import DialogueList, DialogueQuery, Library, ranking, trials_side_by_side, write_report
from dialgauge.presentation import END_REASONS, Panel, PanelRow, pages_of
from dialgauge.runs import Run, Store, new_run
from dialgauge.tasks import score_results
from support.agent_results import tau_file
from support.examples import EXAMPLES
from support.explorer_client import Client
from support.family_pages import (
    dialogue_html,
    dialogues_with,
    view_of_dialogue,
)

ALL_MADE = "Every expected call was made as expected, and the result is still wrong"
EXPECTATIONS = ("made with other arguments", "all expected calls made", "no call was expected")
TASKS = {"a": "++", "b": "+-", "c": "--"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return score_results([tau_file(tmp_path_factory.mktemp("tau") / "r.json", TASKS)], resamples=50)[0]


@pytest.fixture(scope="module")
def with_tools(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("tau2") / "two.json"
    path.write_bytes(EXAMPLES["tau2"])
    return score_results([path], resamples=0)[0]


def test_filters_by_verdict_and_by_the_trials_of_the_task(run: Run) -> None:
    assert dialogues_with(run, passed="yes") == ["a#0", "a#1", "b#0"]
    assert dialogues_with(run, steady="some pass") == ["b#0", "b#1"]
    assert dialogues_with(run, passed="no", steady="none passes") == ["c#0", "c#1"]
    assert dialogues_with(run, task="b", passed="no") == ["b#1"]


def test_the_trials_of_a_task_stand_side_by_side(run: Run) -> None:
    side = trials_side_by_side(Library(runs=[run]), run, "b")
    assert side.titles == ("b#0: passed", "b#1: failed") and len(side.views) == 2


def test_a_dialogue_links_to_its_siblings_and_tells_its_reward(run: Run) -> None:
    view = view_of_dialogue(run, "b#1")
    assert [badge.text for badge in view.badges] == ["failed", "trial 1"]
    assert view.overview.siblings == [("b#0", 0, True), ("b#1", 1, False)]
    assert ("reward", "0") in view.overview.facts


def test_tool_calls_of_both_sides_stand_at_their_turns(with_tools: Run) -> None:
    [dialogue] = list(with_tools.dialogues())
    view = view_of_dialogue(with_tools, dialogue.id)
    called = {turn.place: [call.name for call in turn.cell.calls] for turn in view.turns if turn.cell is not None}
    assert called == {
        place: [call.name for call in turn.calls] for place, turn in enumerate(dialogue.turns) if turn.calls
    }
    assert "speed" in dialogue_html(with_tools, dialogue.id)


CALLED = [
    {"role": "user", "content": "Cancel R1."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "cancel", "arguments": '{"id": "R2"}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "done"},
    {"role": "assistant", "content": "Done."},
]  # fmt: skip


@pytest.mark.parametrize(
    ("beside", "reasons", "value"),
    [
        ({}, [], None),
        ({"expected_calls": []}, ["No call was expected, but some were made"], "no call was expected"),
        (
            {"expected_calls": [{"name": "cancel", "arguments": {"id": "R1"}}]},
            ["Called cancel with other values than expected for id"],
            "made with other arguments",
        ),
        ({"expected_calls": [{"name": "cancel", "arguments": {"id": "R2"}}]}, [ALL_MADE], "all expected calls made"),
    ],
)
def test_only_a_log_that_names_expected_calls_is_held_against_them(
    tmp_path: Path, beside: dict[str, object], reasons: list[str], value: str | None
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"task_id": "t", "trial": 0, "messages": CALLED, "success": False, **beside}) + "\n")
    run = score_results([path], resamples=0)[0]
    assert [reason.text for reason in view_of_dialogue(run, "t#0").reasons] == reasons
    assert [dialogues_with(run, expected=each) for each in EXPECTATIONS] == [
        ["t#0"] * (each == value) for each in EXPECTATIONS
    ]


def test_faults_are_marked_at_their_messages_and_those_without_one_above(run: Run) -> None:
    faults = pl.DataFrame(
        {
            "dialogue": ["b#1", "b#1", "b#1"], "kind": ["invented", "early_end", "withheld"], "turn": [0, None, 0],
            "reason": ["it made up a date", "a wish was open", ""], "checked": [True, True, False],
        }
    )  # fmt: skip
    tables = {name: run.table(name) for name in run.tables if name not in ("dialogues", "turns", "dialogue_scores")}
    marked = new_run(kind=run.kind, name=run.name, tables={**tables, "faults": faults}, corpus=list(run.dialogues()))
    view = view_of_dialogue(marked, "b#1")
    assert [badge.text for badge in view.turns[0].badges if badge.tone == "bad"] == ["invented"]
    assert view.overview.faults == [("early_end", "a wish was open")]
    text = dialogue_html(marked, "b#1")
    assert "it made up a date" in text and "withheld" not in text
    assert dialogues_with(marked, fault="invented") == ["b#1"]


def test_the_run_lists_tasks_that_pass_sometimes_first(run: Run) -> None:
    table, checked = pages_of("trials").tables(Library(runs=[run]), run)
    assert checked.title == "Faults of the user" and len(checked) > 0
    assert [row["task"] for row in table.records()] == ["b", "c", "a"]


@pytest.mark.soak
def test_real_results(shared_data: Path) -> None:
    """A conversation passes only if the database ends up right, so it made every expected call that writes to it."""
    writing = ("book_", "cancel_", "update_", "send_")
    [run] = score_results([shared_data / "tau" / "tau_airline_gpt-4o.json.gz"], resamples=0).runs
    library, pages = Library(runs=[run]), pages_of("trials")
    for dialogue in run.dialogues():
        view = pages.dialogue(library, run, dialogue)
        if dialogue.outcome is not None and dialogue.outcome.success:
            written = [action for action in view.overview.expected if action.name.startswith(writing)]
            assert all(action.made for action in written), dialogue.id


def test_a_report_shows_failures_and_what_two_runs_part_by(tmp_path: Path) -> None:
    """A passed trial says nothing of what went wrong, nor one that both agents passed of which is better."""
    files = [
        tau_file(tmp_path / f"{name}.json", tasks) for name, tasks in (("old", TASKS), ("new", {**TASKS, "b": "++"}))
    ]
    old, new = score_results(files, resamples=50).runs
    own = write_report(tmp_path / "old.html", old).read_text()
    assert re.findall(r"<summary><strong>(.*?)</strong>", own) == ["b#1", "c#0", "c#1"]
    assert "3 failed conversations of old, those of tasks that pass sometimes first" in own
    both = write_report(tmp_path / "both.html", [old, new]).read_text()
    assert re.findall(r"<summary><strong>(.*?)</strong>", both) == ["b#1"]
    assert "old ✗ failed · new ✓ passed" in both and "differ in the verdict only" in both


def test_differences_in_an_own_unit_have_three_digits_and_an_axis_of_their_own(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for name, cost in (("cheap", 0.0021), ("dear", 0.0029)):
        rows = [
            {"task_id": f"t{n}", "messages": talk, "success": n % 2 == 0, "cost": cost + n / 1e5} for n in range(12)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    runs = score_results([tmp_path / "cheap.jsonl", tmp_path / "dear.jsonl"], resamples=0).runs
    plot = ranking(Library(runs=runs), [run.id for run in runs]).plot
    drawn = {row.measure: row for row in (*plot.shares, *plot.amounts)}
    dear = drawn["Cost"]
    assert dear.amount(dear.difference.difference) == "−0.000800"
    assert dear in plot.amounts and drawn["pass^1"].amount(0.135) == "+13.5"
    assert dear.axis is not plot.points and drawn["pass^1"].axis is plot.points
    assert 2 <= dear.at(dear.difference.difference) < dear.axis.zero <= 98
    assert {tick.label for tick in dear.axis.ticks} >= {"0", "−0.0008"}


def test_runs_without_a_shared_trial_are_compared_and_only_what_is_missing_is_a_warning(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for name, trial in (("one", 0), ("two", 1)):
        rows = [
            {"task_id": f"t{n}", "trial": trial * (n < 3), "messages": talk, "success": n % 2 == trial}
            for n in range(12)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    runs = score_results([tmp_path / "one.jsonl", tmp_path / "two.jsonl"], resamples=0).runs
    shown = ranking(Library(runs=runs), [run.id for run in runs])
    shared = {row.difference.dialogue: row.conversation for row in shown.parting}
    assert shared == {f"t{n}": "" if n < 3 else f"t{n}#0" for n in range(12)}
    assert not [note for note in shown.warnings if "12 of 12" in note]
    report = write_report(tmp_path / "both.html", runs).read_text()
    assert re.findall(r"<summary><strong>(.*?)</strong>", report) == [f"t{n}#0" for n in (10, 11, *range(3, 10))]


def test_ends_have_words_and_those_that_nobody_recorded_are_counted(run: Run) -> None:
    listed = DialogueList(Library(runs=[run]), run)
    choices = {choice.name: choice for choice in listed.choices(DialogueQuery(), least=1)}
    ends = choices["end"]
    assert {ends.word(value) for value, _ in ends.values} <= {*END_REASONS.values(), "not recorded"}
    assert sum(count for _, count in ends.values) == run.table("trials").height
    fault = next(facet for facet in listed.pages.facets if facet.name == "fault")
    assert fault.word("early_end") == "early end: ends before it is done"
    tables = {name: run.table(name) for name in run.tables if name not in ("dialogues", "turns", "dialogue_scores")}
    tables["trials"] = tables["trials"].with_columns(pl.lit("").alias("reason"))
    silent = new_run(kind=run.kind, name=run.name, tables=tables, corpus=list(run.dialogues()))
    assert dialogues_with(silent, end="not recorded") == sorted(dialogue.id for dialogue in run.dialogues())


def test_a_task_that_was_never_tried_is_named_without_a_link(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that was cut off knows of tasks that it has no conversation of."""
    told = Panel("fairness", "Were its tasks fair?", "yes", ["what", "which"], [PanelRow("odd", (), ["a", "untried"])])
    monkeypatch.setattr(type(pages_of("trials")), "panels", lambda *_: [told])
    store = Store(tmp_path / "runs")
    page = Client(store).get(f"/runs/{store.add(run).id}").text
    cell = re.search(r'<td class="which">(.*?)</td>', page, re.DOTALL)
    assert cell is not None and re.findall(r"task=(\w+)", cell[1]) == ["a"] and "untried" in cell[1]


def test_tasks_of_which_nothing_is_judged_neither_fail_nor_flip(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = [{"task_id": f"t{n % 6}", "trial": n // 6, "messages": talk, "scores": {"q": n / 3}} for n in range(12)]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [run] = score_results([tmp_path / "log.jsonl"], resamples=0).runs
    assert len(dialogues_with(run, steady="not judged")) == 12
    store = Store(tmp_path / "runs")
    page = Client(store).get(f"/runs/{store.add(run).id}").text
    assert "Score[q]" in page and "tasks flip" not in page
