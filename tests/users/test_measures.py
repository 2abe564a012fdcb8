"""The cards of GCDF1, and measures of other packages beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialgauge
from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.measures import card_named, cards, parse_measure
from dialgauge.users import UserRuns, score_name
from runs.contract import assert_run_contract
from support.packages import install, on_the_path, run
from support.talks import talk

DEFAULT_MEASURES = [f"{name}{aspect}" for name in ("I-GCDF1", "R-GCDF1") for aspect in ("", " precision", " recall")]

GOAL = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
LOOP = talk(GOAL, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop")
GOOD = talk(GOAL, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")

CODE = '''
    """Loops per conversation: a card and a pure function of the evidence."""

    import numpy as np

    from dialgauge.measures import Card


    def _loops(evidence, settings):
        return np.array([float(len(result.loops)) for result in evidence.results]), np.ones(evidence.dialogues)


    LOOPS = Card(
        name="Loops",
        family="users",
        title="Loops",
        summary="Loops per conversation.",
        formula="loops / conversations",
        source="an example",
        units=_loops,
        unit="loops",
        upper=float("inf"),
        higher_is_better=False,
    )
    WRONG = "no card"
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    install(folder, "count_loops", CODE, "[dialgauge.measures]\nLoops = count_loops:LOOPS\nWrong = count_loops:WRONG\n")
    return folder


@pytest.mark.parametrize("name", ["I-GCDF1", "I-GCDF1 precision", "R-GCDF1 recall[hotel]", "R-GCDF1[a%5B1%5D]"])
def test_names_parse_back(name: str) -> None:
    assert str(parse_measure(name)) == name
    assert parse_measure(name).card in cards("users").values()


def test_names_are_those_of_the_paper() -> None:
    assert score_name("R-GCDF1", "recall", "hotel") == "R-GCDF1 recall[hotel]"
    assert {*DEFAULT_MEASURES} < cards("users").keys()
    for card in cards("users").values():
        assert card_named(card.name, "users") is card
        better = card.name in DEFAULT_MEASURES
        assert (card.family, card.unit, card.lower, card.upper) == ("users", "share", 0, 1)
        assert card.higher_is_better == better


def test_measures_can_be_chosen() -> None:
    users = dialgauge.score_users([GOOD, LOOP], measures=["R-GCDF1", "I-GCDF1[hotel]"], resamples=0)[0]
    assert list(users.scores) == ["I-GCDF1[hotel]", "R-GCDF1", "R-GCDF1[hotel]"]
    assert_run_contract(users)
    with pytest.raises(DialgaugeError, match="no conversation has a score in the domain 'train'"):
        dialgauge.score_users([GOOD], measures=["I-GCDF1[train]"])
    with pytest.raises(DialgaugeError, match="Did you mean 'I-GCDF1'"):
        dialgauge.score_users("absent.json", measures=["I-GCDF"])


def test_a_measure_of_another_package_is_scored_like_ours(site: Path) -> None:
    plain = dialgauge.score_users([GOOD, LOOP], resamples=100)[0]
    with on_the_path(site):
        users = dialgauge.score_users([GOOD, LOOP], measures=["default", "Loops"], resamples=100)[0]
        everything = dialgauge.score_users([GOOD, LOOP], measures=["all"], resamples=0)[0]
    loops = users.scores["Loops"]
    assert (loops.value, loops.unit, loops.higher_is_better, loops.upper) == (0.5, "loops", False, None)
    assert "measure:Loops|mode:reference" in loops.signature
    assert {name: score for name, score in users.scores.items() if name != "Loops"} == plain.scores
    assert_run_contract(users)
    assert "Loops" in str(UserRuns([users]))
    lost = {name for name in everything.scores if " lost to " in name}
    assert len(lost) == 6
    assert set(everything.scores) - lost == set(users.scores)


def test_it_appears_in_users_score(site: Path, tmp_path: Path) -> None:
    dialgauge.write([GOOD, LOOP], tmp_path / "talks.json", format="gcdf1")
    command = ("users", "score", tmp_path / "talks.json", "--measures")
    printed = run(site, *command, "default,Loops", "--json", tmp_path / "out.json")
    assert "other measures" in printed
    assert "Loops" in printed
    (system,) = json.loads((tmp_path / "out.json").read_text())["systems"]
    assert system["scores"]["Loops"]["value"] == 0.5
    assert system["scores"]["Loops"]["higher_is_better"] is False
    assert "a Card is expected" in run(site, *command, "Wrong", code=2)


def test_all_measures_stand_in_one_order_ours_first_and_the_others_by_name() -> None:
    scores = dialgauge.score_users([LOOP, GOOD], measures=["all"], resamples=0)[0].scores
    others = sorted(cards("users").keys() - {*DEFAULT_MEASURES})
    assert [name for name in scores if "[" not in name] == [*DEFAULT_MEASURES, *others]
