"""What every command keeps to, by its own declarations: a new command is held to all of it without a test of its own.

Each sound call of ``support/workbench.py`` runs at a terminal of 80 columns, with every output that the command
declares; the first call of a command also for standard output and the gates. What can be wrong with a call is made from
the declarations of the options and from the files that the call reads.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import pytest

from dialgauge.cli.options import FILE, FOLDER
from dialgauge.runs import Run, Store
from support.commands import Outcome, dialgauge
from support.screens import uncoloured
from support.workbench import CALLS, ELSEWHERE, STORED, Workbench, calls, commands, options, sound_calls

Capture = pytest.CaptureFixture[str]
EVERY_CALL = [pytest.param(*one, id=" ".join(one).strip()) for one in calls()]
FIRST_CALLS = dict(reversed(list(calls())))
#: Commands whose screen has no tables: they print one path or one document, or say what they made.
PLAIN = {
    "runs export", "report", "data convert",
}  # fmt: skip
#: Commands whose numbers are no scores, or are shown beside those of a paper.
UNSIGNED = {"babi train", "reproduce"}


#: The JSON Schema of what every command writes by ``--json``.
PAGE_SCHEMA = json.loads((files("dialgauge.report") / "page.schema.json").read_text("utf-8"))
#: What is asked for by name: none of these is ever shortened.
NAMED = ("explain", "data", "users", "runs list")


@pytest.fixture(autouse=True)
def at_the_bench(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    monkeypatch.setenv("DIALGAUGE_RUNS", str(bench.folder / "runs"))
    monkeypatch.setenv("DIALGAUGE_DATA", str(bench.folder / "data"))
    monkeypatch.setenv("TTY_COMPATIBLE", "1")


def run(capsys: Capture, *words: object) -> Outcome:
    outcome = dialgauge(capsys, *words)
    assert "Traceback" not in outcome.err
    return Outcome(outcome.code, uncoloured(outcome.out), uncoloured(outcome.err))


def test_every_command_has_a_sound_call() -> None:
    assert CALLS.keys() | ELSEWHERE.keys() <= commands().keys()
    assert not CALLS.keys() & ELSEWHERE.keys()
    uncalled = [command for command in commands() if command not in ELSEWHERE and not sound_calls(command)]
    assert uncalled == [], "call them on a page with files of docs/examples, or in support/workbench.py"


# What a sound call gives


@dataclass(frozen=True)
class Ran:
    """A call that ran at a terminal of 80 columns, with everything it wrote."""

    command: str
    call: str
    outcome: Outcome
    document: dict[str, Any]
    folder: Path

    @property
    def store(self) -> Store:
        return Store(self.folder / "store")

    def stored(self) -> list[Run]:
        """The runs it stored, in the order of its systems."""
        runs = [self.store.open(one.id) for one in self.store.list()]
        order = [system.get("name") for system in self.document.get("systems", ())]
        return sorted(runs, key=lambda one: order.index(one.name) if one.name in order else -1)


def words_of(bench: Workbench, command: str, call: str, folder: Path) -> list[str]:
    """The words of a call that makes and stores what it makes in a folder."""
    folder.mkdir()
    words = bench.words(command, call, folder)
    stores = "--no-store" in options(command) or command == "babi table"
    return [*words, "--store", str(folder / "store")] if stores else words


def ran(bench: Workbench, capsys: Capture, command: str, call: str, folder: Path) -> Ran:
    """The call with every output that its command declares."""
    words = words_of(bench, command, call, folder)
    for option, name in {"--json": "out.json", "--table": "out.md"}.items():
        if option in options(command):
            words = [*words, option, str(folder / name)]
    outcome = run(capsys, *words)
    assert outcome.code in (0, 1), outcome.err
    written = folder / "out.json"
    return Ran(command, call, outcome, json.loads(written.read_text()) if written.exists() else {}, folder)


@pytest.mark.parametrize(("command", "call"), EVERY_CALL)
def test_a_sound_call(bench: Workbench, capsys: Capture, tmp_path: Path, command: str, call: str) -> None:
    stored = len(bench.store.list())
    done = ran(bench, capsys, command, call, tmp_path / "narrow")
    check_files(done)
    check_screen(done)
    if call == FIRST_CALLS[command] and "--json" in options(command):
        words = words_of(bench, command, call, tmp_path / "stdout")
        again = run(capsys, *words, "--json", "-")
        assert again.code == done.outcome.code
        assert lasting(json.loads(again.out)) == lasting(done.document), "JSON alone, and the same again"
    assert len(bench.store.list()) == stored, "what does not store changes no store"


def check_files(done: Ran) -> None:
    command = done.command
    assert ("--json" in options(command)) == bool(done.document)
    if done.document:
        jsonschema = pytest.importorskip("jsonschema")
        jsonschema.validate(done.document, PAGE_SCHEMA)
    if "--table" in options(command) and command not in PLAIN:
        written = (done.folder / "out.md").read_text("utf-8")
        assert "|" in written and "…" not in written


@pytest.mark.parametrize("run_name", STORED)
def test_every_kind_of_run_can_be_drawn(bench: Workbench, capsys: Capture, tmp_path: Path, run_name: str) -> None:
    outcome = run(capsys, "show", bench.runs[run_name], "--all", "--figures", tmp_path)
    assert outcome.code == 0, outcome.err
    drawn = sorted(tmp_path.iterdir())
    assert drawn and {file.suffix for file in drawn} <= {".svg", ".pdf"}
    for file in drawn:
        assert f"drew{file}" in "".join(outcome.err.split())
        chart = file.read_text("utf-8") if file.suffix == ".svg" else 'class="title"'
        assert 'class="title"' in chart or ("role-title-text" in chart and "role-title-subtitle" in chart)


def check_screen(done: Ran) -> None:
    """Nothing is wider than 80 columns, what was asked for by name is whole, a signature is one line."""
    lines = done.outcome.out.splitlines()
    assert lines or done.command in PLAIN
    for line in lines if done.command not in PLAIN else ():
        assert len(line) <= 80 or " " not in line.strip(), line
    if done.command.startswith(NAMED):
        assert "…" not in done.outcome.out
    signed = [number for number, text in enumerate(lines) if text.startswith("Signature: ")]
    systems = done.document.get("systems")
    assert signed or done.command in UNSIGNED or not systems or "scores" not in systems[0]
    for number in signed:
        assert len(lines[number]) <= 80 and "|v" in lines[number], lines[number]
        assert "|" not in "".join(lines[number + 1 : number + 2])


def lasting(document: Any) -> str:
    """A document as text, without what differs each time: ids of runs, folders, seconds."""
    text = re.sub(r"\d{8}-\d{6}-[a-z0-9-]+-[0-9a-f]{4}", "RUN", json.dumps(document))
    return re.sub(r"/[^\" ]*/(narrow|stdout)\b|\"(seconds|created)\": [^,}]*", "", text)


# The gates


@pytest.mark.parametrize("command", [one for one in FIRST_CALLS if "--fail-under" in options(one)])
def test_the_gates(bench: Workbench, capsys: Capture, tmp_path: Path, command: str) -> None:
    """Below a value, or clearly below a run, is exit code 3; what cannot be checked is refused before the work."""
    call = FIRST_CALLS[command]
    folder = tmp_path / "first"
    first = run(capsys, *words_of(bench, command, call, folder))
    stored = Ran(command, call, first, {}, folder).stored()
    least, value = min(shares(stored).items(), key=lambda one: one[1])
    other = next((name for name in shares(stored) if name != least), least)
    before = stored[0].id if len(stored) == 1 else next(one.id for one in stored if one.name == "bad")
    kept = ["--fail-under", f"{least}={value!r}", "--store", folder / "store", "--fail-on-drop", before]
    held = run(capsys, *bench.words(command, call, tmp_path), *kept)
    assert held.code == first.code, held.err
    assert f"no significant drop compared with {before}" in " ".join(held.err.split())
    above = ["--fail-under", f"{least}={100 * value + 0.01:.6f}%", "--fail-under", f"{other}=0%"]
    failed = run(capsys, *words_of(bench, command, call, tmp_path / "failed"), *above)
    assert failed.code == 3, failed.err
    assert re.search(rf"FAILED: \S+:\s{re.escape(least)} .* is\sbelow ", failed.err)
    assert not re.search(rf": {re.escape(other)} [\d.]+%", failed.err)
    unread = [word.replace(".json", ".gone") for word in words_of(bench, command, call, tmp_path / "unread")]
    for gate, sentence in (
        ("JGAAA=50%", "there is no measure named 'JGAAA'"),
        ("JGA", "--fail-under expects MEASURE=VALUE"),
        ("=0.5", "--fail-under expects MEASURE=VALUE"),
        ("JGA=half", "--fail-under expects MEASURE=VALUE"),
    ):
        refused = run(capsys, *unread, "--fail-under", gate)
        assert (refused.code, refused.out, sentence in refused.err) == (2, "", True), refused.err
    strange = bench.runs["FAULTS"]
    refused = run(
        capsys, *bench.words(command, call, tmp_path), "--store", bench.store.folder, "--fail-on-drop", strange
    )
    assert (refused.code, refused.out) == (2, "")
    told = f"{strange} is a run of kind faults, and this command makes runs of kind {stored[0].kind}"
    assert told in refused.err


def shares(runs: list[Run]) -> dict[str, float]:
    """The measures of some runs that are shares, each with its least value, where that can be less."""
    found: dict[str, float] = {}
    for one in runs:
        for name, score in one.scores.items():
            if score.unit == "share" and score.value is not None and score.higher_is_better:
                found[name] = min(score.value, found.get(name, 1.0))
    return {name: value for name, value in found.items() if value < 1}


# Bad input


def files_of(bench: Workbench, command: str, call: str) -> list[str]:
    """The files that a call names by their place."""
    words = shlex.split(call)
    placed = [word for place, word in enumerate(words) if not words[place - 1].startswith("-") or place == 0]
    return [word for word in placed if (bench.folder / word).is_file()]


READING = [command for command, call in FIRST_CALLS.items() if re.search(r"(^| )\S+\.jsonl?\b", call)]


@pytest.mark.parametrize("command", READING)
def test_a_file_that_is_missing_or_broken_is_one_sentence(
    bench: Workbench, capsys: Capture, tmp_path: Path, command: str
) -> None:
    call = FIRST_CALLS[command]
    for name in files_of(bench, command, call):
        for instead, told in (("gone.json", "gone.json: there is no such file or folder"), ("broken.json", "broken")):
            words = shlex.split(call)
            words[words.index(name)] = instead
            outcome = dialgauge(capsys, *bench.words(command, shlex.join(words), tmp_path))
            assert (outcome.code, outcome.out) == (2, ""), outcome.err
            _, sentence = uncoloured(outcome.err).split("dialgauge: ")
            assert told in sentence and sentence.count("\n") == 1


@pytest.mark.parametrize("command", READING)
def test_no_output_is_written_over_an_input(bench: Workbench, capsys: Capture, tmp_path: Path, command: str) -> None:
    call = FIRST_CALLS[command]
    (name, *_) = files_of(bench, command, call)
    before = (bench.folder / name).read_bytes()
    linked = tmp_path / "linked.json"
    linked.symlink_to(bench.folder / name)
    for option in ("--json", "--table"):
        for target in (name, f"./{name}", linked) if option in options(command) else ():
            refused = dialgauge(capsys, *bench.words(command, call, tmp_path), option, target)
            assert (refused.code, refused.out) == (2, "")
            assert "would overwrite an input of this command" in refused.err
    assert (bench.folder / name).read_bytes() == before


# Help


@pytest.mark.parametrize("command", commands())
def test_the_help_of_a_command_fits_a_screen(capsys: Capture, command: str) -> None:
    page = dialgauge(capsys, *command.split(), "--help").out.splitlines()
    assert len(page) <= 50 and max(map(len, page)) <= 80


# Wrong calls, by the declarations


def needed(command: str) -> list[str]:
    """A command with something for all that it requires."""
    words = command.split()
    for one in commands()[command].params:
        if one.required:
            value = one.type.choices[0] if isinstance(one.type, click.Choice) else "x"
            words += [one.opts[0], value] if isinstance(one, click.Option) else [value]
    return words


@pytest.mark.parametrize("command", commands())
def test_a_value_that_an_option_cannot_have_is_one_sentence(capsys: Capture, command: str) -> None:
    """Numbers out of bounds, words for numbers and for choices, missing values, unknown options."""
    wrong = [["--nonsense"], ["-Q"]]
    for one in dict.fromkeys(options(command).values()):
        if isinstance(one.type, click.IntRange | click.FloatRange):
            wrong.append([one.opts[-1], "many"])
            wrong += [[one.opts[-1], f"{one.type.min - 1:g}"]] if one.type.min is not None else []
            wrong += [[one.opts[-1], f"{one.type.max + 1:g}"]] if one.type.max is not None else []
        if isinstance(one.type, click.Choice):
            wrong.append([one.opts[-1], "nonsense"])
        wrong.append([f"{one.opts[-1]}=1"] if one.is_flag else [one.opts[-1]])
    for words in wrong:
        outcome = dialgauge(capsys, *needed(command), *words)
        assert (outcome.code, outcome.out) == (2, ""), words
        assert outcome.err.startswith("dialgauge: ") and outcome.err.count("\n") == 1
        assert words[0].partition("=")[0] in outcome.err


@pytest.mark.parametrize("command", commands())
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    capsys: Capture, tmp_path: Path, command: str
) -> None:
    (tmp_path / "taken").write_text("a file")
    for one in dict.fromkeys(options(command).values()):
        name = one.opts[-1]
        if one.type in (FILE, FOLDER):
            assert dialgauge(capsys, *needed(command), name, "").code == 2
            wrong = tmp_path if one.type is FILE else tmp_path / "taken"
            refused = dialgauge(capsys, *needed(command), name, wrong)
            assert (refused.code, refused.out) == (2, "")
            assert str(wrong) in refused.err
        if name == "--table":
            ending = dialgauge(capsys, *needed(command), name, tmp_path / "x.doc")
            assert (ending.code, "use one of these endings" in ending.err) == (2, True), ending.err


def test_two_outputs_are_two_files(capsys: Capture, tmp_path: Path) -> None:
    outcome = dialgauge(capsys, "data", "list", "--json", tmp_path / "b.csv", "--table", tmp_path / "b.csv")
    assert (outcome.code, outcome.out, list(tmp_path.iterdir())) == (2, "", [])
