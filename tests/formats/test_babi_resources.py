"""Candidates and knowledge bases of bAbI: both spellings, the released files, and what is refused."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from dialgauge.dialogue import Fact
from dialgauge.formats import (
    BabiCandidates,
    BabiKnowledgeBase,
    Notes,
    load_candidates,
    load_kb,
    write_candidates,
    write_kb,
)
from support.reading import part_of


@pytest.mark.parametrize("tab", [True, False])
def test_knowledge_base_in_both_spellings(tab: bool) -> None:
    facts = (Fact("cote", "R_cuisine", "french"), Fact("cote", "R_rating", "3"))
    out = io.BytesIO()
    write_kb(facts, out, tab=tab)
    assert out.getvalue() == b"1 cote R_cuisine%bfrench\n1 cote R_rating%b3\n" % (
        (b"\t", b"\t") if tab else (b" ", b" ")
    )
    assert BabiKnowledgeBase().load(part_of(out.getvalue()), Notes()).facts == facts


def test_candidates_keep_their_text() -> None:
    resource = BabiCandidates().load(part_of(b"1  you are welcome\n1 hi\n\n1 hi there"), Notes())
    assert resource.texts == (" you are welcome", "hi", "hi there")
    out = io.BytesIO()
    write_candidates(resource.texts, out)
    assert out.getvalue() == b"1  you are welcome\n1 hi\n1 hi there\n"


def test_released_knowledge_bases(shared_data: Path) -> None:
    folder = shared_data / "babi"
    facts = load_kb(folder / "dialog-babi-kb-all.txt.gz")
    assert len(facts) == 8400
    assert len({fact.entity for fact in facts}) == 1200
    out = io.BytesIO()
    write_kb(facts, out)
    assert out.getvalue() == gzip.decompress((folder / "dialog-babi-kb-all.txt.gz").read_bytes())
    facts6 = load_kb(folder / "dialog-babi-task6-dstc2-kb.txt.gz")
    assert (len(facts6), len({fact.entity for fact in facts6})) == (649, 113)
    out = io.BytesIO()
    write_kb(facts6, out, tab=False)
    assert out.getvalue() == gzip.decompress((folder / "dialog-babi-task6-dstc2-kb.txt.gz").read_bytes())


def test_released_candidates(shared_data: Path) -> None:
    folder = shared_data / "babi"
    candidates = load_candidates(folder / "dialog-babi-candidates.txt.gz")
    assert (len(candidates), len(set(candidates))) == (4212, 4212)
    candidates6 = load_candidates(folder / "dialog-babi-task6-dstc2-candidates.txt.gz")
    assert (len(candidates6), len({text.strip() for text in candidates6})) == (2407, 2407)
    assert " you are welcome" in candidates6
