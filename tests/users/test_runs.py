"""Users as runs: any source, failures with their place, measures, profiles that do not fit, find, and the layout of
GCDF1's authors."""

from __future__ import annotations

import tarfile
from pathlib import Path

import msgspec
import pytest

import dialgauge
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature, card_named, cards
from dialgauge.runs import Run, Store, new_run
from dialgauge.users import find_conversations, gcdf1_tree
from runs.contract import assert_run_contract
from support.talks import mishear, talk

GOAL = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",)), "taxi": Task(book={"day": "friday"})}
GOOD = talk(GOAL, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
LOOP = mishear(
    talk(GOAL, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop"), 1, "bus inform x"
)
BROKEN = msgspec.structs.replace(GOOD, id="broken", goal=None)
EMPTY = talk(GOAL, id="empty")
TALKS = [GOOD, BROKEN, LOOP, EMPTY]
HOTEL = {"hotel": Task(info={"area": "north"})}


def score(*dialogues: Dialogue, **options: object) -> Run:
    return dialgauge.score_users(list(dialogues), **{"resamples": 0, **options})[0]  # type: ignore[arg-type]


def failures(run: Run) -> list[tuple[str, int | None]]:
    return run.table("failures").select("dialogue", "turn").rows()


def test_every_users_run_keeps_the_contract(tmp_path: Path, convlab_run: Run) -> None:
    run = score(*TALKS, resamples=20)
    assert_run_contract(run)
    stored = Store(tmp_path / "runs").add(run)
    assert_run_contract(stored)
    assert (stored.kind, stored.scores, stored.details) == ("users", run.scores, run.details)
    assert list(stored.dialogues()) == TALKS
    assert failures(stored) == [("broken", None)]
    for name in run.tables:
        assert stored.table(name).equals(run.table(name)), name
    assert_run_contract(convlab_run)


def test_files_a_corpus_a_run_a_list_and_a_stream_score_alike(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    dialgauge.write(TALKS, path, format="native")
    from_files = dialgauge.score_users(path, resamples=50)[0]
    for source in (dialgauge.read(path), TALKS, tuple(TALKS), (each for each in TALKS), from_files):
        users = dialgauge.score_users(source, resamples=50)[0]
        assert users.scores == from_files.scores
        assert users.coverage == from_files.coverage
        assert users.table("verdicts").equals(from_files.table("verdicts"))
        assert list(users.dialogues()) == TALKS


def test_files_of_several_kinds_are_scored_in_order_and_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "talks"
    path.mkdir()
    dialgauge.write([GOOD, BROKEN], path / "a.jsonl", format="native")
    dialgauge.write([LOOP, GOOD], path / "b.json", format="gcdf1")
    dialgauge.write([msgspec.structs.replace(GOOD, id="bad"), EMPTY], path / "c.json", format="gcdf1")
    content = (path / "c.json").read_bytes()
    (path / "c.json").write_bytes(content.replace(b'"dialogue_id":"bad"', b'"dialogue_id":"bad","services":7'))
    packed = tmp_path / "member.jsonl"
    dialgauge.write([msgspec.structs.replace(GOOD, id="packed")], packed, format="native")
    with tarfile.open(path / "d.tar", "w") as archive:
        archive.add(packed, "member.jsonl")
    run = dialgauge.score_users(path, resamples=0)[0]
    assert run.table("conversation_facts")["dialogue"].to_list() == ["good", "loop", "empty", "packed"]
    found = run.table("failures").select("dialogue", "file").rows()
    assert found == [("broken", str(path / "a.jsonl")), ("good", str(path / "b.json")), ("bad", str(path / "c.json"))]
    count = run.coverage["dialogues"]
    assert (count.expected, count.read, count.scored, count.failed) == (7, 6, 4, 3)


def test_the_order_of_files_changes_no_number(tmp_path: Path) -> None:
    goals = [{"hotel": Task(info={"area": "north", "stars": str(n)})} for n in range(12)]
    talks = [
        talk(goal, ("hotel inform area=north",), (), *([("hotel inform area=north",), ()] * (n % 4)), id=f"d{n}")
        for n, goal in enumerate(goals)
    ]
    first, second = (score(*order, resamples=200).scores["I-GCDF1"] for order in (talks, talks[::-1]))
    assert first.low != first.high
    assert (first.low, first.high) == (second.low, second.high)
    assert first.value == pytest.approx(second.value, abs=1e-15)


def test_the_profile_follows_the_format(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "multiwoz21" / "val.json.gz"
    users = dialgauge.score_users(path, resamples=0)[0]
    assert users.details["profile"] == "multiwoz21-people"
    assert dialgauge.score_users(dialgauge.read(path), resamples=0)[0].scores == users.scores
    dialgauge.write([GOOD], tmp_path / "a.json", format="gcdf1")
    (tmp_path / "b.json.gz").write_bytes(path.read_bytes())
    with pytest.raises(DialgaugeError, match="formats gcdf1, multiwoz"):
        dialgauge.score_users(tmp_path, resamples=0)
    assert dialgauge.score_users(tmp_path, profile="multiwoz21", resamples=0)[0].coverage["dialogues"].scored


ACT_WITHOUT_SERVICE = Turn(speaker="user", acts=(Act("Hotel-Inform", "", "area", ("north",)),))
BAD = {
    "alternation broken": (msgspec.structs.replace(GOOD, id="bad", turns=(GOOD.turns[0], GOOD.turns[0])), 1),
    "system begins": (msgspec.structs.replace(GOOD, id="bad", turns=GOOD.turns[1:]), 0),
    "missing goal": (msgspec.structs.replace(GOOD, id="bad", goal=None), None),
    "unknown domain": (
        talk({"bus": Task(info={"zone": "1"})}, ("bus inform zone=1",), (), ("bus inform zone=1",), (), id="bad"),
        2,
    ),
    "act without service": (msgspec.structs.replace(GOOD, id="bad", turns=(ACT_WITHOUT_SERVICE, GOOD.turns[1])), 0),
    "separators inside": (talk(HOTEL, ("hotel inform area=a===b",), (), id="bad"), 0),
    "goal value not in the map": (
        talk({"hotel": Task(info={"area": "moon"})}, ("hotel inform area=nrth",), (), id="bad"),
        0,
    ),
    "domain called combined": (talk({"combined": Task(info={"area": "north"})}, (), (), id="bad"), None),
    "id used twice": (msgspec.structs.replace(GOOD, id="GOOD.json"), None),
    "no acts": (
        Dialogue(id="bad", goal=Goal(tasks=HOTEL), turns=tuple(Turn(speaker=t.speaker, text="x") for t in GOOD.turns)),
        None,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_dialogue_fails_alone(name: str, tmp_path: Path) -> None:
    bad, turn = BAD[name]
    (tmp_path / "map.json").write_text('{"area": {"north": ["north"], "special_keys": {"not_in_goal": {}}}}')
    good = talk(HOTEL, ("hotel inform area=north",), (), id="good")
    run = score(good, bad, msgspec.structs.replace(good, id="another"), canonical_map=tmp_path / "map.json")
    assert failures(run) == [(bad.id, turn)]
    assert run.coverage["dialogues"].scored == 2


def test_odd_conversations_are_scored_and_warned_about() -> None:
    warnings = dict(score(GOOD, EMPTY).table("conversation_facts").select("dialogue", "warnings").rows())
    assert (warnings["good"], len(warnings["empty"])) == ([], 1)


def test_a_long_dialogue_is_scored_in_linear_time_when_allowed() -> None:
    long = Dialogue(id="long", turns=GOOD.turns * 20_000, goal=Goal(tasks=HOTEL))
    run = score(long)
    assert run.table("verdicts").filter(domain="hotel", measure="I-GCDF1")["fp"].sum() > 19_999
    assert run.table("loops")["repeats"].to_list() == [20_000]


def test_the_signature_says_what_could_change_the_score() -> None:
    users = score(*TALKS, mode="recommended")
    signature = Signature.parse(users.scores["I-GCDF1 precision[hotel]"].signature)
    assert list(signature) == ["measure", "mode", "profile", "map", "config", "dialogues", "turns", "version"]
    assert signature["measure"] == "I-GCDF1 precision[hotel]"
    assert (signature["mode"], signature["dialogues"], signature["turns"]) == ("recommended", "2", "10")
    once = score(*TALKS, overrides={"igcd_f1.repetitions.count_fp": False})
    assert once["I-GCDF1"] > score(*TALKS)["I-GCDF1"]
    assert Signature.parse(once.signature)["config"] != Signature.parse(score(*TALKS).signature)["config"]


# Measures


def test_what_f1_loses_to_each_side_sums_to_one_with_it_in_every_part() -> None:
    run = score(*TALKS)
    sides = ("user NLU", "user policy", "system")
    for part in ("", "[hotel]", "[taxi]"):
        lost = sum(float(run.scores[f"I-GCDF1 lost to {side}{part}"]) for side in sides)
        assert float(run.scores[f"I-GCDF1{part}"]) + lost == pytest.approx(1)
    for card in cards("users").values():
        assert card_named(card.name, "users") is card
        assert (card.unit, card.lower, card.upper, card.parts) == ("share", 0, 1, True)
        assert card.higher_is_better == (" lost to " not in card.name)


def test_measures_can_be_chosen() -> None:
    users = score(GOOD, LOOP, measures=["R-GCDF1", "I-GCDF1[hotel]"])
    assert set(users.scores) == {"I-GCDF1[hotel]", "R-GCDF1", "R-GCDF1[hotel]"}
    assert_run_contract(users)
    with pytest.raises(DialgaugeError, match="no conversation has a score in the domain 'train'"):
        score(GOOD, measures=["I-GCDF1[train]"])
    with pytest.raises(DialgaugeError, match="Did you mean 'I-GCDF1'"):
        dialgauge.score_users("absent.json", measures=["I-GCDF"])


# Profile and conversations

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


def test_a_profile_that_does_not_fit_is_refused(own: str) -> None:
    with pytest.raises(DialgaugeError, match=r"profile own recognises none of the 3 acts"):
        score(GOOD, profile=own)
    goal = {"Restaurants_1": Task(info={"cuisine": "thai"}, requests=("phone",))}
    acts = (Act("INFORM", "Restaurants_1", "cuisine", ("thai",)), Act("REQUEST", "Restaurants_1", "phone"))
    said = Turn(speaker="user", acts=acts, requested={"Restaurants_1": ("phone",)})
    dialogue = Dialogue(id="1", turns=(said, Turn(speaker="system")), goal=Goal(tasks=goal))
    with pytest.raises(DialgaugeError, match=r"multiwoz21 knows none of the domains.*Restaurants_1"):
        score(dialogue)
    fitting = score(dialogue, profile=own)
    assert (float(fitting["I-GCDF1"]), float(fitting["R-GCDF1"])) == (1, 1)


def test_a_domain_that_the_profile_does_not_know_is_named() -> None:
    goal = {**GOAL, "hotl": Task(info={"area": "north"})}
    run = score(msgspec.structs.replace(GOOD, goal=Goal(tasks=goal)))
    assert "does not know the domain 'hotl' of 1 goal. Did you mean 'hotel'" in "\n".join(run.notes)


# What a stored run tells


def test_conversations_are_found_by_what_happened_in_them() -> None:
    run = score(GOOD, LOOP)

    def found(**conditions: str) -> list[object]:
        return [row["dialogue"] for row in find_conversations(run, **conditions).tables["dialogues"].records()]

    assert sorted(map(str, found())) == ["good", "loop"]
    assert found(verdict="repeated-penalised", domain="hotel", slot="area", end="loop") == ["loop"]
    assert found(verdict="repeated-penalised", slot="stars") == []
    assert found(behaviour="multiple_constraint_informs/unmatched") == ["loop"]
    assert found(behaviour="repeated_inform", domain="hotel") == ["loop"]
    assert sorted(map(str, found(behaviour="missed_domain", domain="taxi"))) == ["good", "loop"]
    assert found(cause="system policy") == []
    wrong = {
        "'unmatched' means": {"behaviour": "unmatched"},
        "Did you mean 'repeated_inform'": {"behaviour": "repeated_infrm"},
        "there is no verdict 'mising'. Did you mean 'missing'": {"verdict": "mising"},
        "there is no cause": {"cause": "the user"},
        "no conversation has the domain 'train'": {"domain": "train"},
    }
    for sentence, conditions in wrong.items():
        with pytest.raises(DialgaugeError, match=sentence):
            found(**conditions)
    with pytest.raises(DialgaugeError, match="is not a run of"):
        find_conversations(new_run(kind="tracking", name="x"))


def test_a_run_in_the_layout_of_the_authors() -> None:
    report = gcdf1_tree(score(GOOD, LOOP))
    assert report["igcd_recall"]["hotel"] == 0.75
    assert report["metadata"]["counts"]["igcd_f1"] == {"combined": 2, "hotel": 2, "taxi": 2}
    assert len(report["metadata"]["score_distributions"]["igcd_f1"]["combined"]) == 6
    repeated = report["metadata"]["igcd_f1"]["multiple_constraint_informs"]["unmatched"]
    assert repeated == {"loop": {"hotel": [{"area===north": [at, at + 2]} for at in (0, 2, 4)]}}
    assert report["metadata"]["rgcd_f1"]["auto_ref"] == {}
    with pytest.raises(DialgaugeError, match="has no R-GCDF1, which the authors' layout holds"):
        gcdf1_tree(score(GOOD, measures="I-GCDF1,I-GCDF1 precision,I-GCDF1 recall"))
