"""Result files of state trackers, one class a format: where the states of a turn stand and how they are spelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import IO, Any, ClassVar

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Peek
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.reading import (
    TEXTS,
    PredictionFormat,
    Seen,
    StatesFormat,
    grouped,
    model_state,
    sample_dialogues,
    sample_turns,
    sides,
    slot_state,
    some_have,
    state_of_slots,
    written_state,
)
from dialgauge.formats.predictions.states import Slot, read_state, values_of

_VALUE = msgspec.json.Decoder()
_FLAT_STATE = msgspec.json.Decoder(dict[str, str | None])


class _ByTurn(StatesFormat):
    """``{dialogue: {turn: {gold, predicted}}}``; a turn has one of ``keys``."""

    keys: ClassVar[tuple[str, ...]]

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_turns(sample_dialogues(peek)), *self.keys)


# -- lists of domain-slot-value --------------------------------------------------------------------------------------


class Trade(_ByTurn):
    """TRADE's ``all_prediction_*.json``.

    ``{"MUL0001.json": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-east"]}}}``

    In spite of its name, ``turn_belief`` is the cumulative gold state.
    """

    name = "trade"
    summary = "TRADE predictions, {dialogue: {turn: {turn_belief, pred_bs_ptr}}}"
    keys = ("pred_bs_ptr",)
    sides = sides("turn_belief", "pred_bs_ptr")


class _T5DstDialogue(Struct):
    turns: Raw
    domain: str | list[str] = ""


class T5Dst(StatesFormat):
    """T5-DST style: as TRADE's, with the domain of each dialogue beside its turns.

    ``{"MUL0001.json": {"domain": "hotel", "turns": {"0": {"turn_belief": ["hotel-area-north"], "pred_belief": []}}}}``

    Files of zero-shot experiments hold the slots of one domain only; ``domain`` becomes the dialogue's ``domains``.
    """

    name = "t5-dst"
    summary = "T5-DST predictions, {dialogue: {domain, turns: {turn: {turn_belief, pred_belief}}}}"
    fields = frozenset({"state", "predicted", "domains"})
    sides = sides("turn_belief", "pred_belief")
    whole = msgspec.json.Decoder(_T5DstDialogue)

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, dict) and "turns" in item for item in dialogues):
            return False
        return some_have(sample_turns(item["turns"] for item in dialogues), "pred_belief")

    def turns(self, content: Raw) -> Any:
        whole = decode(self.whole, content, self.part)
        self.domains = tuple(filter(None, [whole.domain] if isinstance(whole.domain, str) else whole.domain))
        return super().turns(whole.turns)


class SomDst(StatesFormat):
    """SOM-DST's ``preds_N.json``: keys of dialogue id, underscore and turn; prediction and gold.

    ``{"MUL0001.json_0": [["hotel-area-east"], ["hotel-area-north"]]}``
    """

    name = "som-dst"
    summary = "SOM-DST predictions, {dialogue_turn: [predicted, gold]}"
    pair = msgspec.json.Decoder(tuple[Raw, Raw])

    def recognise(self, peek: Peek) -> bool:
        if peek.first is None:
            return False
        key, value = peek.first
        first = value[0] if isinstance(value, list) and value else None
        return _split(key) is not None and isinstance(first, list) and all(isinstance(item, str) for item in first)

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        return grouped(self._entries()).items()

    def _entries(self) -> Iterator[tuple[str, str, Any]]:
        for key, raw in super().dialogues():
            if (split := _split(key)) is None:
                message = f"the key '{key[:80]}' is not a dialogue id, an underscore and a turn"
                raise DialgaugeError(message, file=self.part.name)
            yield (*split, raw)

    def made(self, content: Raw) -> Iterable[Turn]:
        predicted, gold = decode(self.pair, content, self.part)
        state = self.noted(self.gold_state, gold, gold=True)
        yield Turn(speaker="user", state=state, predicted=self.noted(self.predicted_state, predicted))


def _split(key: str) -> tuple[str, str] | None:
    """Dialogue id and turn number of a key such as ``MUL0001.json_0``."""
    dialogue, _, turn = key.rpartition("_")
    return (dialogue, turn) if dialogue and turn.isascii() and turn.isdigit() and len(turn) < 10 else None


# -- objects ---------------------------------------------------------------------------------------------------------


class HiDst(_ByTurn):
    """Hi-DST's log: the cumulative gold state and the values predicted anew in each turn.

    ``{"MUL0001.json": {"0": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "east"}, "slots": {...}}}}``

    The predicted state is what the turns so far predicted, later values overwriting earlier ones; a value that means
    "absent" (``none``, null) empties its slot.
    """

    name = "hi-dst"
    summary = "Hi-DST log, {dialogue: {turn: {gt, pr_turn}}}, predictions per turn"
    keys = ("pr_turn",)
    sides = sides("gt", "pr_turn")

    def gold_state(self, content: bytes, seen: Seen) -> State:
        return slot_state(self.predicted_state(content, seen))

    def predicted_state(self, content: bytes, seen: Seen) -> dict[str, Values]:
        return {slot: values_of(value or "") for slot, value in decode(_FLAT_STATE, content, self.part).items()}

    def turns(self, content: Raw) -> Any:
        self._values: dict[str, Values] = {}
        self._state: State = {}
        return super().turns(content)

    def made(self, content: Raw) -> Iterable[Turn]:
        written = decode(self.sides, content, self.part)
        if changed := self.noted(self.predicted_state, written.predicted):
            self._values.update(changed)
            self._state = slot_state(self._values)
        yield Turn(speaker="user", state=self.optional(self.gold_state, written.gold, gold=True), predicted=self._state)


class Nested(_ByTurn):
    """Nested gt/pr (result files of FGA and GCA); a file may leave out one of the two.

    ``{"MUL0001.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "east"}}}}}``
    """

    name = "nested"
    summary = "states as nested objects, {dialogue: {turn: {gt, pr}}} (FGA, GCA)"
    keys = ("gt", "pr")
    sides = sides("gt", "pr", required=False)
    writes = True

    def recognise(self, peek: Peek) -> bool:
        return super().recognise(peek) and not some_have(sample_turns(sample_dialogues(peek)), "pr_turn")

    def gold_state(self, content: bytes, seen: Seen) -> State:
        return read_state(content, self.part)

    def predicted_state(self, content: bytes, seen: Seen) -> State:
        return model_state(content, self.part, seen)

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        """One member a dialogue and line; only user turns have a place."""
        before = b"{\n"
        for dialogue in dialogues:
            turns = {str(number): _written(turn) for number, turn in enumerate(dialogue.user_turns())}
            notes.add("system turns dropped", len(dialogue.turns) - len(turns))
            out.write(before + msgspec.json.encode(dialogue.id) + b": " + msgspec.json.encode(turns))
            before = b",\n"
        out.write(b"\n}\n" if before == b",\n" else b"{}\n")


def _written(turn: Turn) -> dict[str, Any]:
    """The sides of a turn that are recorded."""
    sides = {"gt": turn.state, "pr": turn.predicted}
    return {
        side: {
            domain: {slot: values[0] if len(values) == 1 else values for slot, values in slots.items()}
            for domain, slots in state.items()
        }
        for side, state in sides.items()
        if state is not None
    }


# -- what models write -----------------------------------------------------------------------------------------------


class _SimpleTodDialogue(Struct):
    generated_turn_belief: list[Raw]
    target_turn_belief: list[Raw] | None = None


class SimpleTod(StatesFormat):
    """SimpleTOD's output: a list of generated and one of target beliefs, each of them ``domain slot value``.

    ``{"MUL0001.json": {"generated_turn_belief": [["hotel area east"]], "target_turn_belief": [["hotel area north"]]}}``

    The generated texts come from a language model and may lack a slot or a value. Such a text can match no gold value,
    so it is kept as a wrong one (the whole text as the value) and noted, never dropped to the system's advantage.
    """

    name = "simpletod"
    summary = "SimpleTOD output, {dialogue: {generated_turn_belief, target_turn_belief}}"
    whole = msgspec.json.Decoder(_SimpleTodDialogue)

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_dialogues(peek), "generated_turn_belief")

    def turns(self, content: Raw) -> Any:
        whole = decode(self.whole, content, self.part)
        generated, target = whole.generated_turn_belief, whole.target_turn_belief
        if target is not None:
            self.notes.add("turns without a generated belief, left as holes", max(0, len(target) - len(generated)))
            self.notes.add("turns without a target belief", max(0, len(generated) - len(target)))
        pairs = zip_longest(generated, target or (), fillvalue=Raw())
        return [(str(number), pair) for number, pair in enumerate(pairs)]

    def made(self, content: Any) -> Iterable[Turn]:
        generated, target = content
        state = self.optional(self.gold_state, target, gold=True)
        yield Turn(speaker="user", state=state, predicted=self.optional(self.predicted_state, generated))

    def gold_state(self, content: bytes, seen: Seen) -> State:
        def target(text: str) -> Slot:
            if (triple := _triple(text)) is None:
                raise DialgaugeError(f"the target belief '{text[:80]}' is not of the form 'domain slot value'")
            return triple

        texts = decode(TEXTS, content, self.part)
        return state_of_slots(map(target, texts), seen)

    def predicted_state(self, content: bytes, seen: Seen) -> State:
        def generated(text: str) -> Slot:
            domain, _, slot = text.strip().partition(" ")
            seen["generated beliefs without slot or value, kept as wrong"] += bool(domain) and _triple(text) is None
            return _triple(text) or (domain, slot, text.strip())

        texts = decode(TEXTS, content, self.part)
        return state_of_slots(map(generated, texts), seen)


def _triple(text: str) -> Slot | None:
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


class LlmOutput(PredictionFormat):
    r"""What a language model answered when asked for states: JSON lines, one answer a line.

    ``{"dialogue": "MUL0001.json", "turn": 0, "output": "Sure! {\"hotel\": {\"area\": \"north\", \"stars\": 4}}"}``

    ``turn`` is the number of the user turn. ``output`` is the answer as it came, or the JSON that was found in it: the
    whole state so far, as domains with slots or as ``domain-slot`` with values.
    """

    name = "llm-output"
    summary = "answers of a language model, JSON lines of {dialogue, turn, output}; the state is found in the output"
    fields = frozenset({"predicted"})
    answer = msgspec.json.Decoder(_Answer)

    def recognise(self, peek: Peek) -> bool:
        return peek.first_line is not None and {"dialogue", "turn", "output"} <= peek.first_line.keys()

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        lines = ((number, line) for number, line in self.part.lines() if line.strip())
        answers = (decode(self.answer, line, self.part, line=number) for number, line in lines)
        return grouped((answer.dialogue, str(answer.turn), answer.output) for answer in answers).items()

    def made(self, content: Raw) -> Iterable[Turn]:
        state = self.noted(lambda raw, seen: written_state(decode(_VALUE, raw, self.part), seen), content)
        yield Turn(speaker="user", predicted=state)
