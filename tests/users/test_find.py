"""Finding conversations in fresh results and in stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.runs.store import Store
from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.run_tables import frames
from dialgauge.users.search import Query, Tables, find
from dialgauge.users.store import store_run
from dialgauge.users.summary import summarise


@pytest.fixture(scope="module")
def tables(convlab: UserEvaluation) -> Tables:
    return frames(convlab)


def count(tables: Tables, **conditions: object) -> int:
    return find(tables, Query(**conditions)).height  # type: ignore[arg-type]


def test_behaviours_are_counted_as_in_figure_2(tables: Tables) -> None:
    label = "multiple_constraint_informs/unmatched"
    assert count(tables, behaviour=label, domain="restaurant") == 251
    assert count(tables, behaviour=label, domain="hotel") == 175
    assert count(tables, behaviour=label, domain="hotel", slot="type") == 6
    assert count(tables, behaviour="repeated_while_booking", domain="train", slot="day") == 86


def test_a_pattern_means_every_behaviour_it_fits(tables: Tables) -> None:
    either = count(tables, behaviour="*_validation_failure")
    assert either == count(tables, behaviour="nooffer_validation_failure") > 0


def test_verdicts_and_repeats(tables: Tables, convlab: UserEvaluation) -> None:
    assert count(tables, verdict="excused") == sum(
        any(each.verdict == "excused" for each in score.verdicts) for score in convlab.scores
    )
    many, few = count(tables, min_repeats=15), count(tables, min_repeats=2)
    assert 0 < many < few


def test_scores_turns_and_ends(tables: Tables, convlab: UserEvaluation) -> None:
    perfect = sum(score.scores["I-GCDF1"]["combined"].f1 == 1.0 for score in convlab.scores)
    assert count(tables, min_score=1.0) == perfect
    assert count(tables, max_score=0.1, domain="hotel", measure="R-GCDF1") > 0
    assert count(tables, min_turns=42) == 489
    assert count(tables, max_turns=41) == 511
    assert count(tables, end="loop") + count(tables, end="goodbye") == 1000
    assert count(tables, cause="user policy") == 1


def test_a_span_of_turns(tables: Tables) -> None:
    early = find(tables, Query(behaviour="unmatched", last_turn=10))
    late = find(tables, Query(behaviour="unmatched", first_turn=30))
    assert early.height > 0
    assert 0 < late.height < count(tables, behaviour="unmatched")


def test_all_conditions_hold_together(tables: Tables) -> None:
    found = find(tables, Query(behaviour="unmatched", domain="restaurant", min_repeats=5, end="loop", max_score=0.3))
    assert 0 < found.height < 251
    assert set(found["end"]) == {"loop"}
    assert max(found["I-GCDF1"]) <= 0.3


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
def test_a_misspelt_name_gets_the_nearest(tables: Tables, conditions: dict[str, str], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=f"Did you mean.*'{sentence}'"):
        count(tables, **conditions)


def test_a_name_that_only_the_other_conditions_rule_out_is_no_misspelling(tables: Tables) -> None:
    assert count(tables, domain="taxi", behaviour="unmatched") == 0
    assert count(tables, domain="taxi", min_turns=1000) == 0
    assert count(tables, verdict="excused", slot="day") == 0
    assert count(tables, domain="train", slot="area") == 0


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


def test_a_stored_run_answers_alike_and_speaks_sql(tables: Tables, convlab: UserEvaluation, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    summary = summarise(convlab, resamples=0)
    identifier = store_run(convlab, summary, store, inputs=[], seed=0)
    run = store.open(identifier)
    query = Query(behaviour="unmatched", domain="hotel", min_repeats=3)
    assert find({name: run.table(name) for name in run.tables}, query).equals(find(tables, query))
    means = store.sql("SELECT measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY measure")
    by_name = dict(means.iter_rows())
    assert by_name["I-GCDF1"] == pytest.approx(0.6231143887917199, abs=1e-12)
    assert by_name["R-GCDF1[restaurant]"] == pytest.approx(0.8730790265244736, abs=1e-12)
    assert run.manifest.scores["I-GCDF1"] == summary[0].f1.value
    sums = store.sql(
        "SELECT count(*) FROM domain_scores d JOIN "
        "(SELECT dialogue, measure, domain, sum(tp) tp, sum(fp) fp, sum(fn) fn FROM explanations "
        "GROUP BY ALL) e USING (dialogue, measure, domain) "
        "WHERE d.domain <> 'combined' AND (d.tp <> e.tp OR d.fp <> e.fp OR d.fn <> e.fn)"
    )
    assert sums.item() == 0
