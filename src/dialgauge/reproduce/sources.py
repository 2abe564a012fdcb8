"""Which data of the papers is present, and where. Layout: FOLDER/multiwoz21 and FOLDER/dst_predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.formats import read

#: TRADE-style preprocessing drops this dialogue (one utterance is too long), so papers report 999 of 1,000.
DROPPED = "PMUL1455"

HUMAN_100 = "somdst_human100.tar.gz"


class Sources:
    """Files below a data folder; a file that is not there is None."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def _file(self, *parts: str) -> Path | None:
        path = self.folder.joinpath(*parts) if self.folder else None
        return path if path is not None and path.exists() else None

    def human_100(self) -> list[Dialogue] | None:
        """SOM-DST's states for the 100 dialogues of the FGA paper's human evaluation, gold beside them."""
        path = self._file("dst_predictions", HUMAN_100)
        return read(path).dialogues if path else None

    def multiwoz(self, split: str) -> list[Dialogue] | None:
        """The dialogues of MultiWOZ 2.1 (``test`` or ``val``), without the one that papers drop."""
        path = self._file("multiwoz21", f"{split}.json.gz") or self._file("multiwoz21", f"{split}.json")
        if path is None:
            return None
        return [dialogue for dialogue in read(path).dialogues if dialogue_key(dialogue.id) != DROPPED.lower()]

    def predictions(self, *names: str) -> list[Dialogue] | None:
        """A system's predictions on the whole test set: ``dst_predictions/NAME.*``, the first name that is there."""
        folder = self._file("dst_predictions")
        for name in names if folder else ():
            for path in sorted(folder.glob(f"{name}.*") if folder else ()):
                return read(path).dialogues
        return None


def user_turns(dialogues: Sequence[Dialogue]) -> int:
    """The number of user turns."""
    return sum(1 for dialogue in dialogues for _ in dialogue.user_turns())


def silent(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """The predictions of a tracker that predicts nothing."""
    return [
        Dialogue(id=dialogue.id, turns=tuple(Turn(speaker="user", predicted={}) for _ in dialogue.user_turns()))
        for dialogue in dialogues
    ]
