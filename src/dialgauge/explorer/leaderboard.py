"""A leaderboard: one static page from all runs of a store; what was not measured alike is never ranked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge._version import __version__
from dialgauge.comparison import Comparison, comparable_signature, compare_runs, paired_measures, standings, view_of
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.report_file import compact, style_sheet
from dialgauge.explorer.templating import render
from dialgauge.files import atomic

if TYPE_CHECKING:
    from dialgauge.measures import Score
    from dialgauge.runs import Run

#: Columns of a board.
_MEASURES = 6


@dataclass(frozen=True)
class BoardScore:
    """A score on the board; letters are shared by runs that cannot be told apart."""

    score: Score | None
    letters: str = ""


@dataclass(frozen=True)
class BoardRow:
    """A run on the board; ``rank`` is the range of ranks that the tests leave it, empty where nothing was tested."""

    run: Run
    rank: str
    scores: Sequence[BoardScore]
    complete: bool


@dataclass(frozen=True)
class Board:
    """Runs that were measured alike, best first by the first measure."""

    kind: str
    signature: str
    measures: Sequence[str]
    rows: Sequence[BoardRow]
    note: str


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
    """A board for each kind and signature, those with several runs first. Runs without scores are on none."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.scores:
            groups.setdefault((run.kind, comparable_signature(run)), []).append(run)
    made = [_board(kind, signature, members) for (kind, signature), members in groups.items()]
    return sorted(made, key=lambda board: (len(board.rows) == 1, board.kind, -len(board.rows), board.signature))


def _board(kind: str, signature: str, runs: Sequence[Run]) -> Board:
    shared = [name for name in runs[0].scores if all(name in run.scores for run in runs)]
    measures = list(view_of(kind).headlines(shared))[:_MEASURES]
    comparison, notes = _compared(runs, measures)
    if comparison is None:
        rows = [_row(run, "", measures, {}) for run in _sorted(runs, measures)]
        return Board(kind, signature, measures, rows, "; ".join(notes))
    letters = dict(zip(comparison.measures, standings(comparison), strict=True))
    place = {run.id: at for at, run in enumerate(comparison.runs.values())}
    first = letters.get(measures[0])
    rows = [
        _row(
            run,
            first.ranks(place[run.id]) if first else "",
            measures,
            {name: letter.letters[place[run.id]] for name, letter in letters.items()},
        )
        for run in _sorted(runs, measures)
    ]
    return Board(kind, signature, measures, rows, "; ".join(comparison.notes))


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


def _row(run: Run, rank: str, measures: Sequence[str], letters: dict[str, str]) -> BoardRow:
    scores = [BoardScore(run.scores.get(name), letters.get(name, "")) for name in measures]
    return BoardRow(run, rank, scores, run.coverage.complete)


def _sorted(runs: Sequence[Run], measures: Sequence[str]) -> list[Run]:
    """Best first by the first measure; undefined values last, equal ones by name."""

    def key(run: Run) -> tuple[bool, float, str]:
        score = run.scores.get(measures[0]) if measures else None
        value = score.value if score is not None else None
        if score is None or value is None:
            return True, 0.0, run.name
        return False, value if score.higher_is_better is False else -value, run.name

    return sorted(runs, key=key)
