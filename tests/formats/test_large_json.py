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
from dialgauge.formats import LargeArray, LargeObject
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
