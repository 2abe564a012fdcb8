"""Readers either succeed or raise the user's error: on any JSON, on damaged examples and on damaged real files."""

from __future__ import annotations

import gzip
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.formats import DialogueFormat, Notes, format_named, recognise
from support.examples import EXAMPLES
from support.reading import part_of
from support.soak import examples, soak, some

#: Words that readers look for, so that random JSON reaches deep into them.
WORDS = sorted(
    {
        word
        for content in EXAMPLES.values()
        for word in content.decode().replace('"', " ").replace(":", " ").split()
        if word.replace("_", "").replace("-", "").isalpha()
    }
)
PIECES = [*(bytes([each]) for each in b'{}[]",:\xff\n\t'), b"null", b"true", b"1e999", b"-1", b"\\u0000", b""]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=20,
)


def survives(name: str, content: bytes) -> None:
    chosen, notes = format_named(name), Notes()
    with suppress(DialgaugeError):
        if isinstance(chosen, DialogueFormat):
            list(chosen.read(part_of(content), notes))
        else:
            chosen.load(part_of(content), notes)


def recognised(content: bytes) -> None:
    with suppress(DialgaugeError):
        recognise(part_of(content))


def damaged(content: bytes, seed: int, times: int) -> bytes:
    random_ = random.Random(seed)
    changed = bytearray(content)
    for _ in range(random_.randint(1, times)):
        at = random_.randrange(len(changed) + 1)
        kind = random_.randrange(4)
        if kind == 0:
            changed[at : at + random_.randint(1, 4)] = random_.choice(PIECES)
        elif kind == 1:
            changed[at:at] = random_.choice(PIECES)
        elif kind == 2:
            there = random_.randrange(len(changed) + 1)
            changed[at:at] = changed[there : there + random_.randint(1, 40)]
        else:
            changed[at:] = changed[at : at + random_.randint(0, len(changed))]
    return bytes(changed)


@settings(max_examples=examples(150), deadline=None)
@given(anything)
def test_any_json_is_recognised_or_refused(value: Any) -> None:
    recognised(json.dumps(value).encode())
    recognised(json.dumps([value]).encode())
    recognised(json.dumps({"MUL0001.json": value}).encode())


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_recognised_or_refused(content: bytes) -> None:
    recognised(content)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@settings(max_examples=examples(40), deadline=None)
@given(anything)
def test_any_json_is_read_or_refused(name: str, value: Any) -> None:
    survives(name, json.dumps(value).encode())
    survives(name, json.dumps({"MUL0001.json": value}).encode())
    survives(name, json.dumps([value, {"dialogue_id": "d", "turns": [value]}]).encode())


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_with_one_value_replaced_are_read_or_refused(name: str) -> None:
    try:
        value = json.loads(EXAMPLES[name])
    except ValueError:
        pytest.skip("not one JSON value")
    news: list[Any] = [None, 7, "", {}, [], [[]], "x", {"": ""}, -1.5, True]
    for new in some(news, 3):
        for changed in replaced(value, new):
            survives(name, json.dumps(changed).encode())
            recognised(json.dumps(changed).encode())


def replaced(value: Any, new: object) -> list[Any]:
    """Copies of a JSON value, each with one value inside it (or itself) replaced."""
    copies = [new]
    if isinstance(value, dict):
        copies += [{**value, key: one} for key, inner in value.items() for one in replaced(inner, new)]
    if isinstance(value, list):
        for place, inner in enumerate(value[:3]):
            copies += [[*value[:place], one, *value[place + 1 :]] for one in replaced(inner, new)]
    return copies


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_damaged_examples_are_read_or_refused(name: str) -> None:
    for seed in range(examples(150)):
        content = damaged(EXAMPLES[name], seed, times=3)
        survives(name, content)
        recognised(content)


REAL = {
    "multiwoz": "multiwoz21/val.json.gz",
    "sgd": "sgd/dev_dialogues_008.json.gz",
    "gcdf1": "gcdf1/conversations/dialogues_001.json.gz",
    "mwzeval": "dst_predictions/augpt.json.gz",
    "babi": "babi/dialog-babi-task6-dstc2-tst.txt.gz",
    "babi-kb": "babi/dialog-babi-kb-all.txt.gz",
    "babi-candidates": "babi/dialog-babi-candidates.txt.gz",
    "schema": "sgd/dev_schema.json.gz",
    "multiwoz-ontology": "multiwoz21/ontology21.json.gz",
    "canonical-map": "gcdf1/multiwoz21_canonical_map.json.gz",
}


@pytest.mark.parametrize("name", [soak(name) if name in ("babi", "multiwoz") else name for name in sorted(REAL)])
def test_damaged_real_files_are_read_or_refused(name: str, shared_data: Path) -> None:
    """The beginning of a real file, whole members only where it is JSON, with bytes changed, moved and cut."""
    packed = (shared_data / REAL[name]).read_bytes()
    content = beginning(gzip.decompress(packed))
    survives(name, content)
    for seed in range(examples(25)):
        survives(name, damaged(content, seed, times=5))
    for seed in range(10):
        recognised(damaged(packed[:5000], seed, times=2))
        survives(name, damaged(packed, seed, times=1))


def beginning(content: bytes, members: int = 3) -> bytes:
    try:
        value = json.loads(content)
    except ValueError:
        return content[:20_000]
    kept = dict(list(value.items())[:members]) if isinstance(value, dict) else value[:members]
    return json.dumps(kept, indent=1).encode()
