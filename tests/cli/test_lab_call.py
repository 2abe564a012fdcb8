"""``dialgauge lab call`` and ``data check`` of a domain of tools, as somebody uses them who writes one."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dialgauge.worlds.tools import load_tool_domain
from support.commands import dialgauge

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
