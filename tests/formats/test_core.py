"""Looking at files, picking formats, reading and writing corpora, and the native format."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from dialgauge.dialogue import Act, Call, Dialogue, Fact, Goal, Outcome, Span, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    ALL_FIELDS,
    BUILT_IN,
    Peek,
    read,
    stream,
    write,
)
from support.examples import EXAMPLES
from support.reading import part_of, read_bytes, write_bytes

FULL = Dialogue(
    id="d",
    domains=("hotel",),
    outcome=Outcome(success=False, reason="no room", ended_by="user", facts={"turns": "2"}),
    goal=Goal(
        tasks={
            "hotel": Task(
                info={"area": "east"}, fail_info={"area": "x"}, book={"day": "1"}, fail_book={}, requests=("a",)
            )
        },
        message=("m",),
    ),
    turns=(
        Turn(
            speaker="user",
            text="שלום 😀\n",
            acts=(Act("inform", "hotel", "area", ("east",)),),
            heard=(),
            state={"hotel": {"area": ("east", "e")}},
            predicted={},
            blank={"hotel": {"name": ("none",)}},
            judged={"hotel": {"area": True}},
            active=("hotel",),
            intents={"hotel": "find"},
            requested={"hotel": ("phone",)},
            spans=(Span("hotel", "area", 0, 2),),
            results=(Fact("a", "b", "c"),),
            calls=(Call(name="search", domain="hotel", arguments={"area": "north"}, found=1, rows=(3,)),),
            candidates=("x", "y"),
            source=0,
        ),
        Turn(speaker="system"),
    ),
)


def test_of_a_long_file_the_beginning_is_seen() -> None:
    content = json.dumps([{"n": number, "text": "x" * 90} for number in range(10_000)]).encode()
    peek = Peek(part_of(content))
    assert len(peek.head) < len(content)
    assert peek.json[:2] == [{"n": 0, "text": "x" * 90}, {"n": 1, "text": "x" * 90}] and len(peek.json) < 100
    assert peek.first == ("", {"n": 0, "text": "x" * 90})


# -- corpora and the native format -----------------------------------------------------------------------------------


def test_the_native_format_keeps_everything() -> None:
    assert all(getattr(FULL.turns[0], name) is not None for name in ALL_FIELDS & set(Turn.__struct_fields__))
    written, notes = write_bytes("native", [FULL, Dialogue(id="e", turns=())])
    assert read_bytes("native", written)[0] == [FULL, Dialogue(id="e", turns=())]
    assert written.count(b"\n") == 2
    assert not notes.counts


def test_streaming_takes_memory_for_one_dialogue_not_for_the_file(tmp_path: Path) -> None:
    line, _ = write_bytes("native", [FULL])
    peaks = []
    for count in (1000, 1000, 8000):  # the first time also loads what is loaded once
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(line * count)
        tracemalloc.start()
        assert sum(1 for _ in stream(path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.1 * peaks[1]


def test_ids_are_compared_without_case_and_ending(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(EXAMPLES["native"] + EXAMPLES["native"].replace(b'"d1"', b'"D1.json"'))
    with pytest.raises(DialgaugeError, match=r"dialogue D1\.json: this id was already used"):
        read(tmp_path / "a.jsonl")


def test_what_a_format_cannot_hold_is_counted(tmp_path: Path) -> None:
    notes = write([FULL], tmp_path / "out.json", format="sgd")
    assert {what: count for what, count in notes.counts.items() if what.startswith("field")} == {
        f"field {name} dropped": 1
        for name in ("goal", "outcome", "heard", "predicted", "judged", "results", "calls", "candidates", "source")
    }


def test_written_files_have_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write([FULL], tmp_path / name / f"{name}.jsonl.gz", format="native")
    assert (tmp_path / "a" / "a.jsonl.gz").read_bytes() == (tmp_path / "b" / "b.jsonl.gz").read_bytes()
    assert read(tmp_path / "a").dialogues == [FULL]


# -- a corpus --------------------------------------------------------------------------------------------------------


def test_a_corpus_is_a_sequence_of_dialogues(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_bytes(b'{"id":"PMUL1.json","turns":[]}\n{"id":"b","turns":[]}\n')
    corpus = read(path)
    first, second = corpus.dialogues
    assert repr(corpus) == "Corpus('test.jsonl', native, 2 dialogues)"
    assert (len(corpus), list(corpus)) == (2, [first, second])
    assert (corpus[0], corpus[-1], corpus[:1]) == (first, second, [first])
    assert corpus["pmul1"] is corpus["PMUL1.json"] is first
    assert "B" in corpus and "c" not in corpus and second in corpus and 3 not in corpus
    with pytest.raises(DialgaugeError, match=r"test\.jsonl: there is no dialogue 'PMUL2'. Did you mean 'PMUL1.json'"):
        corpus["PMUL2"]
    with pytest.raises(IndexError):
        corpus[2]


# -- documentation ---------------------------------------------------------------------------------------------------


def test_the_documentation_names_every_format() -> None:
    page = Path(__file__).parents[2] / "docs" / "formats.md"
    missing = [name for name in BUILT_IN if f"`{name}`" not in page.read_text("utf-8")]
    assert not missing
