"""Chat logs as response-ranking data: what the operators said are the candidates (the paper's Concierge setting)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Turn


def operator_candidates(dialogues: Iterable[Dialogue]) -> list[str]:
    """Every text of an operator once, in order of appearance, white space evened out."""
    texts = (
        " ".join(turn.text.split()) for dialogue in dialogues for turn in dialogue.turns if turn.speaker == "system"
    )
    return [text for text in dict.fromkeys(texts) if text]


def joined_messages(dialogue: Dialogue) -> Dialogue:
    """The conversation with messages that a user sent in a row made one; every user turn then has a reply."""
    turns: list[Turn] = []
    for turn in dialogue.turns:
        if turns and turn.speaker == "user" and turns[-1].speaker == "user":
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text} {turn.text}".strip())
        else:
            turns.append(turn)
    return replace(dialogue, turns=tuple(turns))
