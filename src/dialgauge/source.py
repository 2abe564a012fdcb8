"""A checksum of our own source: what a stored number owes to the code that made it.

A version names a release. Between two releases the code changes while the version stays, and a result that was stored
before an edit must not stand for one after it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
#: Code, and the tables and word lists that it reads.
_SOURCES = (".py", ".yaml", ".txt", ".json", ".npz")


@cache
def own_source(*rooms: str) -> str:
    """A checksum over the files of some rooms of this package, or of all; read once in a process."""
    return source_checksum(*(_PACKAGE / room for room in rooms or (".",)))


def source_checksum(*places: Path) -> str:
    """A checksum over the names and contents of all source files in folders, and of files."""
    digest = hashlib.sha256()
    for root in places:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.suffix in _SOURCES and path.is_file():
                content = path.read_bytes()
                digest.update(f"{path.relative_to(root.parent)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
                digest.update(content)
    return digest.hexdigest()[:12]
