"""Version-1 manifests, each family in the shape it wrote, become version 2 as far as they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
import pytest

from dialgauge.measures import Count, Coverage, Score
from dialgauge.runs import Run, Store

ID = "20261115-104500-tracking-augpt-3f2a"


def upgraded(folder: Path, **changes: Any) -> Run:
    """A run as version 1 stored it."""
    place = folder / ID
    place.mkdir(parents=True)
    manifest = {
        "schema_version": 1,
        "id": ID,
        "kind": "tracking",
        "name": "augpt",
        "created": "2026-11-15T10:45:00Z",
        "command": ["dialgauge", "score"],
        "config": {"profile": "canon"},
        "seeds": [0],
        "inputs": [{"path": "gold.json", "files": 1, "size": 3, "sha256": "ab"}],
        "versions": {"dialgauge": "0.1.0"},
        "signature": "profile:canon|version:0.1.0",
        "coverage": {},
        "scores": {},
        "tables": {},
    }
    (place / "run.json").write_text(json.dumps({**manifest, **changes}))
    return Store(folder).open(ID)


def test_a_tracking_run(tmp_path: Path) -> None:
    coverage = {
        "scored": 5, "expected": 7, "policy": "intersection", "gold_dialogues": 3, "gold_turns": 7,
        "predicted_dialogues": 2, "predicted_turns": 5, "dialogues": 2, "turns": 5, "excluded": ["x"],
    }  # fmt: skip
    signature = "measure:JGA(over=turns)|profile:canon|version:0.1.0"
    scores = {
        "JGA": {"value": 0.5, "low": 0.4, "high": None, "signature": signature},
        "SGD-JGA": {"value": 0.25, "signature": "measure:SGD-JGA|version:0.1.0"},
    }
    run = upgraded(tmp_path, coverage=coverage, scores=scores)
    assert run.manifest.schema_version == 2
    assert run.scores["JGA"] == Score(value=0.5, low=0.4, signature=signature)
    assert (run.scores["JGA"].unit, run.scores["JGA"].higher_is_better) == (None, None)
    assert run.scores["SGD-JGA"].value == 0.25
    units = {"dialogues": Count(expected=3, read=2, scored=2), "turns": Count(expected=7, read=5, scored=5)}
    assert run.coverage == Coverage(units, "intersection")
    assert run.details == {"coverage": coverage}
    assert run.manifest.inputs[0].role == ""
    assert run.signature == "profile:canon|version:0.1.0"


def test_a_users_run(tmp_path: Path) -> None:
    coverage = {"dialogues": 10, "scored": 9, "failed": 1, "turns": 80}
    run = upgraded(tmp_path, kind="users", scores={"I-GCDF1": 0.5, "I-GCDF1[taxi]": None}, coverage=coverage)
    assert run.scores == {"I-GCDF1": Score(value=0.5), "I-GCDF1[taxi]": Score(value=None)}
    units = {"dialogues": Count(expected=10, scored=9, failed=1), "turns": Count(scored=80)}
    assert run.coverage == Coverage(units)


def test_a_run_of_replies(tmp_path: Path) -> None:
    run = upgraded(
        tmp_path,
        kind="responses",
        signature="model:tfidf|task:1|dialgauge:0.1.0",
        scores={"per-response": 1.0, "per-dialog": 0.0, "cell": {"task": 1, "mrr": 0.5}},
        coverage={"expected": 6, "read": 6, "scored": 6, "failed": 0},
    )
    assert run.scores == {"per-response": Score(value=1.0), "per-dialog": Score(value=0.0)}
    assert run.details == {"cell": {"task": 1, "mrr": 0.5}}
    assert run.coverage == Coverage({"replies": Count(expected=6, read=6, scored=6, failed=0)})
    assert run.signature == "model:tfidf|task:1|version:0.1.0"


def test_an_interaction(tmp_path: Path) -> None:
    record = {
        "task": 5, "half": "A", "dialogs": 10, "completed": 0.9, "per_response": 1.0, "per_dialog": 0.5,
        "failures": {"loop": 1},
    }  # fmt: skip
    run = upgraded(tmp_path, kind="interaction", scores=record)
    assert run.scores == {
        "completed": Score(value=0.9), "per-response": Score(value=1.0), "per-dialog": Score(value=0.5)
    }  # fmt: skip
    assert run.details == {"task": 5, "half": "A", "dialogs": 10, "failures": {"loop": 1}}
    assert run.coverage == Coverage()


def test_a_training(tmp_path: Path) -> None:
    run = upgraded(tmp_path, kind="training", scores={"dev": 0.75, "epochs": 3})
    assert (run.scores, run.details) == ({"dev": Score(value=0.75)}, {"epochs": 3})


def test_a_run_without_scores_has_the_fixed_tables_without_rows(tmp_path: Path) -> None:
    run = upgraded(tmp_path, kind="attention", coverage={"something": "else"})
    assert (run.scores, run.details) == ({}, {"coverage": {"something": "else"}})
    assert list(run.tables) == ["dialogues", "turns", "dialogue_scores"]
    for name in run.tables:
        assert run.table(name).height == 0
    assert list(run.dialogues()) == []
    run.verify()


def test_sql_sees_old_runs_too(tmp_path: Path) -> None:
    upgraded(tmp_path, kind="users", scores={"I-GCDF1": 0.5})
    store = Store(tmp_path)
    with store.create(kind="k", name="n") as run:
        run.table(
            "dialogue_scores", polars.DataFrame({"dialogue": ["a"], "measure": ["M"], "num": [1.0], "den": [1.0]})
        )
    assert store.sql("SELECT measure, value, unit FROM scores").rows() == [("I-GCDF1", 0.5, None)]
    assert store.sql("SELECT run FROM dialogue_scores").item() == run.id
    store.remove(ID)
    assert [manifest.id for manifest in store.list()] == [run.id]


@pytest.mark.parametrize("changes", [{"scores": []}, {"coverage": 3}, {"scores": {"a": True}}, {"signature": ""}])
def test_odd_old_manifests_are_read(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert upgraded(tmp_path, **changes).scores == {}
