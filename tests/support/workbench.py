"""One folder with small files of every kind, a store with a run of every kind, and sound calls of every command.

The contracts of the commands (``tests/contracts/test_commands.py``) and of the pages of every kind
(``tests/explorer/test_pages.py``) work here. A new command is called as its page shows it, or without anything
where it requires nothing; further calls, and those that need other files, stand in :data:`CALLS`.
"""

from __future__ import annotations

import io
import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from itertools import product
from pathlib import Path

import click
import pytest

import dialgauge as package
from dialgauge.cli import COMMANDS, main
from dialgauge.cli.app import commands_of
from dialgauge.dialogue import Task
from dialgauge.runs import Run, Store
from dialgauge.worlds.tools import load_tool_domain
from support.agent_results import desk_tasks, tau_file
from support.documented_calls import add_examples, documented_call
from support.domains import domain_folder
from support.scripted_logs import write_scripted_log
from support.talks import mishear, talk
from support.tiny_world import tiny_release
from support.town import responses, write_town
from support.trackers import gold_dialogues, tracker, write_predictions

SYSTEMS = "augpt.json dots.json mintl.json tracker-with-a-long-name.json"

#: Sound calls, without the name of the command; capital words are ids of stored runs, {} is a folder for what it makes.
CALLS: dict[str, tuple[str, ...]] = {
    "score": (
        "gold.jsonl good.jsonl bad.jsonl --resamples 20",
        "gold.jsonl good.jsonl --resamples 0 -m all --sensitivity",
        f"self {SYSTEMS} --resamples 20",
        "self augpt.json -p canon -p llm --resamples 20",
    ),
    "show": ("GOOD", "GOOD --worst 2", "GOOD --by slot --only sweep --only correlation"),
    "compare": (
        "GOOD BAD --resamples 20",
        "GOOD BAD --resamples 20 --all",
        "--printed systems.csv",
    ),
    "tasks score": (
        "town/gold.json worse.json --resamples 20",
        "town/gold.json mine.json --resamples 0 -m all",
    ),
    "review": (
        "tau.json --resamples 20",
        "tau.json other.json --resamples 20",
        "scripted.json --domain depot --resamples 20",
        "tau.json --judge verdicts.csv --truth ann --resamples 20",
    ),
    "users score": ("talks.json --resamples 20", "talks.json --resamples 0 --no-store"),
    "users find": ("USERS --domain hotel", "USERS --verdict missing --end loop"),
    "users faults": ("tau.json --resamples 20",),
    "users likeness": ("talks.json more.json --corpus talks.json",),
    "lab run": (
        "-n 4 --resamples 0 --level text --channel mild",
        "-n 4 --resamples 20 --trials 2 --channel drop=0.5",
    ),
    "lab call": ("calls.json --domain depot",),
    "lab goals": ("-n 4", "--goal G0003"),
    "lab study": ("-n 2 --errors drop --rates 0.05,0.5 --resamples 5",),
    "babi simulate": ("--out {}/simulated --dialogues 2 --tasks 1 --to both",),
    "babi convert": ("calls --kb babi/dialog-babi-kb-all.txt --out {}/converted.txt",),
    "babi evaluate": ("--data babi --model tfidf --split tst", "--live --task 1 --dialogues 2"),
    "babi table": ("--data babi --models rules,nearest --tasks 1 --splits tst",),
    "babi train": ("--data babi --out {}/model --set epochs=1 --set dim=4",),
    "data check": (
        "gold.jsonl",
        "gold.jsonl broken.json",
        "good.jsonl",
        "augpt.json",
        "tau.json",
        "domain",
        "pets",
    ),
    "data map": ("mine.csv", "gold.jsonl"),
    "data convert": ("gold.jsonl {}/converted.jsonl --to native",),
    "runs export": ("GOOD --out {}/passed-on", "LAB --redact --out {}/redacted"),
    "sql": ("'SELECT * FROM runs'", "'SELECT * FROM turns LIMIT 5'"),
    "explain": ("", "FGA", "canon", "unmatched"),
    "reproduce": ("fga --all", "rsa --all"),
    "report": ("GOOD --out {}/report.html",),
}
#: What is not called here, and where it is.
ELSEWHERE = {
    "demo": "tests/cli/test_start.py: a tour of seconds",
    "explore": "tests/cli/test_explore.py: a server",
    "init": "tests/cli/test_start.py: it fills a folder",
    "babi chat": "tests/cli/test_babi.py: somebody has to talk to it",
    "lab chat": "tests/cli/test_lab.py: somebody has to talk to it",
    "lab new": "tests/cli/test_lab.py: what it prints is a path",
    "data get": "tests/data: it takes a server",
    "runs tag": "tests/cli/test_runs.py: it changes the store",
    "runs rm": "tests/cli/test_runs.py: it changes the store",
}
#: Calls that fill the store, by the word that calls use for the first run of each. Commands that are called as pages do
#: (see above) fill it too.
STORED = {
    "GOOD": "score gold.jsonl good.jsonl bad.jsonl --resamples 20",
    "LAB": "lab run -n 4 --resamples 0 --channel drop=0.9 --seed 1",
    "STUDY": "lab study -n 2 --errors drop --rates 0.5 --resamples 5",
    "TASKS": "tasks score town/gold.json mine.json worse.json --resamples 20",
    "TRIALS": "review tau.json other.json --resamples 20",
    "USERS": "users score talks.json more.json --resamples 20",
    "FAULTS": "users faults tau.json other.json --resamples 20",
    "RESPONSES": "babi table --data babi --models nearest,tfidf --tasks 1 --splits tst",
    "INTERACTION": "babi evaluate --live --task 1 --dialogues 2",
    "TRAINING": "babi train --data babi --out model --set epochs=1 --set dim=4",
}


@cache
def commands() -> dict[str, click.Command]:
    """Every command of the program by its words."""
    return {name: command for word in COMMANDS for name, command in commands_of(word).items()}


@cache
def options(command: str) -> dict[str, click.Option]:
    """The options of a command by each of their names."""
    parameters = commands()[command].params
    return {name: one for one in parameters if isinstance(one, click.Option) for name in one.opts}


def calls() -> Iterator[tuple[str, str]]:
    """Every command with every sound call of it."""
    for command in commands():
        for call in sound_calls(command):
            yield command, call


def sound_calls(command: str) -> tuple[str, ...]:
    """The calls of a command: those listed here, nothing but its name where that is enough, or what its page shows."""
    if command in CALLS or command in ELSEWHERE:
        return CALLS.get(command, ())
    if not any(one.required for one in commands()[command].params):
        return ("",)
    shown = documented_call(command)
    return () if shown is None else (shown,)


class Workbench:
    """The folder, and the ids of runs in its store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "runs")
        self.runs: dict[str, str] = {}
        self.built: frozenset[str] = frozenset()

    def words(self, command: str, call: str, made: Path) -> list[str]:
        """The words of a call; what it makes goes into ``made``."""
        return [*command.split(), *(self.runs.get(word, word.replace("{}", str(made))) for word in shlex.split(call))]

    def runs_of(self, kind: str) -> list[Run]:
        """The runs of a kind that the store was built with, oldest first; tests of commands may have added others."""
        stored = [one for one in reversed(self.store.list()) if one.kind == kind and one.id in self.built]
        assert stored, f"no run of the kind '{kind}': add one to STORED in tests/support/workbench.py"
        return [self.store.open(one.id) for one in stored]


def silently(*words: str) -> str:
    """Run a command in this process; what it said of its work."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said), pytest.raises(SystemExit) as stop:
        main(list(words))
    assert stop.value.code in (0, 1), said.getvalue()
    return said.getvalue()


def build(folder: Path) -> Workbench:
    """Write the files and fill the store."""
    _write_trackers(folder)
    _write_talks(folder)
    _write_agents(folder)
    (folder / "ontology.json").write_text(json.dumps({"hotel-area": ["north", "south"], "hotel-stars": ["3", "4"]}))
    (folder / "mine.csv").write_text("conv,t,state\nD0,0,hotel-area=north\nD0,1,hotel-area=north\n")
    (folder / "data").mkdir()
    add_examples(folder)
    bench = Workbench(folder)
    with chdir(folder):
        silently("lab", "run", "-n", "4", "--resamples", "0", "--level", "text", "--out", "spoken", "--store", "other")
        for name, call in STORED.items():
            before = {one.id for one in bench.store.list()}
            silently(*call.split(), "--store", "runs")
            made = sorted(
                (one for one in bench.store.list() if one.id not in before), key=lambda one: one.name != "good"
            )
            bench.runs[name] = made[0].id
            if name == "GOOD":
                bench.runs["BAD"] = made[1].id
    bench.built = frozenset(one.id for one in bench.store.list())
    return bench


def _write_trackers(folder: Path) -> None:
    gold = gold_dialogues(12)
    for name, dialogues in {"gold": gold, "good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2)}.items():
        package.write(dialogues, folder / f"{name}.jsonl", format="native")
    for number, name in enumerate(SYSTEMS.split()):
        write_predictions(folder / name, gold, tracker(gold, 0.1 * (number + 1), number))
    (folder / "systems.csv").write_text("system,JGA,F1\na,0.5,0.6\nb,0.4,0.7\nc,0.1,0.2\n")
    (folder / "broken.json").write_text("{")


def _write_talks(folder: Path) -> None:
    goal = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
    good = talk(goal, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
    loop = talk(goal, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop")
    package.write([good, mishear(loop, 1, "train inform phone=1")], folder / "talks.json", format="gcdf1")
    package.write([good, loop], folder / "more.json", format="gcdf1")
    (folder / "log.jsonl").write_text(
        '{"dialogue": "a", "speaker": "customer", "text": "hi, John here: 01223 351880"}\n'
        '{"dialogue": "a", "speaker": "operator", "text": "hello Zorblax"}\n'
    )
    tiny_release(folder / "babi")
    call = folder / "calls" / "Mar13_S0A0" / "voip-1"
    call.mkdir(parents=True)
    ontology = {"informable": {"food": ["thai"], "area": ["north"]}}
    (folder / "calls" / "ontology.json").write_text(json.dumps(ontology))
    log = {"turn-index": 0, "output": {"transcript": "Hello, how may I help?", "dialog-acts": []}}
    (call / "log.json").write_text(json.dumps({"session-id": "voip-1", "turns": [log]}))
    label = {"turn-index": 0, "transcription": "thai food", "goal-labels": {"food": "thai"}, "requested-slots": []}
    (call / "label.json").write_text(json.dumps({"session-id": "voip-1", "turns": [label]}))


def _write_agents(folder: Path) -> None:
    (folder / "town").mkdir()
    write_town(folder / "town").rename(folder / "town" / "gold.json")
    (folder / "mine.json").write_text(json.dumps(responses()))
    worse = responses()
    worse["sng0002"][0]["response"] = "sorry ."
    (folder / "worse.json").write_text(json.dumps(worse))
    tau_file(folder / "tau.json", {"a": "++", "b": "+-", "c": "--"})
    desk_tasks(folder / "desk.json")
    depot = load_tool_domain("depot")
    write_scripted_log(depot, folder / "desk.json", "wrong", folder / "scripted.json", trials=2)
    (folder / "calls.json").write_text('[{"name": "pay_duty", "arguments": {"parcel_id": "P-1004"}}, {"name": "x"}]')
    shutil.copytree(depot.folder, folder / "domain")
    domain_folder(folder / "pets")
    graded = product(range(3), range(2), enumerate(("ann", "bot", "bot")))
    lines = [f"{'abc'[task]},{trial},{who},{(task + trial + place) % 3 > 0}" for task, trial, (place, who) in graded]
    (folder / "verdicts.csv").write_text("\n".join(["task,trial,grader,verdict", *lines]))
    tau_file(folder / "other.json", {"a": "+-", "b": "--", "c": "-+"})
