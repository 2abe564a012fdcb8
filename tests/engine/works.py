"""Work for the tests of the engine; a module of its own, so that worker processes can import it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from dialgauge.engine import Unit, Work
from dialgauge.errors import DialgaugeError


class Stubborn(Exception):
    """An error that cannot be made again from its pickle."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


@dataclass(frozen=True)
class Orders(Work[str, str]):
    """Does what the payload says, and leaves a trace of what was opened and begun in the folder."""

    folder: Path

    def open(self) -> str:
        (self.folder / f"opened-{os.getpid()}").touch()
        if (self.folder / "no opening").exists():
            raise DialgaugeError("the model is missing")
        return "state"

    def do(self, state: str, unit: Unit[str]) -> bytes:
        with (self.folder / f"begun-{unit.key}").open("a") as trace:
            trace.write(f"{os.getpid()}\n")
        order, _, value = unit.payload.partition(" ")
        if order == "sleep":
            time.sleep(float(value))
        elif order == "await":
            wait_until_begun(self.folder, int(value))
        elif order == "fail":
            raise DialgaugeError("nothing to be done", file=value)
        elif order == "bug":
            raise ValueError("a bug of ours")
        elif order == "stubborn":
            raise Stubborn("one", "two")
        elif order == "exit":
            os._exit(int(value))
        elif order == "die" or (order == "die-once" and len(begun(self.folder)[unit.key]) == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        elif order == "tell":
            return os.environ.get(value, "").encode()
        elif order == "long":
            return unit.key.encode() * int(value)
        return f"{state} {unit.key} {unit.payload}".encode()


def begun(folder: Path) -> dict[str, list[str]]:
    """For each unit that was begun, the processes that did."""
    return {path.name.removeprefix("begun-"): path.read_text().split() for path in folder.glob("begun-*")}


def wait_until_begun(folder: Path, number: int) -> None:
    patience = time.monotonic() + 60
    while len(begun(folder)) < number and time.monotonic() < patience:
        time.sleep(0.02)


def opened(folder: Path) -> int:
    return len(list(folder.glob("opened-*")))


def units_of(*payloads: str) -> list[Unit[str]]:
    return [Unit(f"u{number}", payload) for number, payload in enumerate(payloads)]


class Folder(MutableMapping[str, bytes]):
    """Results on the disk, each in a file that appears whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)

    def __setitem__(self, key: str, content: bytes) -> None:
        scratch = self.path / f".{key}"
        scratch.write_bytes(content)
        scratch.rename(self.path / key)

    def __getitem__(self, key: str) -> bytes:
        try:
            return (self.path / key).read_bytes()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __delitem__(self, key: str) -> None:
        (self.path / key).unlink()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.name for path in self.path.iterdir() if not path.name.startswith(".")))

    def __len__(self) -> int:
        return sum(1 for _ in self)
