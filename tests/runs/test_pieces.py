"""Tables in several files, as many workers write them: read as one, and checked as one."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.runs import Run, Store, TableParts, new_run


@pytest.fixture
def stored(tmp_path: Path) -> Run:
    """A run whose sums are in three files."""
    rows = [{"dialogue": f"d{number}", "measure": "JGA", "num": 1.0, "den": 2.0} for number in range(6)]
    pieces = TableParts([parquet_bytes(polars.DataFrame(rows[at : at + 2])) for at in (0, 2, 4)])
    return Store(tmp_path / "runs").add(new_run(kind="tracking", name="many", dialogue_scores=pieces))


def _piece(run: Run, number: int) -> Path:
    assert run.path is not None
    return run.path / f"dialogue_scores-{number:05}.parquet"


def test_pieces_are_one_table(stored: Run) -> None:
    assert stored.table("dialogue_scores")["dialogue"].to_list() == [f"d{number}" for number in range(6)]
    assert stored.tables["dialogue_scores"].rows == 6
    assert [_piece(stored, number).exists() for number in range(4)] == [True, True, True, False]


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "exchanged"])
def test_a_damaged_piece_is_told(stored: Run, damage: str) -> None:
    content = _piece(stored, 1).read_bytes()
    if damage == "gone":
        _piece(stored, 1).unlink()
    elif damage == "exchanged":
        _piece(stored, 1).write_bytes(_piece(stored, 2).read_bytes())
        _piece(stored, 2).write_bytes(content)
    else:
        _piece(stored, 1).write_bytes(content[:-1] if damage == "cut" else content[:-1] + b"?")
    with pytest.raises(DialgaugeError, match=r"dialogue_scores-\*\.parquet: the run is damaged"):
        Store(stored.path.parent).open(stored.id).table("dialogue_scores")
