"""Comparing runs of any kind, in memory and stored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from dialgauge.comparison import (
    compare_runs,
)
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Count, Coverage, Score, Scores, Signature
from dialgauge.runs import Run, Store, new_run
from dialgauge.text import note_kind
from runs.contract import assert_run_contract

KINDS = ("tracking", "responses", "users", "interaction", "juggling")

Sums = Mapping[str, tuple[float, float]]


def scored(
    sums: Sums, unit: str = "share", *, higher_is_better: bool = True, signature: Mapping[str, str] | None = None
) -> Scores:
    """The scores of one measure; ``sums`` maps a dialogue to its numerator and denominator."""
    num, den = (np.array([pair[place] for pair in sums.values()], dtype=float) for place in (0, 1))
    score = Score(
        value=float(num.sum() / den.sum()),
        unit=unit,
        higher_is_better=higher_is_better,
        lower=0.0,
        upper=1.0 if unit == "share" else None,
        signature=Signature(measure="accuracy", **(signature or {})).long(),
    )
    count = Count(expected=len(sums), read=len(sums), scored=len(sums), failed=0)
    return Scores(
        dialogues=list(sums),
        sums={"accuracy": (num, den)},
        scores={"accuracy": score},
        coverage=Coverage({"dialogues": count}),
    )


def run_of(name: str, kind: str, sums: Sums, replies: str = "yes", **parts: str) -> Run:
    corpus = [
        Dialogue(id=one, turns=(Turn(speaker="user", text="hello"), Turn(speaker="system", text=replies)))
        for one in sums
    ]
    return new_run(kind=kind, name=name, scores=scored(sums, signature=parts), corpus=corpus)


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_run_compares_in_memory_and_stored_alike(kind: str, tmp_path: Path) -> None:
    first = run_of("a", kind, {f"D{place}": (place % 3, 3) for place in range(9)})
    second = run_of("b", kind, {f"d{place}.json": (place % 2, 3) for place in range(8, -1, -1)})
    store = Store(tmp_path)
    direct = compare_runs([first, second], resamples=200)
    stored = compare_runs([store.add(run).id for run in (first, second)], store=store, resamples=200)
    for run in (first, second):
        assert_run_contract(run)
    assert direct.systems == stored.systems == ("a", "b")
    assert direct.dialogues == tuple(f"D{place}" for place in range(9))
    assert list(direct.differences()) == list(stored.differences())
    assert direct.corpus_values.tolist() == [[pytest.approx(1 / 3)], [pytest.approx(4 / 27)]]
    pages = [{name: table.records() for name, table in one.page().tables.items()} for one in (direct, stored)]
    assert pages[0] == pages[1]


def test_equal_names_have_the_ends_of_their_ids(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.add(run_of("ranker", "responses", {"d1": (1, 2), "d2": (2, 2)})).id
    second = store.add(run_of("ranker", "responses", {"d1": (0, 2), "d2": (1, 2), "d3": (0, 1)})).id
    compared = compare_runs([first, second], store=store, resamples=50)
    assert compared.systems == tuple(f"ranker ({run.rpartition('-')[2]})" for run in (first, second))
    assert compared.corpus_values.tolist() == [[0.75], [0.25]]
    assert compared.turn_scores == {}
    assert compared.notes[0] == f"{compared.systems[0]} lacks 1 of 3 dialogues"
    assert [note_kind(note) for note in compared.notes] == ["lacking", "shared_only"]


def test_runs_of_different_kinds_are_not_compared() -> None:
    runs = [run_of("a", "juggling", {"d1": (1, 2)}), run_of("b", "chess", {"d1": (0, 2)})]
    with pytest.raises(DialgaugeError, match=r"runs of different kinds .* a \(juggling\), b \(chess\)"):
        compare_runs(runs)


def test_other_settings_are_a_warning() -> None:
    runs = [run_of(name, "chess", {"d1": (1, 2)}, profile=name * 2, dialogues="1", gold="g") for name in ("a", "b")]
    assert compare_runs(runs, resamples=20).notes == (
        "the runs were scored with different settings (profile), so differences may come from that: a aa; b bb",
    )
    (warning,) = compare_runs(runs, resamples=20).page().warnings
    assert warning.startswith("The runs were scored with different settings (profile)")


def test_another_gold_counts_where_the_sizes_agree() -> None:
    sums = {"d1": (1.0, 2.0)}
    pairs = [
        [run_of(name, "chess", sums, gold=name, dialogues=size) for name, size in zip("ab", sizes, strict=True)]
        for sizes in (("1", "1"), ("1", "2"))
    ]
    assert [len(compare_runs(runs, resamples=20).notes) for runs in pairs] == [1, 0]


def test_a_measure_computed_in_two_ways_is_said() -> None:
    runs = [new_run(kind="chess", name=name, scores=scored({"d1": (1, 2)})) for name in ("a", "b")]
    other = runs[1].scores["accuracy"]
    changed = Score(value=other.value, signature=Signature(measure="accuracy(rule=paper)").long())
    runs[1].scores["accuracy"] = changed
    assert compare_runs(runs, resamples=20).notes == (
        "accuracy does not mean the same for all systems: a accuracy; b accuracy(rule=paper)",
    )


def lengths() -> list[Run]:
    """Two runs of a measure of which less is better: a has the shorter dialogues."""
    ids = [f"D{place}" for place in range(40)]
    sums = {
        "a": dict.fromkeys(ids, (5.0, 1.0)),
        "b": {one: (7.0 + (place % 2), 1.0) for place, one in enumerate(ids)},
    }
    return [
        new_run(kind="chess", name=name, scores=scored(values, "turns", higher_is_better=False))
        for name, values in sums.items()
    ]


def test_contrary_directions_are_refused() -> None:
    first, second = lengths()
    second.scores["accuracy"] = Score(value=7.5, higher_is_better=True)
    with pytest.raises(DialgaugeError, match="higher values of accuracy are better in one run"):
        compare_runs([first, second])


def test_the_dialogues_that_make_the_difference_are_listed_with_the_first_turn_that_differs() -> None:
    sums = {f"D{place}": (1.0, 1.0) for place in range(3)}
    runs = [run_of("a", "chess", sums, "yes"), run_of("b", "chess", {**sums, "D1": (0.0, 1.0)}, "no")]
    (row,) = compare_runs(runs, resamples=20).page(["divergences"]).tables["divergences"].records()
    assert (row["dialogue"], row["a"], row["b"]) == ("D1", 1.0, 0.0)
    assert row["adds"] == pytest.approx(1 / 3)


def test_measures_that_are_no_sums_are_named() -> None:
    def with_mean(name: str, *, alone: bool) -> Run:
        part = scored({"d1": (1, 2)})
        scores = {**({} if alone else part.scores), "F1(average=slot)": Score(value=0.5)}
        return new_run(
            kind="chess", name=name, scores=Scores(dialogues=["d1"], sums={} if alone else part.sums, scores=scores)
        )

    compared = compare_runs([with_mean("a", alone=False), with_mean("b", alone=False)], resamples=20)
    assert compared.measures == ("accuracy",)
    assert any("F1(average=slot) cannot be compared" in note for note in compared.notes)
    with pytest.raises(DialgaugeError, match="name another measure too"):
        compare_runs([with_mean("a", alone=True), with_mean("b", alone=True)])


def test_mistakes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.add(run_of("a", "chess", {"d1": (1, 2)})).id
    empty = store.add(new_run(kind="chess", name="empty")).id
    with pytest.raises(DialgaugeError, match="at least two runs"):
        compare_runs([first], store=store)
    with pytest.raises(DialgaugeError, match="compared with itself"):
        compare_runs([first, first], store=store)
    with pytest.raises(
        DialgaugeError, match=r"the run 'empty' .* has no scores of dialogues, so it cannot be compared"
    ):
        compare_runs([first, empty], store=store)
    with pytest.raises(DialgaugeError, match="no run 'zzz'"):
        compare_runs([first, "zzz"], store=store)
