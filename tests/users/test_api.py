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
    assert users["I-GCDF1"] == users["I-GCDF1[hotel]"] == pytest.approx(2 / 3)
    assert users["R-GCDF1 recall"] == 0.0
    assert users.tables["verdicts"].height == 3
    assert [figure.key for figure in users.figures][:2] == ["1", "2"]
    assert "repeated-penalised" in users.explain("d1")
    assert "combined" in str(users)
    assert users.as_dict(per_dialogue=True)["per_dialogue"]["d1"]["I-GCDF1"]["hotel"]["recall"] == 1.0


def test_options(talks: Path) -> None:
    once = dialgauge.score_users(talks, overrides={"igcd_f1.repetitions.count_fp": False}, mode="recommended")
    assert once["I-GCDF1"] == 1.0
    assert "mode:recommended" in once.run.signature


def test_wrong_names_get_the_nearest(talks: Path) -> None:
    users = dialgauge.score_users(talks, resamples=0)
    with pytest.raises(dialgauge.DialgaugeError, match="Did you mean"):
        users["I-GCDF"]
    with pytest.raises(dialgauge.DialgaugeError, match="no dialogue"):
        users.explain("d2")
