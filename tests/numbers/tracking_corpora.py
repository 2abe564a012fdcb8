"""Corpora as plain states: random ones with deletions, alternatives and missing turns; and readers of real files."""

from __future__ import annotations

import ast
import gzip
import json
import re
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tracking_oracle import State, States

SLOTS = ["hotel-area", "hotel-book people", "hotel-parking", "train-leaveAt", "taxi-leaveat", "attraction-name"]
VALUES = [
    "north", "Center", "centre", "2", "dontcare", "do n't care", "9:15", "09:15", "915", "18 : 00", "9:25", "b&b",
    "b and b", "rosa 's", "rosa's", "free", "yes", "café", "north | south", "",
]  # fmt: skip


@st.composite
def states(draw: st.DrawFn, *, alternatives: bool) -> dict[str, Any]:
    """A state over a few slots, so that gold and prediction often agree."""
    result: dict[str, Any] = {}
    for slot in draw(st.lists(st.sampled_from(SLOTS), unique=True, max_size=4)):
        many = draw(st.integers(1, 2)) if alternatives else 1
        result[slot] = tuple(draw(st.lists(st.sampled_from(VALUES), min_size=many, max_size=many, unique=True)))
    return result


@st.composite
def corpora(draw: st.DrawFn, *, whole: bool = False) -> tuple[States, States]:
    """Gold and near copies of it with edits; unless whole also missing turns and dialogues, extra ones, other order."""
    gold: dict[str, list[State | None]] = {"MUL1.json": [{"hotel-area": "north"}]}
    predicted: dict[str, list[State | None]] = {"mul1": [{"hotel-area": "north"}]}
    for number in range(draw(st.integers(1, 4))):
        wanted: list[State | None] = []
        given: list[State | None] = []
        before: dict[str, Any] = {}
        for _ in range(draw(st.integers(1, 5))):
            before = {**(before if draw(st.booleans()) else {}), **draw(states(alternatives=True))}
            wanted.append(None if not whole and draw(st.integers(0, 9)) == 0 else before)
            copied = {slot: values[0] for slot, values in before.items() if draw(st.integers(0, 5))}
            guess = copied if draw(st.integers(0, 3)) else draw(states(alternatives=False))
            given.append(None if not whole and draw(st.integers(0, 9)) == 0 else guess)
        gold[f"PMUL{number}.json"] = wanted
        cut = 0 if whole else draw(st.integers(0, 1))
        if whole or draw(st.integers(0, 5)):
            predicted[f"pmul{number}"] = given[: len(given) - cut]
    if not whole:
        predicted["extra"] = [{"hotel-area": "north"}]
    return gold, dict(draw(st.permutations(list(predicted.items()))))


@cache
def multiwoz_gold(path: Path) -> dict[str, list[dict[str, str]]]:
    """MultiWOZ's states: those after a user turn stand at the system turn that follows it."""
    result = {}
    for name, dialogue in json.loads(gzip.decompress(path.read_bytes())).items():
        result[name] = [_metadata(turn["metadata"]) for turn in dialogue["log"][1::2]]
    return result


def _metadata(metadata: Any) -> dict[str, str]:
    return {
        f"{domain}-{slot}": value
        for domain, kinds in metadata.items()
        for kind in ("semi", "book")
        for slot, value in kinds[kind].items()
        if slot != "booked" and value
    }


def mwzeval_file(path: Path) -> Any:
    """A file of MultiWOZ_Evaluation as it is."""
    return json.loads(gzip.decompress(path.read_bytes()))


def flat(predictions: Any) -> dict[str, list[dict[str, str]]]:
    """The states of such a file."""
    return {
        name: [{f"{domain}-{slot}": text for domain, slots in turn["state"].items() for slot, text in slots.items()}
               for turn in turns]
        for name, turns in predictions.items()
    }  # fmt: skip


def rated_dialogues(path: Path) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Gold and predicted states of the FGA paper's texts for human raters."""
    sides: tuple[dict[str, list[Any]], dict[str, list[Any]]] = ({}, {})
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            if stream is None:
                continue
            text = stream.read().decode()
            name = re.findall(r"^Dialogue ID : (\S+)$", text, re.MULTILINE)[0]
            for side, mark in zip(sides, ("GT  :", "PR  :"), strict=True):
                written = [line.removeprefix(mark).strip() for line in text.splitlines() if line.startswith(mark)]
                nested = [{} if line == "{{}}" else ast.literal_eval(line) for line in written]
                side[name] = [
                    {f"{domain}-{slot}": value for domain, slots in state.items() for slot, value in slots.items()}
                    for state in nested
                ]
    return sides
