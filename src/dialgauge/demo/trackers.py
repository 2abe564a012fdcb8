"""Two small state trackers of different quality, for the demo.

Both learn from training dialogs which words are values of which slot, and then watch for those words. One takes the
latest mention, the other keeps the first and so misses every change of mind. Words that training never showed
(unseen towns and cuisines) escape both.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn

Lexicon = dict[str, tuple[str, str]]


def learn_words(dialogues: Iterable[Dialogue]) -> Lexicon:
    """From each value that training states hold to its domain and slot."""
    return {
        value: (domain, slot)
        for dialogue in dialogues
        for turn in dialogue.user_turns()
        for domain, slots in (turn.state or {}).items()
        for slot, values in slots.items()
        for value in values
    }


def track(dialogue: Dialogue, words: Lexicon, *, overwrite: bool) -> Dialogue:
    """The dialogue with predicted states on its user turns."""
    state: State = {}
    turns = []
    for turn in dialogue.turns:
        if turn.speaker == "user":
            state = _updated(state, turn, words, overwrite=overwrite)
            turn = replace(turn, predicted=state)  # noqa: PLW2901
        turns.append(turn)
    return replace(dialogue, turns=tuple(turns))


def _updated(state: State, turn: Turn, words: Lexicon, *, overwrite: bool) -> State:
    """A new state: earlier turns keep theirs."""
    after = {domain: dict(slots) for domain, slots in state.items()}
    for word in turn.text.split():
        if word in words:
            domain, slot = words[word]
            slots = after.setdefault(domain, {})
            if overwrite or slot not in slots:
                slots[slot] = (word,)
    return after
