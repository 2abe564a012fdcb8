"""A run that was sent from one process to another is stored as it would have been at once."""

from __future__ import annotations

from pathlib import Path

import polars

from dialgauge.files import parquet_bytes
from dialgauge.runs import Store, TableParts, new_run, packed_run, unpacked_run


def test_a_run_that_was_sent_is_stored_with_the_same_files(tmp_path: Path) -> None:
    rows = {"dialogue": ["a", "b"], "measure": ["JGA", "JGA"], "num": [1.0, 0.0], "den": [1.0, 1.0]}
    scores = polars.DataFrame(rows)
    plain = new_run(kind="tasks", name="one", tables={"more": scores})
    at_once = Store(tmp_path / "at once").add(plain)
    for number, sent in enumerate((plain, unpacked_run(packed_run(plain)), unpacked_run(packed_run(at_once)))):
        stored = Store(tmp_path / str(number)).add(sent)
        assert {name: info.sha256 for name, info in stored.tables.items()} == {
            name: info.sha256 for name, info in at_once.tables.items()
        }
        assert {path.name for path in stored.path.iterdir()} == {"run.json", "dialogue_scores.parquet", "more.parquet"}
        assert stored.table("more").equals(scores)
        assert stored.tables["more"].parts == 0


def test_pieces_become_one_table_on_their_way(tmp_path: Path) -> None:
    row = {"dialogue": ["a"], "measure": ["JGA"], "num": [1.0], "den": [1.0]}
    pieces = [parquet_bytes(polars.DataFrame(row | {"dialogue": [name]})) for name in "ab"]
    run = new_run(kind="tracking", name="many", dialogue_scores=TableParts(pieces))
    stored = Store(tmp_path).add(unpacked_run(packed_run(run)))
    assert stored.table("dialogue_scores")["dialogue"].to_list() == ["a", "b"]
    assert stored.tables["dialogue_scores"].parts == 0
