"""Reading DSTC2 as it was published: a folder per call with ``log.json`` and ``label.json``, and an ontology.

The second Dialog State Tracking Challenge: M. Henderson, B. Thomson and J. Williams, SIGDIAL 2014. What is read:

* ``log.json``: ``session-id``, and per turn ``output`` with the system's ``transcript`` and ``dialog-acts``
  (``{"act": "offer", "slots": [["name", "cote"]]}``); the system speaks first in every turn;
* ``label.json``: per turn the user's ``transcription``, the ``goal-labels`` (cumulative constraints) and
  ``requested-slots``;
* the ontology: ``informable`` with the values of ``food``, ``area``, ``pricerange`` and ``name``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import decode
from dialgauge.formats.source import Part, resolve

T = TypeVar("T")


class SystemAct(Struct, frozen=True):
    """One act of the system, with slots as pairs of name and value."""

    act: str
    slots: list[list[Any]] = []

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The slots with a value, as texts."""
        return ((str(slot[0]), str(slot[1])) for slot in self.slots if len(slot) == 2)


class Output(Struct, frozen=True):
    """What the system said."""

    transcript: str
    acts: list[SystemAct] = field(name="dialog-acts", default_factory=list)


class LogTurn(Struct, frozen=True):
    """One turn of the log."""

    output: Output
    index: int = field(name="turn-index")


class LabelTurn(Struct, frozen=True):
    """One turn of the labels."""

    transcription: str
    index: int = field(name="turn-index")
    goals: dict[str, str] = field(name="goal-labels", default_factory=dict)
    requested: list[str] = field(name="requested-slots", default_factory=list)


class Exchange(Struct, frozen=True):
    """One turn of a call: the system speaks, the user answers."""

    system: Output
    user: LabelTurn


class Session(Struct, frozen=True):
    """One call."""

    id: str
    exchanges: tuple[Exchange, ...]


class _Log(Struct, frozen=True):
    session: str = field(name="session-id")
    turns: list[LogTurn]


class _Label(Struct, frozen=True):
    session: str = field(name="session-id")
    turns: list[LabelTurn]


class Dstc2Ontology(Struct, frozen=True):
    """The values of each slot a user can constrain."""

    informable: dict[str, list[str]]


_LOG = msgspec.json.Decoder(_Log)
_LABEL = msgspec.json.Decoder(_Label)
_ONTOLOGY = msgspec.json.Decoder(Dstc2Ontology)


def read_sessions(folder: Path, listed: Path | None = None) -> Iterator[Session]:
    """All calls below a folder in the order of their paths, or those a list file names (one path a line)."""
    paths = _listed(folder, listed) if listed else sorted(path.parent for path in folder.rglob("log.json"))
    if not paths:
        raise DialgaugeError("there is no log.json below this folder", file=str(folder))
    for path in paths:
        yield _session(path)


def read_ontology(folder: Path, given: Path | None = None) -> Dstc2Ontology:
    """The ontology that was named, or the only ``ontology*.json`` below the folder."""
    found = [given] if given else sorted(folder.rglob("ontology*.json"))
    if len(found) != 1:
        problem = "several files are" if found else "no file is"
        raise DialgaugeError(
            f"{problem} named ontology*.json below this folder; name one with --ontology", file=str(folder)
        )
    return _decoded(_ONTOLOGY, found[0])


def _listed(folder: Path, listed: Path) -> list[Path]:
    paths = []
    for number, raw in _part(listed).lines():
        name = raw.decode("utf-8", "replace").strip()
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise DialgaugeError(f"'{name}' points outside the folder; it is refused", file=str(listed), line=number)
        if name:
            paths.append(folder / name)
    return paths


def _session(path: Path) -> Session:
    log, label = _decoded(_LOG, path / "log.json"), _decoded(_LABEL, path / "label.json")
    if [turn.index for turn in log.turns] != [turn.index for turn in label.turns]:
        raise DialgaugeError(
            f"log.json has {len(log.turns)} turns and label.json {len(label.turns)}, or they are numbered differently; "
            "both must describe the same call",
            file=str(path),
        )
    if not log.turns:
        raise DialgaugeError("the call has no turns", file=str(path))
    pairs = zip(log.turns, label.turns, strict=True)
    return Session(id=log.session, exchanges=tuple(Exchange(said.output, heard) for said, heard in pairs))


def _decoded(decoder: msgspec.json.Decoder[T], path: Path) -> T:
    part = _part(path)
    return decode(decoder, part.read(), part)


def _part(path: Path) -> Part:
    if not path.is_file():
        raise DialgaugeError("there is no such file", file=os.fspath(path))
    return resolve(path)[0]
