"""The list of bad input of the frame's contract, pushed through every registered format.

Each case is one sentence that names the file (and where known dialogue, turn or line), and nothing half-written.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    BUILT_IN,
    DEFAULT_LIMIT,
    LAST_RESORT,
    DialogueFormat,
    Notes,
    Peek,
    format_named,
    read,
    recognise,
    write,
)
from support.examples import EXAMPLES
from support.reading import part_of, read_bytes

FORMATS = sorted(EXAMPLES)
DIALOGUES = [name for name in FORMATS if isinstance(format_named(name), DialogueFormat)]
WRITERS = [name for name in DIALOGUES if format_named(name).writes]  # type: ignore[union-attr]


def is_json(name: str) -> bool:
    return EXAMPLES[name].lstrip()[:1] in (b"{", b"[") and name not in ("native", "llm-output")


JSON = [name for name in FORMATS if is_json(name)]
JSON_DIALOGUES = [name for name in DIALOGUES if is_json(name)]


def take(name: str, content: bytes) -> Any:
    """Read the content as that format, dialogues or resource."""
    chosen, notes = format_named(name), Notes()
    part = part_of(content, "bad.file")
    return list(chosen.read(part, notes)) if isinstance(chosen, DialogueFormat) else chosen.load(part, notes)


def refused(name: str, content: bytes) -> str:
    with pytest.raises(DialgaugeError) as caught:
        take(name, content)
    text = str(caught.value)
    assert text.startswith("bad.file")
    assert "\n" not in text
    return text


def test_every_format_has_an_example() -> None:
    # Parquet is no text that these faults could be put into: test_tables.py has its own.
    assert set(BUILT_IN) - {"document", "parquet"} == set(EXAMPLES)


@pytest.mark.parametrize("name", FORMATS)
def test_each_example_is_recognised_by_its_format_alone_and_reads(name: str) -> None:
    part = part_of(EXAMPLES[name])
    fitting = [one for one in BUILT_IN if one != LAST_RESORT and format_named(one).recognise(Peek(part))]
    assert fitting == [name] if name != LAST_RESORT else not fitting
    assert recognise(part).name == name
    assert take(name, EXAMPLES[name])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \r\n\n"], ids=["nothing", "mark", "blank"])
def test_empty_files(name: str, content: bytes, tmp_path: Path) -> None:
    assert "the file is empty" in refused(name, content)
    (tmp_path / "bad.file").write_bytes(content)
    with pytest.raises(DialgaugeError, match=r"bad\.file: the file is empty"):
        read(tmp_path / "bad.file")


@pytest.mark.parametrize("name", FORMATS)
def test_truncated_gzip(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.gz"
    path.write_bytes(gzip.compress(EXAMPLES[name])[:-12])
    with pytest.raises(DialgaugeError, match=r"bad\.gz: the compressed data ends early"):
        read(path)


@pytest.mark.parametrize("name", JSON)
def test_not_json(name: str) -> None:
    assert "JSON" in refused(name, b"once upon a time")


@pytest.mark.parametrize("name", JSON)
def test_json_cut_off_is_recognised_and_then_refused(name: str) -> None:
    content = EXAMPLES[name]
    cut = content[: int(len(content) * 0.97)].rstrip(b"]} \n")
    assert "JSON" in refused(name, cut)
    try:
        assert recognise(part_of(cut, "bad.file")).name in (name, LAST_RESORT)
    except DialgaugeError as error:
        assert "no known layout fits" in error.message


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("content", [b"null", b"3", b'"text"', b"[3]", b'{"a": 3}', b"[[]]", b'{"a": null}'])
def test_json_of_the_wrong_shape(name: str, content: bytes) -> None:
    refused(name, content)


@pytest.mark.parametrize("name", FORMATS)
def test_invalid_utf8(name: str) -> None:
    """Wherever the bytes stand, also in fields the reader skips."""
    content = EXAMPLES[name]
    for at in range(1, len(content) - 1, 7):
        assert "is not UTF-8" in refused(name, content[:at] + b"\xff" + content[at:])


@pytest.mark.parametrize("name", FORMATS)
def test_a_byte_order_mark_and_crlf_change_nothing(name: str) -> None:
    assert take(name, b"\xef\xbb\xbf" + EXAMPLES[name].replace(b"\n", b"\r\n")) == take(name, EXAMPLES[name])


@pytest.mark.parametrize("name", [name for name in DIALOGUES if name != "tau2"])
def test_duplicate_ids_across_files(name: str, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bad.file").write_bytes(EXAMPLES[name])
    with pytest.raises(
        DialgaugeError, match=r"b/bad\.file, dialogue .*: (this id was already used in|.* stands twice).*a/bad\.file"
    ):
        read(tmp_path)


# Spans are collected, wherever they stand: one that is there twice has a test of its own.
# Results of tau are numbered on, so that the check of integrity sees them.
@pytest.mark.parametrize("name", [name for name in JSON_DIALOGUES if name not in ("otel", "tau", "tau2")])
def test_duplicate_ids_in_one_file(name: str, tmp_path: Path) -> None:
    once = EXAMPLES[name].strip()
    (tmp_path / "bad.file").write_bytes(once[:-1] + b"," + once[1:])
    with pytest.raises(DialgaugeError, match=r"bad\.file, dialogue .*: (this id|this turn|utt_idx|.* stands twice)"):
        read(tmp_path / "bad.file")


@pytest.mark.parametrize("name", [name for name in JSON_DIALOGUES if name != "flags"])
def test_numbers_where_text_belongs(name: str) -> None:
    """Each string of the example replaced by a number in turn: read without it, or refused, never anything else."""
    outcomes = []
    for changed in replaced_strings(json.loads(EXAMPLES[name]), 7):
        try:
            take(name, json.dumps(changed).encode())
            outcomes.append(True)
        except DialgaugeError as error:
            assert error.file == "bad.file"
            outcomes.append(False)
    assert False in outcomes


def replaced_strings(value: Any, by: object) -> list[Any]:
    """Copies of a JSON value, each with one of its strings replaced."""
    if isinstance(value, str):
        return [by]
    if isinstance(value, dict):
        return [{**value, key: new} for key, inner in value.items() for new in replaced_strings(inner, by)]
    if isinstance(value, list):
        return [
            [*value[:place], new, *value[place + 1 :]]
            for place, inner in enumerate(value)
            for new in replaced_strings(inner, by)
        ]
    return []


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"turns":'])
def test_nesting_100000_deep(name: str, opening: bytes) -> None:
    refused(name, opening * 100_000)


def test_nesting_100000_deep_is_no_format(tmp_path: Path) -> None:
    for content in (b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000):
        (tmp_path / "bad.file").write_bytes(content)
        with pytest.raises(DialgaugeError, match=r"no known layout fits: the JSON is nested too deeply"):
            read(tmp_path / "bad.file")


@pytest.mark.parametrize("name", FORMATS)
def test_a_gzip_bomb_stops_at_the_limit(name: str, tmp_path: Path) -> None:
    content = EXAMPLES[name] + b"\n" * 1_000_000
    (tmp_path / "bad.gz").write_bytes(gzip.compress(content))
    with pytest.raises(DialgaugeError, match=r"bad\.gz: it unpacks to more than 500,000 bytes; .*unpack it first"):
        read(tmp_path / "bad.gz", limit=500_000)


def test_what_packs_too_well_is_a_bomb_long_before_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is what data may grow to, and no data packs a hundred times."""
    monkeypatch.setattr("dialgauge.formats.packed._UNSUSPICIOUS", 1_000_000)
    zeros = b'{"d": [{"response": "yes"}, {"response": "' + b"0" * 10_000_000 + b'"}]}'
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(zeros))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.json", zeros)
    with tarfile.open(tmp_path / "bomb.tgz", "w:gz") as tar:
        item = tarfile.TarInfo("x.json")
        item.size = len(zeros)
        tar.addfile(item, io.BytesIO(zeros))
    for name in ("bomb.gz", "bomb.zip", "bomb.tgz"):
        with pytest.raises(DialgaugeError, match=r"it unpacks to more than 1,\d{3},\d{3} bytes"):
            read(tmp_path / name)
        assert len(read(tmp_path / name, limit=DEFAULT_LIMIT + 1)["d"].turns) == 4  # a raised limit means it


@pytest.mark.parametrize("name", FORMATS)
def test_a_path_that_escapes_its_archive(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../../bad.file", EXAMPLES[name])
    with pytest.raises(DialgaugeError, match=r"bad\.zip: the member '../../bad\.file' points outside"):
        read(tmp_path / "bad.zip")


@pytest.mark.parametrize("name", [name for name in DIALOGUES if b"east" in EXAMPLES[name]])
@pytest.mark.parametrize("value", ["alpha-milton", "מלון שלום", "😀 𝔸𝔹", "a'b", "ﷺ"])
def test_values_with_hyphens_right_to_left_and_astral_characters(name: str, value: str) -> None:
    dialogues, _ = read_bytes(name, EXAMPLES[name].replace(b"east", value.encode()))
    found = [
        one
        for dialogue in dialogues
        for turn in dialogue.turns
        for state in (turn.state, turn.predicted)
        for slots in (state or {}).values()
        for values in slots.values()
        for one in values
    ]
    acts = [one for dialogue in dialogues for turn in dialogue.turns for act in turn.acts or () for one in act.values]
    assert value in [*found, *acts]


def test_dialogues_of_two_formats_in_one_source(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(EXAMPLES["multiwoz"])
    (tmp_path / "b.json").write_bytes(EXAMPLES["sgd"])
    with pytest.raises(DialgaugeError, match=r"b\.json: it is in the format sgd, but files before it are in multiwoz"):
        read(tmp_path)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("target", ["out.json", "out.json.gz"])
def test_a_full_disk_leaves_the_old_file(
    name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / target
    path.write_bytes(b"old")
    chosen = format_named(name)

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(chosen), "write", fails)
    with pytest.raises(DialgaugeError, match=r"it cannot be written \(the disk is full\)"):
        write([Dialogue(id="d", turns=(Turn(speaker="user"),))], path, format=name)
    assert [item.name for item in tmp_path.iterdir()] == [target]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", WRITERS)
def test_a_source_that_fails_half_way_leaves_nothing(name: str, tmp_path: Path) -> None:
    def dialogues() -> Any:
        yield Dialogue(id="d", turns=(Turn(speaker="user", text="hi"), Turn(speaker="system", text="hello")))
        raise DialgaugeError("the source broke", file="source.json")

    with pytest.raises(DialgaugeError, match=r"source\.json: the source broke"):
        write(dialogues(), tmp_path / "out.json", format=name)
    assert not list(tmp_path.iterdir())


def test_a_stream_that_breaks_while_reading_is_an_error() -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if size != 4:
                raise OSError(errno.EIO, "Input/output error")
            return super().read(size)

    part = part_of(b"")
    part._opener = lambda: Breaking(b"{}")
    with pytest.raises(DialgaugeError, match=r"cannot be read .*Input/output error"):
        part.read()
