"""Files as other tools and people write them: each is read as it is meant, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from support.commands import Outcome, dialgauge as command
from support.odd_logs import COMPLICATED, ODD_LOGS, OddLog, Truth
from support.tool_logs import TOOL_LOGS

#: Those that are to be read.
READ = frozenset(
    """
    openai_evals deepeval braintrust langsmith_csv wandb_table appworld tsv ndjson_gz agentbench terminal_bench_results
    swe_bench_report bullet_answers_json summary_line_at_the_end header_and_percent total_row_in_csv
    """.split()  # noqa: SIM905
) | {odd.name for odd in (*COMPLICATED, *TOOL_LOGS) if not odd.never_read}


def _scored(outcome: Outcome) -> Truth | None:
    """What a log was read as; None where it was refused."""
    if not outcome.out.strip():
        return None
    document = json.loads(outcome.out)
    [coverage] = document["coverage"].values()
    passed = document["systems"][0]["scores"].get("pass^1", {"value": 0.0})["value"]
    tasks, read = coverage["planned"]["tasks"], coverage["begun"]
    return Truth(tasks, read, round(passed * coverage["units"]["conversations"]["scored"]))


def _example_in(outcome: Outcome) -> str:
    """The lines of JSON that a refusal ends with."""
    lines = outcome.err.strip().splitlines()
    return "".join(f"{line}\n" for line in lines if line.lstrip().startswith("{"))


@pytest.mark.parametrize("odd", [*ODD_LOGS, *COMPLICATED, *TOOL_LOGS], ids=lambda odd: odd.name)
def test_read_as_meant_or_refused(odd: OddLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "given").mkdir()
    path = odd.write(tmp_path / "given")
    outcome = command(capsys, "tasks", "score", path, "--json", "-")
    if (truth := _scored(outcome)) is not None:
        assert not odd.never_read and truth == odd.truth
        return
    assert outcome.code == 2
    assert odd.name not in READ
    if "no known format of agents' logs fits it" in outcome.err:
        (tmp_path / "mine.jsonl").write_text(_example_in(outcome))
        assert _scored(command(capsys, "tasks", "score", tmp_path / "mine.jsonl", "--json", "-")) is not None


@pytest.mark.parametrize("layout", ["lines", "list", "object"])
def test_half_of_an_emoji_is_read_as_the_replacement_character(layout: str, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi \ud83d"}, {"role": "assistant", "content": "\U0001f600 \\ud83d"}]
    records = [{"task_id": f"t{number}", "success": False, "messages": talk} for number in range(2)]
    values: dict[str, Any] = {"list": records, "object": {"conversations": records}}
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, records)) if layout == "lines" else json.dumps(values[layout]))
    corpus = read(path)
    assert [turn.text for turn in corpus[1].turns] == ["hi \ufffd", "\U0001f600 \\ud83d"]
    assert any("half of an emoji" in what for what in corpus.notes.counts)


def test_half_of_an_emoji_where_it_is_not_read_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "native.jsonl"
    path.write_text(json.dumps({"id": "d", "turns": [{"speaker": "user", "text": "hi \ud83d"}]}))
    with pytest.raises(DialgaugeError, match="holds half of an emoji") as told:
        read(path)
    assert told.value.line == 1


def test_results_of_tau_are_told_without_what_else_is_known_of_them(tmp_path: Path) -> None:
    """Not by messages and tau alike, which nobody could choose between; without a trial, they are chat messages."""
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    result = {"task_id": 1, "reward": 1.0, "traj": talk}
    path = tmp_path / "log.json"
    for record, format_ in (({**result, "trial": 0}, "tau"), ({**result, "info": {}}, "tau"), (result, "messages")):
        path.write_text(json.dumps([record]))
        assert read(path).format == format_


def test_what_could_be_two_formats_can_be_scored_as_the_refusal_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    record = {"id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop", "success": True}
    path, named = tmp_path / "log.json", tmp_path / "named.jsonl"
    path.write_text(json.dumps({**record, "messages": talk}))
    refused = command(capsys, "tasks", "score", str(path))
    assert f"dialgauge data convert {path} named.jsonl --to native --format messages" in " ".join(refused.err.split())
    assert command(capsys, "data", "check", str(path), "--format", "tau2").code == 0
    assert command(capsys, "data", "convert", str(path), str(named), "--to", "native", "--format", "messages").code == 0
    assert command(capsys, "tasks", "score", str(named)).code == 0
