"""What a target is: how a case of it is made, and what reads it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeAlias

from hostile.fuzz.mutations import Mutation

#: Gives the sound contents that are damaged.
Seeds: TypeAlias = Callable[[], list[bytes]]
#: Reads a content, with an empty folder to work in.
Reading: TypeAlias = Callable[[bytes, Path], None]


@dataclass(frozen=True)
class Target:
    """How one case is made from chance, and what reads it, with a folder to work in that is its own."""

    name: str
    make: Callable[[Random], bytes]
    run: Reading
    #: What is damaged. As it is, it must be accepted, or its damage shows nothing.
    seeds: Seeds = list
    #: How many of its cases stand beside one case of a slow target.
    weight: int = 1


def damaging(
    name: str,
    seeds: Seeds,
    how: tuple[Mutation, ...],
    run: Reading,
    weight: int,
) -> Target:
    """A target whose cases are sound contents, damaged in one of several ways."""

    def make(chance: Random) -> bytes:
        return chance.choice(how)(chance.choice(seeds()), chance)

    return Target(name, make, run, seeds, weight)


def kept_folder() -> Path:
    """A folder for what is made once; it goes with the process."""
    folder = Path(tempfile.mkdtemp(prefix="dialgauge-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def in_file(folder: Path, content: bytes, name: str = "file.json") -> Path:
    """The content as a file."""
    path = folder / name
    path.write_bytes(content)
    return path
