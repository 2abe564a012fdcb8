from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars
import pytest
from msgspec.structs import replace

from dialgauge.comparison.document import Wishes, comparison_tables
from dialgauge.comparison.figures import drawings
from dialgauge.comparison.scores import scores_from_rows
from dialgauge.comparison.slots import domain_f1
from dialgauge.comparison.stored import compare_runs
from dialgauge.comparison.trackers import compare_results
from dialgauge.errors import DialgaugeError
from dialgauge.runs.store import Store
from dialgauge.tracking.api import score
from dialgauge.tracking.keep import store_results
from dialgauge.tracking.results import Results
from support.trackers import gold_dialogues, tracker


@pytest.fixture(scope="module")
def results() -> Results:
    gold = gold_dialogues()
    return score(gold, {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.3, 2)}, intervals=False)


def kept(results: Results, folder: Path) -> tuple[Store, list[str]]:
    store = Store(folder)
    return store, store_results(results, store, paths={}, gold=None, config={})


def test_runs_give_the_numbers_of_their_files(results: Results, tmp_path: Path) -> None:
    store, ids = kept(results, tmp_path)
    stored, direct = compare_runs(ids, store, resamples=200), compare_results(results, resamples=200)
    assert stored.systems == ("good", "bad")
    assert list(stored.differences()) == list(direct.differences())
    wishes = Wishes(("pearson",), sweep=True)
    titles = [table.title for table in comparison_tables(stored, wishes)]
    assert titles == [table.title for table in comparison_tables(direct, wishes)]
    assert comparison_tables(stored, wishes)[-1].render("csv") == comparison_tables(direct, wishes)[-1].render("csv")


def test_turn_by_turn_from_tables_alone(results: Results, tmp_path: Path) -> None:
    store, ids = kept(results, tmp_path)
    told = comparison_tables(compare_runs(ids, store, resamples=50), Wishes(show=2))
    assert told[-1].title == "Slots on which good and bad differ"
    direct = comparison_tables(compare_results(results, resamples=50), Wishes(show=2))
    for mine, theirs in zip(told[-2].records(), direct[-2].records(), strict=True):
        # Counts can agree where states do not, so tables alone see fewer turns that differ.
        assert mine.pop("turns that differ") <= theirs.pop("turns that differ")
        assert mine == theirs


def test_figures_from_tables_alone(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    store, ids = kept(results, tmp_path)
    stored = compare_runs(ids, store, resamples=20)
    direct = drawings(compare_results(results, resamples=20))
    found = drawings(stored)
    assert set(direct) - set(found) == {"domains_JGA", "domains_RSA"}
    assert found["slots_per_dialogue"]().to_dict() == direct["slots_per_dialogue"]().to_dict()
    assert found["domains_F1"]().to_dict()
    for system, error, seed in (("good", 0.05, 1), ("bad", 0.3, 2)):
        assert domain_f1(stored.slot_frames[system]) == pytest.approx(f1_by_domain(error, seed))


def f1_by_domain(error: float, seed: int) -> dict[str, float]:
    """Straight from the states: these trackers only miss slots, so F1 is 2C / (2C + D)."""
    right, missed = Counter[str](), Counter[str]()
    gold = gold_dialogues()
    for wanted, got in zip(gold, tracker(gold, error, seed), strict=True):
        for one, other in zip(wanted.turns, got.turns, strict=True):
            for domain, slots in (one.state or {}).items():
                found = len((other.predicted or {}).get(domain, {}))
                right[domain] += found
                missed[domain] += len(slots) - found
    return {domain: 2 * right[domain] / (2 * right[domain] + missed[domain]) for domain in right}


def other(store: Store, name: str, kind: str, scores: dict[str, tuple[float, float]], signature: str = "s") -> str:
    frame = polars.DataFrame(
        {
            "dialogue": list(scores),
            "measure": ["accuracy"] * len(scores),
            "num": [num for num, _ in scores.values()],
            "den": [den for _, den in scores.values()],
        }
    )
    with store.create(kind=kind, name=name, signature=signature) as run:
        run.table("dialogue_scores", frame)
    return run.id


def test_any_kind_of_run_compares(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = other(store, "ranker", "responses", {"d1": (1, 2), "d2": (2, 2)})
    second = other(store, "ranker", "responses", {"d1": (0, 2), "d2": (1, 2), "d3": (0, 1)})
    compared = compare_runs([first, second], store, resamples=50)
    assert compared.systems == (first, second)
    assert compared.values.tolist() == [[0.75], [0.25]]
    assert compared.turn_frames == {}
    assert "1 of 3 dialogues" in compared.scores.notes[0]
    titles = [table.title for table in comparison_tables(compared, Wishes(("pearson",), show=1))]
    assert titles[-1].startswith("Where ")
    with pytest.raises(DialgaugeError, match="λ sweep needs the error type"):
        comparison_tables(compared, Wishes(sweep=True))


def test_unlike_runs_are_compared_with_a_warning(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = [
        other(store, "a", "tracking", {"d1": (1, 2)}, "profile:canon"),
        other(store, "b", "responses", {"d1": (0, 2)}, "profile:plain"),
    ]
    notes = compare_runs(ids, store, resamples=20).scores.notes
    assert notes[0] == "the runs are of different kinds: responses, tracking"
    assert notes[1] == (
        "the runs were scored with a different profile, so differences may come from that: a canon; b plain"
    )


def test_runs_may_differ_in_what_is_compared(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = [
        other(store, name, "responses", {"d1": (1, 2)}, f"model:{name}|task:1|responses:9")
        for name in ("rules", "tfidf")
    ]
    assert compare_runs(ids, store, resamples=20).scores.notes == ()


def test_other_turns_and_other_gold_are_said(tmp_path: Path) -> None:
    gold = gold_dialogues(seed=5)
    theirs = score(gold, {"other": tracker(gold, 0.1, 1)}, measures=["JGA"], intervals=False)
    mine = score(gold_dialogues(), {"mine": tracker(gold_dialogues(), 0.1, 1)}, measures=["JGA"], intervals=False)
    store, (first,) = kept(mine, tmp_path)
    _, (second,) = kept(theirs, tmp_path)
    compared = compare_runs([first, second], store, resamples=20)
    assert any("left out: the systems were scored on different turns" in note for note in compared.scores.notes)
    again = score(
        [replace(one, turns=tuple(replace(turn, state={}) for turn in one.turns)) for one in gold_dialogues()],
        {"again": tracker(gold_dialogues(), 0.1, 1)},
        measures=["JGA"],
        intervals=False,
    )
    _, (third,) = kept(again, tmp_path)
    notes = compare_runs([first, third], store, resamples=20).scores.notes
    assert any(note.startswith("the runs were scored with other gold states") for note in notes)


def test_measures_of_the_whole_stand_before_those_of_parts() -> None:
    rows = [("d1", "F1[hotel]", 1.0, 1.0), ("d1", "F1", 1.0, 1.0)]
    assert scores_from_rows({"a": rows, "b": rows}).measures == ("F1", "F1[hotel]")


def test_mistakes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = other(store, "a", "tracking", {"d1": (1, 2)})
    with store.create(kind="lab", name="empty") as run:
        run.scores = {}
    with pytest.raises(DialgaugeError, match="at least two runs"):
        compare_runs([first], store)
    with pytest.raises(DialgaugeError, match="compared with itself"):
        compare_runs([first, first], store)
    with pytest.raises(DialgaugeError, match="has no table dialogue_scores"):
        compare_runs([first, run.id], store)
    with pytest.raises(DialgaugeError, match="no run 'zzz'"):
        compare_runs([first, "zzz"], store)
