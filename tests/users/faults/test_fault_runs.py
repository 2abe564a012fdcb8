"""Checked conversations as runs, on the screen and in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.measures import parse_measure
from dialgauge.runs import Store
from dialgauge.users.faults import KINDS, explanation_tables, faults_run, user_faults
from runs.contract import assert_run_contract
from support.agent_results import tau_result
from support.commands import dialgauge
from support.examples import EXAMPLES
from support.talks import talk

ASK = "Could you please provide your user ID?"


def results(path: Path) -> Path:
    """Two trials of one task, one user withholding its id, and two of one that has no id."""
    answers = {("a", 0): "I forgot it.", ("a", 1): "It is ann_lee_2041.", ("b", 0): "Why?", ("b", 1): "Why?"}
    content = []
    for (task, trial), answer in answers.items():
        one = tau_result(task, trial, 0.0)
        one["info"]["task"]["instruction"] = "You are ann_lee_2041." if task == "a" else "Ask."
        one["traj"] = [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": ASK},
            {"role": "user", "content": answer},
        ]
        content.append(one)
    path.write_text(json.dumps(content))
    return path


def test_a_run_keeps_the_contract_in_memory_and_stored(tmp_path: Path) -> None:
    run = user_faults(results(tmp_path / "r.json"), resamples=50)[0]
    assert_run_contract(run)
    stored = Store(tmp_path / "store").add(run)
    assert_run_contract(stored)
    assert stored.table("faults").equals(run.table("faults"))
    again = user_faults(stored.path, resamples=50)[0]
    assert again.scores == run.scores and again.table("faults").equals(run.table("faults"))


def test_shares_count_only_what_was_checked(tmp_path: Path) -> None:
    run = user_faults(results(tmp_path / "r.json"), resamples=0)[0]
    assert run.scores["UserFault[withheld]"].value == 0.5
    assert run.scores["UserFault"].value == 0.25
    assert run.scores["NoFaultFound"].value == 0.75
    assert "UserFault[contradicted]" not in run.scores
    assert parse_measure("UserFault[withheld]").card.family == "faults"


def test_what_the_tables_hold(tmp_path: Path) -> None:
    run = user_faults(results(tmp_path / "r.json"), resamples=0)[0]
    [row] = run.table("faults").to_dicts()
    assert (row["dialogue"], row["kind"], row["turn"], row["message"], row["length"]) == ("a#0", "withheld", 2, 3, 1)
    assert (row["checked"], row["by"]) == ("part", "check")
    checks = run.table("fault_checks")
    assert checks.height == 4 * len(KINDS)
    unchecked = checks.filter((polars.col("dialogue") == "b#0") & (polars.col("checked") == "none"))
    assert "withheld" in unchecked["kind"].to_list()


def test_the_screen_says_what_was_found_what_not_and_how_far_to_trust_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = dialgauge(capsys, "users", "faults", results(tmp_path / "r.json"), "--resamples", 50)
    assert done.code == 0
    for part in ("1 of 2", "not checked", "Not checked, or only in part", "How far the checks can be trusted", "n="):
        assert part in done.out
    assert "no user fault" not in done.out.lower()
    lines = done.out.splitlines()
    assert max(len(line) for line in lines[: lines.index("")] if "[" in line and "%" not in line) <= 80


def test_the_reward_stands_beside_the_fault_and_the_history_of_the_checks_behind_detail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = results(tmp_path / "r.json")
    brief = dialgauge(capsys, "users", "faults", file, "--resamples", 0, "--json", tmp_path / "r.faults.json")
    assert "conversation   reward   kind" in brief.out and "recall" in brief.out
    assert "held out" not in brief.out and "Measurement 1" not in brief.out
    [system] = json.loads((tmp_path / "r.faults.json").read_text())["systems"]
    assert [(fault["dialogue"], fault["reward"]) for fault in system["faults"]] == [("a#0", 0.0)]
    whole = dialgauge(capsys, "users", "faults", file, "--resamples", 0, "--detail")
    assert "held out" in whole.out and "Measurement 1" in whole.out
    dialgauge(capsys, "users", "faults", file, "--resamples", 0, "--table", tmp_path / "r.md")
    assert "Measurement 1" in (tmp_path / "r.md").read_text()


def test_the_screen_is_limited_and_files_have_all_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = []
    for task in ("a", "b", "c"):
        one = json.loads(results(tmp_path / "r.json").read_text())[0]
        content.append(one | {"task_id": task})
    (tmp_path / "r.json").write_text(json.dumps(content))
    call = ("users", "faults", tmp_path / "r.json", "--resamples", 0)
    few = dialgauge(capsys, *call, "--limit", 1, "--table", tmp_path / "few.json")
    whole = dialgauge(capsys, *call, "--limit", 0, "--table", tmp_path / "whole.json")
    assert "The first 1 of 3 faults; --limit shows more." in few.out
    assert "--limit" not in whole.out
    assert (tmp_path / "few.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_one_conversation_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = results(tmp_path / "r.json")
    done = dialgauge(capsys, "users", "faults", file, "--dialogue", "a#0")
    assert "I forgot it." in done.out and "What was looked at" in done.out
    with pytest.raises(DialgaugeError, match=r"no conversation 'a#7'.*a#"):
        explanation_tables(user_faults(file, resamples=0)[0], "a#7")


def test_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "users", "faults", results(tmp_path / "r.json"), "--json", "-")
    content = json.loads(done.out)
    [system] = content["systems"]
    assert [fault["message"] for fault in system["faults"]] == [3]
    assert len(system["checks"]) == 4 * len(KINDS)
    assert content["record"]["checks"]["held_out"].keys() == KINDS.keys()
    assert content["earlier_held_out_measurements"]


def test_a_stored_run_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    done = dialgauge(capsys, "users", "faults", results(tmp_path / "r.json"), "--run", "--store", store)
    assert done.code == 0 and "stored as run" in done.err
    [run] = Store(store).list()
    assert run.kind == "faults"


def test_a_file_without_conversations_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert dialgauge(capsys, "users", "faults", tmp_path / "x.json").code == 2
    assert dialgauge(capsys, "users", "faults", tmp_path / "missing.json").code == 2


def test_conversations_by_acts_are_checked_exactly() -> None:
    goal = {"hotel": Task(info={"area": "north"})}
    bad = talk(goal, ("hotel inform area=south",), ("hotel recommend name=acorn",), ("general bye",))
    run = faults_run([bad], "lab", resamples=0)
    assert run.scores["UserFault[contradicted]"].value == 1.0
    assert run.scores["UserFault[early_end]"].value == 0.0


def test_a_file_that_was_cut_off_says_so_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two.json"
    file.write_bytes(EXAMPLES["tau2"])
    done = dialgauge(capsys, "users", "faults", file)
    assert done.code == 1
    assert done.out.splitlines()[0].startswith("two: 1 of 2 planned conversations")


def test_a_conversation_is_explained_in_whichever_file_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.json").write_bytes(EXAMPLES["tau2"])
    files = [tmp_path / "two.json", results(tmp_path / "r.json")]
    assert "I forgot it." in dialgauge(capsys, "users", "faults", *files, "--dialogue", "a#0").out
    assert dialgauge(capsys, "users", "faults", *files, "--dialogue", "a#9").code == 2


def test_kinds_and_earlier_measurements_are_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = results(tmp_path / "r.json")
    one = dialgauge(capsys, "users", "faults", file, "--dialogue", "a#0").out
    every = dialgauge(capsys, "users", "faults", file, "--resamples", 0, "--detail").out
    for shown in (one, every):
        assert "early end" in shown and "role swap" in shown
        assert "early_end" not in shown and "role_swap" not in shown
    assert "before: before" not in every
    assert "this was right: early end 0 of 2, contradicted 1 of 3, repeated 0 of 1." in every
    assert "every kind had a precision of at least 90%." in every
