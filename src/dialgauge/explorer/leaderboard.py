"""A leaderboard: one static page from all runs of a store, a table for all that can be compared on shared dialogues.

Where runs of a table were not measured alike, each says in what it differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec import Struct

from dialgauge._version import __version__
from dialgauge.comparison import Comparison, comparable_signature, compare_runs, paired_measures, standings, view_of
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.library import Library
from dialgauge.explorer.report_file import compact, style_sheet
from dialgauge.explorer.run_list import group_title, grouped, scored
from dialgauge.explorer.templating import render
from dialgauge.files import atomic
from dialgauge.measures import Score, Signature
from dialgauge.runs import Run
from dialgauge.text import counted

#: Columns of a board.
_MEASURES = 6


class BoardScore(Struct, frozen=True):
    """A score on the board; letters are shared by runs that cannot be told apart."""

    score: Score | None
    letters: str = ""


class BoardRow(Struct, frozen=True):
    """A run on the board; ``rank`` is the range of ranks that the tests leave it, empty where nothing was tested."""

    run: Run
    rank: str
    scores: Sequence[BoardScore]
    complete: bool
    scored: str
    #: What of its measurement is not as in most runs of the board.
    unlike: Sequence[str] = ()


class Board(Struct, frozen=True):
    """Runs that can be compared, best first by the first measure, by their values on the dialogues that all have."""

    kind: str
    #: What the names of its runs share.
    title: str
    signature: str
    measures: Sequence[str]
    rows: Sequence[BoardRow]
    note: str
    shared: str = ""


def write_leaderboard(path: str | Path, runs: Sequence[Run], *, title: str = "Leaderboard") -> Path:
    """Write the page, atomically."""
    target = Path(path)
    text = render(
        "leaderboard.html", title=title, boards=boards(runs), style=style_sheet(), version=__version__,
        made=datetime.now(UTC), count=len(runs),
    )  # fmt: skip
    with atomic(target) as scratch:
        scratch.write_bytes(compact(text).encode("utf-8", "backslashreplace"))
    return target


def boards(runs: Sequence[Run]) -> list[Board]:
    """A board for all runs that can be compared, those with several first. Runs without scores are on none."""
    library = Library(runs=runs)
    groups = grouped([run for run in runs if run.scores], partial(_belong, library))
    made = [_board(members) for members in groups]
    return sorted(made, key=lambda board: (len(board.rows) == 1, board.kind, -len(board.rows), board.signature))


def _belong(library: Library, run: Run, other: Run) -> bool:
    """Whether two runs are for one table: they can be compared, or were measured alike by measures without a test."""
    alike = run.kind == other.kind and comparable_signature(run) == comparable_signature(other)
    return alike or library.comparable(run, other)


def _board(runs: Sequence[Run]) -> Board:
    kind, unlike = runs[0].kind, _unlike(runs)
    title = group_title([run.name for run in runs])
    shared = [name for name in runs[0].scores if all(name in run.scores for run in runs)]
    measures = list(view_of(kind).headlines(shared))[:_MEASURES]
    comparison, notes = _compared(runs, measures)
    if comparison is None:
        rows = [_row(run, "", [(run.scores.get(name), "") for name in measures], unlike) for run in runs]
        return Board(kind, title, comparable_signature(runs[0]), measures, _sorted(rows), "; ".join(notes))
    letters = dict(zip(comparison.measures, standings(comparison), strict=True))
    first = letters.get(measures[0])
    rows = []
    for index, (system, run) in enumerate(comparison.runs.items()):
        # Where some lack dialogues, all have their values on those that they share.
        values = dict(comparison[system])
        scores = [
            (values.get(name, run.scores.get(name)), letters[name].letters[index] if name in letters else "")
            for name in measures
        ]
        rows.append(_row(run, first.ranks(index) if first else "", scores, unlike))
    sentence = f"{counted(len(comparison.dialogues), comparison.view.unit)} that all have"
    signature = comparable_signature(runs[0])
    return Board(kind, title, signature, measures, _sorted(rows), "; ".join(comparison.notes), sentence)


def _unlike(runs: Sequence[Run]) -> dict[str, list[str]]:
    """For each run, the parts of its signature that differ from most runs of the board."""
    parts = {run.id: _parts(run) for run in runs}
    names = dict.fromkeys(name for own in parts.values() for name in own)
    differences: dict[str, list[str]] = {run.id: [] for run in runs}
    for name in names:
        values = Counter(own.get(name, "none") for own in parts.values())
        usual = values.most_common(1)[0][0]
        for run, own in parts.items():
            if own.get(name, "none") != usual:
                differences[run].append(f"{name} {own.get(name, 'none')}")
    return differences


def _parts(run: Run) -> dict[str, str]:
    try:
        return dict(Signature.parse(comparable_signature(run)))
    except DialgaugeError:  # of a run that another version wrote
        return {}


def _compared(runs: Sequence[Run], measures: Sequence[str]) -> tuple[Comparison | None, list[str]]:
    """The tests, of those measures that can be tested; where there are none, a sentence why."""
    if len(runs) < 2:
        return None, []
    if not measures:
        lists = "; ".join(f"{run.name} has {', '.join(run.scores)}" for run in runs)
        return None, [f"no measure was scored in all of these runs, so none is ranked: {lists}"]
    try:
        tested = [name for name in measures if name in paired_measures(runs)]
        if not tested:
            unit = view_of(runs[0].kind).unit
            return None, [f"not tested: {', '.join(measures)} cannot be compared {unit} by {unit}"]
        return compare_runs(runs, measures=tested), []
    except DialgaugeError as error:
        return None, [f"not tested: {error}"]


def _row(
    run: Run, rank: str, scores: Sequence[tuple[Score | None, str]], unlike: Mapping[str, Sequence[str]]
) -> BoardRow:
    cells = [BoardScore(score, letters) for score, letters in scores]
    return BoardRow(run, rank, cells, run.coverage.complete, scored(run.coverage), unlike[run.id])


def _sorted(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Best first by the first measure; undefined values last, equal ones by name."""

    def key(row: BoardRow) -> tuple[bool, float, str]:
        score = row.scores[0].score if row.scores else None
        value = score.value if score is not None else None
        if score is None or value is None or value != value:
            return True, 0.0, row.run.name
        return False, value if score.higher_is_better is False else -value, row.run.name

    return sorted(rows, key=key)
