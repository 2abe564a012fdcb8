"""Long work that survives its process: finished units are kept, and only the missing ones are done again.

Invariants
- The working folder's name is a digest of everything that determines the result: the same call finds the same folder,
  another never does.
- A unit is done if and only if its file is there: files appear whole, and nothing else records progress.
- One process at a time works in the folder; the next one is refused, not queued.
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
from dialgauge.runs.manifest import slug
from dialgauge.runs.workspace import RESUMABLE, sync_folder, writing

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


def workbench_name(kind: str, name: str, config: Mapping[str, Any]) -> str:
    """The name of the folder for half-done work, whose configuration names the code."""
    facts = [kind, name, config, __version__]
    digest = hashlib.sha256(msgspec.json.encode(facts, order="deterministic")).hexdigest()[:16]
    return f"{RESUMABLE}{slug(f'{kind}-{name}')}-{digest}"
