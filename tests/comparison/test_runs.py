"""Comparing runs of any kind, in memory and stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars
import pytest

from dialgauge import kinds
from dialgauge.comparison import (
    MISSING_OPTIONS,
    ComparisonOptions,
    ComparisonView,
    ItemDifference,
    TurnDivergence,
    compare_runs,
    comparison_figures,
    comparison_json,
    comparison_tables,
    pair_table,
    score_table,
    view_of,
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
    options = ComparisonOptions(("pearson",), show=2)
    tables = [[table.render("csv") for table in comparison_tables(one, options)] for one in (direct, stored)]
    assert tables[0] == tables[1]
    assert set(comparison_figures(direct)) >= {"intervals", "mean_spread"}


def test_names_that_do_not_tell_runs_apart_give_way_to_ids(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.add(run_of("ranker", "responses", {"d1": (1, 2), "d2": (2, 2)})).id
    second = store.add(run_of("ranker", "responses", {"d1": (0, 2), "d2": (1, 2), "d3": (0, 1)})).id
    compared = compare_runs([first, second], store=store, resamples=50)
    assert compared.systems == (first, second)
    assert compared.corpus_values.tolist() == [[0.75], [0.25]]
    assert compared.turn_scores == {}
    assert compared.notes[0] == f"{first} lacks 1 of 3 dialogues"
    assert [note_kind(note) for note in compared.notes] == ["lacking", "shared_only", MISSING_OPTIONS]
    document = comparison_json(compared)
    assert [*zip(document["note_kinds"], document["notes"], strict=True)] == [
        (note_kind(note), note) for note in compared.notes
    ]


def test_runs_of_different_kinds_are_not_compared() -> None:
    runs = [run_of("a", "juggling", {"d1": (1, 2)}), run_of("b", "chess", {"d1": (0, 2)})]
    with pytest.raises(DialgaugeError, match=r"runs of different kinds .* a \(juggling\), b \(chess\)"):
        compare_runs(runs)


def test_other_settings_are_a_warning() -> None:
    runs = [run_of(name, "chess", {"d1": (1, 2)}, profile=name * 2, dialogues="1", gold="g") for name in ("a", "b")]
    assert compare_runs(runs, resamples=20).notes == (
        "the runs were scored with different settings (profile), so differences may come from that: a aa; b bb",
    )
    text = score_table(compare_runs(runs, resamples=20)).render("markdown")
    assert "The runs were scored with different settings (profile)" in text


def test_another_gold_counts_where_the_sizes_agree() -> None:
    sums = {"d1": (1.0, 2.0)}
    pairs = [
        [run_of(name, "chess", sums, gold=name, dialogues=size) for name, size in zip("ab", sizes, strict=True)]
        for sizes in (("1", "1"), ("1", "2"))
    ]
    assert [len(compare_runs(runs, resamples=20).notes) for runs in pairs] == [1, 0]


def test_runs_may_differ_in_what_is_compared() -> None:
    runs = [
        run_of(name, "responses", {"d1": (1, 2)}, model=name, task="1", replies=name) for name in ("rules", "tfidf")
    ]
    assert compare_runs(runs, resamples=20).notes == ()


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


def test_direction_and_unit_are_honoured() -> None:
    compared = compare_runs(lengths(), resamples=200)
    difference = compared.difference("a", "b", "accuracy")
    assert (difference.difference, difference.better, difference.wins, difference.losses) == (-2.5, "a", 40, 0)
    assert compared.difference("b", "a", "accuracy").better == "a"
    assert json.loads(pair_table(compared).render("json"))["rows"][0]["verdict"] == "a is better"
    text = score_table(compared).render("markdown")
    assert "| a | **5.0000** " in text
    assert "Lower is better: accuracy." in text
    assert "ercent" not in text


def test_shares_are_percent_on_the_screen_and_fractions_in_files() -> None:
    runs = [run_of(name, "chess", {"d1": (right, 4), "d2": (right, 4)}) for name, right in (("a", 3), ("b", 2))]
    table = score_table(compare_runs(runs, resamples=20))
    assert "75.00" in table.render("markdown") and "**75.00**" not in table.render("markdown")  # two are too few
    assert "In percent; CSV and JSON have fractions." in table.notes
    assert table.records()[0]["accuracy"] == 0.75


def test_contrary_directions_are_refused() -> None:
    first, second = lengths()
    second.scores["accuracy"] = Score(value=7.5, higher_is_better=True)
    with pytest.raises(DialgaugeError, match="higher values of accuracy are better in one run"):
        compare_runs([first, second])


def test_what_was_said_is_compared_where_no_family_knows_better() -> None:
    sums = {f"D{place}": (1.0, 1.0) for place in range(3)}
    first, second = run_of("a", "chess", sums, "yes"), run_of("b", "chess", {**sums, "D1": (0.0, 1.0)}, "no")
    compared = compare_runs([first, second], resamples=20)
    assert compared.divergence("a", "b", "d1.json") == TurnDivergence(
        1, 1, (ItemDifference("system", None, "yes", "no"),)
    )
    *_, dialogues, items = comparison_tables(compared, ComparisonOptions(show=3))
    assert dialogues.records()[0] | {"turns that differ": 1, "first such turn": 1} == dialogues.records()[0]
    assert items.records() == [{"dialogue": "D1", "turn": 1, "item": "system", "a": "yes", "b": "no"}]
    same = compare_runs([first, run_of("c", "chess", sums, "yes")], resamples=20)
    assert same.divergence("a", "c", "D1") is None


def test_a_longer_dialogue_diverges_where_the_other_ends() -> None:
    sums = {"D": (1.0, 1.0)}
    turns = (Turn(speaker="user", text="hello"), Turn(speaker="system", text="yes"), Turn(speaker="user", text="bye"))
    runs = [
        new_run(kind="chess", name=name, scores=scored(sums), corpus=[Dialogue(id="D", turns=turns[:size])])
        for name, size in (("a", 3), ("b", 1))
    ]
    compared = compare_runs(runs, resamples=20)
    assert compared.divergence("a", "b", "D") == TurnDivergence(1, 2, (ItemDifference("system", None, "yes", "-"),))


def test_json_has_the_layout_of_scores() -> None:
    runs = [run_of(name, "chess", {"d1": (right, 4), "d2": (1, 4)}, name) for name, right in (("a", 3), ("b", 2))]
    content = comparison_json(compare_runs(runs, resamples=20), ComparisonOptions(show=1))
    content = json.loads(json.dumps(content, allow_nan=False))
    assert [system["name"] for system in content["systems"]] == ["a", "b"]
    score = content["systems"][0]["scores"]["accuracy"]
    assert set(score) == {"value", "low", "high", "signature"}
    assert score["value"] == 0.5
    assert Signature.parse(score["signature"])["dialogues"] == "2"
    assert Signature.parse(score["signature"])["interval"] == "0.95-studentised-1000-0"
    assert content["divergences"]["b"][0] == {
        "dialogue": "d1", "first": 0.75, "second": 0.5, "size": 0.125, "turn": 1, "turns": 1,
        "items": [{"item": "system", "gold": None, "first": "a", "second": "b"}],
    }  # fmt: skip
    assert content["differences"][0]["better"] == "a"


def test_measures_can_be_chosen() -> None:
    runs = [run_of(name, "chess", {"d1": (1, 2)}) for name in ("a", "b")]
    assert compare_runs(runs, measures=["accuracy"], resamples=20).measures == ("accuracy",)
    with pytest.raises(DialgaugeError, match=r"no measure 'acuracy'\. Did you mean 'accuracy'"):
        compare_runs(runs, measures=["acuracy"])


class JugglingView(ComparisonView):
    """A family that scores turns and has a table of its own."""

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        size = 2 if run.name == "a" else 1
        return polars.DataFrame({"dialogue": ["d1", "d1", "d2"][: size + 1], "turn": [0, 1, 0][: size + 1]})


def test_a_view_says_which_turns_were_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.BUILT_IN, "juggling", f"{__name__}:KIND")
    runs = [run_of(name, "juggling", {"d1": (1, 2), "d2": (1, 2)}) for name in ("a", "b")]
    compared = compare_runs(runs, resamples=20)
    assert compared.dialogues == ("d1",)
    assert compared.turn_scores["a"]["turn"].to_list() == [0, 1]
    with pytest.raises(DialgaugeError, match="juggling runs like these have no data for a sweep"):
        comparison_tables(compared, ComparisonOptions(extras=("sweep",)))


VIEW = JugglingView()
KIND = kinds.Kind("juggling", comparison=f"{__name__}:VIEW")


@pytest.mark.parametrize("kind", sorted(kinds.BUILT_IN))
def test_every_family_of_ours_hands_over_a_view(kind: str) -> None:
    assert isinstance(view_of(kind), ComparisonView)


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


def test_short_forms() -> None:
    runs: Sequence[Run] = [run_of(name, "chess", {"d1": (1, 2)}) for name in ("a", "b")]
    compared = compare_runs(runs, resamples=20)
    assert repr(compared) == "<Comparison of a, b: 1 measure, 1 dialogue>"
    assert compared._repr_html_().count("<table>") == 4
    assert "<caption>chess a</caption>" in runs[0]._repr_html_()


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


def test_gold_states_beside_predicted_ones_are_no_ranking() -> None:
    runs = [run_of(name, "tasks", {"d1": (1, 2)}, states=states) for name, states in (("a", "file"), ("b", "gold"))]
    (note,) = compare_runs(runs, resamples=20).notes
    assert note.endswith("do not rank it with end-to-end systems")
