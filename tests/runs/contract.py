"""What every run must be, whatever family made it, in memory or stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars
import pytest

from dialgauge.measures import Count, Coverage, Score, Scores, Signature, parse_measure
from dialgauge.runs import Run, plain

FIXED: dict[str, dict[str, polars.DataType]] = {
    "dialogues": {
        "dialogue": polars.String(),
        "turns": polars.Int64(),
        "domains": polars.List(polars.String()),
        "goal": polars.String(),
        "outcome": polars.String(),
    },
    "turns": {
        "dialogue": polars.String(),
        "turn": polars.Int64(),
        "speaker": polars.String(),
        "text": polars.String(),
        "record": polars.String(),
    },
    "dialogue_scores": {
        "dialogue": polars.String(),
        "measure": polars.String(),
        "num": polars.Float64(),
        "den": polars.Float64(),
    },
}


def assert_run_contract(run: Run) -> None:
    """Fixed tables, scores that say all about themselves, coverage with units, sums that give the values."""
    assert list(run.tables)[:3] == list(FIXED)
    for name, columns in FIXED.items():
        assert dict(run.table(name).schema) == columns, name
    _assert_tables(run)
    _assert_dialogues(run)
    _assert_scores(run)
    _assert_sums(run)
    _assert_coverage(run.coverage, scored=bool(run.scores))
    manifest = run.manifest
    assert (manifest.kind, manifest.name, manifest.schema_version) == (run.kind, run.name, 3)
    assert manifest.versions["dialgauge"]
    assert plain(manifest.details) == manifest.details
    assert all(isinstance(note, str) for note in run.notes)
    if run.stored:
        run.verify()


def _assert_tables(run: Run) -> None:
    for name in run.tables:
        frame = run.table(name)
        assert run.rows(name) == frame.height, name
        assert "run" not in {column.lower() for column in frame.columns}, name


def _assert_dialogues(run: Run) -> None:
    dialogues, turns = run.table("dialogues"), run.table("turns")
    rebuilt = list(run.dialogues())
    assert dialogues["dialogue"].is_unique().all()
    assert [one.id for one in rebuilt] == dialogues["dialogue"].to_list()
    assert [len(one.turns) for one in rebuilt] == dialogues["turns"].to_list()
    said = [(one.id, place, turn.speaker, turn.text) for one in rebuilt for place, turn in enumerate(one.turns)]
    assert said == turns.select("dialogue", "turn", "speaker", "text").rows()


def _assert_scores(run: Run) -> None:
    for name, score in run.scores.items():
        assert score.unit, f"{name} has no unit"
        if score.higher_is_better is None:
            assert parse_measure(name).card.higher_is_better is None, f"{name} has no direction"
        signature = Signature.parse(score.signature)
        assert signature["measure"], f"the signature of {name} names no measure"
        for part, value in Signature.parse(run.signature).items():
            assert part == "interval" or signature.get(part) == value, f"{name} does not share {part}"
        if score.value is not None:
            assert score.lower is None or score.value >= score.lower - 1e-12, name
            assert score.upper is None or score.value <= score.upper + 1e-12, name
        assert (score.low is None) == (score.high is None), name
        if score.low is not None and score.high is not None:
            assert score.low <= score.high, name


def _assert_sums(run: Run) -> None:
    scores = run.table("dialogue_scores")
    assert set(scores["dialogue"]) <= set(run.table("dialogues")["dialogue"])
    assert not scores.select("dialogue", "measure").is_duplicated().any()
    sums = scores.group_by("measure", maintain_order=True).agg(polars.col("num", "den").sum())
    assert set(sums["measure"]) <= set(run.scores)
    for measure, num, den in sums.rows():
        assert run.scores[measure].value == pytest.approx(num / den, rel=1e-9, abs=1e-12), measure
    assert scores.height == 0 or (scores["den"] > 0).all()


def _assert_coverage(coverage: Coverage, *, scored: bool) -> None:
    assert bool(coverage.units) or not scored
    for unit, count in coverage.units.items():
        assert unit, "a count has no unit"
        assert None not in (count.expected, count.read, count.scored, count.failed), unit
        assert (count.scored or 0) + (count.failed or 0) <= max(count.expected or 0, count.read or 0), unit


def scores_of(dialogues: Sequence[str], sums: Mapping[str, tuple[list[float], list[float]]]) -> Scores:
    """Scores for tests that care for runs, not for measures."""
    arrays = {name: (np.array(num), np.array(den)) for name, (num, den) in sums.items()}
    scores = {
        name: Score(
            value=float(num.sum() / den.sum()),
            unit="share",
            higher_is_better=True,
            lower=0.0,
            upper=1.0,
            signature=Signature(measure=name, gold="ab").long(),
        )
        for name, (num, den) in arrays.items()
    }
    count = Count(expected=len(dialogues), read=len(dialogues), scored=len(dialogues), failed=0)
    return Scores(dialogues=dialogues, sums=arrays, scores=scores, coverage=Coverage({"dialogues": count}))
