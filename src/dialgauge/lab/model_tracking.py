"""Belief states over a corpus, asked of a language model: answers as lines that ``dialgauge score`` reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from dialgauge import engine
from dialgauge.agents.llm import BudgetSpent, ChatSettings, LlmTracker
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic

Slots = Mapping[str, Mapping[str, Sequence[str]]]


class Tracked(Struct, frozen=True):
    """What came of it: answers, and the dialogues without, each with the reason."""

    answers: int
    failed: dict[str, str]


class _TrackWork(engine.Work[LlmTracker, Dialogue]):
    """One dialogue after the other; what was answered of one that fails is on the cassette."""

    def __init__(self, settings: ChatSettings, slots: Slots, seed: int) -> None:
        self._settings, self._slots, self._seed = settings, slots, seed

    def open(self) -> LlmTracker:
        return LlmTracker(self._settings, self._slots, seed=self._seed)

    def do(self, state: LlmTracker, unit: engine.Unit[Dialogue]) -> bytes:
        dialogue = unit.payload
        try:
            lines = [{"dialogue": dialogue.id, "turn": turn, "output": text} for turn, text in state.track(dialogue)]
        except BudgetSpent as spent:
            raise DialgaugeError(str(spent)) from spent
        return msgspec.json.Encoder().encode_lines(lines)


def track_corpus(
    dialogues: Sequence[Dialogue],
    slots: Slots,
    settings: ChatSettings,
    file: Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    on_dialogue: Callable[[int], None] | None = None,
) -> Tracked:
    """Write the states that a model believes in after each user turn.

    The file appears when all is done. With a cassette an interrupted call repeats nothing that was answered.
    """
    settings.check()
    units = (engine.Unit(f"{index:08d}", dialogue) for index, dialogue in enumerate(dialogues))
    failed: dict[str, str] = {}
    answers = 0
    with atomic(file) as scratch, scratch.open("wb") as lines:
        done = engine.run(_TrackWork(settings, slots, seed), units, workers=workers)
        for dialogue, result in zip(dialogues, done, strict=True):
            if result.content is None:
                failed[dialogue.id] = result.failure or "no answer"
            else:
                lines.write(result.content)
                answers += result.content.count(b"\n")
            if on_dialogue is not None:
                on_dialogue(1)
        if not answers:
            raise DialgaugeError(f"no dialogue was tracked: {next(iter(failed.values()), 'there is none')}")
    return Tracked(answers, failed)
