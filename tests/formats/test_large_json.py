"""Large JSON is read a value at a time: the same values, wherever a block ends, and errors that are sentences."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.formats import LargeArray, LargeObject, Part
from dialgauge.formats.large_json import is_large_document
from support.reading import part_of

SCALARS = st.none() | st.booleans() | st.integers(-10, 10**6) | st.floats(-1, 1) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"\\{}[]', max_size=3), inner, max_size=3),
    max_leaves=8,
)


def elements(content: bytes, block: int) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dialgauge.formats.large_json._BLOCK", block)
        return [msgspec.json.decode(raw) for raw in LargeArray(part_of(content))]


@given(st.lists(VALUES, max_size=5), st.sampled_from([1, 2, 7, 64, 1 << 20]), st.sampled_from([None, 1]), st.booleans())
def test_elements_are_those_of_the_whole(values: list[Any], block: int, indent: int | None, escaped: bool) -> None:
    content = json.dumps(values, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    if b"\xed" not in content:  # a lone surrogate is no UTF-8
        assert elements(content, block) == json.loads(content)


def test_members_of_an_object_with_the_elements_of_one_apart() -> None:
    content = b'\xef\xbb\xbf { "info": {"a": "]}"}, "all": [1, {"b": [2]}], "n": null, "all": [ ], "all": [3] } '
    found = LargeObject(part_of(content), "all")
    assert [bytes(raw) for raw in found] == [b"1", b'{"b": [2]}', b"3"]
    assert [(key, bytes(raw)) for key, raw in found.members()] == [
        ("info", b'{"a": "]}"}'), ("all", b"1"), ("all", b'{"b": [2]}'), ("n", b"null"), ("all", b"3"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'[{"a": 1}', "it ends early"),
        (b'[{"a": "b', "it ends early"),
        (b"[1 2]", "',' is missing"),
        (b"[1] 2", "something follows after its end"),
        (b'{"a": 1}', "'\\[' is missing"),
        (b"[" + b"[" * 100_000, "it ends early"),
        (b'["\xff"]', "not UTF-8"),
    ],
)
def test_broken_files_are_told(content: bytes, why: str) -> None:
    with pytest.raises(DialgaugeError, match=why):
        elements(content, 64)


@pytest.mark.parametrize("name", ["tau_airline_gpt-4o", "tau2_airline_grok-3", "tau2_airline_grok-3-mini_cut_off"])
def test_results_of_agents_read_in_pieces_are_those_of_the_whole(
    shared_data: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = shared_data / "tau" / f"{name}.json.gz"
    whole, scores = dialgauge.read(file), dialgauge.score_results(file, resamples=20)[0].scores
    plain = tmp_path / f"{name}.json"
    plain.write_bytes(gzip.decompress(file.read_bytes()))
    monkeypatch.setattr("dialgauge.formats.source.LARGE", 1000)
    monkeypatch.setattr("dialgauge.formats.held.MOST_HELD", 100_000)
    pieces = dialgauge.read(plain)
    assert list(pieces) == list(whole)
    assert dialgauge.score_results(plain, resamples=20)[0].scores == scores


CHATS = [
    {"task_id": f"t{number // 2}", "trial": number % 2, "success": number % 3 == 0, "cost": 0.1, "messages": [
        {"role": "user", "content": f"Where is {number}? }}]"}, {"role": "assistant", "content": "Here."}]}
    for number in range(9)
]  # fmt: skip
TAU = [
    {"task_id": chat["task_id"], "trial": chat["trial"], "reward": 1.0, "info": {}, "traj": chat["messages"]}
    for chat in CHATS
]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "value",
    [TAU, {"results": TAU}],
    ids=["tau", "tau in an object"],
)
def test_large_logs_are_read_in_pieces_whatever_their_layout(
    value: Any, indent: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "log.json"
    file.write_text(json.dumps(value, indent=indent))
    whole = dialgauge.read(file)
    assert len(whole) == len(CHATS)
    monkeypatch.setattr("dialgauge.formats.source.LARGE", 100)
    monkeypatch.setattr("dialgauge.formats.large_json.LARGE", 100)
    monkeypatch.setattr("dialgauge.formats.large_json._BLOCK", 64)
    monkeypatch.delattr(Part, "read")
    pieces = dialgauge.read(file)
    assert list(pieces) == list(whole)
    assert pieces.notes.counts == whole.notes.counts


def test_large_tau_lines_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join(map(json.dumps, TAU)))
    whole = dialgauge.read(file)
    monkeypatch.setattr("dialgauge.formats.source.LARGE", 100)
    monkeypatch.setattr("dialgauge.formats.held.MOST_HELD", 100)
    monkeypatch.delattr(Part, "read")
    assert list(dialgauge.read(file)) == list(whole)


def test_a_long_line_of_json_lines_is_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.formats.source.LARGE", 10)
    monkeypatch.setattr("dialgauge.formats.large_json.LARGE", 10)
    long = b'{"a": "' + b"x" * 50 + b'"}\n'
    contents = (long, long + b"\n \n", long * 2, b"{\n" + long[1:])
    assert [is_large_document(part_of(content)) for content in contents] == [True, True, False, True]
