"""The wording of task 6: entities become single words, and contact details become words made from the name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialgauge.babi.dstc2_folder import Output

#: What DSTC2 calls contact details, and the ending task 6 gives them.
CONTACT = {"phone": "phone", "addr": "address", "postcode": "post_code"}

_NOT_WORD = re.compile(r"[^\w]+")


def one_word(entity: str) -> str:
    """An entity as one word: ``modern european`` becomes ``modern_european``.

    >>> one_word("Modern European")
    'modern_european'
    """
    return _NOT_WORD.sub("_", entity.strip().lower()).strip("_")


class Joiner:
    """Writes every known entity of several words as one word, wherever it stands in a text."""

    def __init__(self, entities: Iterable[str]) -> None:
        several = {entity.strip().lower() for entity in entities if len(entity.split()) > 1}
        longest_first = sorted(several, key=lambda entity: (-len(entity), entity))
        self._pattern = _any_of(longest_first) if longest_first else None

    def __call__(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: one_word(found[0]), text)


def system_text(output: Output, venue: str, joiner: Joiner) -> str:
    """The system's words with contact details replaced: ``{name}_phone``, ``{name}_address``, ``{name}_post_code``."""
    text = output.transcript.strip()
    for act in output.acts:
        for slot, value in act.pairs():
            if slot in CONTACT and venue and value.strip():
                text = _any_of([value.strip().lower()]).sub(f"{one_word(venue)}_{CONTACT[slot]}", text)
    return joiner(text)


def venue_of(output: Output) -> str:
    """The venue the system speaks of, where it names exactly one."""
    names = {value for act in output.acts for slot, value in act.pairs() if slot == "name"}
    return names.pop() if len(names) == 1 else ""


def _any_of(entities: list[str]) -> re.Pattern[str]:
    alternatives = "|".join(r"\s+".join(map(re.escape, entity.split())) for entity in entities)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)
