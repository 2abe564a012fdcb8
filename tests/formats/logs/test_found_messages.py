"""Where conversations are found in records, what is not taken for theirs, and what is said where nothing is found."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import Corpus, read

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
SAID = [("user", "hi"), ("system", "hello")]


def corpus(folder: Path, *records: Any, whole: bool = False) -> Corpus:
    path = folder / "log.json"
    path.write_text(json.dumps(records[0], indent=1) if whole else "".join(f"{json.dumps(one)}\n" for one in records))
    return read(path)


def facts(log: Corpus) -> list[tuple[str, bool | None]]:
    return [(one.id, one.outcome.success if one.outcome else None) for one in log]


@pytest.mark.parametrize(
    ("record", "note"),
    [
        ({"events": [{"event": "action", "name": "listen"}, {"event": "user", "text": "hi"},
                     {"event": "bot", "text": "hello"}]}, "events of the kind action left out"),
        ({"messages": [{"direction": "incoming", "payload": {"text": "hi"}},
                       {"direction": "outgoing", "payload": {"text": "hello"}}]},
         "the direction incoming taken for messages of the user"),
        ({"transcript": "[10:01] Customer: hi\nAgent: hello"},
         "the text of 'transcript' taken apart where lines begin with a speaker"),
        ({"notes": "**User:** hi\n\n**Assistant:** hello"},
         "the text of 'notes' taken apart where lines begin with a speaker"),
        ({"input": "hi", "actual_output": "hello"},
         "'input' read as what the user said, 'actual_output' as what the agent answered"),
        ({"result": {"log": "User: hi\nAgent: hello"}},
         "the text of 'result.log' taken apart where lines begin with a speaker"),
        ({"result": {"log": {"messages": TALK}}}, "messages read from 'result.log.messages'"),
        ({"agent_log": TALK, "expected": TALK}, "messages read from 'agent_log'"),
        ({"agent_log": TALK, "judge": {"messages": TALK}}, "messages read from 'agent_log'"),
    ],
)  # fmt: skip
def test_what_is_not_usual_is_read_and_told(record: dict[str, Any], note: str, tmp_path: Path) -> None:
    log = corpus(tmp_path, {"task_id": "t", **record, "success": True})
    assert [[(turn.speaker, turn.text) for turn in one.turns] for one in log] == [SAID]
    assert facts(log) == [("t#0", True)]
    assert note in log.notes.counts


@pytest.mark.parametrize(
    ("envelope", "told"),
    [({"success": True}, "success"), ({"accuracy": 1.0}, "accuracy"), ({"status": "success"}, "status")],
)
@pytest.mark.parametrize("whole", [True, False])
def test_what_is_said_of_all_conversations_is_no_verdict_on_each(
    envelope: dict[str, Any], told: str, whole: bool, tmp_path: Path
) -> None:
    talks = [{"task_id": str(number), "messages": TALK, "resolved": False} for number in range(2)]
    for data in (talks, talks[:1]):
        log = corpus(tmp_path, {**envelope, "total_cost": 5, "model": "m", "data": data}, whole=whole)
        assert [one.outcome and (one.outcome.success, "cost" in one.outcome.details) for one in log] == [
            (False, False)
        ] * len(data)
        assert f"'{told}' beside a list of conversations is not taken for each of them" in log.notes.counts


def test_the_success_of_a_request_is_not_that_of_the_conversation(tmp_path: Path) -> None:
    log = corpus(tmp_path, {"task_id": "t", "correct": False, "response": {"success": True, "messages": TALK}})
    assert facts(log) == [("t#0", False)]
    log = corpus(tmp_path, {"task_id": "t", "response": {"success": True, "messages": TALK}})
    assert facts(log) == [("t#0", None)] and "response.success" in log.notes.unread.values()
    log = corpus(tmp_path, {"task_id": "t", "values": {"success": True, "messages": TALK}})
    assert facts(log) == [("t#0", True)]
    log = corpus(tmp_path, {"task_id": "t", "messages": TALK, "success": True, "resolved": False})
    assert "'success' and 'resolved' contradict each other: 'success' counts" in log.notes.counts


def test_an_answer_that_is_not_understood_is_named(tmp_path: Path) -> None:
    log = corpus(tmp_path, {"task_id": "t", "input": {"messages": TALK}, "output": {"raw_bytes": 3, "ok": True}})
    assert len(log[0].turns) == 2 and "output" in log.notes.unread.values()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"output": "hello"}, SAID),
        ({"output": "bye"}, [*SAID, ("system", "bye")]),
        ({"response": {"choices": [{"message": {"role": "assistant", "content": "bye"}}]}}, [*SAID, ("system", "bye")]),
        ({"response": {"text": "bye"}}, SAID),
        ({"outputs": "bye"}, SAID),
    ],
)
def test_the_answer_beside_messages_is_said_once(
    answer: dict[str, Any], said: list[tuple[str, str]], tmp_path: Path
) -> None:
    [dialogue] = corpus(tmp_path, {"task_id": "t", "messages": TALK, **answer})
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == said


def test_a_conversation_without_messages_counts_by_what_is_said_of_it(tmp_path: Path) -> None:
    talk, crashed = {"task_id": "a", "messages": TALK, "success": True}, {"task_id": "b", "success": False}
    expected = [("a#0", True), ("b#0", False)]
    for log in (
        corpus(tmp_path, talk, crashed),
        corpus(tmp_path, {"runs": [talk, crashed]}),
        corpus(tmp_path, [talk, crashed], whole=True),
        corpus(tmp_path, {**crashed, "task_id": "a", "success": True}, crashed),
    ):
        assert facts(log) == expected
        assert log.notes.counts["a conversation has no messages, and counts by what is said of it"]


@pytest.mark.parametrize("task", [{"id": "a"}, {"task_id": "a"}, {"name": "a"}])
@pytest.mark.parametrize("names", [("x", "y"), None])
def test_trials_belong_to_the_task_that_has_their_list(
    task: dict[str, Any], names: tuple[str, str] | None, tmp_path: Path
) -> None:
    trials = [{"messages": TALK, "success": True}, {"messages": TALK, "success": False}]
    if names:
        trials = [{"id": name, **trial} for name, trial in zip(names, trials, strict=True)]
    expected = [("a#0", True), ("a#1", False)]
    for whole in (True, False):
        assert facts(corpus(tmp_path, {**task, "pass_rate": 0.5, "trials": trials}, whole=whole)) == expected
    assert facts(corpus(tmp_path, {"a": {"trials": trials}, "b": {"trials": []}}, whole=True)) == expected


def test_what_has_no_messages_among_named_conversations_is_told(tmp_path: Path) -> None:
    log = corpus(tmp_path, {"a": {"messages": TALK}, "b": {"note": "crashed"}}, whole=True)
    assert [one.id for one in log] == ["a"]
    assert log.notes.counts["'b' has no messages: left out"] == 1


def test_the_tokens_of_a_message_in_pieces_count_once(tmp_path: Path) -> None:
    usage = {"input_tokens": 4, "output_tokens": 2}
    piece = {"role": "assistant", "content": [{"type": "text", "text": "hello"}], "usage": usage}
    talk = [TALK[0], {**piece, "id": "m1"}, {**piece, "id": "m1"}, TALK[0], {**piece, "id": "m2"}, piece, piece]
    [dialogue] = corpus(tmp_path, {"messages": talk})
    assert dialogue.outcome is not None and dialogue.outcome.details["tokens"] == "24"


def test_steps_of_a_run_are_no_conversations(tmp_path: Path) -> None:
    run = {"run_type": "llm", "inputs": {"messages": TALK[:1]}, "outputs": {"messages": TALK[1:]}}
    log = corpus(tmp_path, {**run, "id": "a", "parent_run_id": None}, {**run, "id": "b", "parent_run_id": "a"})
    assert [one.id for one in log] == ["a"]
    assert log.notes.counts["runs inside of other runs left out"] == 1


def test_rows_are_told_apart_by_task_and_trial_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("task_id,trial,role,content,reward\nt,0,user,hi,\nt,0,assistant,hello,1\nt,1,user,hi,0\n")
    assert [(one.id, len(one.turns)) for one in read(path)] == [("t#0", 2), ("t#1", 1)]
    path.write_text("task_id,role,content\nt,user,hi\nt,assistant,hello\nu,user,hi\n")
    log = read(path)
    assert [one.id for one in log] == ["t#0", "u#0"]
    assert log.notes.counts["messages of a task without a trial or a conversation_id taken for one conversation"] == 2
    for rows in ("t,user,hi,0\nt,assistant,hello,1\nt,user,hey,0\n", "t,user,hi,\nt,assistant,hello,\nt,user,hi,\n"):
        path.write_text(f"task_id,role,content,turn\n{rows}")
        with pytest.raises(DialgaugeError, match=r"line 4: messages of the task begin anew: .* 'trial'"):
            read(path)
    path.write_text("role,content\nuser,hi\nassistant,hello\n")
    with pytest.raises(DialgaugeError, match="no known layout fits"):
        read(path)


@pytest.mark.parametrize("shape", ["csv", "jsonl"])
def test_a_row_with_a_role_is_a_message_also_without_words(shape: str, tmp_path: Path) -> None:
    table = [
        "conversation_id,task_id,role,content,tool_name,tool_args,resolved", "a,t,user,hi,,,True",
        'a,t,assistant,,find,"{""q"": 4}",True', "a,t,tool,found,find,,True", "a,t,assistant,hello,,,True",
        "a,t,assistant,,close,,True", "b,u,user,hi,,,False", "b,u,assistant,,,,False",
    ]  # fmt: skip
    path = tmp_path / f"log.{shape}"
    path.write_text("\n".join(table))
    if shape == "jsonl":
        rows = [{key: cell for key, cell in row.items() if cell} for row in csv.DictReader(table[:-1])]
        path.write_text("\n".join(map(json.dumps, rows)))
    log = read(path)
    assert facts(log) == [("t#0", True), ("u#0", False)]
    turns = [
        (turn.text, [(call.name, (call.result or {}).get("content")) for call in turn.calls or ()])
        for turn in log[0].turns
    ]
    assert turns == [("hi", []), ("hello", [("find", "found")]), ("", [("close", None)])]
    assert not log.notes.counts and not log.notes.unread


def test_a_table_may_have_a_conversation_in_each_row(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('Task,Transcript,Resolved\nt,"User: hi\nAgent: hello",Yes\nu,"User: hi\nAgent: no",No\n')
    assert facts(read(path)) == [("t#0", True), ("u#0", False)]
    path.write_text("task_id,trial,success\nt,0,yes\nt,1,no\n")
    assert facts(read(path)) == [("t#0", True), ("t#1", False)]
    path.write_text("scenario,run,score\nt,0,1\nt,1,0\n")
    assert [one.outcome and one.outcome.details["score[score]"] for one in read(path)] == ["1", "0"]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"name": "Ann", "text": "hi there"}, {"name": "Bot", "text": "hello"}]},
        {"a_log": TALK, "b_log": TALK},
        {"span_id": "s", "attributes": {}},
    ],
)
def test_what_has_no_messages_that_are_known_is_refused(record: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"task_id": "t", **record}))
    with pytest.raises(DialgaugeError, match="no known layout fits"):
        read(path)


def test_promptfoo_has_a_task_a_test_and_an_agent_a_prompt(tmp_path: Path) -> None:
    results = [
        {"promptIdx": prompt, "testIdx": test, "provider": {"id": "m"}, "prompt": {"raw": "hi", "label": "p"},
         "response": {"output": "hello"}, "success": True}
        for prompt in (0, 1) for test in (0, 1)
    ]  # fmt: skip
    log = corpus(tmp_path, {"evalId": "e", "results": {"version": 3, "stats": {}, "results": results}}, whole=True)
    details = [one.outcome.details for one in log if one.outcome]
    assert [(one["task"], one["agent"]) for one in details] == [
        ("0", "m"), ("1", "m"), ("0", "m, prompt 1"), ("1", "m, prompt 1"),
    ]  # fmt: skip


def test_what_was_asked_and_comes_again_in_the_answer_is_said_once(tmp_path: Path) -> None:
    prompt = {"role": "system", "content": "Be kind."}
    record = {"task_id": "t", "success": True, "input": {"messages": [prompt, TALK[0]]}, "output": {"messages": TALK}}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record))
    assert len(read(path)[0].turns) == len(TALK)
    said = [
        json.dumps([{"role": message["role"], "parts": [{"type": "text", "content": "x"}]}]) for message in TALK[:2]
    ]
    shared = {"gen_ai.input.messages": said[0], "gen_ai.output.messages": said[1]}
    spans = [
        {"traceId": "1", "spanId": f"{number}", "parentSpanId": parent, "startTimeUnixNano": number, "attributes": [
            {"key": key, "value": {"stringValue": text}}
            for key, text in {**shared, "openinference.span.kind": kind, "task_id": "t"}.items()]}
        for number, parent, kind in ((1, None, "AGENT"), (2, "1", "LLM"))
    ]  # fmt: skip
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert [turn.speaker for turn in read(path)[0].turns] == ["user", "system"]


@pytest.mark.parametrize(
    "inputs", [{"task": "refund"}, {"question": "hi"}, {"instruction": "You are Ann.", "mood": "bad"}]
)
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_task_before_an_answer_that_holds_the_whole_is_not_said(
    inputs: dict[str, str], suffix: str, tmp_path: Path
) -> None:
    record = {"task_id": "t", "success": True, "inputs": inputs, "outputs": {"messages": TALK}}
    path = tmp_path / f"log.{suffix}"
    cells = (value if isinstance(value, str) else json.dumps(value) for value in record.values())
    quoted = ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)
    path.write_text(json.dumps(record) if suffix == "jsonl" else f"{','.join(record)}\n{quoted}\n")
    [conversation] = read(path)
    assert [(turn.speaker, turn.text) for turn in conversation.turns] == SAID


@pytest.mark.parametrize("inner", ["runs", "trials"])
@pytest.mark.parametrize("outer", ["tasks", "results", "a list"])
def test_tasks_with_their_trials_may_lie_beside_what_all_share(outer: str, inner: str, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    tasks = {name: {"instruction": "Ask.", inner: [{"messages": talk, "success": True}] * 2} for name in ("a", "b")}
    held = {outer: tasks} if outer != "a list" else {"tasks": [{"id": name, **task} for name, task in tasks.items()]}
    (tmp_path / "log.json").write_text(json.dumps({"model": "m", **held}))
    corpus = read(tmp_path / "log.json")
    assert [dialogue.id for dialogue in corpus] == ["a#0", "a#1", "b#0", "b#1"]
    assert all(len(dialogue.turns) == 2 and dialogue.details["agent"] == "m" for dialogue in corpus)


def test_spans_in_a_table_are_no_predictions(tmp_path: Path) -> None:
    path = tmp_path / "spans.csv"
    rows = "".join(f"s{n},t,c,gpt,hi {n},1.0\n" for n in range(3))
    columns = "context.span_id,context.trace_id,attributes.session.id,attributes.llm.model,attributes.tool.name"
    path.write_text(f"{columns},eval.Correctness.score\n{rows}")
    with pytest.raises(DialgaugeError, match="no known layout fits"):
        read(path)


def test_what_each_judge_says_is_a_score_and_the_cost_of_autogen_is_read(tmp_path: Path) -> None:
    cost = {"usage_including_cached_inference": {"total_cost": 0.5, "gpt-4o": {"cost": 0.5}}}
    [one] = corpus(tmp_path, {"task_id": "t", "messages": TALK, "judges": {"gpt4o": 4, "human": 1}, "cost": cost})
    assert one.outcome is not None
    told = {key: value for key, value in one.outcome.details.items() if key.startswith(("score[", "cost"))}
    assert told == {"score[gpt4o]": "4", "score[human]": "1", "cost": "0.5"}
