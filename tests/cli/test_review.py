"""``dialgauge review``: what was done to a log is found, what cannot be known is said, and it stays short."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import msgspec
import pytest

from dialgauge import review_log
from dialgauge.cli.review import several_lines
from dialgauge.demo import DESK_TASKS
from dialgauge.runs import Store
from dialgauge.trials import write_scripted_log
from dialgauge.worlds.tools import load_tool_domain
from support.agent_results import tau_file, tau_result
from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("own_folder")


def desk_log(path: Path, script: str, trials: int = 3) -> Path:
    write_scripted_log(load_tool_domain("depot"), DESK_TASKS, script, path, trials=trials)
    return path


def test_a_sound_log(capsys: Capture) -> None:
    log = desk_log(Path("log.json"), "gold")
    outcome = dialgauge(capsys, "review", str(log), "--domain", "depot", "--json", "review.json")
    assert outcome.code == 0, outcome.err
    assert "15 of 15 conversations belong to their tasks." in outcome.out
    assert "pass^1 100.0%" in outcome.out and "an expected write fails (1: full-window)" in outcome.out
    assert len(outcome.out.splitlines()) <= 25 and Path("runs/review-log.html").stat().st_size > 10_000
    [review] = json.loads(Path("review.json").read_text())["logs"]
    assert review["sound"] and review["foreign"] == [] and review["read_first"] == []


def test_a_conversation_under_another_task_is_found_and_read_first(capsys: Capture) -> None:
    log = desk_log(Path("log.json"), "gold")
    content = msgspec.json.decode(log.read_bytes())
    filed = {key: content["simulations"][4][key] for key in ("task_id", "trial", "id")}
    content["simulations"][4] = {**content["simulations"][0], **filed}
    log.write_bytes(msgspec.json.encode(content))
    outcome = dialgauge(capsys, "review", str(log), "--domain", "depot", "--json", "review.json")
    assert outcome.code == 1
    [review] = json.loads(Path("review.json").read_text())["logs"]
    assert review["foreign"] == ["pay-duty#1"] and not review["sound"]
    assert review["read_first"][0]["conversation"] == "pay-duty#1"
    assert (
        "1 of 15 conversations is filed under another task (pay-duty#1); 1 fits exactly one other task "
        "(pay-duty#1 task later-window)" in " ".join(outcome.out.split())
    )


def test_an_unfair_task_is_named_even_where_conversations_do_not_belong(capsys: Capture, tmp_path: Path) -> None:
    """As of the demo's log: whether a task can be passed does not rest on who talked about what."""
    log = desk_log(Path("log.json"), "gold", trials=2)
    content = msgspec.json.decode(log.read_bytes())
    filed = {key: content["simulations"][3][key] for key in ("task_id", "trial", "id")}
    content["simulations"][3] = {**content["simulations"][0], **filed}
    log.write_bytes(msgspec.json.encode(content))
    outcome = dialgauge(capsys, "review", str(log), "--domain", "depot")
    told = " ".join(outcome.out.split())
    assert "1 of 10 conversations is filed under another task" in told and "is withheld" in told
    assert "Unfair tasks: an expected write fails (1: full-window)" in told


def test_each_log_has_a_page_of_its_own_and_an_older_one_is_named(capsys: Capture) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for name in ("one", "two"):
        Path(f"{name}.jsonl").write_text(json.dumps({"task_id": "a", "success": True, "messages": talk}))
        assert "in place of" not in dialgauge(capsys, "review", f"{name}.jsonl").out
    assert sorted(page.name for page in Path("runs").glob("*.html")) == ["review-one.html", "review-two.html"]
    assert "(in place of an older one)" in dialgauge(capsys, "review", "two.jsonl").out


def test_failures_are_blamed_and_opened(capsys: Capture) -> None:
    log = desk_log(Path("log.json"), "wrong", trials=1)
    outcome = dialgauge(capsys, "review", str(log), "--domain", "depot", "--json", "review.json")
    [review] = json.loads(Path("review.json").read_text())["logs"]
    assert sum(review["blame"].values()) == sum(1 for line in review["read_first"]) > 0
    assert len(outcome.out.splitlines()) <= 25


def test_long_ids_are_shortened_so_that_none_is_taken_for_another(capsys: Capture) -> None:
    names = [f"[mobile]{'x' * 40}{middle}{'y' * 40}[Easy]" for middle in "abc"]
    tau_file(Path("log.json"), dict.fromkeys(names, "-"))
    lines = dialgauge(capsys, "review", "log.json").out.splitlines()
    shown = [line.partition("#0")[0].strip() for line in lines if "#0" in line]
    assert len(set(shown)) == 3 and all(len(line) <= 80 for line in lines if "--read" in line)


def test_several_logs_share_the_lines(capsys: Capture) -> None:
    logs = [tau_file(Path(f"{name}.json"), {"a": "+-", "b": "--"}) for name in "ab"]
    lines = dialgauge(capsys, "review", *logs).out.splitlines()
    assert len(lines) <= 25 and lines[0].split()[:3] == ["log", "scored", "pass^1"]
    assert "--detail has the whole review of each log." in lines and any("--read 1" in line for line in lines)
    store = Store()
    many = several_lines([review_log(logs[0], store=store)] * 40, store, None, 24)
    assert len(many) <= 24 and "26 more logs are on the page." in many
    assert dialgauge(capsys, "review", *logs, "--detail").out.count("4 of 4 conversations scored") == 2


def test_only_tasks_that_the_log_has_are_called_unfair(capsys: Capture) -> None:
    log = desk_log(Path("log.json"), "gold", trials=1)
    content = msgspec.json.decode(log.read_bytes())
    content["simulations"] = [each for each in content["simulations"] if each["task_id"] != "full-window"]
    log.write_bytes(msgspec.json.encode(content))
    assert "Unfair tasks" not in dialgauge(capsys, "review", str(log), "--domain", "depot").out


def test_what_cannot_be_said_of_chat_messages_is_said(capsys: Capture) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = [
        {"task_id": task, "trial": trial, "reward": float(trial > 0), "messages": talk}
        for task in "ab"
        for trial in (0, 1)
    ]
    Path("chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    outcome = dialgauge(capsys, "review", "chat.jsonl")
    assert outcome.code == 0 and "pass^1 50.0%" in outcome.out
    assert "Not answered: whether tasks fit and were fair" in outcome.out and "a#0: failed" in outcome.out


def test_of_a_log_without_expected_calls_users_faults_lead_to_what_to_read(capsys: Capture) -> None:
    desk = Path(__file__).parents[2] / "docs" / "examples" / "desk-1.jsonl"
    outcome = dialgauge(capsys, "review", desk, "--json", "review.json")
    assert "The user erred in 2 of 30 conversations (withheld 2)" in outcome.out
    [review] = json.loads(Path("review.json").read_text())["logs"]
    first = review["read_first"][0]
    assert first["message"] == 3 and first["why"] == "failed, and the user erred: withheld (user id)"


def test_the_command_it_shows_works(capsys: Capture) -> None:
    log = desk_log(Path("log.json"), "gold")
    content = msgspec.json.decode(log.read_bytes())
    for simulation in content["simulations"][3:5]:
        simulation["messages"] = [each for each in simulation["messages"] if not each.get("tool_calls")]
    content["simulations"][4]["reward_info"]["reward"] = 0.0
    log.write_bytes(msgspec.json.encode(content))
    outcome = dialgauge(capsys, "review", str(log), "--domain", "depot")
    [shown, *_] = [line for line in outcome.out.splitlines() if "--read 1" in line]
    words = shlex.split(shown)
    assert Store().resolve(words[words.index("explore") + 1]) in outcome.err


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_rewards_that_their_own_parts_contradict_are_told(capsys: Capture, reward: float) -> None:
    results = [tau_result(task, 0, float(task % 2)) for task in range(6)]
    for result in results:
        result["reward"] = reward
    Path("log.json").write_text(json.dumps(results))
    outcome = dialgauge(capsys, "review", "log.json")
    said = " ".join(outcome.out.split())
    assert outcome.code == 1 and "Exit code 1: contradicted verdicts (3)." in said
    assert "not what the parts stored with it give in 3 of 6 conversations" in said
    assert "what a replay gives" not in said and "dialgauge explore" in said
    assert dialgauge(capsys, "tasks", "audit", "log.json").code == 1


def test_mixed_up_ids_are_called_so_however_few(capsys: Capture) -> None:
    results = [tau_result(task, trial, 0.0) for task in range(12) for trial in range(2)]
    first, second = results[0]["info"], results[2]["info"]
    results[0]["info"], results[2]["info"] = second, first
    Path("log.json").write_text(json.dumps([*results, tau_result(0, 2, 0.0), tau_result(1, 2, 0.0)]))
    said = " ".join(dialgauge(capsys, "review", "log.json").out.split())
    assert "2 of 26 conversations are filed under another task" in said
    assert "Ids are mixed up: what rests on tasks is withheld" in said


def test_of_chat_messages_copies_different_instructions_and_missing_verdicts_are_told(capsys: Capture) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = [{"task_id": "a", "trial": trial, "messages": talk, "instruction": f"want {trial}"} for trial in (0, 1)]
    Path("chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    outcome = dialgauge(capsys, "review", "chat.jsonl")
    said = " ".join(outcome.out.split())
    assert "1 group of conversations is word for word the same (for example a#0, a#1)" in said
    assert "The trials of 1 task have different instructions (a)" in said
    assert "Not answered: pass^k: no conversation has a verdict." in said
    assert outcome.code == 1 and "dialgauge explore" in said


def test_the_same_log_twice_is_told_and_each_k_says_its_tasks(capsys: Capture) -> None:
    log = tau_file(Path("a.json"), {"a": "++", "b": "+", "c": "-"})
    Path("b.json").write_bytes(log.read_bytes())
    said = " ".join(dialgauge(capsys, "review", "a.json", "b.json", "--detail").out.split())
    assert "a and b are the same log under different names." in said
    assert " on 3 tasks, pass^2 100.0%" in said and " on 1 task." in said
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for name in ("c", "d"):
        Path(f"{name}.jsonl").write_text(json.dumps({"task_id": name, "success": True, "messages": talk}))
    assert "c and d are the same log under different names." in dialgauge(capsys, "review", "c.jsonl", "d.jsonl").out


def without_verdicts(path: Path) -> Path:
    content = msgspec.json.decode(desk_log(path, "gold").read_bytes())
    content["simulations"] = [{**each, "reward_info": None} for each in content["simulations"]]
    path.write_bytes(msgspec.json.encode(content))
    return path


def test_what_was_not_judged_did_not_fail(capsys: Capture) -> None:
    log = without_verdicts(Path("log.json"))
    outcome = dialgauge(capsys, "review", log, "--domain", "depot")
    assert outcome.code == 1 and "15 not judged" in outcome.out and "no trial" not in outcome.out
    assert "Passed in no trial" not in dialgauge(capsys, "tasks", "audit", log, "--domain", "depot").out
    page = Path("runs/review-log.html").read_text()
    assert "15 not judged" in page and "15 failed" not in page


def test_a_log_without_conversations(capsys: Capture) -> None:
    log = desk_log(Path("log.json"), "gold")
    log.write_bytes(msgspec.json.encode({**msgspec.json.decode(log.read_bytes()), "simulations": []}))
    outcome = dialgauge(capsys, "review", log, "--domain", "depot")
    assert outcome.code == 1 and "There is nothing to review: the log holds no conversation." in outcome.out
    assert "Not answered" not in outcome.out


def test_audit_and_blame_say_that_a_log_is_incomplete(capsys: Capture) -> None:
    log = tau_file(Path("log.json"), {"a": "+-", "b": "-."})
    told = "log: INCOMPLETE: 3 of 4 conversations are there (2 tasks x 2 trials; the file names no plan)."
    for command in ("audit", "blame"):
        assert told in dialgauge(capsys, "tasks", command, log).out
        assert "INCOMPLETE" not in dialgauge(capsys, "tasks", command, tau_file(Path("b.json"), {"a": "+-"})).out


def test_repeated_ids_are_numbered_on_and_reach_the_check(capsys: Capture) -> None:
    Path("log.json").write_text(json.dumps([tau_result("a", 0, 1.0), tau_result("a", 0, 0.0), tau_result("b", 0, 1.0)]))
    for command in ("audit", "blame"):
        assert dialgauge(capsys, "tasks", command, "log.json").code == 0, command
    scored = dialgauge(capsys, "tasks", "score", "log.json", "--resamples", 0)
    assert "numbered on" in scored.err


def test_rewards_that_their_own_parts_contradict_are_named(capsys: Capture) -> None:
    results = [tau_result(task, 0, 1.0) for task in "ab"]
    Path("sound.json").write_text(json.dumps(results))
    results[1]["reward"] = 0.0
    Path("odd.json").write_text(json.dumps(results))
    told = "the recorded reward is not what the parts stored with it give in 1 of 2 conversations (b#0)"
    scored = dialgauge(capsys, "tasks", "score", "odd.json", "--resamples", 0)
    assert told in " ".join((scored.out + scored.err).split())
    checked = dialgauge(capsys, "data", "check", "odd.json")
    assert checked.code == 1 and "1 kind of problem" in checked.out
    assert "stored with" not in dialgauge(capsys, "tasks", "score", "sound.json", "--resamples", 0).err
    assert dialgauge(capsys, "data", "check", "sound.json").code == 0
