"""Cassettes: what a language model was asked and answered, one JSON line each, in a file that only grows.

A line is on the disk before the answer is used, so a run that is killed repeats no paid call. Several processes may
share a cassette. The address of the endpoint is no part of the key: the same model behind another address gives the
same answers. Keys and headers are not recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.files import reason
from dialgauge.locks import locked


class WantedCall(Struct, frozen=True):
    """A tool that the model wants used; the arguments as it wrote them."""

    id: str
    name: str
    arguments: str


class Completion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model answered."""

    text: str = ""
    calls: tuple[WantedCall, ...] = ()
    #: Why it stopped: ``stop``, ``length``, ``tool_calls``, ``content_filter``.
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class TapeEntry(Struct, frozen=True, kw_only=True):
    """A line of a cassette."""

    key: str
    request: dict[str, Any]
    answer: Completion
    cost: float = 0.0
    seconds: float = 0.0


_DECODER = msgspec.json.Decoder(TapeEntry)


def request_key(request: dict[str, Any]) -> str:
    """A checksum of model, messages and parameters."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Cassette:
    """Answers by the request they answer, kept in a file."""

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise DialgaugeError("this is a folder; name the file of the cassette", file=str(path))
        self.path = path
        self._answers: dict[str, Completion] = {}
        #: Bytes and lines read so far.
        self._read = self._line = 0
        #: Of all calls on the cassette, by whichever process.
        self.tokens = 0
        self.money = 0.0

    def find(self, key: str) -> Completion | None:
        """The answer that was kept, by this process or another."""
        if key not in self._answers:
            self.refresh()
        return self._answers.get(key)

    def keep(self, entry: TapeEntry) -> None:
        """Write an answer down; it is on the disk when this returns."""
        with locked(self.path.with_name(f".{self.path.name}.lock")):
            self.refresh()
            try:
                with self.path.open("ab") as file:
                    file.truncate(self._read)  # a killed process may have left half a line
                    file.write(msgspec.json.encode(entry) + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise self._unusable(error) from error
        self.refresh()

    def refresh(self) -> None:
        """Read the whole lines that were added."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                added = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unusable(error) from error
        whole = added.rfind(b"\n") + 1
        for line in added[:whole].splitlines():
            self._line += 1
            try:
                entry = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise DialgaugeError(
                    f"this is not a line of a cassette ({error}); remove it or name another file",
                    file=str(self.path),
                    line=self._line,
                ) from error
            self.tokens += entry.answer.tokens_in + entry.answer.tokens_out
            self.money += entry.cost
            self._answers.setdefault(entry.key, entry.answer)
        self._read += whole

    def _unusable(self, error: OSError) -> DialgaugeError:
        return DialgaugeError(f"the cassette cannot be used ({reason(error)})", file=str(self.path))
