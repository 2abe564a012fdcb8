"""Runs with several trials are compared by task or goal; pages and reports still show their conversations."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dialgauge import Store
from dialgauge.explorer import Library, neighbours, ranking, report_html, side_by_side
from dialgauge.lab import AgentSpec, LabConfig, open_town, run_lab
from dialgauge.runs import Run
from dialgauge.tasks import score_results
from dialgauge.users.faults import user_faults
from support.agent_results import tau_file
from support.explorer_client import Client

pytestmark = pytest.mark.usefixtures("without_pictures")
TASKS = {"one": {"a": "++", "b": "+-", "c": "--", "d": "++"}, "two": {"a": "--", "b": "++", "c": "-+", "d": "++"}}


def lab_run(store: Store, channel: str) -> Run:
    sitting = LabConfig(
        user=AgentSpec("agenda", {"channel": channel}), system=AgentSpec("rule-system", {"channel": channel}),
        level="act", seed=1, trials=2,
    )  # fmt: skip
    return run_lab(open_town(count=12, seed=1), sitting, store=store)


@pytest.fixture(scope="module", params=["trials", "faults", "lab"])
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, list[Run]]:
    tmp_path = tmp_path_factory.mktemp("units")
    store = Store(tmp_path / "runs")
    files = [tau_file(tmp_path / f"{name}.json", tasks) for name, tasks in TASKS.items()]
    if request.param == "trials":
        runs = [store.add(run) for run in score_results(files, resamples=10).runs]
    elif request.param == "faults":
        runs = [store.add(user_faults(file, resamples=10)[0]) for file in files]
    else:
        runs = [lab_run(store, channel) for channel in ("mild", "paper2021")]
    return Library(store), runs


def test_every_unit_that_differs_leads_to_conversations(compared: tuple[Library, list[Run]]) -> None:
    library, runs = compared
    ids = [run.id for run in runs]
    shown = ranking(library, ids)
    for part in shown.parting:
        side = side_by_side(library, ids, part.conversation)
        assert len(side.dialogues) == 2 and len({dialogue.id for dialogue in side.dialogues}) == 1
        near = neighbours(library, ids, side.dialogues[0].id, shown.measure)
        assert near.number and side.dialogues[0].id not in (near.before, near.after)
        for name in (near.before, near.after):
            assert name is None or library.dialogue(runs[0], name).id == name
    if runs[0].kind != "faults":
        assert shown.parting


def test_runs_that_differ_are_not_said_to_be_the_same(compared: tuple[Library, list[Run]]) -> None:
    library, runs = compared
    ids = [run.id for run in runs]
    side = side_by_side(library, ids, next(iter(runs[0].dialogues())).id)
    assert (side.parting is not None) == any(turn.differs for turn in side.turns)


def test_a_report_shows_them(compared: tuple[Library, list[Run]]) -> None:
    text = report_html(compared[1], dialogues=4)
    shown = re.findall(r'<details class="dialogue"[^>]*><summary><strong>([^<]*)', text)
    known = {dialogue.id for dialogue in compared[1][0].dialogues()}
    assert set(shown) <= known and (shown or compared[1][0].kind == "faults")


def test_tasks_are_listed_by_the_first_measure_in_which_runs_differ(tmp_path: Path) -> None:
    """Logs whose conversations are as long, and have other scores."""
    store = Store(tmp_path / "runs")
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for name, best in (("one", 3), ("two", 4)):
        rows = [{"task_id": f"t{n}", "messages": talk, "scores": {"mood": best + n % 2}} for n in range(8)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    runs = [store.add(run) for run in score_results(files, resamples=10).runs]
    shown = ranking(Library(store), [run.id for run in runs])
    assert (shown.measure, len(shown.parting)) == ("Score[mood]", 8)
    assert "Score[mood]" in [row.measure for row in shown.plot.amounts]
    assert "in Score[mood] two is 1.00 points higher" in str(shown.verdict)
    text = report_html(runs, dialogues=2)
    assert len(re.findall(r'<details class="dialogue"', text)) == 2


def test_pages_and_reports_call_nobody_better_by_a_score_without_direction(tmp_path: Path) -> None:
    """Nothing says whether more of ``q`` is better: one run is higher on some tasks, and neither is ahead."""
    store = Store(tmp_path / "runs")
    for name, more in (("one", 2), ("two", 0)):
        rows = [{"task_id": str(n), "messages": [], "scores": {"q": n % 5 + more + n % 3 / 10}} for n in range(12)]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    runs = [store.add(run) for run in score_results([tmp_path / f"{name}.jsonl" for name in ("one", "two")]).runs]
    page = Client(store).get(f"/compare?run={runs[0].id}&run={runs[1].id}").text
    for text in (page, report_html(runs)):
        assert "No measure says which system is better" in text
        assert " ahead</span>" not in text and "one is better" not in text
    assert " higher</span>" in page and "higher on <b>12</b>" in page and "better on" not in page
