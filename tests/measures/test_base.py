"""The generic base expresses what every family needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Measure, parse_measure
from measures.toy import GCDF1, JGA, REPLIES, TURNS, USERS, Turns


@pytest.mark.parametrize(
    ("name", "evidence", "value", "full"),
    [
        ("JGA", TURNS, 2 / 4, "JGA(over=turns)"),
        ("JGA(over=dialogues)", TURNS, (2 / 3 + 0) / 2, "JGA(over=dialogues)"),
        ("JGA[1]", TURNS, 1.0, "JGA(over=turns)[1]"),
        ("JGA[2]", TURNS, 0.0, "JGA(over=turns)[2]"),
        ("FGA@0.5(rule=paper)", TURNS, (2 + 2 * 0.5 * (1 - math.exp(-0.5))) / 4, "FGA@0.5(rule=paper,over=turns)"),
        ("FGA@0.5", TURNS, (2 + 2 * (1 - math.exp(-0.5))) / 4, "FGA@0.5(rule=code,over=turns)"),
        ("F1", TURNS, 8 / 16, "F1(average=micro,over=turns)"),
        ("F1(average=slot)", TURNS, (2 / 5 + 2 / 3) / 2, "F1(average=slot,over=turns)"),
        ("hits@10", REPLIES, 2 / 3, "hits@10"),
        ("hits@1", REPLIES, 1 / 3, "hits@1"),
        ("pass^1", REPLIES, 1 / 3, "pass^1"),
        ("I-GCDF1", USERS, 0.75, "I-GCDF1"),
        ("I-GCDF1[hotel]", USERS, 0.25, "I-GCDF1[hotel]"),
        ("I-GCDF1 precision[hotel]", USERS, 0.25, "I-GCDF1 precision[hotel]"),
    ],
)
def test_every_family_of_measures(name: str, evidence: Any, value: float, full: str) -> None:
    measure = parse_measure(name)
    assert str(measure) == name
    assert measure.value(evidence) == pytest.approx(value, rel=1e-14)
    assert measure.full(evidence) == full
    assert parse_measure(full).settings(evidence) == measure.settings(evidence)
    sums = measure.sums(evidence)
    assert sums.shape[1] == evidence.dialogues
    assert measure.card.of(sums.sum(axis=1)) == pytest.approx(value)


def test_a_dialogue_without_a_score_is_nothing_over_nothing() -> None:
    above, below = parse_measure("hits@10").sums(REPLIES)
    assert (above.tolist(), below.tolist()) == ([1, 0, 1], [2, 0, 1])
    above, below = parse_measure("JGA(over=dialogues)").sums(TURNS)
    assert below.tolist() == [1, 1]


def test_a_part_that_the_evidence_lacks_is_an_obstacle() -> None:
    assert parse_measure("JGA[9]").obstacle(TURNS) == "there is no turn 9"
    assert parse_measure("I-GCDF1[moon]").obstacle(USERS) == "nobody speaks of 'moon'"
    assert parse_measure("pass^1[x]").obstacle(REPLIES) == "it has no part 'x'"
    assert parse_measure("JGA[1]").obstacle(TURNS) is None


def test_units_that_do_not_count_have_no_numbers() -> None:
    assert parse_measure("JGA[1]").units(TURNS).tolist() == [[0, 1, 0, 0], [0, 1, 0, 0]]


def test_nothing_scored_is_undefined() -> None:
    nothing = Turns(np.array([], np.int32), np.array([]), np.array([]), (np.zeros((2, 0)), np.zeros((2, 0))))
    assert all(math.isnan(parse_measure(name).value(nothing)) for name in ("JGA", "F1", "F1(average=slot)"))


def test_an_obstacle_is_the_end_of_a_sentence_and_sees_settings_as_given() -> None:
    flags = Turns(TURNS.dialogue, TURNS.right, TURNS.size, flags_only=True)
    assert parse_measure("FGA@1").obstacle(flags) is None
    assert parse_measure("FGA@1(rule=paper)").obstacle(flags) == "rule paper needs states"
    assert parse_measure("JGA").obstacle(flags) is None


def test_parts_are_written_so_that_they_parse_back() -> None:
    for part in ("hotel", "a,b", "a [1] 100%", "(x)", " "):
        measure = Measure(GCDF1, part=part)
        assert parse_measure(str(measure)) == measure


def test_an_unknown_parameter_gets_the_nearest_name() -> None:
    with pytest.raises(DialgaugeError, match=r"JGA has no parameter 'ovr'. Did you mean 'over'\?"):
        JGA.parameter("ovr")
