"""What a page marks in a conversation: the turns one came for, the turn that decided, the words that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue, Turn
    from dialgauge.presentation import DialogueView

#: Values that are too short to be found by chance alone.
_SHORTEST = 3


class TurnEvidence(Struct, frozen=True):
    """Turns one came for; the turn in which a wrong value is first said; words to mark, and wrong and right values."""

    sought: Sequence[int] = ()
    decides: int | None = None
    words: Sequence[str] = ()
    wrong: Sequence[str] = ()
    right: Sequence[str] = ()


def evidence_of(dialogue: Dialogue, view: DialogueView, sought: Sequence[int], words: Sequence[str]) -> TurnEvidence:
    """What to mark in a conversation that was found by some filters and words."""
    wrong: dict[str, None] = {}
    right: dict[str, None] = {}
    for reason in view.reasons:
        for expected, actual in reason.differing:
            wanted, other = dict.fromkeys(_leaves(expected)), dict.fromkeys(_leaves(actual))
            right |= {value: None for value in wanted if value not in other}
            wrong |= {value: None for value in other if value not in wanted}
    only_wrong = [value for value in wrong if value not in right]
    decides = next((at for at, turn in enumerate(dialogue.turns) if _says(turn, only_wrong)), None)
    return TurnEvidence(sought, decides, words, only_wrong, [value for value in right if value not in wrong])


def _says(turn: Turn, values: Sequence[str]) -> bool:
    texts = [turn.text, *(call.result for call in turn.calls or () if call.result)]
    return any(value in text for text in texts for value in values)


def _leaves(written: str) -> Iterator[str]:
    """The values in a JSON text that are long enough to be told apart."""
    try:
        value = msgspec.json.decode(written)
    except msgspec.DecodeError:
        value = written
    yield from (leaf for leaf in _flat(value) if len(leaf) >= _SHORTEST)


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            yield from _flat(member)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:g}"
