"""From the ids of ConvLab-3's unified format back to those of the dataset it was made from.

Unified data calls a dialogue ``multiwoz21-test-0`` and notes that it was ``PMUL4648.json``; predictions have the
unified id alone. The data file therefore gives the names by which either meets files of the original dataset.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, structs

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes
from dialgauge.formats.document import is_document
from dialgauge.formats.located import Listed
from dialgauge.formats.registry import recognise
from dialgauge.formats.source import DEFAULT_LIMIT, Part, resolve


class _Named(Struct, gc=False):
    dialogue_id: str
    original_id: str


_FILE = Listed(_Named)


class OriginalIds:
    """The ``original_id`` of every dialogue in a ConvLab-3 data file (or the folder or archive that holds it)."""

    def __init__(self, source: str | Path, *, limit: int = DEFAULT_LIMIT) -> None:
        self._source = os.fspath(source)
        self._names: dict[str, str] = {}
        for part in resolve(source, limit=limit):
            if not is_document(part.stem) and recognise(part).name == "convlab3":
                rows = _FILE.decode(part.read(), part, Notes())
                self._names |= {row.dialogue_id: row.original_id for row in rows}
        if not self._names:
            raise DialgaugeError("it holds no dialogues in ConvLab-3's unified format", file=self._source)

    def renamed(
        self, found: Iterable[tuple[Part, DialogueFormat, Dialogue]]
    ) -> Iterator[tuple[Part, DialogueFormat, Dialogue]]:
        """The dialogues under their original ids; one the data file does not know is an error."""
        for part, chosen, dialogue in found:
            name = self._names.get(dialogue.id)
            if name is None:
                raise DialgaugeError(f"{self._source} has no dialogue of this id", file=part.name, dialogue=dialogue.id)
            yield part, chosen, structs.replace(dialogue, id=name)
