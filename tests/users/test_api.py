"""GCDF1 from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import dialgauge
from dialgauge.dialogue import Task
from support.talks import talk

GOAL = {"hotel": Task(info={"area": "north"}, requests=("phone",))}
TALK = talk(GOAL, ("hotel inform area=north",), (), ("hotel inform area=north",), ())


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    dialgauge.write([TALK], tmp_path / "talks.json", format="gcdf1")
    return tmp_path / "talks.json"


def test_one_call_gives_scores_tables_figures_and_explanations(talks: Path) -> None:
    users = dialgauge.score_users(talks, resamples=10)
    scores = users["talks"]
    assert float(scores["I-GCDF1"]) == scores["I-GCDF1[hotel]"] == pytest.approx(2 / 3)
    assert scores["R-GCDF1 recall"] == 0.0
    assert scores.table("verdicts").height == 3
    assert {"scores", "figure1_goals", "figure2_constraints"} & set(users.figures())
    assert "repeated-penalised" in str(users.explain("d1"))
    assert "combined" in str(users)
    [system] = users.document(per_dialogue=True)["systems"]
    assert system["per_dialogue"]["d1"]["I-GCDF1"]["hotel"]["recall"] == 1.0


def test_options(talks: Path) -> None:
    once = dialgauge.score_users(talks, overrides={"igcd_f1.repetitions.count_fp": False}, mode="recommended")
    assert once[0]["I-GCDF1"] == 1.0
    assert "mode:recommended" in once[0].signature


def test_wrong_names_get_the_nearest(talks: Path) -> None:
    users = dialgauge.score_users(talks, resamples=0)
    with pytest.raises(dialgauge.DialgaugeError, match="Did you mean"):
        users[0]["I-GCDF"]
    with pytest.raises(dialgauge.DialgaugeError, match="no dialogue"):
        users.explain("d2")
