"""Command lines in this process, as a user would type them: right, almost right, and absurd.

Each runs in a fresh folder of small files. It must end with exit code 0, 1 or 2 (2 with one sentence on standard
error), without a traceback, and nothing that a file holds may act on the terminal.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import click

from dialgauge.cli import COMMANDS
from hostile.fuzz.dialogues import seeds_of
from hostile.fuzz.stored_runs import stored_run
from hostile.fuzz.target import Target, kept_folder
from support import workbench
from support.documented_calls import add_examples
from support.examples import EXAMPLES

#: Sound calls of commands; :func:`sound_calls` adds those of the workbench that read files which are here too. What is
#: heavy (training) is left to its own tests.
CALLS: dict[str, tuple[str, ...]] = {
    "score": ("gold.jsonl", "pred.json", "--resamples", "9"),
    "compare": ("--printed", "systems.csv"),
    "users score": ("talks.json", "--resamples", "9"),
    "users find": ("2", "--domain", "hotel", "--store", "store"),
    "users likeness": ("talks.json", "--corpus", "talks.json"),
    "tasks score": ("dialogues.json", "responses.json", "--database", "folder", "--resamples", "9"),
    "lab call": ("calls.json", "--domain", "depot"),
    "lab new": ("kennel",),
    "lab run": ("-n", "2", "--resamples", "0", "--store", "new"),
    "lab goals": ("-n", "2"),
    "lab chat": (),
    "lab study": ("-n", "2", "--errors", "drop", "--rates", "0.5", "--resamples", "2", "--store", "new"),
    "data check": ("pred.json",),
    "data convert": ("gold.jsonl", "out.jsonl", "--to", "native"),
    "data list": (),
    "data get": ("multiwoz21",),
    "runs export": ("2", "--store", "store", "--out", "passed-on"),
    "runs list": ("--store", "store"),
    "runs rm": ("2", "--yes", "--store", "store"),
    "sql": ("SELECT * FROM dialogue_scores", "--store", "store"),
    "explain": ("canon",),
    "babi simulate": ("--out", "made", "--dialogues", "2", "--tasks", "1"),
    "babi chat": ("--data", "missing"),
    "babi evaluate": ("--data", "missing", "--model", "rules"),
}  # fmt: skip

#: Values by the option that they fit; for others, the files and the oddities serve.
FITTING: dict[str, tuple[str, ...]] = {
    "--measures": ("JGA", "all", "JGA,FGA@0.5", "FGA@0.3(rule=paper)", "I-GCDF1[hotel]"),
    "--profile": ("plain", "verbatim", "mwzeval", "profile.yaml"),
    "--dataset": ("multiwoz21", "multiwoz21-people", "profile.yaml", "plain"),
    "--by": ("domain", "slot", "turn"),
    "--format": ("native", "gcdf1", "nested", "babi", "x"),
    "--to": ("native", "multiwoz", "gcdf1", "sgd", "babi"),
    "--fail-under": ("JGA=50%", "JGA=0.5", "JGA=50", "JGA", "=", "JGA=nan", "x=1%"),
    "--fail-on-drop": ("2", "x"),
    "--json": ("-", "out.json", "folder", "/dev/full", "missing/x.json"),
    "--table": ("t.md", "t.tex", "t.html", "t.csv", "t.json", "t", "folder.md"),
    "--figures": ("figures", "gold.jsonl"),
    "--schema": ("schema.json", "gold.jsonl"),
    "--ontology": ("ontology.json", "gold.jsonl"),
    "--canonical-map": ("map.json", "gold.jsonl"),
    "--config": ("config.yaml",),
    "--set": (
        "igcd_f1.repetitions.count_fp=no",
        "x",
        "a.b=c",
        "mode=[",
        "rgcd_f1.repetitions_warning=9999999999999999",
    ),
    "--store": ("store", "gold.jsonl", "new", "/dev/null/x"),
    "--ratings": ("ratings.csv", "gold.jsonl"),
    "--printed": ("systems.csv", "gold.jsonl"),
    "--goals": ("town", "dialogues.json", "gold.jsonl", "town.json"),
    "--channel": ("clean", "mild", "paper2021", "drop=0.5", "drop=9", "=", "config.yaml", "channel.yaml"),
    "--system": ("rule-system", "rule-baseline", "echo", "silent", "agenda", "rules", "x"),
    "--user": ("agenda", "agenda-baseline", "echo", "rule-system", "x"),
    "--user-set": ("x", "render=x", "render=yes"),
    "--system-set": ("x=1", "channel=x", "channel=mild"),
    "--count": ("1", "2"),
    "--trials": ("1", "2"),
    "--errors": ("drop", "value,insert", "x", ","),
    "--rates": ("0.1", "1", "0", "x", ",", "nan"),
    "--goal": ("G0001", "x"),
    "--model": ("rules", "tfidf", "nearest", "http://127.0.0.1:9/x", "folder"),
    "--dialogues": ("1", "3"),
    "--resamples": ("1", "9"),
    "--workers": ("1",),
    "--world": ("restaurant", "bakery", "world.yaml"),
    "--database": ("folder", "missing"),
}
FILES = (
    "gold.jsonl", "pred.json", "other.json", "talks.json", "schema.json", "map.json", "empty.json", "folder", "missing",
    "profile.yaml", "world.yaml", "ratings.csv", "log.jsonl", "-", "self", "*.json", "[", "[/bold]", "\x1b[31m.json",
    "odd\udcff.json", "\u202etxt.json", "binary.bin", "archive.zip", "/dev/null", "a" * 300, "",
)  # fmt: skip
NUMBERS = ("0", "1", "2", "-1", "3.5", "nan", "1e309", "٣", "", "1_0", "0x1", "99999999999999999999999", " 1")
_ESCAPES = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_CODES = (0, 1, 2)


@cache
def sound_calls() -> dict[str, tuple[str, ...]]:
    """A sound call of each command: the one here, or the first of the workbench, if this folder has all its files."""
    found = dict(CALLS)
    for command in workbench.commands():
        for call in workbench.sound_calls(command)[:1] if command not in CALLS else ():
            words = tuple(shlex.split(call))
            files = [word for word in words if re.search(r"\.[a-z]+$", word)]
            if files and "{}" not in call and all((sandbox() / name).is_file() for name in files):
                found[command] = words
    return found


def command_targets() -> Iterator[Target]:
    """One target for each command."""
    for name in (one for one in sound_calls() if one.split()[0] in COMMANDS):
        yield Target(f"command:{name}", partial(_words, name), run_command, weight=2)


def _words(name: str, chance: Random) -> bytes:
    """A case: the words of a command line, as JSON."""
    words = list(sound_calls()[name])
    every = _options(name)
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3)) if every else 0):
        option = chance.choice(every)
        words += [option.opts[0]] if option.is_flag else [option.opts[0], _value(option, chance)]
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        _spoil(words, chance)
    return json.dumps([*name.split(), *words]).encode()


def _value(option: click.Option, chance: Random) -> str:
    fitting = option.type.choices if isinstance(option.type, click.Choice) else FITTING.get(option.opts[0])
    if fitting and chance.random() < 0.8:
        return str(chance.choice(fitting))
    if isinstance(option.type, click.IntRange) or chance.random() < 0.1:
        return chance.choice(NUMBERS)
    return chance.choice(FILES)


def _spoil(words: list[str], chance: Random) -> None:
    at = chance.randrange(len(words) + 1)
    match chance.randrange(5):
        case 0:
            words.insert(at, chance.choice(FILES))
        case 1 if at < len(words):
            del words[at]
        case 2 if at < len(words):
            words[at] = chance.choice(FILES)
        case 3 if at < len(words):
            letters = list(words[at]) or ["x"]
            letters[chance.randrange(len(letters))] = chance.choice("x[]=\x1b\u202e%é\udcff-'\"\\")
            words[at] = "".join(letters)
        case _:
            words.insert(at, chance.choice(("--help", "--", "--xyz", "-x", "--json=-", "--debug=1", "-", "--seed")))


@cache
def _options(name: str) -> list[click.Option]:
    return [one for one in workbench.commands()[name].params if isinstance(one, click.Option)]


@cache
def sandbox() -> Path:
    """The folder that every command line starts in; each works in a copy."""
    from dialgauge.formats import write
    from support.agent_results import tau_file
    from support.trackers import gold_dialogues, tracker, write_predictions

    folder = kept_folder()
    gold = gold_dialogues(4)
    write(gold, folder / "gold.jsonl", format="native")
    write_predictions(folder / "pred.json", gold, tracker(gold, 0.3, 1))
    write_predictions(folder / "other.json", gold, tracker(gold, 0.5, 2))
    (folder / "talks.json").write_bytes(seeds_of("gcdf1")[-1])
    examples = {"schema": "schema", "map": "canonical-map", "ontology": "multiwoz-ontology"}
    examples |= {"dialogues": "multiwoz", "responses": "mwzeval"}
    for name, example in examples.items():
        (folder / f"{name}.json").write_bytes(EXAMPLES[example])
    (folder / "log.jsonl").write_bytes(EXAMPLES["messages"])
    (folder / "calls.json").write_text('[{"name": "track_parcel", "arguments": {"parcel_id": "P-1001"}}]')
    (folder / "profile.yaml").write_text("name: mine\nrules: [{drop: [unknown]}]\n")
    (folder / "world.yaml").write_text("base: restaurant\nprices: [cheap, dear]\n")
    (folder / "channel.yaml").write_text("user:\n  '*': {drop: 0.5}\n")
    (folder / "town.json").write_text('{"a": {"goal": {"hotel": {"info": {"area": "north"}}}, "log": []}}')
    (folder / "config.yaml").write_text("mode: recommended\n")
    (folder / "ratings.csv").write_text("dialogue,rater,rating\nMUL0000,a,1\nMUL0001,a,0\nMUL0000,b,1\n")
    (folder / "verdicts.csv").write_text("conversation,grader,verdict\na#0,ann,pass\na#0,bot,fail\nb#0,bot,1\n")
    tau_file(folder / "tau.json", {"a": "+-"})
    (folder / "systems.csv").write_text("system,JGA,FGA\na,0.5,0.6\nb,0.4,0.7\nc,0.3,0.1\n")
    (folder / "names.txt").write_text("ada\n")
    (folder / "empty.json").write_bytes(b"")
    (folder / "binary.bin").write_bytes(bytes(range(256)))
    hostile = EXAMPLES["nested"].replace(b"hotel", b"ho\\u001b[31mtel").replace(b"MUL0001", b"[/bold]\\u202e")
    (folder / "\x1b[31m.json").write_bytes(hostile)
    (folder / "[").write_bytes(hostile)
    (folder / os.fsdecode(b"odd\xff.json")).write_bytes(hostile)
    (folder / "folder").mkdir()
    (folder / "folder" / "hotel_db.json").write_bytes(b"[]")
    (folder / "folder.md").mkdir()
    shutil.copytree(stored_run(), folder / "store")
    add_examples(folder)
    return folder


def run_command(content: bytes, folder: Path) -> None:
    """Run the words as ``dialgauge`` does, and look at all that came of it."""
    words = json.loads(content)
    place = folder / "sandbox"
    shutil.copytree(sandbox(), place)
    code, shown, said = run_words(words, place)
    assert code in _CODES, f"exit code {code}"
    assert "Traceback" not in said, said
    asked_for_data = "-" in words or "--json=-" in words
    for text in (said,) if asked_for_data else (shown, said):
        odd = _ESCAPES.search(text)
        assert odd is None, f"{odd[0]!r} reached the screen: {text[max(0, odd.start() - 60) : odd.start() + 20]!r}"
    if code == 2:
        assert (said + shown).strip(), "exit code 2 without a word"


def run_words(words: list[str], place: Path) -> tuple[Any, str, str]:
    """Exit code, standard output and standard error of a command line in a folder."""
    from dialgauge.cli import main

    with _surroundings(place) as (out, err):
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code or 0
        out.flush()
        err.flush()
        shown, said = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))  # type: ignore[attr-defined]
    return code, shown, said


@contextmanager
def _surroundings(place: Path) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    streams = sys.stdin, sys.stdout, sys.stderr
    before, variables = Path.cwd(), dict(os.environ)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"hi\n\nexit\n"), encoding="utf-8")
    sys.stdout, sys.stderr = out, err
    os.chdir(place)
    os.environ |= {"DIALGAUGE_DATA": str(place / "data"), "DIALGAUGE_OFFLINE": "1"}
    os.environ.pop("DIALGAUGE_RUNS", None)
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(before)
        os.environ.clear()
        os.environ |= variables
