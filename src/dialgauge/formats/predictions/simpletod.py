"""SimpleTOD's output: generated and target belief of each turn as lists of ``domain slot value``, spaces between.

``{"MUL0001.json": {"generated_turn_belief": [["hotel area east"]], "target_turn_belief": [["hotel area north"]]}}``

The generated texts come from a language model and may lack a slot or a value. Such a text can match no gold value, so
it is kept as a wrong one (the whole text as the value) and noted, never dropped to the system's advantage.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.predictions.common import Beliefs, Triple, assembled, built, members, sample_dialogues, some_have
from dialgauge.formats.source import Part

_Pair: TypeAlias = tuple[list[str] | None, list[str] | None]


class _Dialogue(msgspec.Struct):
    generated_turn_belief: list[list[str]]
    target_turn_belief: list[list[str]] | None = None
    model_context: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(_Dialogue)


class SimpleTod(DialogueFormat):
    """Beliefs as texts of a language model, one list a turn."""

    name = "simpletod"
    summary = "SimpleTOD output, {dialogue: {generated_turn_belief, target_turn_belief}}"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_dialogues(peek), "generated_turn_belief")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        targets, generations = Beliefs(_target, part, notes), Beliefs(_generated, part, notes)

        def make(pair: _Pair) -> Turn:
            generated, target = pair
            notes.add("generated beliefs without slot or value, kept as wrong", sum(map(_is_broken, generated or ())))
            return Turn(
                speaker="user",
                state=None if target is None else targets.state(target),
                predicted=None if generated is None else generations.state(generated),
            )

        def build(dialogue: str, raw: msgspec.Raw) -> Dialogue:
            whole = decode(_DECODER, raw, part)
            notes.add("field model_context dropped", int(bool(bytes(whole.model_context))))
            return assembled(dialogue, _pairs(whole, notes), make)

        return built(members(part), build, part, notes)


def _pairs(whole: _Dialogue, notes: Notes) -> Iterator[_Pair]:
    """Generated and target belief of each turn, ``None`` where one list ends before the other."""
    generated, target = whole.generated_turn_belief, whole.target_turn_belief
    if target is None:
        return ((texts, None) for texts in generated)
    notes.add("turns without a generated belief, left as holes", max(0, len(target) - len(generated)))
    notes.add("turns without a target belief", max(0, len(generated) - len(target)))
    return zip_longest(generated, target)


@lru_cache(maxsize=1 << 16)
def _triple(text: str) -> Triple | None:
    """``domain slot value``; a slot that begins with the word ``book`` has two words."""
    words = text.split(maxsplit=2)
    if len(words) == 3 and words[1] == "book":
        words = text.split(maxsplit=3)
        words[1:3] = [" ".join(words[1:3])]
    return (words[0], words[1], words[2]) if len(words) == 3 else None


def _target(text: str) -> Triple:
    triple = _triple(text)
    if triple is None:
        raise DialgaugeError(f"the target belief '{text[:80]}' is not of the form 'domain slot value'")
    return triple


def _is_broken(generated: str) -> bool:
    return _triple(generated) is None and bool(generated.strip())


def _generated(text: str) -> Triple:
    domain, _, slot = text.strip().partition(" ")
    return _triple(text) or (domain, slot, text.strip())
