"""Dataset profiles: shipped ones, and one's own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users import Scorer, load_profile, shipped
from support.talks import talk

OWN = """
name: pizza
acts:
  inform: ['-Tell$']
  request: ['-Ask$']
  nooffer: ['-Sorry$']
domains:
  pizza: {entity_slots: [name]}
"""


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_profile_could_be_one_s_own(name: str) -> None:
    """Those that are shipped are read without the checks of a file that a person wrote."""
    assert load_profile(str(files("dialgauge.users") / "profiles" / f"{name}.json")) == load_profile(name)


def test_a_profile_of_one_s_own_decides_what_acts_mean(tmp_path: Path) -> None:
    path = tmp_path / "pizza.yaml"
    path.write_text(OWN)
    goal = {"pizza": Task(info={"topping": "ham"})}
    scorer = Scorer(profile=load_profile(str(path)))
    for act, verdict in (("tell", "credited"), ("inform", "missing")):
        [only] = scorer.score(talk(goal, (f"pizza {act} topping=ham",), ())).verdicts
        assert only.verdict == verdict


def test_slots_of_acts_take_the_names_of_goals(tmp_path: Path) -> None:
    path = tmp_path / "pizza.yaml"
    path.write_text(OWN + "slot_names:\n  '*': {top: topping}\n  drinks: {top: lid}\n")
    scorer = Scorer(profile=load_profile(str(path)))
    said = scorer.score(talk({}, ("pizza tell top=ham", "drinks tell top=red"), ())).verdicts
    assert [(each.domain, each.item) for each in said] == [("pizza", "topping===ham"), ("drinks", "lid===red")]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("name: x\nacts: {informs: [a]}\ndomains: {}\n", "Did you mean 'inform'"),
        ("name: x\nacts: {}\ndomains: {}\nslots: []\n", "slots"),
        ("name: x\nacts: {}\ndomains: {}\nchoice_slot: []\n", "Did you mean 'choice_slots'"),
        ("name: x\nacts: {}\ndomains: {pizza: {entity_slot: [name]}}\n", "entity_slot.*domains.pizza.*'entity_slots'"),
        ("name: x\nacts: {inform: ['(']}\ndomains: {}\n", "regular expression"),
        ("name: x\nacts: {}\ndomains: {}\n", "no expression for the act family 'inform'"),
        ("name: x\nacts: {inform: [I], request: []}\ndomains: {}\n", "no expression for the act family 'request'"),
        ("- a\n- b\n", "it is not a dataset profile"),
        ("acts: [", "YAML"),
    ],
)
def test_a_wrong_profile_is_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content)
    with pytest.raises(DialgaugeError, match=sentence) as caught:
        load_profile(str(path))
    assert "own.yaml" in str(caught.value)


def test_an_unknown_profile_gets_the_nearest_name() -> None:
    with pytest.raises(DialgaugeError, match="Did you mean 'multiwoz21'"):
        load_profile("multiwoz2")
