"""SGD's official scores: inputs that do not fit, and blank slots. The numbers: tests/numbers/test_sgd_oracle.py."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read_ontology
from dialgauge.measures import Measure
from dialgauge.tracking import (
    SGD_CARDS,
    PreparedInputs,
    SgdFrames,
    SgdScoring,
    chosen_measures,
    load,
    score_prepared,
)
from dialgauge.values import profile_named

SCHEMA = Ontology(
    domains={
        "Hotels_1": {"city": SlotSpec(), "pets": SlotSpec(categorical=True)},
        "Hotels_2": {"city": SlotSpec()},
        "Buses_1": {"date": SlotSpec()},
    }
)


def user(state: State, text: str = "", intent: str | None = "Find", active: tuple[str, ...] | None = None) -> Turn:
    services = tuple(state) if active is None else active
    intents = None if intent is None else dict.fromkeys(services, intent)
    return Turn(speaker="user", text=text, state=state, active=services, intents=intents)


def dialogue(identifier: str, *turns: Turn) -> Dialogue:
    return Dialogue(id=identifier, turns=turns)


ROME: State = {"Hotels_1": {"city": ("Rome",)}}
BOTH: State = {"Hotels_1": {"city": ("Rome",)}, "Buses_1": {"date": ("monday",)}}


def values_of(frames: SgdFrames, group: str = "#ALL_SERVICES") -> dict[str, float]:
    values = {card.name: Measure(card, part=group).value(frames) for card in SGD_CARDS}
    return {name: value for name, value in values.items() if not math.isnan(value)}


def test_predictions_kept_apart_from_gold_are_found_and_lack_what_they_do_not_record() -> None:
    gold = [dialogue("a", user(ROME))]
    predicted = [dialogue("a", Turn(speaker="user", predicted=ROME))]
    assert values_of(SgdScoring(SCHEMA).frames(gold, predicted)).keys() == {
        "SGD-JGA", "SGD-AGA", "SGD-JGA-cat", "SGD-JGA-noncat", "SGD-AGA-noncat",
    }  # fmt: skip


def test_what_is_on_one_side_only_is_counted() -> None:
    gold = [dialogue("a", user(ROME), user(ROME)), dialogue("b", user(ROME))]
    predicted = [dialogue("a", user(ROME), Turn(speaker="user")), dialogue("c", user(ROME))]
    coverage = SgdScoring(SCHEMA).frames(gold, predicted).coverage
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
        SgdScoring(SCHEMA).frames([dialogue("d", gold)], [dialogue("d", *predicted)])
    assert message in str(caught.value)


def predicting(folder: Path, values: dict[str, list[str]]) -> Path:
    """A file of predictions in SGD's shape: one turn about one hotel."""
    state = {"active_intent": "Find", "requested_slots": [], "slot_values": values}
    frames = [{"service": "Hotels_1", "state": state}]
    turns = [{"speaker": "USER", "utterance": "", "frames": frames}]
    path = folder / f"{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps([{"dialogue_id": "a", "services": ["Hotels_1"], "turns": turns}]))
    return path


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
