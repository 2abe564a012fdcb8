from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Count, Coverage, Score
from dialgauge.runs import Input, Manifest, TableInfo, draft, manifest as module, plain
from dialgauge.runs.manifest import encode, is_run_id, load, new_id, slug
from support.soak import examples

ID = "20261115-104500-tracking-augpt-3f2a"
MANIFEST = Manifest(
    id=ID,
    kind="tracking",
    name="augpt",
    created=datetime(2026, 11, 15, 10, 45, tzinfo=UTC),
    inputs=[Input(path="gold.json", role="gold", files=1, size=3, sha256="ab")],
    corpus="0" * 64,
    coverage=Coverage({"turns": Count(expected=3, read=3, scored=2, failed=1)}, "intersection"),
    scores={"JGA": Score(value=0.5, unit="share", higher_is_better=True, lower=0.0, signature="measure:JGA|version:1")},
    details={"profile": "canon"},
    notes=["careful"],
    note_kinds=["remark"],
    tables={"dialogue_scores": TableInfo(1, {"dialogue": "String"}, 10, "cd")},
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def stored(folder: Path, content: bytes | dict[str, Any]) -> Path:
    place = folder / ID
    place.mkdir(exist_ok=True)
    (place / "run.json").write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return place


def raw(**changes: Any) -> dict[str, Any]:
    return {**json.loads(encode(MANIFEST)), **changes}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert load(stored(tmp_path, encode(MANIFEST))) == MANIFEST


@settings(max_examples=examples(50))
@given(config=st.dictionaries(st.text(), JSON, max_size=4))
def test_any_configuration_comes_back(tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any]) -> None:
    kept = plain(config)
    manifest = Manifest(id=ID, kind="k", name="n", created=MANIFEST.created, config=kept)
    assert load(stored(tmp_path_factory.mktemp("m"), encode(manifest))).config == kept


class Mood(Enum):
    GOOD = "good"


def test_values_become_plain_json() -> None:
    @dataclass
    class Settings:
        folder: Path
        beams: tuple[int, ...]

    kept = plain(
        {"s": Settings(Path("a/b"), (1, 2)), "x": np.float64(0.5), "a": np.arange(2), "z": {"b", "a"}, 3: Mood.GOOD}
    )
    assert kept == {"s": {"folder": "a/b", "beams": [1, 2]}, "x": 0.5, "a": [0, 1], "z": ["a", "b"], "3": "good"}
    assert type(kept["x"]) is float


def test_a_name_that_is_not_utf8_is_written_as_an_escape() -> None:
    assert plain("gold\udcff.json") == "gold\\udcff.json"


def test_undefined_numbers_are_null(tmp_path: Path) -> None:
    manifest = Manifest(id=ID, kind="k", name="n", created=MANIFEST.created, details={"JGA": float("nan")})
    assert load(stored(tmp_path, encode(manifest))).details == {"JGA": None}


def test_a_newer_schema_is_refused_with_a_line_that_says_so(tmp_path: Path) -> None:
    newer = raw(schema_version=module.SCHEMA_VERSION + 1, tables="something else altogether")
    with pytest.raises(DialgaugeError, match=r"schema version 4, but this dialgauge reads up to 3; upgrade dialgauge"):
        load(stored(tmp_path, newer))


def test_fields_of_a_later_minor_change_do_not_hurt(tmp_path: Path) -> None:
    assert load(stored(tmp_path, raw(host="somewhere"))) == MANIFEST


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be understood"),
        (b"{", "cannot be understood"),
        (b"[1]", "cannot be understood"),
        (b"\xff\xfe", "cannot be understood"),
        (b'{"a":' * 100_000, "cannot be understood"),
        (b"{}", "has no schema_version"),
        (raw(schema_version=True), "has no schema_version"),
        (raw(schema_version=0), "has schema version 0, which was never released"),
        (raw(schema_version=2), "has schema version 2, which was never released"),
        (raw(kind=3), "cannot be understood"),
        (raw(created="2026-11-15T10:45:00"), "cannot be understood"),
        (raw(tables={"../../secret": {}}), "no table can be called"),
        (raw(tables={"t": {"rows": "many"}}), "cannot be understood"),
        (raw(corpus="../../secret"), "no corpus can be called"),
        (raw(scores={"JGA": 0.5}), "cannot be understood"),
        (raw(note_kinds=[]), "cannot be understood"),
        (raw(id="20261115-104500-tracking-other-3f2a"), "belongs to '20261115-104500-tracking-other-3f2a'"),
    ],
)
def test_damage_is_one_sentence_that_names_the_run(tmp_path: Path, content: bytes | dict[str, Any], said: str) -> None:
    with pytest.raises(DialgaugeError, match=said) as error:
        load(stored(tmp_path, content))
    assert ID in str(error.value)
    assert "\n" not in str(error.value)


@settings(max_examples=examples(200))
@given(place=st.integers(0, len(encode(MANIFEST)) - 1), byte=st.integers(0, 255), cut=st.booleans())
def test_mutated_manifests_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: bool
) -> None:
    content = bytearray(encode(MANIFEST))
    content[place] = byte
    try:
        load(stored(tmp_path_factory.mktemp("m"), bytes(content[:place] if cut else content)))
    except DialgaugeError as error:
        assert "run" in str(error)


MOMENT = datetime(2026, 11, 15, 10, 45, 0, tzinfo=UTC)


def test_an_id_reads_like_words() -> None:
    fresh = new_id(MOMENT, "tracking", "AuGPT (v2)")
    assert fresh.startswith("20261115-104500-tracking-augpt-v2-")
    assert is_run_id(fresh)


@given(kind=st.text(), name=st.text(), seconds=st.integers(1, 10**8))
def test_ids_are_valid_whatever_the_names_and_sort_by_time(kind: str, name: str, seconds: int) -> None:
    early = new_id(MOMENT, kind, name)
    late = new_id(MOMENT + timedelta(seconds=seconds), name, kind)
    assert is_run_id(early)
    assert is_run_id(late)
    assert early < late


@given(st.text())
def test_a_slug_is_its_own_slug_and_safe_in_a_path(text: str) -> None:
    short = slug(text)
    assert slug(short) == short
    assert len(short) <= 40
    assert set(short) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.parametrize("seed", [2**63, 2**64, -(2**63) - 1, 10**40])
def test_seeds_that_no_table_holds_are_refused(tmp_path: Path, seed: int) -> None:
    with pytest.raises(DialgaugeError, match="damaged"):
        load(stored(tmp_path, raw(seeds=[seed])))
    with pytest.raises(DialgaugeError, match="a seed must be at most 9223372036854775807"):
        draft(kind="tracking", name="x", seeds=seed)
