"""Which sentence was misheard, with its values replaced: ``the reference number is [ref] .``

Whoever built the listener needs the sentence, not the turn: the same few wordings cause most mishearings. An act that
was said stands in the sentence that has its value. An act that nobody said has no such sentence: of the sentences of
its turns the one is blamed that goes with this mishearing most often and with others least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dialgauge.rendering import Column, Table
from dialgauge.runs import Run
from dialgauge.users.causes import SENTENCE_ENDS

#: Parts of a turn shorter than this many characters say nothing by themselves ("ok .").
_SHORTEST = 6


class Occurrence(Struct, frozen=True):
    """A mishearing in a conversation: what was said, what was heard, and the words."""

    dialogue: str
    turn: int
    speaker: str
    said: str
    heard: str
    sentence: str


class MisheardSentence(Struct, frozen=True):
    """A sentence, what was heard in place of what it says, how often, and where it happened first."""

    speaker: str
    sentence: str
    said: str
    heard: str
    times: int
    dialogues: int
    example: str
    turn: int


def misheard_sentences(run: Run) -> list[MisheardSentence]:
    """The sentences that were misheard, the most frequent first."""
    columns = ("dialogue", "turn", "speaker", "said", "heard", "sentence")
    rows = [Occurrence(*row) for row in run.table("confusions").select(columns).drop_nulls().iter_rows()]
    groups: dict[tuple[str, str, str, str], list[Occurrence]] = {}
    for row, sentence in zip(rows, _blamed_sentences(rows), strict=True):
        groups.setdefault((row.speaker, sentence, row.said, row.heard), []).append(row)
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return [
        MisheardSentence(*key, len(group), len({row.dialogue for row in group}), group[0].dialogue, group[0].turn)
        for key, group in ranked
    ]


def _blamed_sentences(rows: Sequence[Occurrence]) -> Iterable[str]:
    """For each mishearing its sentence; of several the one that goes with this mishearing and not with others."""
    parts = {
        row.sentence: [part for part in SENTENCE_ENDS.split(row.sentence) if len(part) >= _SHORTEST] for row in rows
    }
    overall = Counter(part for row in rows for part in parts[row.sentence])
    together = Counter((row.said, row.heard, part) for row in rows for part in parts[row.sentence])
    for row in rows:
        candidates = parts[row.sentence]
        if len(candidates) < 2:
            yield row.sentence
        else:
            yield max(candidates, key=lambda part: together[row.said, row.heard, part] ** 2 / overall[part])


def sentence_table(run: Run, most: int = 15) -> Table:
    """Which sentence is heard as what, and how often."""
    exact = [Column(name, exact=True) for name in ("sentence", "said", "heard")]
    table = Table(
        "Which sentence causes which mishearing",
        [*exact, "times", Column("dialogues", drop=1), Column("speaker", drop=1), Column("example", drop=2)],
    )
    sentences = misheard_sentences(run)
    for each in sentences[:most]:
        example = f"{each.example}, turn {each.turn}"
        said, heard = each.said or "(nothing)", each.heard or "(nothing)"
        table.add(each.sentence, said, heard, each.times, each.dialogues, each.speaker, example)
    if len(sentences) > most:
        table.notes.append(f"{len(sentences) - most:,} rarer ones not shown")
    return table
