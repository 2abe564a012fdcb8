"""Every ``--json`` names its schema and follows it, and every schema is printed by ``dialgauge schema``."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import dialgauge as package
from dialgauge.cli import COMMANDS, main
from dialgauge.dialogue import Task
from dialgauge.schemas import schema_id, schema_names, schema_text
from support.agent_results import tau_file
from support.commands import dialgauge
from support.domains import domain_folder
from support.published import assert_published
from support.talks import mishear, talk
from support.tiny_world import tiny_release
from support.town import responses, write_town
from support.trackers import gold_dialogues, tracker

Capture = pytest.CaptureFixture[str]

#: The one schema of a file that people write.
DOMAIN_FILE = "domain"
#: Calls by the schema of what they write; several where options change what is in the document. Capital words are ids
#: of runs that the workspace stored.
CALLS = {
    "score": (
        "score gold.jsonl good.jsonl bad.jsonl --resamples 50",
        "score gold.jsonl good.jsonl --no-intervals -m all --by domain --by turn --faults --sensitivity",
        "score --from GOOD",
    ),
    "compare": (
        "compare gold.jsonl good.jsonl bad.jsonl --resamples 50 --show 1 --sweep --correlation all",
        "compare GOOD BAD --resamples 50",
        "runs compare GOOD BAD --resamples 50",
        "compare tau.json other.json --resamples 50",
    ),
    "compare-systems": ("compare --systems systems.csv",),
    "tasks-score": (
        "tasks score town/gold.json mine.json --resamples 50",
        "tasks score town/gold.json mine.json --resamples 0 --by domain -m all",
    ),
    "tasks-trials": ("tasks score tau.json --resamples 50",),
    "users-score": (
        "users score talks.json --resamples 50",
        "users score talks.json --resamples 0 --per-dialogue --verdicts",
    ),
    "users-figures": ("users figures talks.json",),
    "users-explain": ("users explain talks.json loop", "users explain talks.json loop --talk"),
    "users-find": ("users find talks.json", "users find talks.json --behaviour unmatched --min-repeats 9"),
    "users-faults": ("users faults tau.json --resamples 50",),
    "lab-run": ("lab run -n 4 --resamples 50", "lab run -n 4 --resamples 0 --trials 2 --channel drop=0.5"),
    "lab-goals": ("lab goals -n 4",),
    "lab-study": ("lab study -n 4 --errors drop --rates 0.5 --resamples 5",),
    "lab-blame": ("lab blame LAB", "lab blame LAB --limit 0"),
    "babi-simulate": ("babi simulate --out simulated --dialogues 2 --tasks 1 --to both",),
    "babi-convert-dstc2": ("babi convert-dstc2 calls --out converted.txt",),
    "babi-anonymise": ("babi anonymise log.jsonl --out clean.jsonl",),
    "babi-evaluate": (
        "babi evaluate --data babi --model tfidf --split tst",
        "babi table --data babi --models rules,nearest --tasks 1 --splits tst",
    ),
    "babi-train": ("babi train --data babi --out model --set epochs=1 --set dim=4",),
    "babi-attention": ("babi attention --data babi --load model --turn 1",),
    "babi-interact": ("babi interact --model rules --task 1 --dialogues 2",),
    "data-check-domain": ("data check pets",),
    "data-check": (
        "data check gold.jsonl",
        "data check gold.jsonl broken.json",
        "data check good.jsonl --gold gold.jsonl",
    ),
    "data-convert": ("data convert gold.jsonl converted.jsonl --to native --force",),
    "data-formats": ("data formats",),
    "data-list": ("data list",),
    "runs-list": ("runs list",),
    "runs-show": ("runs show GOOD", "runs show LAB"),
    "reproduce": ("reproduce fga", "reproduce rsa"),
    "sql": ("sql 'SELECT * FROM runs'", "sql 'SELECT 1 AS x WHERE false'"),
    "tables": (
        "tasks explain town/gold.json mine.json MUL0001",
        "babi models",
        "explain measures",
        "explain profile",
        "explain profile canon",
        "explain behaviours",
        "explain measures JGA",
        "lab train heard.jsonl --out nlu.npz --database town/db --test other.jsonl --practice 50 --epochs 1",
    ),
    "config": ("config",),
}
#: Commands whose documents other tests hold against the schema, since they need a server.
ELSEWHERE = {"data verify": "data-verify"}

GOAL = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
GOOD = talk(GOAL, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
LOOP = talk(GOAL, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop")


def silently(*words: str) -> str:
    """Run a command in this process; what it said of its work."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said), pytest.raises(SystemExit) as stop:
        main(list(words))
    assert stop.value.code in (0, 1), said.getvalue()
    return said.getvalue()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with a file of every kind, and the ids of runs in its store."""
    folder = tmp_path_factory.mktemp("workspace")
    gold = gold_dialogues(12)
    for name, dialogues in {"gold": gold, "good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2)}.items():
        package.write(dialogues, folder / f"{name}.jsonl", format="native")
    package.write([GOOD, mishear(LOOP, 1, "train inform phone=1")], folder / "talks.json", format="gcdf1")
    (folder / "town").mkdir()
    write_town(folder / "town").rename(folder / "town" / "gold.json")
    (folder / "mine.json").write_text(json.dumps(responses()))
    tau_file(folder / "tau.json", {"a": "++", "b": "+-", "c": "--"})
    tau_file(folder / "other.json", {"a": "+-", "b": "--", "c": "-+"})
    (folder / "systems.csv").write_text("system,JGA,F1\na,0.5,0.6\nb,0.4,0.7\nc,0.1,0.2\n")
    (folder / "broken.json").write_text("{")
    domain_folder(folder / "pets")
    (folder / "log.jsonl").write_text(
        '{"dialogue": "a", "speaker": "customer", "text": "hi, John here"}\n'
        '{"dialogue": "a", "speaker": "operator", "text": "hello Zorblax"}\n'
    )
    (folder / "dialgauge.toml").write_text('[defaults]\nstore = "runs"\n[lab.run]\nexchanges = 20\n')
    tiny_release(folder / "babi")
    _one_call(folder / "calls")
    with chdir(folder):
        told = silently("score", "gold.jsonl", "good.jsonl", "bad.jsonl", "--run", "--resamples", "20")
        ids = [line.split()[3] for line in told.splitlines() if line.startswith("stored as run")]
        told = silently("lab", "run", "-n", "4", "--resamples", "0", "--channel", "drop=0.9", "--seed", "1")
        ids.append(told.split("stored as run ")[1].split()[0])
        silently("lab", "run", "-n", "4", "--resamples", "0", "--level", "text", "--out", "spoken")
        spoken = package.read(Path("spoken") / "conversations.jsonl").dialogues
        package.write(spoken[:2], Path("heard.jsonl"), format="native")
        package.write(spoken[2:], Path("other.jsonl"), format="native")
        silently("babi", "train", "--data", "babi", "--out", "model", "--set", "epochs=1", "--set", "dim=4")
    return folder, dict(zip(("GOOD", "BAD", "LAB"), ids, strict=True))


def _one_call(folder: Path) -> None:
    call = folder / "Mar13_S0A0" / "voip-1"
    call.mkdir(parents=True)
    (folder / "ontology.json").write_text(json.dumps({"informable": {"food": ["thai"], "area": ["north"]}}))
    log = {"turn-index": 0, "output": {"transcript": "Hello, how may I help?", "dialog-acts": []}}
    (call / "log.json").write_text(json.dumps({"session-id": "voip-1", "turns": [log]}))
    label = {"turn-index": 0, "transcription": "thai food", "goal-labels": {"food": "thai"}, "requested-slots": []}
    (call / "label.json").write_text(json.dumps({"session-id": "voip-1", "turns": [label]}))


@pytest.mark.parametrize(("schema", "call"), [(name, call) for name, calls in CALLS.items() for call in calls])
def test_what_a_command_writes_follows_its_schema(
    schema: str,
    call: str,
    workspace: tuple[Path, dict[str, str]],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    folder, runs = workspace
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DIALGAUGE_DATA", str(tmp_path))
    target = tmp_path / "document.json"
    words = [runs.get(word, word) for word in shlex.split(call)]
    outcome = dialgauge(capsys, *words, "--json", target)
    assert outcome.code in (0, 1), outcome.err
    assert_published(target.read_text(), schema)


def test_every_command_that_writes_json_is_held_against_a_schema() -> None:
    tried = {tuple(shlex.split(call)[:2]) for calls in CALLS.values() for call in calls}
    for name in COMMANDS:
        commands = importlib.import_module(f"dialgauge.cli.{name}").app.commands
        for command, function in commands.items():
            words = (name,) if len(commands) == 1 else (name, command)
            if "json" in inspect.signature(function).parameters and " ".join(words) not in ELSEWHERE:
                assert any(one[: len(words)] == words for one in tried), words


def test_every_schema_is_used_and_printed(capsys: Capture) -> None:
    assert set(schema_names()) == {*CALLS, *ELSEWHERE.values(), DOMAIN_FILE}
    listed = dialgauge(capsys, "schema").out
    for name in schema_names():
        assert schema_id(name) in listed
        printed = dialgauge(capsys, "schema", name).out
        assert printed == schema_text(name) == dialgauge(capsys, "schema", schema_id(name)).out
        if name != DOMAIN_FILE:
            assert json.loads(printed)["properties"]["schema"] == {"const": schema_id(name)}
    assert "Did you mean 'score'" in dialgauge(capsys, "schema", "scor").err


def test_a_document_that_does_not_follow_its_schema_is_found() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    wrong = {"schema": schema_id("score"), "signature": "x", "coverage": {}, "systems": [{"name": 1}]}
    with pytest.raises(jsonschema.ValidationError):
        assert_published(json.dumps(wrong))
