"""The real files are read once in a session, however many tests score them: they never change, nor do dialogues."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from dialgauge.dialogue import Dialogue
from dialgauge.formats import Corpus
from support.shared import shared_folder

#: Dialogues that are kept at most: about 300 MB.
_MOST = 12_000


@dataclass(frozen=True)
class _Kept:
    corpus: Corpus
    dialogues: list[Dialogue]

    def to(self, corpus: Corpus) -> None:
        """Give a corpus what was read beside the dialogues, each a list or count of its own."""
        corpus.format, corpus.kind = self.corpus.format, self.corpus.kind
        corpus.files, corpus.resources = [*self.corpus.files], [*self.corpus.resources]
        corpus.notes = copy.deepcopy(self.corpus.notes)


@contextmanager
def real_files_read_once() -> Iterator[None]:
    """Keep what :func:`dialgauge.read` reads below the folder of the real data, by the name that it is asked for."""
    reading = import_module("dialgauge.formats.corpus")
    data, read = shared_folder("data"), reading.dialogues_of
    kept: dict[tuple[str, Path, str | None, int], _Kept] = {}

    def read_once(corpus: Corpus, format: str | None, limit: int) -> Iterator[Dialogue]:
        path = Path(corpus.source).resolve()
        if data is None or not path.is_relative_to(data.resolve()):
            yield from read(corpus, format, limit)
            return
        key = (corpus.source, path, format, limit)
        if key not in kept:
            fresh = Corpus(source=corpus.source, format="", kind="")
            dialogues = list(read(fresh, format, limit))
            while kept and len(dialogues) + sum(len(one.dialogues) for one in kept.values()) > _MOST:
                del kept[next(iter(kept))]
            kept[key] = _Kept(fresh, dialogues)
        kept[key].to(corpus)
        yield from kept[key].dialogues

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "dialogues_of", read_once)
        yield
