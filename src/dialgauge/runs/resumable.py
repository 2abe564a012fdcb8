"""Long work that survives its process: finished units are kept, only the missing ones are done again.

    with store.resumable(kind="lab", name="rules", config=config, seed=0) as work:
        episodes = work.parts("episodes")
        for unit in units:
            if unit not in episodes:
                episodes[unit] = run_one(unit)          # bytes; durable when the assignment returns
        work.table("episodes", frame_of(episodes))

Invariants
- The working folder's name is a digest of everything that determines the result (kind, name, configuration, input
  bytes, seeds, signature, version and source of dialgauge): the same call finds the same folder, another never does.
- A unit is done if and only if its file is there: files appear whole, and nothing else records progress.
- One process at a time works in the folder; the next one is refused, not queued.
- Leaving the block normally turns the folder into an ordinary run by one rename; leaving it by an error keeps it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from dialgauge._version import __version__
from dialgauge.files import atomic
from dialgauge.runs.corpora import Corpora
from dialgauge.runs.manifest import Manifest, slug
from dialgauge.runs.tables import check_table_name
from dialgauge.runs.workspace import RESUMABLE, delete_tree, sync_folder, writing
from dialgauge.runs.writer import RunWriter
from dialgauge.source import own_source

PARTS = "parts"

_UNIT, _DONE = "unit-", ".done"


class Parts(MutableMapping[str, bytes]):
    """The finished units of one kind: names to bytes, each in a file of its own, listed in name order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def __setitem__(self, unit: str, content: bytes) -> None:
        with atomic(self._file(unit)) as scratch:
            scratch.write_bytes(content)
        sync_folder(self._folder)

    def __getitem__(self, unit: str) -> bytes:
        try:
            return self._file(unit).read_bytes()
        except FileNotFoundError:
            raise KeyError(unit) from None

    def __delitem__(self, unit: str) -> None:
        try:
            self._file(unit).unlink()
        except FileNotFoundError:
            raise KeyError(unit) from None

    def __contains__(self, unit: object) -> bool:
        return isinstance(unit, str) and self._file(unit).exists()

    def __iter__(self) -> Iterator[str]:
        done = (path.name for path in self._folder.glob(f"{_UNIT}*{_DONE}"))
        return iter(sorted(unquote(name.removeprefix(_UNIT).removesuffix(_DONE)) for name in done))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _file(self, unit: str) -> Path:
        # The prefix keeps units apart from the hidden scratch files of writes that were cut off.
        return self._folder / f"{_UNIT}{quote(unit, safe='')}{_DONE}"


class Resumable(RunWriter):
    """A run in the making whose finished units outlive the process."""

    def __init__(self, draft: Manifest, folder: Path, corpora: Corpora) -> None:
        super().__init__(draft, folder, corpora)
        corpora.release(folder)  # that of an attempt which came as far as that
        for leftover in folder.iterdir():
            if leftover.name != PARTS:
                delete_tree(leftover)

    def parts(self, name: str) -> Parts:
        """The finished units of one kind."""
        return Parts(self._folder / PARTS / check_table_name(name))


def folder_name(draft: Manifest) -> str:
    """The name of the working folder: readable, and unique to what determines the result."""
    inputs = [(item.files, item.size, item.sha256) for item in draft.inputs]
    code = (draft.versions["dialgauge"], own_source())
    return _name(draft.kind, draft.name, draft.config, inputs, draft.seeds, draft.signature, code)


def workbench_name(kind: str, name: str, config: Mapping[str, Any]) -> str:
    """The name of the folder for half-done work that is no run of its own; its configuration names the code."""
    return _name(kind, name, config, __version__)


def _name(kind: str, name: str, *facts: object) -> str:
    digest = hashlib.sha256(msgspec.json.encode([kind, name, *facts], order="deterministic")).hexdigest()[:16]
    return f"{RESUMABLE}{slug(f'{kind}-{name}')}-{digest}"
