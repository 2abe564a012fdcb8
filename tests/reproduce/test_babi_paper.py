from __future__ import annotations

from pathlib import Path

import pytest

from turnwise.reproduce.babi import LEARNED, UNTRAINED, reproduce
from turnwise.reproduce.babi_cells import kept_results
from turnwise.reproduce.record import EXACT, IMPOSSIBLE
from turnwise.reproduce.tables import as_json, tables_by_part
from turnwise.responses.published import published


def test_without_data_everything_measured_is_said_to_be_missing() -> None:
    record = reproduce(None)
    assert any("dialog bAbI files" in line for line in record.missing)
    table_1 = [item for item in record.items if item.part == "Table 1"]
    assert len(table_1) == 6 * 4 + 4
    assert {item.verdict for item in table_1} == {IMPOSSIBLE}
    by_hand = [item for item in record.items if item.part in ("Table 8", "Table 9")]
    assert len(by_hand) == 12 and {item.verdict for item in by_hand} == {EXACT}


def test_every_learned_cell_of_the_paper_has_a_line() -> None:
    record = reproduce(None)
    for model, part in LEARNED.items():
        lines = [item for item in record.items if item.part == part and item.what.startswith(f"{model}, ")]
        assert len(lines) == 2 * len(published().columns)


def test_kept_results_hold_at_least_three_seeds_of_every_learned_model() -> None:
    kept = kept_results()
    if kept is None:
        pytest.skip("no results are kept with this version")
    for model in LEARNED:
        for task in range(1, 7):
            seeds = {cell.seed for cell in kept.cells if (cell.model, cell.task, cell.split) == (model, task, "tst")}
            assert len(seeds) >= 3, (model, task)


def test_where_kept_results_are_from_is_said_below_their_tables() -> None:
    kept, record = kept_results(), reproduce(None)
    assert kept is not None
    for part in ("Table 2", "Table 10"):
        table, *_ = tables_by_part(record)[part]
        assert any(f"{kept.command}' (commit {kept.commit}; {kept.hardware})" in note for note in table.notes)
        assert as_json(record)["notes"][part] == table.notes[:1]


def test_the_deterministic_numbers_of_the_paper_come_out(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwise.reproduce.babi.TASKS", (1, 6))
    monkeypatch.setattr("turnwise.reproduce.babi.UNTRAINED", {name: UNTRAINED[name] for name in ("tfidf", "nearest")})
    record = reproduce(shared_data)
    verdicts = {item.what: (item.verdict, item.ours) for item in record.items}
    assert verdicts["tfidf, T1: per-response"] == (EXACT, 331 / 5936)
    assert verdicts["tfidf, T1-OOV: per-response"] == (EXACT, 351 / 6020)
    assert verdicts["nearest, T6: per-response"] == (EXACT, 2461 / 11237)
