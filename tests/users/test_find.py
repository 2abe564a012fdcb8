"""Finding conversations in fresh results and in stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run, Store
from dialgauge.users import Query, ScoredConversations, find


@pytest.fixture(scope="module")
def run(convlab_run: Run) -> Run:
    return convlab_run


def count(run: Run, **conditions: object) -> int:
    return find(run, Query(**conditions)).height  # type: ignore[arg-type]


def test_behaviours_are_counted_as_in_figure_2(run: Run) -> None:
    label = "multiple_constraint_informs/unmatched"
    assert count(run, behaviour=label, domain="restaurant") == 251
    assert count(run, behaviour=label, domain="hotel") == 175
    assert count(run, behaviour=label, domain="hotel", slot="type") == 6
    assert count(run, behaviour="repeated_while_booking", domain="train", slot="day") == 86


def test_labels_are_whole_wherever_they_are_compared(run: Run) -> None:
    """``unmatched`` stands in two trees: of repetitions, and of constraints that the goal does not have."""
    repeated, outside = "multiple_constraint_informs/unmatched", "constraints_not_in_goal/unmatched"
    assert count(run, behaviour=outside, verdict="repeated-penalised") == 0
    assert count(run, behaviour=repeated, verdict="out-of-goal") == 0
    assert count(run, behaviour=repeated, verdict="repeated-penalised") == count(run, behaviour=repeated) == 435
    assert count(run, behaviour=outside, verdict="out-of-goal") == count(run, behaviour=outside) > 0


def test_every_behaviour_is_found_with_its_verdict(run: Run) -> None:
    for behaviour, verdict in {
        "provision_slots": "pre-empted",
        "provision_entire_domain": "pre-empted",
        "single_repetitions_nog": "wrong-value",
        "missed_domain": "missing",
        "informed_wrong_value": "missing",
    }.items():
        assert count(run, behaviour=behaviour, verdict=verdict) == count(run, behaviour=behaviour) > 0, behaviour
    assert count(run, behaviour="provision_slots", verdict="pre-empted") == 85
    assert count(run, behaviour="repeated_inform", verdict="repeated-penalised") > 400


def test_lost_points_by_fault_and_reason(run: Run, convlab: ScoredConversations) -> None:
    for fault in ("user NLU", "user policy", "system NLU"):
        want = sum(
            any(each.cause == fault and each.fp + each.fn for each in score.verdicts) for score in convlab.results
        )
        assert count(run, fault=fault) == want > 0
    loops = sum(any("lost/loop" in each.labels for each in score.verdicts) for score in convlab.results)
    assert count(run, behaviour="lost/loop") == loops > 400


def test_limits_are_about_any_measure_of_the_run(run: Run, convlab: ScoredConversations) -> None:
    perfect = sum(
        score.scores["R-GCDF1"]["hotel"].recall == 1.0
        for score in convlab.results
        if "hotel" in score.scores["R-GCDF1"]
    )
    found = find(run, Query(measure="R-GCDF1 recall", domain="hotel", min_score=1.0))
    assert found.height == perfect > 0
    assert set(found["R-GCDF1 recall"]) == {1.0}
    assert count(run, measure="R-GCDF1 recall[hotel]", min_score=1.0) == perfect


def test_a_pattern_means_every_behaviour_it_fits(run: Run) -> None:
    either = count(run, behaviour="*_validation_failure")
    assert either == count(run, behaviour="nooffer_validation_failure") > 0


def test_verdicts_and_repeats(run: Run, convlab: ScoredConversations) -> None:
    assert count(run, verdict="excused") == sum(
        any(each.verdict == "excused" for each in score.verdicts) for score in convlab.results
    )
    many, few = count(run, min_repeats=15), count(run, min_repeats=2)
    assert 0 < many < few


def test_scores_turns_and_ends(run: Run, convlab: ScoredConversations) -> None:
    perfect = sum(score.scores["I-GCDF1"]["combined"].f1 == 1.0 for score in convlab.results)
    assert count(run, min_score=1.0) == perfect
    assert count(run, max_score=0.1, domain="hotel", measure="R-GCDF1") > 0
    assert count(run, min_turns=42) == 489
    assert count(run, max_turns=41) == 511
    assert count(run, end="loop") + count(run, end="goodbye") == 1000
    assert count(run, cause="user policy") == 20


def test_a_span_of_turns(run: Run) -> None:
    early = find(run, Query(behaviour="unmatched", last_turn=10))
    late = find(run, Query(behaviour="unmatched", first_turn=30))
    assert early.height > 0
    assert 0 < late.height < count(run, behaviour="unmatched")


def test_all_conditions_hold_together(run: Run) -> None:
    loops = find(run, Query(behaviour="unmatched", domain="restaurant", min_repeats=5, end="loop", max_score=0.3))
    assert 0 < loops.height < 251
    assert set(loops["end"]) == {"loop"}
    assert max(loops["I-GCDF1"]) <= 0.3


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ({"behaviour": "failed_nlu"}, "failed_sys_nlu"),
        ({"verdict": "mising"}, "missing"),
        ({"end": "looop"}, "loop"),
        ({"measure": "I-GCDF"}, "I-GCDF1"),
        ({"domain": "hotels"}, "hotel"),
        ({"behaviour": "unmatched", "slot": "dya"}, "day"),
        ({"cause": "user nlu"}, "user NLU"),
    ],
)
def test_a_misspelt_name_gets_the_nearest(run: Run, conditions: dict[str, str], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=f"Did you mean.*'{sentence}'"):
        count(run, **conditions)


def test_a_name_that_only_the_other_conditions_rule_out_is_no_misspelling(run: Run) -> None:
    assert count(run, domain="taxi", behaviour="unmatched") == 0
    assert count(run, domain="taxi", min_turns=1000) == 0
    assert count(run, verdict="excused", slot="day") == 0
    assert count(run, domain="train", slot="area") == 0


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ({"first_turn": 10, "last_turn": 5}, "turn is at least 10"),
        ({"min_score": 0.5, "max_score": 0.25}, "score is at least 0.5"),
        ({"min_turns": 3, "max_turns": 2}, "turns is at least 3"),
        ({"max_score": float("nan")}, "NaN"),
    ],
)
def test_limits_that_nothing_can_meet_are_errors(conditions: dict[str, float], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence):
        Query(**conditions)  # type: ignore[arg-type]


def test_a_stored_run_answers_alike_and_speaks_sql(run: Run, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    stored = store.add(run)
    query = Query(behaviour="unmatched", domain="hotel", min_repeats=3)
    assert find(stored, query).equals(find(run, query))
    means = store.sql("SELECT measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY measure")
    by_name = dict(means.iter_rows())
    assert by_name["I-GCDF1"] == pytest.approx(0.6231143887917199, abs=1e-12)
    assert by_name["R-GCDF1[restaurant]"] == pytest.approx(0.8730790265244736, abs=1e-12)
    assert stored.scores == run.scores
    sums = store.sql(
        "SELECT count(*) FROM domain_scores d JOIN "
        "(SELECT dialogue, measure, domain, sum(tp) tp, sum(fp) fp, sum(fn) fn FROM verdicts "
        "GROUP BY ALL) e USING (dialogue, measure, domain) "
        "WHERE d.domain <> 'combined' AND (d.tp <> e.tp OR d.fp <> e.fp OR d.fn <> e.fn)"
    )
    assert sums.item() == 0
