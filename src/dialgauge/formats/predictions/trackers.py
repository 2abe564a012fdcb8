"""Result files of state trackers, one class a format: where the states of a turn stand and how they are spelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import IO, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.reading import (
    Pieces,
    PredictionFormat,
    Reader,
    Seen,
    Triple,
    else_loosely,
    grouped,
    hyphenated,
    loose_changes,
    loose_state,
    sample_dialogues,
    sample_turns,
    slot_state,
    some_have,
    state_of_triples,
)
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import present_text, read_state

_Nested: TypeAlias = dict[str, dict[str, str | list[str]]]

_VALUE = msgspec.json.Decoder()
_TEXTS = msgspec.json.Decoder(list[str])
_FLAT_STATE = msgspec.json.Decoder(dict[str, str])


class _ByTurn(PredictionFormat):
    """``{dialogue: {turn: {gold, predicted}}}``; a turn has one of ``keys``."""

    keys: ClassVar[tuple[str, ...]]

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_turns(sample_dialogues(peek)), *self.keys)


# -- lists of domain-slot-value --------------------------------------------------------------------------------------


class _TextsReader(Reader):
    #: Decodes a turn with a gold and a predicted state.
    sides: ClassVar[msgspec.json.Decoder[Any]]

    def __init__(self, part: Part, notes: Notes) -> None:
        super().__init__(part, notes)
        self.gold, self.predicted = Pieces(self._state, self, gold=True), Pieces(self._state, self)

    def _state(self, content: bytes, seen: Seen) -> State:
        texts = decode(_TEXTS, content, self.part)
        return state_of_triples(map(hyphenated, texts), seen)

    def made(self, content: Raw) -> Iterable[Turn]:
        sides = decode(self.sides, content, self.part)
        gold, predicted = self.gold.optional(sides.gold), self.predicted.read(sides.predicted)
        yield Turn(speaker="user", state=gold, predicted=predicted)


class _TradeTurn(Struct, gc=False, rename={"gold": "turn_belief", "predicted": "pred_bs_ptr"}):
    predicted: Raw
    gold: Raw = Raw()


class _TradeReader(_TextsReader):
    sides = msgspec.json.Decoder(_TradeTurn)


class Trade(_ByTurn):
    """TRADE's ``all_prediction_*.json``.

    ``{"MUL0001.json": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-east"]}}}``

    In spite of its name, ``turn_belief`` is the cumulative gold state.
    """

    name = "trade"
    summary = "TRADE predictions, {dialogue: {turn: {turn_belief, pred_bs_ptr}}}"
    keys = ("pred_bs_ptr",)
    reader = _TradeReader


class _T5DstTurn(Struct, gc=False, rename={"gold": "turn_belief", "predicted": "pred_belief"}):
    predicted: Raw
    gold: Raw = Raw()


class _T5DstDialogue(Struct):
    turns: Raw
    domain: str | list[str] = ""


class _T5DstReader(_TextsReader):
    sides = msgspec.json.Decoder(_T5DstTurn)
    dialogue_decoder = msgspec.json.Decoder(_T5DstDialogue)

    def turns(self, content: Raw) -> list[tuple[str, Any]]:
        whole = decode(self.dialogue_decoder, content, self.part)
        self.domains = tuple(filter(None, [whole.domain] if isinstance(whole.domain, str) else whole.domain))
        return list(super().turns(whole.turns))


class T5Dst(PredictionFormat):
    """T5-DST style: as TRADE's, with the domain of each dialogue beside its turns.

    ``{"MUL0001.json": {"domain": "hotel", "turns": {"0": {"turn_belief": ["hotel-area-north"], "pred_belief": []}}}}``

    Files of zero-shot experiments hold the slots of one domain only; ``domain`` becomes the dialogue's ``domains``.
    """

    name = "t5-dst"
    summary = "T5-DST predictions, {dialogue: {domain, turns: {turn: {turn_belief, pred_belief}}}}"
    fields = frozenset({"state", "predicted", "domains"})
    reader = _T5DstReader

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, dict) and "turns" in item for item in dialogues):
            return False
        return some_have(sample_turns(item["turns"] for item in dialogues), "pred_belief")


class _SomDstReader(_TextsReader):
    pair = msgspec.json.Decoder(tuple[Raw, Raw])

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        return grouped(self._entries()).items()

    def _entries(self) -> Iterator[tuple[str, str, Any]]:
        for key, raw in super().dialogues():
            split = _split(key)
            if split is None:
                message = f"the key '{key[:80]}' is not a dialogue id, an underscore and a turn"
                raise DialgaugeError(message, file=self.part.name)
            yield (*split, raw)

    def turns(self, content: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        return content

    def made(self, content: Raw) -> Iterable[Turn]:
        predicted, gold = decode(self.pair, content, self.part)
        yield Turn(speaker="user", state=self.gold.read(gold), predicted=self.predicted.read(predicted))


class SomDst(PredictionFormat):
    """SOM-DST's ``preds_N.json``: keys of dialogue id, underscore and turn; prediction and gold.

    ``{"MUL0001.json_0": [["hotel-area-east"], ["hotel-area-north"]]}``
    """

    name = "som-dst"
    summary = "SOM-DST predictions, {dialogue_turn: [predicted, gold]}"
    reader = _SomDstReader

    def recognise(self, peek: Peek) -> bool:
        if peek.first is None:
            return False
        key, value = peek.first
        first = value[0] if isinstance(value, list) and value else None
        return _split(key) is not None and isinstance(first, list) and all(isinstance(item, str) for item in first)


def _split(key: str) -> tuple[str, str] | None:
    """Dialogue id and turn number of a key such as ``MUL0001.json_0``."""
    dialogue, _, turn = key.rpartition("_")
    return (dialogue, turn) if dialogue and turn.isascii() and turn.isdigit() and len(turn) < 10 else None


# -- objects ---------------------------------------------------------------------------------------------------------


class _HiDstTurn(Struct, gc=False, rename={"gold": "gt", "predicted": "pr_turn"}):
    predicted: Raw
    gold: Raw = Raw()
    slots: Raw = Raw()


class _HiDstReader(Reader):
    turn_decoder = msgspec.json.Decoder(_HiDstTurn)

    def __init__(self, part: Part, notes: Notes) -> None:
        super().__init__(part, notes)

        def changes(content: bytes) -> dict[str, Values]:
            return {slot: present_text(value) for slot, value in decode(_FLAT_STATE, content, part).items()}

        self._gold = Pieces(lambda content, seen: slot_state(changes(content)), self, gold=True)
        self._changes = Pieces(else_loosely(changes, loose_changes), self)

    def turns(self, content: Raw) -> list[tuple[str, Any]]:
        self._values: dict[str, Values] = {}
        self._state: State = {}
        return list(super().turns(content))

    def made(self, content: Raw) -> Iterable[Turn]:
        written = decode(self.turn_decoder, content, self.part)
        self.notes.add("field slots dropped", int(bool(bytes(written.slots))))
        if changed := self._changes.read(written.predicted):
            self._values.update(changed)
            self._state = slot_state(self._values)
        yield Turn(speaker="user", state=self._gold.optional(written.gold), predicted=self._state)


class HiDst(_ByTurn):
    """Hi-DST's log: the cumulative gold state and the values predicted anew in each turn.

    ``{"MUL0001.json": {"0": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "east"}, "slots": {...}}}}``

    The predicted state is what the turns so far predicted, later values overwriting earlier ones; a value that means
    "absent" (``none``, null) empties its slot.
    """

    name = "hi-dst"
    summary = "Hi-DST log, {dialogue: {turn: {gt, pr_turn}}}, predictions per turn"
    keys = ("pr_turn",)
    reader = _HiDstReader


class _NestedTurn(Struct, gc=False, rename={"gold": "gt", "predicted": "pr"}):
    gold: Raw = Raw()
    predicted: Raw = Raw()


class _NestedReader(Reader):
    sides = msgspec.json.Decoder(_NestedTurn)

    def __init__(self, part: Part, notes: Notes) -> None:
        super().__init__(part, notes)
        self._gold = Pieces(lambda content, seen: read_state(content, part), self, gold=True)
        self._predicted = Pieces(else_loosely(lambda content: read_state(content, part), loose_state), self)

    def made(self, content: Raw) -> Iterable[Turn]:
        sides = decode(self.sides, content, self.part)
        gold, predicted = self._gold.optional(sides.gold), self._predicted.optional(sides.predicted)
        yield Turn(speaker="user", state=gold, predicted=predicted)


class Nested(_ByTurn):
    """Nested gt/pr (result files of FGA and GCA); a file may leave out one of the two.

    ``{"MUL0001.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "east"}}}}}``
    """

    name = "nested"
    summary = "states as nested objects, {dialogue: {turn: {gt, pr}}} (FGA, GCA)"
    keys = ("gt", "pr")
    reader = _NestedReader
    writes = True

    def recognise(self, peek: Peek) -> bool:
        return super().recognise(peek) and not some_have(sample_turns(sample_dialogues(peek)), "pr_turn")

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        """One member a dialogue and line; only user turns have a place."""
        before = b"{\n"
        for dialogue in dialogues:
            turns = {str(number): _written(turn) for number, turn in enumerate(dialogue.user_turns())}
            notes.add("system turns dropped", len(dialogue.turns) - len(turns))
            out.write(before + msgspec.json.encode(dialogue.id) + b": " + msgspec.json.encode(turns))
            before = b",\n"
        out.write(b"\n}\n" if before == b",\n" else b"{}\n")


def _written(turn: Turn) -> dict[str, _Nested]:
    """The sides of a turn that are recorded."""
    sides = {"gt": turn.state, "pr": turn.predicted}
    return {
        side: {
            domain: {slot: values[0] if len(values) == 1 else list(values) for slot, values in slots.items()}
            for domain, slots in state.items()
        }
        for side, state in sides.items()
        if state is not None
    }


# -- what models write -----------------------------------------------------------------------------------------------


class _SimpleTodDialogue(Struct):
    generated_turn_belief: list[Raw]
    target_turn_belief: list[Raw] | None = None
    model_context: Raw = Raw()


class _SimpleTodReader(Reader):
    dialogue_decoder = msgspec.json.Decoder(_SimpleTodDialogue)

    def __init__(self, part: Part, notes: Notes) -> None:
        super().__init__(part, notes)
        self._targets, self._generations = Pieces(self._target, self, gold=True), Pieces(self._generated, self)

    def turns(self, content: Raw) -> list[tuple[str, Any]]:
        whole = decode(self.dialogue_decoder, content, self.part)
        self.notes.add("field model_context dropped", int(bool(bytes(whole.model_context))))
        generated, target = whole.generated_turn_belief, whole.target_turn_belief
        if target is not None:
            self.notes.add("turns without a generated belief, left as holes", max(0, len(target) - len(generated)))
            self.notes.add("turns without a target belief", max(0, len(generated) - len(target)))
        pairs = zip_longest(generated, target or (), fillvalue=Raw())
        return [(str(number), pair) for number, pair in enumerate(pairs)]

    def made(self, content: tuple[Raw, Raw]) -> Iterable[Turn]:
        generated, target = content
        state, predicted = self._targets.optional(target), self._generations.optional(generated)
        yield Turn(speaker="user", state=state, predicted=predicted)

    def _target(self, content: bytes, seen: Seen) -> State:
        def target(text: str) -> Triple:
            if (triple := _triple(text)) is None:
                raise DialgaugeError(f"the target belief '{text[:80]}' is not of the form 'domain slot value'")
            return triple

        texts = decode(_TEXTS, content, self.part)
        return state_of_triples(map(target, texts), seen)

    def _generated(self, content: bytes, seen: Seen) -> State:
        def generated(text: str) -> Triple:
            domain, _, slot = text.strip().partition(" ")
            seen["generated beliefs without slot or value, kept as wrong"] += bool(domain) and _triple(text) is None
            return _triple(text) or (domain, slot, text.strip())

        texts = decode(_TEXTS, content, self.part)
        return state_of_triples(map(generated, texts), seen)


class SimpleTod(PredictionFormat):
    """SimpleTOD's output: a list of generated and one of target beliefs, each of them ``domain slot value``.

    ``{"MUL0001.json": {"generated_turn_belief": [["hotel area east"]], "target_turn_belief": [["hotel area north"]]}}``

    The generated texts come from a language model and may lack a slot or a value. Such a text can match no gold value,
    so it is kept as a wrong one (the whole text as the value) and noted, never dropped to the system's advantage.
    """

    name = "simpletod"
    summary = "SimpleTOD output, {dialogue: {generated_turn_belief, target_turn_belief}}"
    reader = _SimpleTodReader

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_dialogues(peek), "generated_turn_belief")


@lru_cache(maxsize=1 << 16)
def _triple(text: str) -> Triple | None:
    """``domain slot value``; a slot that begins with the word ``book`` has two words."""
    words = text.split(maxsplit=2)
    if len(words) == 3 and words[1] == "book":
        words = text.split(maxsplit=3)
        words[1:3] = [" ".join(words[1:3])]
    return (words[0], words[1], words[2]) if len(words) == 3 else None


class _Answer(Struct, gc=False):
    dialogue: str
    turn: int
    output: Raw


class _LlmReader(Reader):
    answer = msgspec.json.Decoder(_Answer)

    def __init__(self, part: Part, notes: Notes) -> None:
        super().__init__(part, notes)
        self._states = Pieces(lambda content, seen: loose_state(decode(_VALUE, content, part), seen), self)

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        return grouped(self._answers()).items()

    def _answers(self) -> Iterator[tuple[str, str, Raw]]:
        for number, line in self.part.lines():
            if line.strip():
                answer = decode(self.answer, line, self.part, line=number)
                yield answer.dialogue, str(answer.turn), answer.output

    def turns(self, content: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        return content

    def made(self, content: Raw) -> Iterable[Turn]:
        yield Turn(speaker="user", predicted=self._states.read(content))


class LlmOutput(PredictionFormat):
    r"""What a language model answered when asked for states: JSON lines, one answer a line.

    ``{"dialogue": "MUL0001.json", "turn": 0, "output": "Sure! {\"hotel\": {\"area\": \"north\", \"stars\": 4}}"}``

    ``turn`` is the number of the user turn. ``output`` is the answer as it came, or the JSON that was found in it: the
    whole state so far, as domains with slots or as ``domain-slot`` with values.
    """

    name = "llm-output"
    summary = "answers of a language model, JSON lines of {dialogue, turn, output}; the state is found in the output"
    fields = frozenset({"predicted"})
    reader = _LlmReader

    def recognise(self, peek: Peek) -> bool:
        return peek.first_line is not None and {"dialogue", "turn", "output"} <= peek.first_line.keys()
