"""Pages in the words a native engineer would use: phrases that were found stiff do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.doc_pages import ROOT, pages

#: What was said, and what is said instead. Whole words, in prose and tables; blocks show what a program prints.
STIFF = {
    r"stands? (beside|before|alone|in|there|for)": "is next to, comes before, means",
    r"lies? (in|beside|there|between|within)": "is in",
    r"of which": "a sentence of its own",
    r"whoever": "those who",
    r"(is|are) told (by|from|in)": "says, is inferred from",
    r"mend(s|ed|ing)?": "fix, repair",
    r"anew": "again",
    r"hangs? (on|upon)": "depends on",
    r"parts? (most )?from": "differs from",
    r"a (line|row) (each|apiece)": "per line",
    r"one \w+ a (line|row)": "one per line",
    r"whatever (we|it) do(es)?": "(leave out)",
    r"times (running|in 10|in 20)": "in a row, 80% power",
    r"at hand": "here",
    r"is no (measure|fault|share)": "is not a",
    r"as it came": "raw",
    r"passed over": "skipped",
}
_BLOCKS = re.compile(r"^[ ]*```.*?^[ ]*```[ ]*$|<!--.*?-->|`[^`\n]*`", re.DOTALL | re.MULTILINE)
#: Records of what was decided keep their words.
_PAGES = [page for page in pages() if "decisions" not in page.parts]


def stiff_phrases(text: str) -> list[str]:
    """What a page says stiffly, with the words to use."""
    prose = _BLOCKS.sub(" ", text)
    return [
        f"'{found[0]}': say '{instead}'"
        for phrase, instead in STIFF.items()
        for found in re.finditer(rf"\b{phrase}\b", prose, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_stiff_phrases_do_not_come_back(page: Path) -> None:
    assert stiff_phrases(page.read_text("utf-8")) == []


def test_stiff_phrases_are_found_in_prose_only() -> None:
    assert len(stiff_phrases("The state stands in the file, one turn a line.\n\n```text\nwhoever\n```\n`mend`")) == 2


#: Names of others, which keep their spelling.
_NAMES = r"bAbI dialog tasks?|dialog bAbI|Goal-Oriented Dialog|dialog state tracking challenge"


def _short_spellings(text: str) -> list[str]:
    prose = re.sub(_NAMES, " ", re.sub(r"\]\([^)]*\)", " ", _BLOCKS.sub(" ", text)))
    return re.findall(r"(?<![\w-])[Dd]ialogs?(?![\w-])", prose)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_dialogue_is_spelt_in_one_way(page: Path) -> None:
    assert _short_spellings(page.read_text("utf-8")) == []


def test_the_other_spelling_is_found() -> None:
    assert _short_spellings("Dialogs of the bAbI dialog tasks, per-dialog, `dialogs`, [x](dialog.md)") == ["Dialogs"]
