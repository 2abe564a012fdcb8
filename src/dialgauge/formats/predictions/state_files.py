"""Files of state trackers that hold the gold and the predicted state of each user turn: one class a format.

Formats differ in where the states of a turn stand, under which keys, and in how a state is spelled (:class:`_Texts`,
:class:`_Objects`, :class:`_Changes`). The layout of most is ``{dialogue: {turn: {gold, predicted}}}``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import IO, Any, ClassVar, Protocol, TypeAlias

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.jsonfile import KeyLocation, Remembered, as_key, decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.common import (
    Beliefs,
    NumberedTurns,
    Position,
    Triple,
    assembled,
    built,
    by_turn,
    grouped,
    hyphenated,
    in_order,
    members,
    sample_dialogues,
    sample_turns,
    slot_state,
    some_have,
)
from dialgauge.formats.predictions.loose import LooseChanges, LooseStates, loose_state
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import clean_state, present_text

_Nested: TypeAlias = dict[str, dict[str, str | list[str]]]
_Lists: TypeAlias = tuple[list[str] | None, list[str] | None]

_FLAT_STATE = msgspec.json.Decoder(dict[str, str])
_NESTED_STATE = msgspec.json.Decoder(_Nested)


class _Sides(Protocol):
    """The states of a turn as they are written."""

    gold: Raw
    predicted: Raw


# -- how a state is spelled ------------------------------------------------------------------------------------------


class _Spelling:
    """Reads the states of one file; ``position`` is told where they stand."""

    gold: Callable[[Raw], State | None]
    predicted: Callable[[Raw], State | None]
    position: Position | None = None

    def __init__(self, part: Part, notes: Notes) -> None:
        raise NotImplementedError

    def begin(self) -> None:
        """A dialogue begins."""

    def turn(self, sides: _Sides) -> Turn:
        return Turn(speaker="user", state=self.gold(sides.gold), predicted=self.predicted(sides.predicted))


class _Texts(_Spelling):
    """Lists of ``domain-slot-value``."""

    def __init__(self, part: Part, notes: Notes) -> None:
        beliefs = Beliefs(hyphenated, part, notes)
        self.gold, self.predicted, self.position = beliefs.optional_gold, beliefs.read, beliefs


class _Objects(_Spelling):
    """Objects of domains with slots, where a value may be a list of alternatives."""

    def __init__(self, part: Part, notes: Notes) -> None:
        golds = Remembered(_NESTED_STATE, clean_state, part)
        self.position = predictions = LooseStates(golds.made, part, notes)
        self.gold, self.predicted = golds.optional, predictions.optional


class _Changes(_Spelling):
    """Objects of ``domain-slot`` with values: the gold state, and the values that are predicted anew.

    The predicted state is what the turns so far predicted, later values overwriting earlier ones; a value that means
    "absent" (``none``, null) empties its slot.
    """

    def __init__(self, part: Part, notes: Notes) -> None:
        def state(written: dict[str, str]) -> State:
            return slot_state({slot: present_text(value) for slot, value in written.items()})

        self.gold = Remembered(_FLAT_STATE, state, part).optional
        self._changes = self.position = LooseChanges(_FLAT_STATE, part, notes)
        self.predicted = self._accumulated

    def begin(self) -> None:
        self._values: dict[str, Values] = {}
        self._state: State = {}

    def _accumulated(self, raw: Raw) -> State:
        if changed := self._changes.read(bytes(raw)):
            self._values.update(changed)
            self._state = slot_state(self._values)
        return self._state


# -- where the states stand ------------------------------------------------------------------------------------------


class _GoldAndPredicted(DialogueFormat):
    kind = "predictions"
    fields = frozenset({"state", "predicted"})


class _ByTurn(_GoldAndPredicted):
    """``{dialogue: {turn: {gold, predicted}}}``."""

    layout: ClassVar[NumberedTurns[Any]]
    spelling: ClassVar[type[_Spelling]]
    #: The keys of which a turn must have one.
    keys: ClassVar[tuple[str, ...]]

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_turns(sample_dialogues(peek)), *self.keys)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        states = self.spelling(part, notes)

        def build(dialogue: str, turns: list[Any]) -> Dialogue:
            self.note_dropped(turns, notes)
            states.begin()
            return assembled(dialogue, turns, states.turn, states.position)

        return self.layout.read(part, notes, build)

    def note_dropped(self, turns: list[Any], notes: Notes) -> None:
        """Count what the turns of a dialogue hold beside states."""


class _TradeTurn(Struct, gc=False, rename={"gold": "turn_belief", "predicted": "pred_bs_ptr"}):
    predicted: Raw
    gold: Raw = Raw()


class Trade(_ByTurn):
    """TRADE's ``all_prediction_*.json``.

    ``{"MUL0001.json": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-east"]}}}``

    In spite of its name, ``turn_belief`` is the cumulative gold state.
    """

    name = "trade"
    summary = "TRADE predictions, {dialogue: {turn: {turn_belief, pred_bs_ptr}}}"
    layout = NumberedTurns(_TradeTurn)
    spelling = _Texts
    keys = ("pred_bs_ptr",)


class _HiDstTurn(Struct, gc=False, rename={"gold": "gt", "predicted": "pr_turn"}):
    predicted: Raw
    gold: Raw = Raw()
    slots: Raw = Raw()


class HiDst(_ByTurn):
    """Hi-DST's log: the cumulative gold state and the values predicted anew in each turn.

    ``{"MUL0001.json": {"0": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "east"}, "slots": {...}}}}``
    """

    name = "hi-dst"
    summary = "Hi-DST log, {dialogue: {turn: {gt, pr_turn}}}, predictions per turn"
    layout = NumberedTurns(_HiDstTurn)
    spelling = _Changes
    keys = ("pr_turn",)

    def note_dropped(self, turns: list[_HiDstTurn | None], notes: Notes) -> None:
        notes.add("field slots dropped", sum([turn is not None and len(turn.slots) > 0 for turn in turns]))


class _NestedTurn(Struct, gc=False, rename={"gold": "gt", "predicted": "pr"}):
    gold: Raw = Raw()
    predicted: Raw = Raw()


class Nested(_ByTurn):
    """Nested gt/pr (result files of FGA and GCA); a file may leave out one of the two.

    ``{"MUL0001.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "east"}}}}}``
    """

    name = "nested"
    summary = "states as nested objects, {dialogue: {turn: {gt, pr}}} (FGA, GCA)"
    layout = NumberedTurns(_NestedTurn)
    spelling = _Objects
    keys = ("gt", "pr")
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
    return {side: _plain(state) for side, state in sides.items() if state is not None}


def _plain(state: State) -> _Nested:
    return {
        domain: {slot: values[0] if len(values) == 1 else list(values) for slot, values in slots.items()}
        for domain, slots in state.items()
    }


class _T5DstTurn(Struct, gc=False, rename={"gold": "turn_belief", "predicted": "pred_belief"}):
    predicted: Raw
    gold: Raw = Raw()


class _T5DstDialogue(Struct):
    turns: Raw
    domain: str | list[str] = ""


class T5Dst(_GoldAndPredicted):
    """T5-DST style: as TRADE's, with the domain of each dialogue beside its turns.

    ``{"MUL0001.json": {"domain": "hotel", "turns": {"0": {"turn_belief": ["hotel-area-north"], "pred_belief": []}}}}``

    Files of zero-shot experiments hold the slots of one domain only; ``domain`` becomes the dialogue's ``domains``.
    """

    name = "t5-dst"
    summary = "T5-DST predictions, {dialogue: {domain, turns: {turn: {turn_belief, pred_belief}}}}"
    fields = frozenset({"state", "predicted", "domains"})
    dialogue = msgspec.json.Decoder(_T5DstDialogue)
    turns = msgspec.json.Decoder(dict[KeyLocation, _T5DstTurn], dec_hook=as_key)

    def recognise(self, peek: Peek) -> bool:
        dialogues = sample_dialogues(peek)
        if not all(isinstance(item, dict) and "turns" in item for item in dialogues):
            return False
        return some_have(sample_turns(item["turns"] for item in dialogues), "pred_belief")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        states = _Texts(part, notes)

        def build(dialogue: str, raw: Raw) -> Dialogue:
            whole = decode(self.dialogue, raw, part)
            domains = (whole.domain,) if isinstance(whole.domain, str) else tuple(whole.domain)
            turns = by_turn(whole.turns, self.turns, part, notes)
            made = assembled(dialogue, turns, states.turn, states.position)
            return msgspec.structs.replace(made, domains=tuple(filter(None, domains)))

        return built(members(part), build, part, notes)


class SomDst(_GoldAndPredicted):
    """SOM-DST's ``preds_N.json``: keys of dialogue id, underscore and turn; prediction and gold.

    ``{"MUL0001.json_0": [["hotel-area-east"], ["hotel-area-north"]]}``
    """

    name = "som-dst"
    summary = "SOM-DST predictions, {dialogue_turn: [predicted, gold]}"
    sides = msgspec.json.Decoder(tuple[Raw, Raw])

    def recognise(self, peek: Peek) -> bool:
        if peek.first is None:
            return False
        key, value = peek.first
        first = value[0] if isinstance(value, list) and value else None
        return _split(key) is not None and isinstance(first, list) and all(isinstance(item, str) for item in first)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        beliefs = Beliefs(hyphenated, part, notes)

        def make(raw: Raw) -> Turn:
            predicted, gold = decode(self.sides, raw, part)
            return Turn(speaker="user", state=beliefs.read(gold, gold=True), predicted=beliefs.read(predicted))

        def entries() -> Iterator[tuple[str, str, Raw]]:
            for key, raw in members(part):
                split = _split(key)
                if split is None:
                    message = f"the key '{key[:80]}' is not a dialogue id, an underscore and a turn"
                    raise DialgaugeError(message, file=part.name)
                yield (*split, raw)

        def build(dialogue: str, turns: list[tuple[str, Raw]]) -> Dialogue:
            return assembled(dialogue, in_order(turns, notes), make, beliefs)

        return built(grouped(entries()).items(), build, part, notes)


def _split(key: str) -> tuple[str, str] | None:
    """Dialogue id and turn number of a key such as ``MUL0001.json_0``."""
    dialogue, _, turn = key.rpartition("_")
    return (dialogue, turn) if dialogue and turn.isascii() and turn.isdigit() and len(turn) < 10 else None


class _SimpleTodDialogue(Struct):
    generated_turn_belief: list[list[str]]
    target_turn_belief: list[list[str]] | None = None
    model_context: Raw = Raw()


class SimpleTod(_GoldAndPredicted):
    """SimpleTOD's output: a list of generated and one of target beliefs, each of them ``domain slot value``.

    ``{"MUL0001.json": {"generated_turn_belief": [["hotel area east"]], "target_turn_belief": [["hotel area north"]]}}``

    The generated texts come from a language model and may lack a slot or a value. Such a text can match no gold value,
    so it is kept as a wrong one (the whole text as the value) and noted, never dropped to the system's advantage.
    """

    name = "simpletod"
    summary = "SimpleTOD output, {dialogue: {generated_turn_belief, target_turn_belief}}"
    dialogue = msgspec.json.Decoder(_SimpleTodDialogue)

    def recognise(self, peek: Peek) -> bool:
        return some_have(sample_dialogues(peek), "generated_turn_belief")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        targets, generations = Beliefs(_target, part, notes), Beliefs(_generated, part, notes)

        def make(lists: _Lists) -> Turn:
            generated, target = lists
            broken = [text for text in generated or () if _triple(text) is None and text.strip()]
            notes.add("generated beliefs without slot or value, kept as wrong", len(broken))
            return Turn(
                speaker="user",
                state=None if target is None else targets.state(target, gold=True),
                predicted=None if generated is None else generations.state(generated),
            )

        def build(dialogue: str, raw: Raw) -> Dialogue:
            whole = decode(self.dialogue, raw, part)
            notes.add("field model_context dropped", int(bool(bytes(whole.model_context))))
            return assembled(dialogue, _pairs(whole, notes), make, generations)

        return built(members(part), build, part, notes)


def _pairs(whole: _SimpleTodDialogue, notes: Notes) -> Iterator[_Lists]:
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


def _generated(text: str) -> Triple:
    domain, _, slot = text.strip().partition(" ")
    return _triple(text) or (domain, slot, text.strip())


class _Answer(Struct, gc=False):
    dialogue: str
    turn: int
    output: Any


class LlmOutput(DialogueFormat):
    r"""What a language model answered when asked for states: JSON lines, one answer a line.

    ``{"dialogue": "MUL0001.json", "turn": 0, "output": "Sure! {\"hotel\": {\"area\": \"north\", \"stars\": 4}}"}``

    ``turn`` is the number of the user turn. ``output`` is the answer as it came, or the JSON that was found in it: the
    whole state so far, as domains with slots or as ``domain-slot`` with values.
    """

    name = "llm-output"
    summary = "answers of a language model, JSON lines of {dialogue, turn, output}; the state is found in the output"
    kind = "predictions"
    fields = frozenset({"predicted"})
    answer = msgspec.json.Decoder(_Answer)

    def recognise(self, peek: Peek) -> bool:
        return peek.first_line is not None and {"dialogue", "turn", "output"} <= peek.first_line.keys()

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        position = LooseStates(lambda content: {}, part, notes)

        def make(answer: _Answer) -> Turn:
            seen: Counter[str] = Counter()
            state = loose_state(answer.output, seen)
            position.note(seen)
            return Turn(speaker="user", predicted=state)

        def answers() -> Iterator[tuple[str, str, _Answer]]:
            for number, line in part.lines():
                if line.strip():
                    answer = decode(self.answer, line, part, line=number)
                    yield answer.dialogue, str(answer.turn), answer

        def build(dialogue: str, turns: list[tuple[str, _Answer]]) -> Dialogue:
            return assembled(dialogue, in_order(turns, notes), make, position)

        return built(grouped(answers()).items(), build, part, notes)
