"""Profile and conversations that do not go together: refused where no number can be meant, said where it looks odd."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import dialgauge
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.users import Failure, GcdfConfig, Scorer, UserRuns, load_profile
from support.talks import talk

GOAL = {"hotel": Task(info={"area": "north"}, requests=("phone",))}
GOOD = talk(GOAL, ("hotel inform area=north", "hotel request phone"), ("hotel inform phone=1",), id="good")
#: A profile of one's own: acts in capitals, services with numbers, and requests that are bare slots.
OWN = """name: own
acts: {inform: ['^INFORM$'], request: ['^REQUEST$']}
domains: {'Restaurants_*': {entity_slots: [restaurant_name]}}
requests_carry_service: false
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    return str(path)


def without_acts(acts: tuple[Act, ...] | None) -> Dialogue:
    turns = tuple(Turn(speaker=turn.speaker, text="hello", acts=acts) for turn in GOOD.turns)
    return msgspec.structs.replace(GOOD, id="bare", turns=turns)


def test_every_result_says_what_was_recognised() -> None:
    users = dialgauge.score_users([GOOD], resamples=0)[0]
    assert "100.0% of 3 acts recognised by the profile multiwoz21; 100.0% of 2 slots" in str(UserRuns([users]))
    assert users.details["fit"]["acts_known"] == UserRuns([users]).document()["systems"][0]["fit"]["acts_known"] == 3


def test_conversations_without_any_act_are_refused() -> None:
    with pytest.raises(DialgaugeError, match="no turn of any conversation has a dialogue act"):
        dialgauge.score_users([without_acts(())], resamples=0)


def test_a_dialogue_without_annotation_fails_alone() -> None:
    bare, good = Scorer().score_all([without_acts(None), GOOD])
    assert isinstance(bare, Failure)
    assert "no turn of it has dialogue acts" in bare.reason
    assert not isinstance(good, Failure)


def test_a_profile_that_recognises_nothing_is_refused(own: str) -> None:
    with pytest.raises(DialgaugeError, match=r"profile own recognises none of the 3 acts") as caught:
        dialgauge.score_users([GOOD], profile=own, resamples=0)
    assert "Hotel-Inform" in str(caught.value)


def test_a_profile_that_knows_no_domain_of_the_goals_is_refused(own: str) -> None:
    goal = {"Restaurants_1": Task(info={"cuisine": "thai"}, requests=("phone",))}
    acts = (Act("INFORM", "Restaurants_1", "cuisine", ("thai",)), Act("REQUEST", "Restaurants_1", "phone"))
    said = Turn(speaker="user", acts=acts, requested={"Restaurants_1": ("phone",)})
    dialogue = Dialogue(id="1", turns=(said, Turn(speaker="system")), goal=Goal(tasks=goal))
    with pytest.raises(DialgaugeError, match=r"multiwoz21 knows none of the domains.*Restaurants_1"):
        dialgauge.score_users([dialogue], resamples=0)
    scores = dialgauge.score_users([dialogue], profile=own, resamples=0)[0]
    assert scores["I-GCDF1"] == 1.0
    assert scores["R-GCDF1"] == 1.0


def test_unknown_domains_are_named_where_every_dialogue_fails() -> None:
    """Taken for MultiWOZ, an SGD dialogue whose user repeats itself fails in reference mode, and so do all of them."""
    goal = Goal(tasks={"RideSharing_1": Task(info={"destination": "home"})})
    turns = (
        Turn(speaker="user", acts=(Act("INFORM", "RideSharing_1", "destination", ("home",)),)),
        Turn(speaker="system"),
    )
    dialogue = Dialogue(id="1", turns=turns * 2, goal=goal)
    assert isinstance(next(Scorer().score_all([dialogue])), Failure)
    with pytest.raises(DialgaugeError, match=r"multiwoz21 knows none of the domains.*RideSharing_1"):
        dialgauge.score_users([dialogue], resamples=0)


def test_requests_written_in_another_way_than_the_profile_expects_are_refused() -> None:
    bare = msgspec.structs.replace(GOOD.turns[0], requested={"hotel": ("phone",)})
    dialogue = msgspec.structs.replace(GOOD, turns=(bare, GOOD.turns[1]))
    with pytest.raises(DialgaugeError, match="requested slots written as 'service-slot', and none of the 1 is"):
        dialgauge.score_users([dialogue], resamples=0)
    both = dialgauge.score_users([dialogue, msgspec.structs.replace(GOOD, id="other")], resamples=0)[0]
    assert any("1 of 2 requested slots are not written as 'service-slot'" in note for note in both.notes)


def test_odd_things_are_said() -> None:
    goal = {**GOAL, "hotl": Task(info={"area": "north"})}
    strange = tuple(Act(f"hotel-shout{n}", "hotel", "stars", ("4",)) for n in range(9))
    first = msgspec.structs.replace(GOOD.turns[0], acts=(*(GOOD.turns[0].acts or ()), *strange))
    users = dialgauge.score_users(
        [msgspec.structs.replace(GOOD, goal=Goal(tasks=goal), turns=(first, GOOD.turns[1]))], resamples=0
    )[0]
    notes = "\n".join(users.notes)
    assert "does not know the domain 'hotl' of 1 goal. Did you mean 'hotel'" in notes
    assert "recognises only 3 of 12 acts; not recognised: hotel-shout0" in notes
    silent = dialgauge.score_users(
        [talk({"hotel": Task(info={"stars": "4"})}, ("hotel inform area=x",), ())], resamples=0
    )[0]
    assert "only 0 of 1 slot of the goals was ever uttered" in silent.notes[0]


def test_a_misspelt_part_of_a_goal_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    dialgauge.write([GOOD, msgspec.structs.replace(GOOD, id="bad")], path, format="gcdf1")
    content = path.read_bytes()
    at = content.index(b'"dialogue_id":"bad"')
    path.write_bytes(content[:at] + content[at:].replace(b'"info"', b'"infos"', 1))
    users = dialgauge.score_users(path, resamples=0)[0]
    (failure,) = users.table("failures").to_dicts()
    assert failure["dialogue"] == "bad"
    assert (
        failure["reason"]
        == "the goal of 'hotel' has a part 'infos', which goals do not have. Did you mean 'info' or 'fail_info'?"
    )


def test_what_the_reference_does_is_said_only_of_its_own_dataset(tmp_path: Path) -> None:
    odd = talk(GOAL, ("hotel inform area",), ())
    own = tmp_path / "own.yaml"
    own.write_text("name: own\nacts: {inform: [Inform], request: [Request]}\ndomains: {hotel: {}}\n")
    for profile, sentence in (
        ("multiwoz21", "the reference evaluator aborts"),
        (str(own), "reference mode refuses it"),
    ):
        with pytest.raises(DialgaugeError, match=sentence) as caught:
            Scorer(GcdfConfig(), load_profile(profile)).score(odd)
        assert ("evaluator" in str(caught.value)) == (profile == "multiwoz21")
