"""``pip install dialgauge`` alone: every command runs, or says in one sentence which extra it needs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of
from hostile.fuzz.commands import CALLS, sandbox, sound_calls
from install.fresh import BareInstall, CallOutcome
from support.town import responses, write_town


class BareCall(NamedTuple):
    """A call of a command, with the exit code that it must have; 2 means the sentence about the extra."""

    command: str
    words: tuple[str, ...]
    code: int = 0
    #: The extra that it cannot work without, or (with another code than 2) that it names beside its work.
    extra: str | None = None
    #: Further extras that it names.
    others: tuple[str, ...] = ()


_TASKS = ("town/gold.json", "town/responses.json", "--resamples", "9")

#: Calls that succeed, or fail for want of an extra or of data; what is not here is called as in the fuzz tests.
OWN_CALLS = (
    BareCall("init", ("mine",)),
    BareCall("review", ("tau.json", "--store", "reviewed")),
    BareCall("data check", ("gold.jsonl",)),
    BareCall("data get", ("babi",), 2),  # there is no network in these tests
    BareCall("demo", ("--out", "demo", "--dialogues", "10"), extra="explorer"),
    BareCall("babi evaluate", ("--data", "corpus", "--task", "1", "--model", "tfidf", "--store", "new")),
    BareCall("babi evaluate", ("--data", "corpus", "--task", "1", "--model", "memn2n"), 2, "neural"),
    BareCall("babi table", ("--data", "corpus", "--tasks", "1", "--models", "nearest,rules", "--store", "new")),
    BareCall("babi train", ("--data", "corpus", "--task", "1", "--model", "nearest", "--out", "model")),
    BareCall("babi train", ("--data", "corpus", "--task", "1", "--model", "memn2n", "--out", "model"), 2, "neural"),
    BareCall("babi evaluate", ("--live", "--task", "1", "--dialogues", "2")),
    BareCall("babi chat", ("--data", "corpus", "--task", "1", "--model", "rules")),
    BareCall("babi convert", ("missing", "--kb", "kb.txt", "--out", "converted.txt"), 2),
    BareCall("users score", ("talks/conversations.jsonl", "--resamples", "9")),
    BareCall("users likeness", ("talks/conversations.jsonl", "--corpus", "talks/conversations.jsonl")),
    BareCall("users find", ("latest", "--domain", "hotel", "--store", "people")),
    BareCall("users faults", ("talks/conversations.jsonl",)),
    BareCall("tasks score", _TASKS, extra="tasks"),
    BareCall("tasks score", (*_TASKS, "--measures", "BLEU"), 2, "tasks"),
    BareCall("compare", (*CALLS["compare"], "--figures", "drawn")),
    BareCall("lab run", CALLS["lab run"]),
    BareCall(
        "lab run", ("-n", "1", "--system", "llm-system", "--endpoint", "local", "--store", "new"), 2, "local-model"
    ),
    BareCall("lab study", CALLS["lab study"]),
    BareCall("explore", ("--store", "store"), 2, "explorer"),
    BareCall("sql", CALLS["sql"], 2, "sql"),
    BareCall("report", ("{first}", "--store", "two", "--out", "report.html")),
    BareCall("runs tag", ("{first}", "mine", "--store", "two")),
    BareCall("compare", ("{first}", "{second}", "--store", "two", "--resamples", "9")),
    BareCall("reproduce", ("mwzeval",), 2, "sql"),
    BareCall("show", ("{first}", "--store", "two")),
    BareCall("data map", ("pred.json",)),
)
ALL_CALLS = (
    *OWN_CALLS,
    *(
        BareCall(name, words)
        for name, words in sound_calls().items()
        if name not in {call.command for call in OWN_CALLS}
    ),
)


@pytest.fixture(scope="module")
def place(bare: BareInstall, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small files of every kind, some of them made by the fresh install."""
    folder = tmp_path_factory.mktemp("work") / "files"
    shutil.copytree(sandbox(), folder)
    (folder / "data").mkdir()
    write_town(folder / "town")
    (folder / "town" / "responses.json").write_text(json.dumps(responses()))
    for words in (
        ["babi", "simulate", "--out", "corpus", "--dialogues", "3", "--tasks", "1"],
        ["score", "gold.jsonl", "pred.json", "other.json", "--resamples", "9", "--store", "two"],
        ["lab", "run", "-n", "3", "--resamples", "0", "--store", "lab", "--out", "talks"],
        ["users", "score", "talks/conversations.jsonl", "--resamples", "0", "--store", "people"],
    ):
        done = bare.run(words, folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_every_command_is_tried() -> None:
    commands: set[str] = set()
    for first in COMMANDS:
        commands |= commands_of(first).keys()
    assert commands == {call.command for call in ALL_CALLS}


@pytest.fixture(scope="module")
def outcomes(bare: BareInstall, place: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[BareCall, CallOutcome]:
    first, second = sorted(path.parent.name for path in (place / "two").glob("*/run.json"))
    calls = [
        [*call.command.split(), *(word.format(first=first, second=second) for word in call.words)] for call in ALL_CALLS
    ]
    return dict(zip(ALL_CALLS, bare.run_all(calls, place, tmp_path_factory.mktemp("calls")), strict=True))


@pytest.mark.parametrize("call", ALL_CALLS, ids=lambda call: " ".join((call.command, *call.words)))
def test_a_command_runs_or_names_the_extra_it_needs(outcomes: dict[BareCall, CallOutcome], call: BareCall) -> None:
    done = outcomes[call]
    said = done.out + done.err
    assert done.code == call.code, said
    assert "Traceback" not in said and "ModuleNotFoundError" not in said and "nanobind" not in said, said
    named = set(re.findall(r"pip install 'dialgauge\[([a-z-]+)\]'", " ".join(said.split())))
    assert named == {*([call.extra] if call.extra else []), *call.others}
    if call.code == 2:
        assert len(done.err.strip().splitlines()) == 1, done.err


def test_the_demo_ends_with_a_report(outcomes: dict[BareCall, CallOutcome]) -> None:
    [done] = [outcome for call, outcome in outcomes.items() if call.command == "demo"]
    assert "\nReport: demo/report.html\n" in done.out


def test_what_is_not_required_is_not_there(bare: BareInstall, place: Path) -> None:
    extras = ("duckdb", "torch", "scipy", "pyarrow", "pandas", "altair", "starlette", "sacrebleu")
    code = f"from importlib.util import find_spec; print([name for name in {extras} if find_spec(name)])"
    assert bare.python(code, place).stdout == "[]\n"


def test_a_pandas_frame_names_its_extra(bare: BareInstall, place: Path) -> None:
    code = "import dialgauge; dialgauge.read('gold.jsonl').to_pandas()"
    done = bare.python(code, place)
    assert done.stderr.splitlines()[-1].endswith("pip install 'dialgauge[pandas]'")
