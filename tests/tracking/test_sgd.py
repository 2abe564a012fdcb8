"""Whole corpora: synthetic predictions on real SGD dialogues, groups, sums by dialogue, inputs that do not fit."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import msgspec
import pytest

from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read, read_ontology
from dialgauge.measures import Measure, SystemEvidence, card_named, parse_measure, score_systems
from dialgauge.tracking import (
    OFFICIAL_NAMES,
    SGD_CARDS,
    Matching,
    PreparedInputs,
    SgdFrames,
    SgdScoring,
    chosen_measures,
    load,
    score_prepared,
    score_sgd,
)
from dialgauge.values import profile_named

ALL = "#ALL_SERVICES"
SEEN = "#SEEN_SERVICES"
UNSEEN = "#UNSEEN_SERVICES"

SCHEMA = Ontology(
    domains={
        "Hotels_1": {"city": SlotSpec(), "pets": SlotSpec(categorical=True)},
        "Hotels_2": {"city": SlotSpec()},
        "Buses_1": {"date": SlotSpec()},
    }
)


@cache
def dialogues(folder: Path, kind: str) -> list[Dialogue]:
    return list(read(folder / f"{kind}_dialogues_*.json.gz"))


def user(state: State, text: str = "", intent: str | None = "Find", active: tuple[str, ...] | None = None) -> Turn:
    services = tuple(state) if active is None else active
    intents = None if intent is None else dict.fromkeys(services, intent)
    return Turn(speaker="user", text=text, state=state, active=services, intents=intents)


def dialogue(identifier: str, *turns: Turn) -> Dialogue:
    return Dialogue(id=identifier, turns=turns)


ROME: State = {"Hotels_1": {"city": ("Rome",)}}
BOTH: State = {"Hotels_1": {"city": ("Rome",)}, "Buses_1": {"date": ("monday",)}}
HALF: State = {"Hotels_1": {"city": ("Rome",)}, "Buses_1": {}}


def values_of(frames: SgdFrames, group: str = ALL) -> dict[str, float]:
    values = {card.name: frames.value(card.name, group) for card in SGD_CARDS}
    return {name: value for name, value in values.items() if not math.isnan(value)}


def official(frames: SgdFrames) -> dict[str, dict[str, float]]:
    return {
        group: {OFFICIAL_NAMES[name]: value for name, value in values_of(frames, group).items()}
        for group in frames.groups
    }


@pytest.mark.parametrize("fuzzy", [True, False], ids=["fuzzy", "exact"])
@pytest.mark.parametrize("across_turn", [True, False], ids=["turn", "frame"])
def test_synthetic_predictions(shared_data: Path, expected: Path, fuzzy: bool, across_turn: bool) -> None:
    folder = shared_data / "sgd"
    scores = score_sgd(
        dialogues(folder, "dev"),
        dialogues(folder, "synthetic_pred"),
        read_ontology(folder / "dev_schema.json.gz"),
        seen_services=read_ontology(folder / "train_schema.json.gz").domains,
        matching="levenshtein" if fuzzy else "exact",
        across_turn=across_turn,
    )
    variant = f"{'fuzzy' if fuzzy else 'exact'}_{'turn' if across_turn else 'frame'}"
    wanted = json.loads((expected / "dst_sgd_synthetic.json").read_text())[variant]
    found = official(scores)
    assert found.keys() == wanted.keys()
    for group, values in wanted.items():
        assert found[group] == pytest.approx(values, abs=1e-9, rel=0), group
    coverage = scores.coverage
    assert (coverage.dialogues, coverage.turns, coverage.frames) == (512, 4108, 4208)


def test_sums_by_dialogue_give_the_corpus_value(shared_data: Path) -> None:
    folder = shared_data / "sgd"
    arguments = (
        dialogues(folder, "dev"),
        dialogues(folder, "synthetic_pred"),
        read_ontology(folder / "dev_schema.json.gz"),
    )
    for across_turn in (True, False):
        frames = score_sgd(*arguments, across_turn=across_turn)
        measures = [Measure(card) for card in SGD_CARDS]
        [scores] = score_systems([SystemEvidence(evidence=frames, measures=measures, dialogues=frames.ids)])
        rows = scores.frame()
        assert (rows["den"] > 0).all()
        for measure, value in values_of(frames).items():
            own = rows.filter(rows["measure"] == measure)
            assert own["num"].to_numpy().sum() / own["den"].to_numpy().sum() == pytest.approx(value)
            assert scores[measure].value == value


def small(*, across_turn: bool = False) -> SgdFrames:
    gold = [dialogue("a", user(ROME), user(BOTH)), dialogue("b", user({"Hotels_2": {"city": ("Oslo",)}}))]
    predicted = [dialogue("b", user({"Hotels_2": {}}, intent="NONE")), dialogue("A.json", user(ROME), user(HALF))]
    return score_sgd(gold, predicted, SCHEMA, seen_services=["Hotels_1"], across_turn=across_turn)


def test_groups_by_service_domain_and_whether_seen() -> None:
    scores = small()
    assert list(scores.groups) == [ALL, SEEN, UNSEEN, "Buses", "Hotels", "Buses_1", "Hotels_1", "Hotels_2"]
    assert [scores.value("SGD-JGA", group) for group in scores.groups] == [0.5, 1.0, 0.0, 0.0, 2 / 3, 0.0, 1.0, 0.0]
    assert scores.value("SGD-intent") == 0.75
    assert math.isnan(scores.value("SGD-JGA-cat", "Buses_1"))


def test_across_a_turn_joint_scores_multiply_and_others_do_not() -> None:
    scores = small(across_turn=True)
    assert scores.value("SGD-JGA") == pytest.approx(1 / 3)
    assert scores.value("SGD-JGA", "Hotels_1") == 1.0
    assert scores.value("SGD-AGA") == small().value("SGD-AGA") == 0.5
    numerator, denominator = Measure(card_named("SGD-JGA", "tracking")).sums(scores)
    assert (scores.ids, numerator.tolist(), denominator.tolist()) == (["a", "b"], [1.0, 0.0], [2.0, 1.0])


def test_without_a_training_schema_nothing_is_seen_or_unseen() -> None:
    gold = [dialogue("a", user(ROME))]
    assert not {SEEN, UNSEEN} & score_sgd(gold, gold, SCHEMA).groups.keys()


def test_predictions_kept_apart_from_gold_are_found_and_lack_what_they_do_not_record() -> None:
    gold = [dialogue("a", user(ROME))]
    predicted = [dialogue("a", Turn(speaker="user", predicted=ROME))]
    assert values_of(score_sgd(gold, predicted, SCHEMA)).keys() == {
        "SGD-JGA", "SGD-AGA", "SGD-JGA-cat", "SGD-JGA-noncat", "SGD-AGA-noncat",
    }  # fmt: skip


def test_what_is_on_one_side_only_is_counted() -> None:
    gold = [dialogue("a", user(ROME), user(ROME)), dialogue("b", user(ROME))]
    predicted = [dialogue("a", user(ROME), Turn(speaker="user")), dialogue("c", user(ROME))]
    coverage = score_sgd(gold, predicted, SCHEMA).coverage
    assert (coverage.dialogues, coverage.turns, coverage.frames, coverage.missing_turns) == (1, 1, 1, 1)
    assert (coverage.missing_dialogues, coverage.extra_dialogues) == (["b"], ["c"])


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (user(ROME), (user(ROME), user(ROME)), "dialogue d: gold has 1 user turns and the predictions have 2"),
        (
            user(ROME, "hello"),
            (user(ROME, "bye"),),
            "dialogue d, turn 0: the utterances differ: 'hello' in gold, 'bye'",
        ),
        (user(BOTH), (user(ROME),), "turn 0: there is no predicted frame for the service 'Buses_1'"),
        (
            user({"Hotels_3": {}}),
            (user({"Hotels_3": {}}),),
            "the schema has no service 'Hotels_3'. Did you mean 'Hotels_",
        ),
        (Turn(speaker="user", state=ROME), (user(ROME),), "the gold turn has no frames with states"),
        (user(ROME), (Turn(speaker="user"),), "no frame has a state on both sides"),
    ],
)
def test_inputs_that_do_not_fit(gold: Turn, predicted: tuple[Turn, ...], message: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        score_sgd([dialogue("d", gold)], [dialogue("d", *predicted)], SCHEMA)
    assert message in str(caught.value)


def test_no_dialogue_in_common_and_one_id_twice() -> None:
    one, other = dialogue("a", user(ROME)), dialogue("b", user(ROME))
    with pytest.raises(DialgaugeError, match="share no dialogue: gold has ids like 'a', the predictions like 'b'"):
        score_sgd([one], [other], SCHEMA)
    with pytest.raises(DialgaugeError, match="two dialogues with this id"):
        score_sgd([one], [one, msgspec.structs.replace(one, id="A.json")], SCHEMA)


def test_cards_have_distinct_names_here_and_there() -> None:
    assert [card.name for card in SGD_CARDS] == list(OFFICIAL_NAMES)
    assert len(set(OFFICIAL_NAMES.values())) == len(SGD_CARDS) == 13


def test_they_are_measures_like_others() -> None:
    frames = small(across_turn=True)
    seen = parse_measure("SGD-JGA[#SEEN_SERVICES]", "tracking")
    assert seen.value(frames) == 1.0
    assert seen.full(frames) == "SGD-JGA(matching=levenshtein,joint=turn)[#SEEN_SERVICES]"
    assert parse_measure("SGD-JGA(joint=frame)").obstacle(frames) == "the frames were scored with joint=turn"
    assert parse_measure("SGD-tagging-F1").obstacle(frames) == "no frame records it on both sides"


def predicting(folder: Path, values: dict[str, list[str]]) -> Path:
    """A file of predictions in SGD's shape: one turn about one hotel."""
    state = {"active_intent": "Find", "requested_slots": [], "slot_values": values}
    frames = [{"service": "Hotels_1", "state": state}]
    turns = [{"speaker": "USER", "utterance": "", "frames": frames}]
    path = folder / f"{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps([{"dialogue_id": "a", "services": ["Hotels_1"], "turns": turns}]))
    return path


@pytest.mark.parametrize(
    ("values", "joint"),
    [
        ({"city": ["Rome"]}, 1.0),
        ({"city": ["Rome"], "pets": ["none"]}, 0.0),
        ({"city": ["Rome"], "pets": [""]}, 0.0),
        ({"city": ["Rome"], "pets": []}, 0.0),
        ({"city": ["none", "Rome"]}, 0.5),
        ({"city": [""]}, 0.0),
        ({}, 0.0),
    ],
)
def test_a_predicted_none_is_a_filled_slot(tmp_path: Path, values: dict[str, list[str]], joint: float) -> None:
    """The official evaluation looks whether the frame has the slot. Dropping ``none`` gave 1.0 for the second."""
    gold = [dialogue("a", user(ROME, active=("Hotels_1",)))]
    predicted = read(predicting(tmp_path, values)).dialogues
    frames = score_sgd(gold, predicted, SCHEMA)
    assert frames.value("SGD-JGA") == joint
    assert frames.coverage.blanks == sum(bool(set(given) & {"none", ""}) or not given for given in values.values())
    assert frames.value("SGD-JGA-cat") == float("pets" not in values)


def test_blank_slots_are_said_and_stay_out_of_the_other_scores(tmp_path: Path) -> None:
    gold = predicting(tmp_path, {"city": ["Rome"]})
    theirs = predicting(tmp_path, {"city": ["Rome"], "pets": ["none"]})
    schema = tmp_path / "schema.json"
    slots: list[object] = [
        {"name": name, "is_categorical": name == "pets", "possible_values": []} for name in ("city", "pets")
    ]
    schema.write_text(json.dumps([{"service_name": "Hotels_1", "slots": slots, "intents": [{"name": "Find"}]}]))
    scoring = SgdScoring(read_ontology(schema))
    study = PreparedInputs(load(gold, "gold"), [load(theirs, "mine")])
    measures = chosen_measures("JGA")
    results = score_prepared(study, measures, [profile_named("verbatim")], resampling=None, sgd=scoring)
    assert results[0]["JGA"] == 1.0
    assert results[0].scores["SGD-JGA"].value == 0.0
    assert any("1 predicted value 'none' or empty: filled slots in SGD's scores" in note for note in results[0].notes)
    assert not any("read as absent" in note for note in results[0].notes)
    plain = score_prepared(study, measures, [profile_named("verbatim")], resampling=None)
    said = "predicted values 'none' or empty read as absent (SGD's official scores, with --schema, and the"
    assert any(note.startswith(said) and "): 1 (first in dialogue " in note for note in plain[0].notes)


@pytest.mark.parametrize(("matching", "joint"), [("levenshtein", 0.5), ("difflib", 0.25), ("exact", 0.0)])
def test_the_ratio_is_chosen_by_name_and_signed(matching: Matching, joint: float) -> None:
    gold = [dialogue("a", user({"Hotels_2": {"city": ("tide",)}}))]
    predicted = [dialogue("a", user({"Hotels_2": {"city": ("diet",)}}))]
    frames = score_sgd(gold, predicted, SCHEMA, matching=matching)
    assert frames.value("SGD-JGA") == joint
    assert f"matching={matching}" in parse_measure("SGD-JGA").full(frames)
