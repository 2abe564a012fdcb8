"""Logs that the libraries themselves wrote (``tests/support/inspect_logs/make.py``, ``otel_spans/make.py``)."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import stdev
from typing import Any

import polars as pl
import pytest

from dialgauge import review
from dialgauge.comparison import compare_runs
from dialgauge.dialogue import SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats import packed, read
from dialgauge.runs import Run

INSPECT = Path(__file__).parents[2] / "support" / "inspect_logs"
OTEL = Path(__file__).parents[2] / "support" / "otel_spans"
EXPECTED: dict[str, dict[str, dict[str, float]]] = json.loads((INSPECT / "expected.json").read_text())
LOGS = sorted(EXPECTED)


def path_of(log: str) -> Path:
    return INSPECT / log if (INSPECT / log).exists() else INSPECT / f"{log}.gz"


@pytest.mark.parametrize("log", LOGS)
def test_accuracy_and_standard_errors_are_those_that_inspect_computed(log: str) -> None:
    [run] = review([path_of(log)]).runs
    expected = EXPECTED[log]
    assert run["pass^1"].value == pytest.approx(expected["includes"]["accuracy"], abs=1e-12)
    assert _standard_error(run, "pass^1") == pytest.approx(expected["includes"]["stderr"], abs=1e-12)
    assert run["Score[length]"].value == pytest.approx(expected["length"]["mean"], abs=1e-12)
    assert _standard_error(run, "Score[length]") == pytest.approx(expected["length"]["stderr"], abs=1e-12)
    reported = run.details["reported"]
    assert reported["includes/accuracy"] == expected["includes"]["accuracy"]
    assert run["Label[tone=polite]"].value is not None


def _standard_error(run: Run, measure: str) -> float:
    """The standard deviation of the tasks' means over the root of their number, as inspect has it."""
    scores = run.table("dialogue_scores").filter(measure=measure).join(run.table("trials"), on="dialogue")
    tasks = scores.group_by("task").agg(pl.col("num").sum(), pl.col("den").sum())
    means = (tasks["num"] / tasks["den"]).to_list()
    return float(stdev(means) / len(means) ** 0.5)


def test_archive_and_json_of_one_evaluation_are_the_same_conversations() -> None:
    archive, written = (read(path_of(name)).dialogues for name in ("a-0.3.285.eval", "a-0.3.285.json"))
    assert len(archive) == 15
    by_id = {dialogue.id: dialogue for dialogue in written}
    for dialogue in archive:
        assert dialogue.turns == by_id[dialogue.id].turns
    calls = [call for dialogue in archive for turn in dialogue.turns for call in turn.calls or ()]
    assert {call.outcome for call in calls} == {"done", "failed"}
    assert {call.result for call in calls if call.failed} == {"no such guest"}


def test_a_sample_that_failed_is_not_counted_and_makes_the_log_incomplete() -> None:
    results = review([path_of("broken-0.3.285.eval")])
    assert not results.complete
    assert results.runs[0].details["infrastructure"] == {"error": 1}
    assert results.runs[0].details["planned"] == {"tasks": 5, "trials": 3, "conversations": 15}


def test_two_logs_are_paired_by_sample_over_epochs() -> None:
    runs = review([path_of("a-0.3.200.eval"), path_of("b-0.3.200.eval")]).runs
    comparison = compare_runs(list(runs), resamples=100)
    assert len(comparison.dialogues) == 5
    expected = EXPECTED["a-0.3.200.eval"]["includes"]["accuracy"] - EXPECTED["b-0.3.200.eval"]["includes"]["accuracy"]
    first, second = comparison.systems
    assert comparison.difference(first, second, "pass^1").difference == pytest.approx(expected)


def test_an_archive_in_a_folder_and_one_without_a_header(tmp_path: Path) -> None:
    shutil.copy(path_of("a-0.3.200.eval"), tmp_path / "a.eval")
    assert len(read(tmp_path)) == 15
    with zipfile.ZipFile(tmp_path / "a.eval") as whole, zipfile.ZipFile(tmp_path / "b.eval", "w") as begun:
        for name in whole.namelist():
            if name != "header.json":
                begun.writestr(name, whole.read(name))
    assert review([tmp_path / "b.eval"])[0]["pass^1"].value == EXPECTED["a-0.3.200.eval"]["includes"]["accuracy"]


def test_a_bomb_in_an_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_UNSUSPICIOUS", 1 << 20)
    with zipfile.ZipFile(tmp_path / "b.eval", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("_journal/start.json", b'{"eval": {"model": "m"}, "x": "' + b" " * (3 << 20) + b'"}')
    with pytest.raises(DialgaugeError, match="it unpacks to more than"):
        read(tmp_path / "b.eval")


def test_spans_become_conversations_whether_their_inputs_grow_or_not() -> None:
    corpus = read(OTEL / "spans.jsonl")
    whole, parts, wordless = corpus
    assert [turn.text for turn in whole.turns] == ["Is Ann here?", "Yes, in room 7.", "Thank you.", "You are welcome."]
    assert [turn.text for turn in parts.turns] == ["Is Bob here?", "Yes, in room 7.", "Thank you.", "You are welcome."]
    for dialogue, name in ((whole, "Ann"), (parts, "Bob")):
        [call] = dialogue.turns[1].calls or ()
        assert (call.name, call.arguments, call.result) == ("lookup", {"name": name}, "room 7")
        assert dialogue.outcome is not None and dialogue.outcome.usage["agent"].tokens == 45
    assert [turn.text for turn in wordless.turns] == [""]
    [what] = corpus.notes.counts
    assert what.startswith("conversation without content")


def test_spans_of_tools_and_evaluations_are_of_the_conversation_around_them() -> None:
    """The conventions put no conversation id on them; two conversations here share one trace."""
    log = read(OTEL / "partly_named.jsonl")
    assert [dialogue.id for dialogue in log] == ["conv-1", "conv-2", "conv-3"]
    assert [dialogue.ended.scores["helpful"] for dialogue in log] == [0.9, 0.2, 0.6]
    calls = [call for dialogue in log for turn in dialogue.turns for call in turn.calls or ()]
    assert [call.name for call in calls] == ["lookup"] * 3
    assert log.notes.counts["spans without gen_ai.conversation.id in a trace of several conversations left out"] == 1


def _attributes(**given: str) -> list[dict[str, object]]:
    return [{"key": f"gen_ai.{key.replace('__', '.')}", "value": {"stringValue": text}} for key, text in given.items()]


def _evaluation(value: float, **given: str) -> dict[str, object]:
    score = {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": value}}
    attributes = [*_attributes(evaluation__name="correct", **given), score]
    return {"name": "gen_ai.evaluation.result", "attributes": attributes}


def _spans(folder: Path, *spans: Mapping[str, object]) -> Path:
    path = folder / "spans.jsonl"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    return path


def _chat(trace: str, span: str, said: str, **more: str) -> dict[str, object]:
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": said}]}])
    known = _attributes(operation__name="chat", input__messages=messages, **more)
    return {"traceId": trace, "spanId": span, "attributes": known}


def test_what_the_console_exporter_prints_is_what_the_file_exporter_writes(tmp_path: Path) -> None:
    """One object after the other, over several lines, with ids and times in other spellings."""
    batches = [json.loads(line) for line in (OTEL / "spans.jsonl").read_text().splitlines()]
    spans = [
        span
        for batch in batches
        for resource in batch["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]

    def plain(attributes: list[dict[str, Any]]) -> dict[str, Any]:
        return {each["key"]: _value(each["value"]) for each in attributes}

    def time(nanoseconds: str) -> str:
        return datetime.fromtimestamp(int(nanoseconds) / 1e9, UTC).isoformat().replace("+00:00", "Z")

    printed = [
        {
            "name": span["name"],
            "context": {"trace_id": f"0x{span['traceId']}", "span_id": f"0x{span['spanId']}", "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": f"0x{span['parentSpanId']}" if span.get("parentSpanId") else None,
            "start_time": time(span["startTimeUnixNano"]),
            "end_time": time(span["endTimeUnixNano"]),
            "status": {"status_code": "UNSET"},
            "attributes": plain(span.get("attributes", [])),
            "events": [
                {"name": event["name"], "timestamp": "", "attributes": plain(event.get("attributes", []))}
                for event in span.get("events", [])
            ],
            "links": [],
            "resource": {"attributes": {}, "schema_url": ""},
        }
        for span in spans
    ]
    (tmp_path / "console.txt").write_text("".join(json.dumps(span, indent=4) + "\n" for span in printed))
    console, written = read(tmp_path / "console.txt"), read(OTEL / "spans.jsonl")
    assert [dialogue.turns for dialogue in console] == [dialogue.turns for dialogue in written]
    (tmp_path / "console.txt").write_text(json.dumps(printed[0], indent=4)[:-5])
    with pytest.raises(DialgaugeError, match=r"line 1: it is no span of the console exporter"):
        read(tmp_path / "console.txt")


def _value(given: dict[str, Any]) -> Any:
    if "arrayValue" in given:
        return [_value(each) for each in given["arrayValue"].get("values", [])]
    [(kind, value)] = given.items()
    return int(value) if kind == "intValue" else value


@pytest.mark.parametrize("named", [True, False])
def test_a_trace_that_judges_and_links_to_another_is_no_conversation(tmp_path: Path, named: bool) -> None:
    """With the calls of the model that judges beside them."""
    talks = [
        _chat(trace, "1", trace, **({"conversation__id": f"conv-{trace}"} if named else {})) for trace in ("a", "b")
    ]
    judges: list[dict[str, object]] = [
        {"traceId": "j", "spanId": "1", "links": [{"traceId": "a", "spanId": "1"}], "events": [_evaluation(1)]},
        {"traceId": "k", "spanId": "1", "links": [{"traceId": "b", "spanId": "1"}]},
        {"traceId": "k", "spanId": "2", "parentSpanId": "1", "events": [_evaluation(0)]},
        {**_chat("k", "3", "Is this correct?"), "parentSpanId": "1"},
    ]
    corpus = read(_spans(tmp_path, *talks, *judges))
    assert [dialogue.id for dialogue in corpus] == (["conv-a", "conv-b"] if named else ["a", "b"])
    assert [dialogue.ended.scores for dialogue in corpus] == [{}, {}]
    [lost] = [note for note in corpus.notes.counts if note.startswith("evaluations left out")]
    assert corpus.notes.counts[lost] == 2


def test_evaluations_name_the_conversation_or_the_answer_that_they_judge(tmp_path: Path) -> None:
    talks = [_chat("t", "1", "hi", conversation__id="a"), _chat("u", "1", "hello", response__id="r1")]
    events = [_evaluation(1, conversation__id="a"), _evaluation(0, response__id="r1")]
    corpus = read(_spans(tmp_path, *talks, {"traceId": "j", "spanId": "1", "events": events}))
    assert {dialogue.id: dialogue.ended.scores["correct"] for dialogue in corpus} == {"a": 1.0, "u": 0.0}


def test_evaluations_that_cannot_be_placed_are_told_of_where_nothing_is_judged(tmp_path: Path) -> None:
    talks = [_chat("t", name, "hi", conversation__id=name) for name in ("a", "b")]
    lost = {"traceId": "t", "spanId": "e", "parentSpanId": "gone", "events": [_evaluation(1)]}
    alone = {"traceId": "j", "spanId": "e", "events": [_evaluation(0)]}
    [run] = review(_spans(tmp_path, *talks, lost, alone)).runs
    assert run.coverage.units["conversations"].expected == 2
    [told] = [note for note in run.notes if note.startswith("evaluations left out")]
    assert told.endswith("(2 times)")


def test_spans_whose_parents_go_in_circles_are_of_their_trace(tmp_path: Path) -> None:
    spans = [
        {"traceId": "t", "spanId": str(number), "parentSpanId": str(3 - number), "attributes": [
            {"key": "gen_ai.tool.name", "value": {"stringValue": "x"}}]}
        for number in (1, 2)
    ]  # fmt: skip
    (tmp_path / "circle.jsonl").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert [dialogue.id for dialogue in read(tmp_path / "circle.jsonl")] == ["t"]


def test_sessions_of_langfuse_are_conversations(tmp_path: Path) -> None:
    def generation(place: int, sent: Any, answer: str) -> dict[str, Any]:
        usage = {"input": 10, "output": 5, "total": 15}
        return {
            "id": f"o{place}", "type": "GENERATION", "startTime": f"2026-01-01T00:00:0{place}Z", "model": "m",
            "input": {"messages": sent}, "output": {"role": "assistant", "content": answer}, "usageDetails": usage,
            "calculatedTotalCost": 0.01,
        }  # fmt: skip

    hello, answer = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}
    thanks = {"role": "user", "content": "thanks"}
    scores = [
        {"name": "resolved", "value": 1, "dataType": "BOOLEAN"},
        {"name": "tone", "value": None, "stringValue": "polite", "dataType": "CATEGORICAL"},
        {"name": "rating", "value": 4.5, "dataType": "NUMERIC"},
    ]
    traces = [
        {"id": "t2", "timestamp": "2026-01-01T00:01", "sessionId": "s", "scores": scores, "observations": [
            generation(2, [hello, answer, thanks], "welcome")]},
        {"id": "t1", "timestamp": "2026-01-01T00:00", "sessionId": "s", "scores": [], "observations": [
            generation(1, [hello], "hello")]},
    ]  # fmt: skip
    (tmp_path / "traces.jsonl").write_text("\n".join(map(json.dumps, traces)))
    [dialogue] = read(tmp_path / "traces.jsonl")
    assert [turn.text for turn in dialogue.turns] == ["hi", "hello", "thanks", "welcome"]
    assert dialogue.outcome is not None
    outcome = dialogue.outcome
    assert outcome.scores == {"resolved": 1.0, "tone": "polite", "rating": 4.5}
    assert (outcome.success, outcome.facts["agent"]) == (None, "m")
    assert outcome.usage["agent"] == SideUsage(tokens=30, cost=0.02, calls=2)


def test_a_folder_of_tau2_is_the_file_that_it_was_split_from(tmp_path: Path) -> None:
    tasks = [{"id": "1", "user_scenario": {"instructions": "Ask."}}]
    info = {"num_trials": 2, "agent_info": {"llm": "a"}, "user_info": {"llm": "u"}}
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    simulations = [
        {"id": f"s{trial}", "task_id": "1", "trial": trial, "termination_reason": "user_stop", "messages": talk,
         "reward_info": {"reward": float(trial)}}
        for trial in range(2)
    ]  # fmt: skip
    (tmp_path / "whole.json").write_text(json.dumps({"info": info, "tasks": tasks, "simulations": simulations}))
    folder = tmp_path / "run"
    (folder / "simulations").mkdir(parents=True)
    index = [{"id": one["id"], "task_id": "1", "trial": one["trial"]} for one in simulations]
    (folder / "results.json").write_text(json.dumps({"info": info, "tasks": tasks, "simulation_index": index}))
    for one in simulations:
        (folder / "simulations" / f"{one['id']}.json").write_text(json.dumps(one, indent=2))
    assert read(folder).dialogues == read(tmp_path / "whole.json").dialogues
    assert review([folder])[0]["pass^1"].value == 0.5
    with pytest.raises(DialgaugeError, match="name the folder that holds both"):
        read(folder / "results.json")
    (folder / "simulations" / "s1.json").write_text(json.dumps({**simulations[1], "messages": None, "ticks": [{}]}))
    with pytest.raises(DialgaugeError, match="spoken conversations"):
        read(folder)
    voice = {"info": {**info, "audio_native_config": {"provider": "openai"}}, "tasks": tasks, "simulation_index": index}
    (folder / "results.json").write_text(json.dumps(voice))
    with pytest.raises(DialgaugeError, match="spoken conversations"):
        read(folder)
