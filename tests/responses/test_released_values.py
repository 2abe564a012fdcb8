"""What the released files must give: the plateaus and the deterministic values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.agents import Rules
from dialgauge.rankers import EVALUATED, TfIdfTypes
from dialgauge.responses import column_of, evaluate, published, reply_classes, statistics_table
from support.babi_release import released_task
from support.soak import soak

#: Per-response accuracy on test and out-of-vocabulary test when only these are right.
PLATEAUS = {
    ("fixed",): {
        1: (83.15, 83.39), 2: (78.87, 78.86), 3: (74.90, 75.28), 4: (57.18, 56.98), 5: (67.69, 67.83),
    },
    ("fixed", "api"): {1: (100, 100), 2: (100, 100), 5: (78.56, 78.72)},
    ("fixed", "phone", "address"): {4: (100, 100), 5: (75.70, 75.94)},
    ("fixed", "option"): {3: (100, 100), 5: (81.11, 81.00)},
    ("fixed", "api", "phone", "address"): {5: (86.57, 86.83)},
}  # fmt: skip


@pytest.mark.parametrize("number", [1, soak(2), soak(3), soak(4), 5])
def test_plateaus(shared_data: Path, number: int) -> None:
    task = released_task(shared_data, number)
    for right, values in PLATEAUS.items():
        for split, value in zip(("tst", "tst-OOV"), values.get(number, ()), strict=False):
            names = [name.split()[0] for one in task.split(split) for name in reply_classes(one)]
            share = sum(name in right for name in names) / len(names)
            assert round(100 * share, 2) == value, (right, split)


@pytest.mark.parametrize("number", [1, soak(2), soak(3), soak(4), 5])
def test_rules_solve_the_simulated_tasks(shared_data: Path, number: int) -> None:
    task = released_task(shared_data, number)
    bot = Rules()
    bot.fit(task)
    for split in EVALUATED:
        result = evaluate(bot, task.split(split))
        assert (result.per_response, result.per_dialog) == (1.0, 1.0)


def test_rules_beat_the_papers_on_task_6(shared_data: Path) -> None:
    task = released_task(shared_data, 6)
    bot = Rules()
    bot.fit(task)
    assert evaluate(bot, task.split("tst")).per_response > 0.333


@pytest.mark.parametrize(("split", "value"), [soak("tst", 22.42), soak("tst-OOV", 22.44)])
def test_tfidf_with_types_on_task_1(shared_data: Path, split: str, value: float) -> None:
    """Without types, and nearest neighbours: tests/reproduce/test_babi_paper.py."""
    task = released_task(shared_data, 1)
    bot = TfIdfTypes()
    bot.fit(task)
    assert round(100 * evaluate(bot, task.split(split)).per_response, 2) == value


def test_statistics_and_the_joint_vocabulary(shared_data: Path) -> None:
    tasks = [released_task(shared_data, number) for number in range(1, 7)]
    table = statistics_table(tasks)
    assert "Vocabulary of T1 to T5 together: 3,746 (paper 3,747)." in table.notes
    counted = "in all dialogues, candidates and facts of the knowledge base."
    assert any(note.startswith("Vocabulary: different words") and note.endswith(counted) for note in table.notes)
    # 1,224 lower-cased words, those that stand in the knowledge base alone left out.
    assert any("T6 without what only the knowledge base has: 1,224 (paper 1,229;" in note for note in table.notes)
    assert table.records()[5]["vocabulary"] == 1241
    assert "together" not in " ".join(statistics_table(tasks[:4]).notes)
    rows = table.records()
    assert [row["candidates"] for row in rows] == [4212] * 5 + [2407]
    assert [round(row["api outputs"]) for row in rows[:5]] == [0, 0, 23, 7, 24]
    # An answer without results is an output too.
    assert [round(rows[5][name], 1) for name in ("user", "bot", "api outputs")] == [6.5, 8.9, 42.7]


def test_printed_numbers_are_the_papers(expected: Path) -> None:
    raw = json.loads((expected / "babi_paper.json").read_text())["table2"]
    names = {
        "rule_based": "rules",
        "tfidf": "tfidf",
        "tfidf_type": "tfidf-type",
        "nearest_neighbor": "nearest",
        "supervised_embeddings": "embeddings",
        "memn2n": "memn2n",
        "memn2n_match_type": "memn2n-type",
    }
    assert set(raw) == set(names)
    for theirs, ours in names.items():
        for column in published().columns:
            cell = raw[theirs][column]
            found = published().accuracy(ours, column)
            assert found is not None
            assert found == pytest.approx((cell["per_response"] / 100, (cell["per_dialog"] or 0) / 100)), (ours, column)


def test_columns_of_the_paper() -> None:
    assert column_of(5, "tst") == "T5"
    assert column_of(5, "dev") is None
    assert published().accuracy("typed", "T5") is None
    assert published().accuracy("rules", "T9") is None
