"""A hint for logs without task names, where each conversation counts as a task of its own: what may name the tasks.

Candidates are fields, the user's first words and the letters of the ids. One is suggested if its values repeat, and no
value has more conversations than there are values. The reader decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from dialgauge.dialogue import Dialogue, read_details

#: What names the tasks where it is an id, but for its numbers.
ID = "id"
#: What differs between the trials of a task in an id, and how short the rest must not be.
_NO_TASK = re.compile(
    r"[0-9]+|(?<![a-z])(?:pass|passed|fail|failed|success|failure|ok)(?![a-z])|[-_ /.:#]", re.IGNORECASE
)
_DRAWN = re.compile(r"[0-9a-f-]{8,}", re.IGNORECASE)
_FEWEST_LETTERS = 3
_FEWEST = 4


class OwnTasks:
    """What conversations have beside their ids that may name a task."""

    def __init__(self) -> None:
        self._texts: list[dict[str, int]] = []

    def add(self, dialogue: Dialogue) -> None:
        """One more conversation; texts are kept as numbers, as they may be long."""
        said = next((turn.text for turn in dialogue.turns if turn.speaker == "user"), "")
        texts = {f"'{name}'": text for name, text in read_details("label", dialogue.details).items()}
        texts["the instruction"] = "\n".join(dialogue.instruction)
        texts["what the user says first"] = said
        self._texts.append({name: hash(text) for name, text in texts.items() if text.strip()})

    def repeated(self, ids: Sequence[str]) -> str:
        """What repeats over conversations as the name of a task does; empty where nothing does."""
        for name in dict.fromkeys(name for texts in self._texts for name in texts):
            if _repeats([texts.get(name) for texts in self._texts]):
                return name
        return ID if _repeats(list(map(_letters, ids))) else ""


def _letters(name: str) -> str | None:
    """The letters of an id without numbers and verdicts; None if too few are left or the id looks random."""
    rest = _NO_TASK.sub("", name)
    return None if len(rest) < _FEWEST_LETTERS or _DRAWN.fullmatch(name) else rest


def _repeats(values: Sequence[str | int | None]) -> bool:
    sizes = Counter(values)
    return len(values) >= _FEWEST and None not in sizes and 1 < max(sizes.values()) <= len(sizes)
