"""Mappings of conversations and results, and the proposals for logs: through the public API and the command line."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import dialgauge
from dialgauge import DialgaugeError
from dialgauge.formats import Field, Mapping, parts_of, propose_mapping
from support.commands import dialgauge as cli
from support.soak import examples

TALK = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]
SAID = [("user", "hi"), ("system", "hello")]


def written(folder: Path, content: object, mapping: str = "", name: str = "log.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    if mapping:
        (folder / f"{name}.map.yaml").write_text(mapping, encoding="utf-8")
    return path


def verdicts(source: Any, **how: Any) -> list[tuple[str, int, bool | None]]:
    found = (each.ended for each in dialgauge.read(source, **how))
    return [(each.task, each.trial, each.success) for each in found]


def said(source: Any, **how: Any) -> list[list[tuple[str, str]]]:
    return [[(turn.speaker, turn.text) for turn in each.turns] for each in dialgauge.read(source, **how)]


MAPPING = """
reads: conversations
rows: data[].trials[]
task: ^name
trial: n
messages: talk
role: from
content: value
roles: {gpt: assistant, note: null}
success: {at: verdict, true_values: [yes, PASS], false_values: [no, FAIL]}
scores: {helpful: judged.helpful}
cost: usd
"""


def test_a_conversation_stands_where_the_mapping_says(tmp_path: Path) -> None:
    trials = [
        {"n": 0, "talk": [*TALK, {"from": "note", "value": "x"}], "verdict": "PASS", "judged": {"helpful": 4}},
        {"n": 1, "talk": TALK, "verdict": "no", "usd": 0.5},
        {"n": 2, "talk": TALK, "verdict": "crashed"},
    ]
    path = written(tmp_path, {"data": [{"name": "buy", "trials": trials}]}, MAPPING)
    assert said(path) == [SAID] * 3
    assert verdicts(path) == [("buy", 0, True), ("buy", 1, False), ("buy", 2, None)]
    corpus = dialgauge.read(path)
    assert [each.ended.scores for each in corpus] == [{"helpful": 4.0}, {}, {}]
    assert corpus[1].ended.usage["both"].cost == 0.5
    [run] = dialgauge.review([path], resamples=0).runs
    assert run["pass^1"].value == 0.5
    assert any(note.startswith(f"read as: {path}.map.yaml: rows data[].trials[]") for note in run.notes)


def test_rows_may_be_messages(tmp_path: Path) -> None:
    rows = "c;who;text;ok\na;user;hi;\na;bot;hello;1\nb;user;hi;0\n"
    mapping = "reads: conversations\ndialogue: c\nrole: who\ncontent: text\nroles: {bot: assistant}\nsuccess: ok\n"
    path = written(tmp_path, rows, mapping, "rows.csv")
    assert said(path) == [SAID, SAID[:1]]
    assert verdicts(path) == [("a", 0, True), ("b", 0, False)]
    written(tmp_path, rows.replace("a;user;hi;\n", "a;user;hi;0\n"), mapping, "rows.csv")
    with pytest.raises(DialgaugeError, match=r"success: messages of one conversation say '0' and '1'"):
        dialgauge.read(path)


def test_lists_and_texts_are_joined_to_one_conversation() -> None:
    rows = [{"id": "a", "asked": "hi", "rest": json.dumps([{"role": "assistant", "content": "hello"}])}]
    messages = (Field(at="asked", role="user"), Field(at="rest", written="json"))
    assert said(rows, format=Mapping(reads="conversations", dialogue="id", messages=messages)) == [SAID]


def test_a_column_for_each_trial_and_a_number_from_which_on_it_passes(tmp_path: Path) -> None:
    path = written(tmp_path, "task,run 1,run 2\na,0.8,0.2\nb,1,\n", name="wide.csv")
    success = Field(columns=r"^run (?P<trial>\d+)$", at_least=0.5)
    mapping = Mapping(reads="results", task="task", success=success)
    assert verdicts(path, format=mapping) == [("a", 1, True), ("a", 2, False), ("b", 1, True), ("b", 2, None)]


def test_tasks_and_trials_out_of_folders(tmp_path: Path) -> None:
    for task, trial, reward in (("t0", 0, 1.0), ("t0", 1, 0.0), ("t1", 0, 1.0)):
        written(tmp_path / "runs" / task / str(trial), {"messages": TALK, "reward": reward})
    (tmp_path / "mine.yaml").write_text(
        "reads: conversations\nrows: ''\nmessages: messages\nrole: from\ncontent: value\nroles: {gpt: assistant}\n"
        "task: {at: $path, match: '(?P<task>[^/]+)/(?P<trial>\\d+)/log.json$'}\nsuccess: reward\n",
        encoding="utf-8",
    )
    found = verdicts(tmp_path / "runs", format=str(tmp_path / "mine.yaml"))
    assert found == [("t0", 0, True), ("t0", 1, False), ("t1", 0, True)]


JOINED = "reads: results\ntask: id\njoin: {file: labels.csv, by: {id: Session}}\nsuccess: join.Resolved\n"


def test_a_second_file_is_joined(tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": 1}, {"id": 2}, {"id": 3}], JOINED)
    written(tmp_path, "Session,Resolved\n1,true\n2,false\n", name="labels.csv")
    assert verdicts(path) == [("1", 0, True), ("2", 0, False), ("3", 0, None)]
    written(tmp_path, "Session,Resolved\n1,true\n1,false\n", name="labels.csv")
    with pytest.raises(DialgaugeError, match="1 stands twice"):
        dialgauge.read(path)


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        (JOINED.replace("labels.csv", "../labels.csv"), r"line 3: join: the file is a bare name"),
        (JOINED.replace("success: join.Resolved", "success: {at: x, true_values: [a]}"), "give both true_values"),
        (JOINED.replace("success: join.Resolved", "predicted: x\nsuccess: y"), "predicted is not read where"),
        (
            JOINED.replace("success: join.Resolved", "gold: x"),
            "line 4: gold is not read where the mapping reads results",
        ),
        (JOINED.replace("success: join.Resolved", ""), "results have a success or scores"),
        ("reads: results\ntask: idd\nsuccess: ok\n", "task: in every row, 'idd' is missing; there is id.*'id'"),
        ("reads: results\ntask: id\nsuccess: {at: {CHOOSE: [a, b]}}\n", r"line 3: choose what success\.at is: a or b"),
        ("reads: results\ntask: id\nsuccess: id\n", "row 1: id: 7 is neither 1 nor 0"),
    ],
)
def test_what_a_mapping_of_a_log_may_not_say(mapping: str, why: str, tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": 7}], mapping)
    written(tmp_path, "Session,Resolved\n7,true\n", name="labels.csv")
    with pytest.raises(DialgaugeError, match=why):
        dialgauge.read(path)


def test_success_on_the_command_line_is_that_of_the_mapping(tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": "a", "x": 1, "y": 0}], "reads: results\ntask: id\nsuccess: x\n")
    assert [verdicts(path, success=name)[0][2] for name in ("", "x", "y")] == [True, True, False]


def test_a_field_whose_true_means_failure_is_no_verdict_until_a_mapping_says_how(tmp_path: Path) -> None:
    path = written(tmp_path, "task_id,failed,success\na,true,1\na,false,0\n", name="log.csv")
    with pytest.raises(DialgaugeError, match="'failed' names a failure"):
        dialgauge.read(path, success="failed")
    mapping = "reads: results\ntask: task_id\nsuccess: {at: failed, true_values: [false, 0], false_values: [true, 1]}\n"
    written(tmp_path, "task_id,failed\na,true\na,false\n", mapping, "log.csv")
    assert verdicts(path) == [("a", 0, False), ("a", 1, True)]


def test_a_proposal_leaves_the_verdict_open_and_reads_once_it_is_chosen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [{"case": case, "talk": TALK, "solved": word} for case, word in (("a", "PASS"), ("b", "FAIL"), ("b", "??"))]
    path = written(tmp_path, rows)
    proposed = cli(capsys, "data", "map", path).out
    assert "CHOOSE: [solved]" in proposed
    mapping = tmp_path / "log.json.map.yaml"
    mapping.write_text(proposed, encoding="utf-8")
    with pytest.raises(DialgaugeError, match=r"choose what success\.at is: solved"):
        dialgauge.read(path)
    head, tail = proposed.partition("success:")[0], "success: {at: solved, true_values: [PASS], false_values: [FAIL]}\n"
    mapping.write_text(head + tail, encoding="utf-8")
    assert said(path) == [SAID] * 3
    assert verdicts(path) == [("a", 0, True), ("b", 0, False), ("b", 1, None)]


def test_documented_names_are_proposed_as_they_are_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}]
    path = written(tmp_path, [{"task_id": task, "messages": talk, "passed": task == "a", "ms": 3} for task in "ab"])
    corpus = dialgauge.read(path)
    assert corpus.notes.reading is not None
    line = "rows [], task=task_id, success=passed, messages=messages; not read: ms"
    assert corpus.notes.reading.line() == line
    (tmp_path / "mine.yaml").write_text(cli(capsys, "data", "map", path).out, encoding="utf-8")
    again = dialgauge.read(path, format=str(tmp_path / "mine.yaml"))
    assert [each.ended for each in again] == [each.ended for each in corpus]


LAYOUTS = Path(__file__).parent / "layouts"
PATHS = ("", "[]", "id", "{x}", "^id", "a.b[0]", "[0]", "task_id", "messages", "turns", "state", "$file", "$path", "(")
KEYS = ("rows", "dialogue", "task", "trial", "messages", "role", "content", "success", "predicted", "turn", "scores")


@pytest.mark.parametrize("seed", range(examples(3)))
def test_any_mapping_reads_a_file_or_is_refused(seed: int) -> None:
    chance = random.Random(seed)
    files = sorted(path for path in LAYOUTS.rglob("*.json*") if path.is_file())
    for path in chance.sample(files, 60):
        reads = chance.choice(("states", "conversations", "results"))
        keys: dict[str, Any] = {name: chance.choice(PATHS) for name in chance.sample(KEYS, 4)}
        keys |= {"success": {"columns": chance.choice(PATHS)}} if chance.random() < 0.2 else {}
        with suppress(DialgaugeError):
            dialgauge.read(path, format=msgspec.convert({"reads": reads, **keys}, Mapping))
        with suppress(DialgaugeError):
            propose_mapping(parts_of(str(path))[0])


def proposed(folder: Path, content: Any, name: str = "log.json") -> Any:
    return yaml.safe_load(propose_mapping(parts_of(str(written(folder, content, name=name)))[0]))


def test_a_proposal_offers_what_varies_as_the_verdict_and_true_or_false_first(tmp_path: Path) -> None:
    rows = [{"case": n, "talk": TALK, "status": "done", "label": n % 3 % 2, "reached": n > 1} for n in range(4)]
    assert proposed(tmp_path, rows)["success"] == {"at": {"CHOOSE": ["reached", "label"]}}
    words = [{"task_id": word, "messages": [{"role": "user", "content": "hi"}], "passed": word} for word in ("Y", "N")]
    assert proposed(tmp_path, words)["success"]["true_values"] == {"CHOOSE": ["Y", "N"]}


def test_a_proposal_binds_attempts_in_lists_as_trials(tmp_path: Path) -> None:
    content = {"by": "me", "tasks": {"a": [{"talk": TALK, "ok": True}, {"talk": TALK, "ok": False}]}}
    mapping = proposed(tmp_path, content)
    assert (mapping["rows"], mapping["task"], mapping["trial"]) == ("tasks.{task}[{trial}]", "{task}", "{trial}")


def test_what_nothing_is_known_of_is_proposed_to_be_filled_in(tmp_path: Path) -> None:
    mapping = proposed(tmp_path, "test case,attempt,judge\na,1,0.2\na,2,0.9\n", "log.csv")
    assert mapping["rows"] == "[]" and mapping["success"] == {"at": {"CHOOSE": ["judge"]}}
    assert mapping["task"] == {"CHOOSE": ["test case", "attempt", "judge"]}
