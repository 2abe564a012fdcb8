"""Where a memory network looked at a place of the released dialogs: as the paper prints it, and as ours does.

No words of a dialog are kept, only its number, the numbers of its lines and candidates, and weights; the words come
from the data when it is present.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.reproduce.examples import published
from dialgauge.responses.attention import attend
from dialgauge.responses.episodes import Point
from dialgauge.responses.ranker import Ranker
from dialgauge.responses.task import Task

#: The model of the paper's appendix B, here with its first seed.
MODEL, SEED = "memn2n", 0
#: How many answers the paper's Table 7 reports.
MOST_ANSWERS = 5
KEPT = "babi_attention.json"


class Place(msgspec.Struct, frozen=True):
    """A reply of a dialog in the released files; both are counted from 1."""

    task: int
    split: str
    dialog: int
    reply: int

    def __str__(self) -> str:
        return f"task {self.task}, {self.split}, dialog {self.dialog}, reply {self.reply}"

    def point(self, task: Task) -> Point:
        """The place in the data."""
        dialogs = task.split(self.split)
        points = dialogs[self.dialog - 1].points() if self.dialog <= len(dialogs) else []
        if self.reply > len(points):
            raise DialgaugeError(f"there is no such place in this data: {self}")
        return points[self.reply - 1]


class PrintedTable(msgspec.Struct, frozen=True):
    """A table of the paper."""

    part: str
    about: str
    place: Place
    #: The place of the right answer among theirs; None: not the first.
    right: int | None
    #: Number of the line in the release, the paper's "time", and a weight per hop.
    rows: list[tuple[int, int, float, float, float]]

    def weights(self) -> dict[int, tuple[float, ...]]:
        """Line to weights."""
        return {row[0]: row[2:] for row in self.rows}


class Concierge(msgspec.Struct, frozen=True):
    """Table 7, on conversations that were never released."""

    right: int
    rows: list[tuple[str, str, float, float]]


class Printed(msgspec.Struct, frozen=True):
    """What appendix B prints."""

    tables: list[PrintedTable]
    concierge: Concierge
    nearest_to_concierge: Place

    def places(self) -> list[Place]:
        """Every place to look at."""
        return [*(table.place for table in self.tables), self.nearest_to_concierge]


class Look(msgspec.Struct, frozen=True):
    """Where a model of ours looked, and what it then said."""

    place: Place
    #: A checksum of what the model had before it.
    lines: str
    #: Per hop the weight of each line.
    hops: list[list[float]]
    #: The best candidates, by their number in the candidate file (from 0), and the rank of the right one (from 1).
    answers: list[int]
    right: int


class KeptLooks(msgspec.Struct, frozen=True):
    """Looks of earlier trainings, and how they were made."""

    #: With ``{task}`` for the number of the task.
    command: str
    hardware: str
    commit: str
    looks: list[Look]


@cache
def printed() -> Printed:
    """The paper's tables."""
    return msgspec.convert(published("babi_attention"), Printed)


def kept_looks() -> KeptLooks | None:
    """The looks kept with the package, or None where there are none."""
    path = files("dialgauge.reproduce").joinpath("kept", KEPT)
    return msgspec.json.decode(path.read_bytes(), type=KeptLooks) if path.is_file() else None


def look(ranker: Ranker, task: Task, place: Place) -> Look:
    """Where a fitted memory network looks at a place."""
    point = place.point(task)
    (seen,) = attend(ranker, [point])
    scores = ranker.scores([point])[0]
    order = (-scores).argsort(kind="stable").tolist()
    return Look(
        place=place,
        lines=digest(point),
        hops=[[round(weight, 4) for weight in hop] for hop in seen.hops],
        answers=order[:MOST_ANSWERS],
        right=order.index(task.index[point.reply]) + 1,
    )


def digest(point: Point) -> str:
    """A checksum of the lines up to a place, by which to know the same dialog again."""
    return hashlib.sha256(msgspec.json.encode([point.history, point.utterance])).hexdigest()[:16]


def write_looks(path: Path, kept: KeptLooks) -> None:
    """Keep looks as a file."""
    from dialgauge.files import atomic

    with atomic(path) as scratch:
        scratch.write_bytes(_one_look_a_line(kept))


def _one_look_a_line(kept: KeptLooks) -> bytes:
    encode = msgspec.json.encode
    head = [b" %b: %b" % (encode(name), encode(getattr(kept, name))) for name in ("command", "hardware", "commit")]
    looks = b",\n  ".join(map(encode, kept.looks))
    return b"{\n" + b",\n".join([*head, b' "looks": [\n  %b\n ]' % looks]) + b"\n}\n"


def tasks_of(places: Iterable[Place]) -> list[int]:
    """The tasks that have these places, in order."""
    return sorted({place.task for place in places})
