"""Tables 3 to 7 of the bAbI paper: where a memory network looks before it answers, theirs beside ours.

The weights of two trainings are never the same, so they are not judged one by one. What the paper says about them is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.rankers import AnsweredPoint, Line, Point, Ranker, RankingTask, ReplyModel, attend
from dialgauge.rendering import INK, PAPER, RISING, Column, Table, altair, data, styled
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.reproduce.sources import published

#: Characters of a memory that a figure shows, and the colour of a weight that is not known.
_LABEL, _UNKNOWN = 60, "#efefef"
#: Lines that the paper leaves out are shown when ours give them this much in some hop.
NOTEWORTHY = 0.05


class _Claim(NamedTuple):
    """What the paper says of the weight that some lines have together, hop by hop."""

    what: str
    lines: tuple[int, ...]
    holds: Callable[[Sequence[float]], bool]


def _most_at_the_end(shares: Sequence[float]) -> bool:
    return shares[-1] > 0.5


def _not_at_the_end(shares: Sequence[float]) -> bool:
    return not _most_at_the_end(shares)


def _growing(shares: Sequence[float]) -> bool:
    return shares[-1] > shares[0] and not _falls(shares)


def _falls(shares: Sequence[float]) -> list[int]:
    """The hops that give less weight than the one before."""
    return [hop for hop, (before, after) in enumerate(pairwise(shares), start=2) if after < before]


_REQUEST, _CALL_AND_UPDATE, _RATINGS, _ADDRESS = (3, 7, 9, 11), (14, 15), (27, 34, 41), (23,)
CLAIMS = {
    "Table 3": (
        _Claim("the four lines of the request get most of the attention in the last hop", _REQUEST, _most_at_the_end),
        _Claim("more hops strengthen that", _REQUEST, _growing),
    ),
    "Table 4": (_Claim("it focuses on the first call and the update", _CALL_AND_UPDATE, _most_at_the_end),),
    "Table 5": (_Claim("the ratings, at which it should look, get little attention", _RATINGS, _not_at_the_end),),
    "Table 6": (_Claim("the address that it is asked for gets little attention", _ADDRESS, _not_at_the_end),),
}


def attention_tables(
    record: Reproduction, samples: Sequence[AttentionSample], tasks: Sequence[RankingTask] | None, how: str
) -> None:
    """Add Tables 3 to 7; ``how`` says where our attention is from, with ``{task}`` where the task is named."""
    ours = {sample.place: sample for sample in samples}
    by_number = {task.number: task for task in tasks or ()}
    for table in printed().tables:
        if table.place in ours:
            _beside(record, table, _Seen(ours[table.place], by_number.get(table.place.task)), how)
        else:
            record.impossible(
                table.part,
                f"attention where {table.about}",
                "a table of weights",
                "no attention of ours is stored; use --fresh",
            )
    _concierge(record, printed().concierge)
    nearest = printed().nearest_to_concierge
    if nearest in ours:
        _nearest(record, _Seen(ours[nearest], by_number.get(nearest.task)), how)


class _Seen:
    """Attention at one place, with the words of the dialog where the data is present and is the same."""

    def __init__(self, sample: AttentionSample, task: RankingTask | None) -> None:
        self.sample, self._task = sample, task
        self.point = sample.place.point(task) if task is not None else None
        self.other_data = self.point is not None and digest(self.point) != sample.lines
        if self.other_data:
            self.point = None

    def line(self, number: int) -> Line | None:
        return self.point.history[number - 1] if self.point is not None else None

    def label(self, number: int) -> str:
        """A line for the axis of a figure."""
        line = self.line(number)
        return memory_label(number, line) if line is not None else f"line {number}"

    def row(self, number: int) -> tuple[str | int | float | None, ...]:
        line = self.line(number)
        return number, line.kind if line else None, line.text if line else None

    def weights(self, number: int) -> list[float]:
        return [hop[number - 1] for hop in self.sample.hops]

    def shares(self, lines: Sequence[int]) -> list[float]:
        """The weight of several lines together, hop by hop."""
        return [sum(hop[number - 1] for number in lines) for hop in self.sample.hops]

    def noteworthy(self) -> set[int]:
        """The lines with some weight in some hop."""
        return {number for number in range(1, len(self.sample.hops[0]) + 1) if max(self.weights(number)) >= NOTEWORTHY}

    def answer(self, rank: int = 1) -> str | None:
        if self.point is None or self._task is None:
            return None
        return self._task.candidates[self.sample.answers[rank - 1]]

    def notes(self) -> list[str]:
        """What was said at this place, or what is needed to know it."""
        if self.other_data:
            return ["The dialog in the data is another than the one our weights are from: the words are left out."]
        if self.point is None:
            return ["For the words give --data FOLDER, with the dialog bAbI files in FOLDER/babi."]
        return [f"user says: {self.point.utterance}", f"right: {self.point.reply}", f"ours: {self.answer()}"]


def _beside(record: Reproduction, table: PrintedTable, seen: _Seen, how: str) -> None:
    """A table of the paper beside ours at the same place, and what the paper says of it."""
    theirs = table.weights()
    for claim in CLAIMS[table.part]:
        shares = seen.shares(claim.lines)
        in_print = [sum(theirs[line][hop] for line in claim.lines if line in theirs) for hop in range(3)]
        note = f"hop by hop; printed: {_chain(in_print)}"
        if claim.holds is _growing:
            note += "".join(f"; less again at hop {hop}" for hop in _falls(shares))
        why = "weights are others in every training"
        record.claim(table.part, claim.what, holds=claim.holds(shares), ours=_chain(shares), note=note, why=why)
    record.text(table.part, "its answer is", _verdict(table.right), _verdict(seen.sample.right))
    lines = sorted({*theirs, *seen.noteworthy()})
    absent: tuple[None, ...] = (None,) * 3
    titles = [f"{who} hop {hop}" for who in ("theirs", "ours") for hop in (1, 2, 3)]
    shown = Table(
        f"{table.part}: {table.about} ({table.place})",
        [Column("#", align="right"), "who", "memory", *(Column(title, digits=3, best="max") for title in titles)],
        notes=[*seen.notes(), _left_out(seen, lines), *_renumbered(table), _from(how, table.place)],
    )
    for number in lines:
        shown.add(*seen.row(number), *theirs.get(number, absent), *seen.weights(number))
    record.tables.setdefault(table.part, []).append(shown)
    columns = [[*theirs.get(number, absent), *seen.weights(number)] for number in lines]
    _draw(record, table.part, dict(zip(titles, zip(*columns, strict=True), strict=True)), seen, lines, shown.title)


def _concierge(record: Reproduction, table: Concierge) -> None:
    why = "the conversations were never released; the nearest that is released follows"
    record.impossible("Table 7", "attention in a Concierge conversation", "a table of weights", why)
    shown = Table(
        "Table 7: a Concierge conversation, theirs",
        [Column("#", align="right"), "who", "what about", *(Column(f"theirs hop {hop}", digits=3) for hop in (1, 2))],
        notes=[
            f"The right answer is number {table.right} of theirs; all {table.right + 1} reported mean the same.",
            "For your own chat logs: 'babi train --logs FILE', then 'babi evaluate --logs FILE --attention 10'.",
        ],
    )
    for number, (who, about, *weights) in enumerate(table.rows, start=1):
        shown.add(number, who, about, *weights)
    record.tables.setdefault("Table 7", []).append(shown)


def _nearest(record: Reproduction, seen: _Seen, how: str) -> None:
    """Ours at the place that is nearest to Table 7."""
    hops = [f"ours hop {hop}" for hop in range(1, len(seen.sample.hops) + 1)]
    answers = [seen.answer(rank) for rank in range(1, len(seen.sample.answers) + 1)]
    listed = [f"answer {rank}: {text}" for rank, text in enumerate(answers, start=1) if text is not None]
    shown = Table(
        f"Table 7, the nearest that is released ({seen.sample.place})",
        [Column("#", align="right"), "who", "memory", *(Column(title, digits=3, best="max") for title in hops)],
        notes=[
            *seen.notes()[:2],
            *listed,
            f"The right answer is number {seen.sample.right} of ours.",
            _from(how, seen.sample.place),
        ],
    )
    lines = list(range(1, len(seen.sample.hops[0]) + 1))
    for number in lines:
        shown.add(*seen.row(number), *seen.weights(number))
    record.tables.setdefault("Table 7", []).append(shown)
    _draw(record, "Table 7", dict(zip(hops, seen.sample.hops, strict=True)), seen, lines, shown.title)


def _draw(
    record: Reproduction,
    part: str,
    columns: Mapping[str, Sequence[float | None]],
    seen: _Seen,
    lines: Sequence[int],
    title: str,
) -> None:
    labels = [seen.label(number) for number in lines]
    note = f"user: {seen.point.utterance}  →  ours: {seen.answer()}" if seen.point is not None else ""
    draw: Callable[[], Any] = partial(heat_map, labels, columns, title=title, note=note)
    record.figures[f"babi_{part.replace(' ', '').lower()}_attention"] = draw


def _left_out(seen: _Seen, lines: Sequence[int]) -> str:
    count = len(seen.sample.hops[0]) - len(lines)
    which = f"below {NOTEWORTHY} in every hop of ours and not printed in the paper"
    return f"Lines left out: {count} ({which})." if count else "All lines are shown."


def _renumbered(table: PrintedTable) -> list[str]:
    other = [f"{line} is {time}" for line, time, *_ in table.rows if line != time]
    return [f"Lines are numbered as in the released file; in print {', '.join(other)}."] if other else []


def _from(how: str, place: AttentionPlace) -> str:
    return f"Ours: {how.format(task=place.task)}."


def _chain(values: Sequence[float]) -> str:
    return " → ".join(f"{value:.1%}" for value in values)


def _verdict(rank: int | None) -> str:
    return "right" if rank == 1 else "wrong"


# Where a memory network looked at a place of the released dialogs: as the paper prints it, and as ours does.
#
# No words of a dialog are kept, only its number, the numbers of its lines and candidates, and weights; the words come
# from the data when it is present.

#: The model of the paper's appendix B, here with its first seed.
MODEL, SEED = "memn2n", 0
#: How many answers the paper's Table 7 reports.
MOST_ANSWERS = 5
KEPT = "babi_attention.json"


class AttentionPlace(msgspec.Struct, frozen=True):
    """A reply of a dialog in the released files; both are counted from 1."""

    task: int
    split: str
    dialog: int
    reply: int

    def __str__(self) -> str:
        return f"task {self.task}, {self.split}, dialog {self.dialog}, reply {self.reply}"

    def point(self, task: RankingTask) -> AnsweredPoint:
        dialogs = task.split(self.split)
        points = dialogs[self.dialog - 1].points() if self.dialog <= len(dialogs) else []
        if self.reply > len(points):
            raise DialgaugeError(f"there is no such place in this data: {self}")
        return points[self.reply - 1]


class PrintedTable(msgspec.Struct, frozen=True):
    """A table of the paper."""

    part: str
    about: str
    place: AttentionPlace
    #: The place of the right answer among theirs; None: not the first.
    right: int | None
    #: Number of the line in the release, the paper's "time", and a weight per hop.
    rows: list[tuple[int, int, float, float, float]]

    def weights(self) -> dict[int, tuple[float, ...]]:
        return {row[0]: row[2:] for row in self.rows}


class Concierge(msgspec.Struct, frozen=True):
    """Table 7, on conversations that were never released."""

    right: int
    rows: list[tuple[str, str, float, float]]


class PrintedAttention(msgspec.Struct, frozen=True):
    """What appendix B prints."""

    tables: list[PrintedTable]
    concierge: Concierge
    nearest_to_concierge: AttentionPlace

    def places(self) -> list[AttentionPlace]:
        return [*(table.place for table in self.tables), self.nearest_to_concierge]


class AttentionSample(msgspec.Struct, frozen=True):
    """Where a model of ours looked, and what it then said."""

    place: AttentionPlace
    #: A checksum of what the model had before it.
    lines: str
    #: Per hop the weight of each line.
    hops: list[list[float]]
    #: The best candidates, by their number in the candidate file (from 0), and the rank of the right one (from 1).
    answers: list[int]
    right: int


class StoredAttention(msgspec.Struct, frozen=True):
    """Attention of earlier trainings, and how they were made."""

    #: With ``{task}`` for the number of the task.
    command: str
    hardware: str
    commit: str
    samples: list[AttentionSample]


@cache
def printed() -> PrintedAttention:
    """The paper's tables."""
    return msgspec.convert(published("babi_attention"), PrintedAttention)


def stored_attention() -> StoredAttention | None:
    """The attention stored with the package, or None where there are none."""
    path = files("dialgauge.reproduce").joinpath("kept", KEPT)
    return msgspec.json.decode(path.read_bytes(), type=StoredAttention) if path.is_file() else None


def attention_at(ranker: ReplyModel, task: RankingTask, place: AttentionPlace) -> AttentionSample:
    """Where a fitted memory network looks at a place."""
    point = place.point(task)
    (seen,) = attend(ranker, [point])
    assert isinstance(ranker, Ranker)  # noqa: S101 - memory networks are
    scores = ranker.scores([point.question])[0]
    order = (-scores).argsort(kind="stable").tolist()
    return AttentionSample(
        place=place,
        lines=digest(point),
        hops=[[round(weight, 4) for weight in hop] for hop in seen.hops],
        answers=order[:MOST_ANSWERS],
        right=order.index(task.index[point.reply]) + 1,
    )


def digest(point: Point) -> str:
    """A checksum of the lines up to a place, by which to know the same dialog again."""
    return hashlib.sha256(msgspec.json.encode([point.history, point.utterance])).hexdigest()[:16]


def write_attention(path: Path, kept: StoredAttention) -> None:
    """Write stored attention as a file."""
    encode = msgspec.json.encode
    head = [b" %b: %b" % (encode(name), encode(getattr(kept, name))) for name in ("command", "hardware", "commit")]
    samples = b",\n  ".join(map(encode, kept.samples))  # one a line
    with atomic(path) as scratch:
        scratch.write_bytes(b"{\n" + b",\n".join([*head, b' "samples": [\n  %b\n ]' % samples]) + b"\n}\n")


def tasks_of(places: Iterable[AttentionPlace]) -> list[int]:
    """The tasks that have these places, in order."""
    return sorted({place.task for place in places})


def heat_map(
    labels: Sequence[str], columns: Mapping[str, Sequence[float | None]], *, title: str, note: str = ""
) -> Any:
    """Weights between 0 and 1: labels down, columns across; a weight that is not known is a pale cell with a dash."""
    alt = altair()
    rows = [
        {"column": name, "memory": label, "weight": weight, "text": "–" if weight is None else f"{weight:.2f}"}
        for name, weights in columns.items()
        for label, weight in zip(labels, weights, strict=True)
    ]
    axis = {"ticks": False, "domain": False, "labelLimit": 420}
    top = {"labelAngle": 0, "orient": "top", "ticks": False, "domain": False}
    base = alt.Chart(data(rows)).encode(
        x=alt.X("column:N", sort=list(columns), title=None, axis=top),
        y=alt.Y("memory:N", sort=list(labels), title=None, axis=axis),
    )
    scale = {"domain": [0, 0.6, 1], "range": list(RISING), "interpolate": "rgb"}
    colour = alt.Color("weight:Q", scale=scale, legend=None)
    cells = base.mark_rect(stroke=PAPER, strokeWidth=1, invalid="show").encode(
        color=alt.condition("datum.weight === null", alt.value(_UNKNOWN), colour)
    )
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("text:N"), color=alt.condition("datum.weight > 0.5", alt.value(PAPER), alt.value(INK))
    )
    step = max(54, *(7 * len(name) for name in columns)) if columns else 54
    chart = (cells + numbers).properties(width=alt.Step(step), height=alt.Step(20))
    return styled(chart, title=title, note=note)


def memory_label(number: int, line: Line) -> str:
    """A line of the dialog for the axis of a figure, cut where it is long."""
    text = f"{number} {line.kind}: {line.text}"
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
