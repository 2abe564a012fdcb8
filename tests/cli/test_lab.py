"""``dialgauge lab`` as a user calls it: run, goals, chat, study, calls of tools."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dialgauge.formats import read
from dialgauge.runs import Store
from dialgauge.worlds.tools import load_tool_domain
from support.commands import dialgauge


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DIALGAUGE_RUNS", raising=False)


def test_a_run_is_held_scored_stored_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "lab", "run", "-n", 12, "--out", "talks", "--json", "scores.json", "--table", "t.md")
    assert outcome.code == 0, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80
    (run,) = Store(None).survey().runs
    assert {"Success(rules=strict)", "Success(rules=compat)", "JGA", "I-GCDF1"} <= run.scores.keys()
    assert {"outcomes", "calls", "dialogues", "turns"} <= set(run.tables)
    assert json.loads(Path("scores.json").read_text())["runs"][0]["id"] == run.id
    held, written = list(run.dialogues()), read("talks/conversations.jsonl").dialogues
    assert [one.turns for one in written] == [one.turns for one in held]
    assert written == held
    assert "Success(rules=strict)" in Path("t.md").read_text()


def test_the_very_recording_is_scored_by_the_other_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert dialgauge(capsys, "lab", "run", "-n", 12, "--resamples", 0, "--out", "talks").code == 0
    tracked = dialgauge(capsys, "score", "talks/conversations.jsonl", "--profile", "verbatim", "--json", "-")
    assert tracked.code == 0, tracked.err
    assert json.loads(tracked.out)["runs"][0]["scores"]["JGA"]["value"] == 1.0
    users = dialgauge(capsys, "users", "score", "talks/conversations.jsonl", "--json", "-")
    assert users.code == 0, users.err
    assert json.loads(users.out)["runs"][0]["scores"]["I-GCDF1"]["value"] == 1.0


def test_a_system_that_fails_is_named_and_the_exit_code_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "lab", "run", "-n", 3, "--system", "rules")
    assert outcome.code == 1
    assert "3 conversations ended because an agent failed" in outcome.out


def test_goals_are_shown_written_and_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "lab", "goals", "-n", 30, "--out", "town")
    assert outcome.code == 0, outcome.err
    assert "30 goals: " in outcome.out
    again = dialgauge(capsys, "lab", "goals", "--goals", "town/goals.jsonl")
    assert again.out.split("Drawn")[0].splitlines()[0] == outcome.out.splitlines()[0]
    one = dialgauge(capsys, "lab", "goals", "--goal", "G0002")
    assert "find" in one.out


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_person_may_take_the_place_of_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "I am looking for a guesthouse in the north.", "exit")
    outcome = dialgauge(capsys, "lab", "chat", "--goal", "G0002")
    assert outcome.code == 0, outcome.err
    assert "find" in outcome.out
    assert "search hotel" in outcome.out
    assert "north" in outcome.out


def test_the_study_ranks_measures_and_draws_them(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "study", "-n", 12, "--rates", "0.1,0.4", "--errors", "drop,value", "--resamples", 20]
    outcome = dialgauge(capsys, *words, "--json", "study.json", "--table", "study.md")
    assert outcome.code == 0, outcome.err
    assert "predicts success best" in outcome.out and "stored as run" in outcome.err
    found = json.loads(Path("study.json").read_text())["page"]["tables"]
    assert {row["measure"] for row in found["predictors"]["rows"]} >= {"JGA", "F1", "FGA@0.5"}
    assert len(found["conditions"]["rows"]) == 5
    assert dialgauge(capsys, "show", "latest", "--figures", "figures").code == 0
    assert list(Path("figures").glob("*.svg"))


def test_blame_of_a_stored_run_with_the_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Causes of failures" not in dialgauge(capsys, "lab", "run", "-n", 10, "--resamples", 0, "--no-store").out
    ran = dialgauge(capsys, "lab", "run", "-n", 40, "--channel", "value=0.3", "--resamples", 0)
    assert ran.code == 0, ran.err
    assert "said, not heard" in ran.out[ran.out.index("Causes of failures") :]
    (run,) = Store(None).survey().runs
    first = next(row for row in run.table("blame").to_dicts() if row["first"])
    told = dialgauge(capsys, "show", run.id, "--dialogue", first["dialogue"])
    assert told.code == 0, told.err
    assert "blame: system" in told.out


def test_a_new_domain_is_sound_and_runs_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = dialgauge(capsys, "lab", "new", "kennel")
    assert written.code == 0 and "Try it: dialgauge lab run --domain ./kennel" in written.out
    assert "kennel is sound" in dialgauge(capsys, "data", "check", "./kennel").out
    for level in ("act", "text"):
        held = dialgauge(capsys, "lab", "run", "--domain", "./kennel", "-n", 6, "--resamples", 0, "--level", level)
        assert held.code == 0 and "in 100.0%" in held.out
    assert "it exists already" in dialgauge(capsys, "lab", "new", "kennel").err


CALLS = [
    {"name": "choose_window", "arguments": {"parcel_id": "P-1001", "day": "wednesday", "hours": "08:00-12:00"}},
    {"name": "choose_window", "arguments": {"parcel_id": "P-1001", "day": "sunday", "hours": "08:00-12:00"}},
    {"name": "read_calling_card", "arguments": {"parcel_id": "P-1001"}},
    {"name": "dance"},
]


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.json"
    path.write_text(json.dumps(CALLS))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(load_tool_domain("depot").folder, tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "mine"


def outcomes_in(document: Any) -> list[str]:
    return [row["outcome"] for row in document["page"]["tables"]["calls"]["rows"]]


def test_the_document_has_outcomes_results_and_changed_records(
    calls: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = []
    for domain in ("depot", folder):
        outcome = dialgauge(capsys, "lab", "call", calls, "--domain", domain, "--json", "-")
        assert outcome.code == 0, outcome.err
        documents.append(json.loads(outcome.out))
    ours, theirs = documents
    assert ours["page"]["tables"] == theirs["page"]["tables"], "in this process or in one of its own"
    assert outcomes_in(ours) == ["ok", "error", "ok", "error"]
    assert "sunday" in ours["page"]["tables"]["calls"]["rows"][1]["result"]
    changes = {(row["record"], row["field"]): row["after"] for row in ours["page"]["tables"]["changes"]["rows"]}
    assert {record for record, _ in changes} == {"parcels/P-1001", "windows/tuesday", "windows/wednesday"}
    assert changes["parcels/P-1001", "window.day"] == '"wednesday"'


def test_a_task_may_begin_elsewhere_and_calls_may_come_from_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    again = [{"name": "choose_window", "arguments": {"parcel_id": "P-1001", "day": "friday", "hours": "12:00-16:00"}}]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(again).encode())))
    outcome = dialgauge(capsys, "lab", "call", "-", "--domain", "depot", "--task", "after-a-change", "--json", "-")
    rows = json.loads(outcome.out)["page"]["tables"]["changes"]["rows"]
    after = {(row["record"], row["field"]): row["after"] for row in rows}
    assert after["customers/C-01", "balance"] == "16.5", "the second change has its fee"


def test_data_check_of_a_folder_runs_nothing_unless_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "data", "check", folder)
    assert (outcome.code, "sound" in outcome.out, "your own rights" in " ".join(outcome.out.split())) == (0, True, True)
    assert dialgauge(capsys, "data", "check", folder, "--load-tools").code == 0
    tools = folder / "tools.py"
    tools.write_text(
        tools.read_text().replace("def pay_duty(data: dict[str, Any], parcel_id: str)", "def pay_duty(data, parcel_id)")
    )
    assert dialgauge(capsys, "data", "check", folder).code == 0
    outcome = dialgauge(capsys, "data", "check", folder, "--load-tools")
    assert outcome.code == 2
    assert "'parcel_id' of the tool pay_duty" in " ".join(outcome.err.split())
