"""The commands that take an engine store the same bytes whatever the engine."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats import write
from dialgauge.runs import Store
from support.tiny_world import tiny_release

COMMANDS = [
    ["score", "parts"],
    ["lab", "run", "--count", "24", "--seed", "3"],
    ["babi", "table", "--data", "babi", "--tasks", "1,2", "--models", "rules,tfidf"],
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "parts").mkdir()
    for part in range(6):
        talks = [talk(number) for number in range(part, 60, 6)]
        write(talks, folder / f"parts/{part}.jsonl", format="native")
    tiny_release(folder / "babi", (1, 2))
    return folder


def talk(number: int) -> Dialogue:
    chance = random.Random(number)
    states: list[State] = [{"hotel": {"area": (chance.choice(["north", "south"]),)}} for _ in range(3)]
    turns = [Turn(speaker="user", state=state, predicted=chance.choice(states)) for state in states]
    return Dialogue(id=f"talk{number}", turns=tuple(turns), domains=("hotel", "train"))


def stored(files: Path, store: Path, words: list[str], hash_seed: int) -> list[Any]:
    """All that a command stores, but for ids, times and its own words: manifests, with the checksums of all tables."""
    command = [sys.executable, "-m", "dialgauge", *words, "--store", str(store)]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, cwd=files, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    content = []
    for run in Store(store).survey().runs:
        run.verify()
        facts = msgspec.to_builtins(msgspec.structs.replace(run.manifest, id="", created="", command=[]))
        content.append((run.kind, run.name, facts))
    return sorted(content, key=lambda one: (*one[:2], str(one[2]["config"])))


@pytest.mark.soak
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_pool_stores_the_same_bytes(files: Path, tmp_path: Path, words: list[str]) -> None:
    here = stored(files, tmp_path / "here", [*words, "--engine", "local"], 1)
    for workers in (1, 2):
        pool = [*words, "--engine", "pool", "--workers", str(workers)]
        assert stored(files, tmp_path / str(workers), pool, 2 + workers) == here
