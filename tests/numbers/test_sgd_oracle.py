"""SGD's official scores against a second implementation, on random dialogues and on real ones.

Notices: the last digit of a score of any group or of a dialogue's sum; one dialogue missing; two services swapped.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sgd_oracle as oracle
import surface
from documents import differences

SCHEMA = {
    "Hotels_1": {"city": False, "date": False, "pets": True},
    "Hotels_2": {"city": False},
    "Buses_1": {"date": False, "class": True},
    "Alarm_1": {"alarm": False},
}
#: Reference, prediction, and what fuzzywuzzy 0.18 says of them with python-Levenshtein and without.
KNOWN = [
    ("half past 3 in the afternoon", "quarter past 11 in the morning", 0.52, 0.41),
    ("next Monday", "Santa Rosa", 0.48, 0.29),
    ("tide", "diet", 0.5, 0.25),
    ("diet", "tide", 0.5, 0.5),
    ("Angel Stadium", "stadium, angel", 1.0, 1.0),
    ("San Jose", "San Jose x", 0.89, 0.89),
    ("10:30", "10:30 x", 0.83, 0.83),
    ("March 8th", "8th of March", 0.86, 0.86),
    ("Café Rouge", "Cafe Rouge", 0.95, 0.95),
    ("...", "Rome", 0.0, 0.0),
    ("...", "", 1.0, 1.0),
]
OPEN = sorted({text for pair in KNOWN for text in pair[:2]} | {"none", "Oakland"})
CLOSED = ["yes", "no", "dontcare", "none", ""]
TEXT = "Rome or Oakland, 8th of March or 10:30, with a diet in San Jose"
CARDS = {
    "SGD-AGA": "average_goal_accuracy",
    "SGD-JGA": "joint_goal_accuracy",
    "SGD-AGA-cat": "average_cat_accuracy",
    "SGD-JGA-cat": "joint_cat_accuracy",
    "SGD-AGA-noncat": "average_noncat_accuracy",
    "SGD-JGA-noncat": "joint_noncat_accuracy",
    "SGD-intent": "active_intent_accuracy",
    "SGD-requested-F1": "requested_slots_f1",
    "SGD-requested-P": "requested_slots_precision",
    "SGD-requested-R": "requested_slots_recall",
    "SGD-tagging-F1": "slot_tagging_f1",
    "SGD-tagging-P": "slot_tagging_precision",
    "SGD-tagging-R": "slot_tagging_recall",
}


def schema_document(services: Sequence[str]) -> list[Any]:
    return [
        {"service_name": name, "description": "", "intents": [{"name": "Find"}, {"name": "Book"}],
         "slots": [{"name": slot, "is_categorical": categorical, "possible_values": CLOSED if categorical else []}
                   for slot, categorical in SCHEMA[name].items()]}
        for name in services
    ]  # fmt: skip


def frame(service: str, draw: random.Random, gold: Any = None) -> dict[str, Any]:
    """A frame; a predicted one mostly repeats gold."""
    slots: dict[str, list[str]] = {}
    for slot, categorical in SCHEMA[service].items():
        pool = [value for value in (CLOSED if categorical else OPEN) if gold is not None or value not in ("none", "")]
        known = (gold or {"state": {"slot_values": {}}})["state"]["slot_values"].get(slot)
        if known and draw.random() < 0.6:
            slots[slot] = [draw.choice(known)]
        elif draw.random() < 0.6:
            slots[slot] = draw.sample(pool, 1 if gold is not None or draw.random() < 0.6 else 2)
    marked = draw.sample([("city", 0, 4), ("city", 8, 15), ("date", 17, 29), ("pets", 40, 44), ("date", 0, 4)], 2)
    return {
        "service": service,
        "slots": [{"slot": slot, "start": start, "exclusive_end": end} for slot, start, end in marked],
        "state": {
            "active_intent": draw.choice(["Find", "Book", "NONE"]),
            "requested_slots": draw.sample(["city", "date", "pets"], draw.choice([0, 0, 1, 2])),
            "slot_values": slots,
        },
    }


def corpus(seed: int, size: int = 60) -> tuple[list[Any], list[Any]]:
    """Dialogues of up to four user turns with one to three services each, one for each known pair; and predictions."""
    draw = random.Random(seed)
    gold: list[Any] = []
    predicted: list[Any] = []
    for number in range(size):
        sides: tuple[list[Any], list[Any]] = [], []
        for _ in range(draw.randint(1, 4)):
            wanted = [frame(service, draw) for service in draw.sample(sorted(SCHEMA), draw.randint(1, 3))]
            given = [frame(each["service"], draw, each) for each in wanted]
            for side, frames in zip(sides, (wanted, given), strict=True):
                side.append({"speaker": "USER", "utterance": TEXT, "frames": frames})
                side.append({"speaker": "SYSTEM", "utterance": "OK", "frames": []})
        services = sorted({each["service"] for turn in sides[0] for each in turn["frames"]})
        for listed, turns in zip((gold, predicted), sides, strict=True):
            listed.append({"dialogue_id": f"1_{number:05}", "services": services, "turns": turns})
    for number, (reference, guess, *_) in enumerate(KNOWN):
        for listed, text in ((gold, reference), (predicted, guess)):
            state = {"active_intent": "Find", "requested_slots": [], "slot_values": {"city": [text]}}
            turn = {
                "speaker": "USER",
                "utterance": "",
                "frames": [{"service": "Hotels_2", "slots": [], "state": state}],
            }
            listed.append({"dialogue_id": f"2_{number:05}", "services": ["Hotels_2"], "turns": [turn]})
    return gold, predicted


def written(folder: Path, **documents: Any) -> list[Path]:
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return [folder / f"{name}.json" for name in documents]


@pytest.mark.parametrize(
    ("matching", "across_turn"), [("levenshtein", False), ("levenshtein", True), ("difflib", False), ("exact", True)]
)
def test_random_dialogues(tmp_path: Path, matching: str, across_turn: bool) -> None:
    gold, predicted = corpus(2 * len(matching) + across_turn)
    seen = schema_document(["Hotels_1", "Buses_1"])
    files = written(tmp_path, gold=gold, predicted=predicted, schema=schema_document(list(SCHEMA)), seen=seen)
    options = ["--train-schema", str(files[3]), "--sgd-matching", matching, *["--sgd-across-turn"] * across_turn]
    found, sums = surface.sgd_scores(files[0], files[1], files[2], *options)
    frames = list(oracle.frames(gold, predicted, SCHEMA, matching))
    wanted = oracle.group_scores(frames, oracle.read_schema(seen), across_turn=across_turn)
    assert not differences(found, wanted)
    assert sums.keys() == CARDS.keys()
    for card, score in CARDS.items():
        by_dialogue: dict[str, tuple[float, float]] = {}
        for dialogue, value in oracle.pairs(frames, score, across_turn=across_turn):
            above, below = by_dialogue.get(dialogue, (0.0, 0.0))
            by_dialogue[dialogue] = above + value, below + 1.0
        assert not differences(sums[card], by_dialogue), card


def test_the_oracle_knows_both_ratios() -> None:
    for reference, predicted, common, blocks in KNOWN:
        assert oracle.similarity(reference, predicted, "levenshtein") == common
        assert oracle.similarity(reference, predicted, "difflib") == blocks


def test_real_dialogues_by_difflib(shared_data: Path) -> None:
    """Expected values exist for the other ratio only."""
    folder = shared_data / "sgd"
    gold, predicted = (
        [one for path in sorted(folder.glob(f"{kind}_dialogues_00[12].json.gz")) for one in _load(path)]
        for kind in ("dev", "synthetic_pred")
    )
    schema = oracle.read_schema(_load(folder / "dev_schema.json.gz"))
    found, _ = surface.sgd_scores(
        f"{folder}/dev_dialogues_00[12].json.gz", f"{folder}/synthetic_pred_dialogues_00[12].json.gz",
        folder / "dev_schema.json.gz", "--sgd-matching", "difflib",
    )  # fmt: skip
    assert not differences(found, oracle.group_scores(list(oracle.frames(gold, predicted, schema, "difflib"))))


def _load(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))
