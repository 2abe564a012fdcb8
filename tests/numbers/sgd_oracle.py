"""SGD's official scores (Rastogi et al. 2020) from their definition, over dialogues as their JSON files have them.

Every frame (one service in one user turn) has its scores; a group of services has the mean over its frames, or, across
turns, over the products of the joint scores of a turn's frames. None is "does not apply".
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mwzeval_oracle import common_length

#: Whether a slot is categorical, by service and slot.
Schema = Mapping[str, Mapping[str, bool]]
JOINT = ("joint_goal_accuracy", "joint_cat_accuracy", "joint_noncat_accuracy")


class Frame(NamedTuple):
    """The scores of one service in one user turn."""

    dialogue: str
    turn: int
    service: str
    scores: dict[str, float | None]


def read_schema(document: Sequence[Any]) -> Schema:
    """The slots of each service of a schema file."""
    return {
        service["service_name"]: {slot["name"]: slot["is_categorical"] for slot in service["slots"]}
        for service in document
    }


def prepared(text: str) -> str:
    """Lower case, accented letters deleted, other signs as spaces, words sorted: fuzzywuzzy's token sort."""
    letters = [letter for letter in text.lower() if not "\x80" <= letter <= "\xff"]
    return " ".join(sorted("".join(letter if letter.isalnum() else " " for letter in letters).split()))


def similarity(reference: str, predicted: str, matching: str) -> float:
    """A share in whole percents, or equality."""
    if matching == "exact":
        return float(reference == predicted)
    one, other = prepared(reference), prepared(predicted)
    if not one and not other:
        return 1.0
    if matching == "difflib":
        common = sum(block.size for block in difflib.SequenceMatcher(None, one, other).get_matching_blocks())
    else:
        common = common_length(one, other)
    return round(200 * common / (len(one) + len(other))) / 100


def slot_score(reference: Sequence[str], predicted: Sequence[str], categorical: bool, matching: str) -> float:
    """Of several predicted values only the first counts; an open slot has any listed value."""
    if not predicted:
        return 0.0
    if categorical:
        return float(reference[0] == predicted[0])
    return max(similarity(value, predicted[0], matching) for value in reference)


def goal_scores(wanted: Any, given: Any, slots: Mapping[str, bool], matching: str) -> dict[str, float | None]:
    """Average and joint goal accuracies over all slots of the service, the categorical and the open ones."""
    scores: dict[str, float | None] = {}
    parts = {"goal": (True, False), "cat": (True,), "noncat": (False,)}
    for part, kinds in parts.items():
        every, filled = [], []
        for slot in (slot for slot, categorical in slots.items() if categorical in kinds):
            score = float(slot not in wanted and slot not in given)
            if slot in wanted and slot in given:
                score = slot_score(wanted[slot], given[slot], slots[slot], matching)
            every.append(score)
            filled += [score] if slot in wanted else []
        scores[f"joint_{part}_accuracy"] = math.prod(every) if every else None
        scores[f"average_{part}_accuracy"] = sum(filled) / len(filled) if filled else None
    return scores


def list_scores(name: str, wanted: Sequence[Any], given: Sequence[Any]) -> dict[str, float | None]:
    """Precision, recall and F1 of two multisets; 1 where there is nothing to divide by."""
    shared = (Counter(wanted) & Counter(given)).total()
    precision = shared / len(given) if given else 1.0
    recall = shared / len(wanted) if wanted else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}


def frames(gold: Sequence[Any], predicted: Sequence[Any], schema: Schema, matching: str) -> Iterator[Frame]:
    """All frames of gold with their scores; dialogues without predictions are left out."""
    theirs = {dialogue["dialogue_id"]: dialogue for dialogue in predicted}
    for dialogue in gold:
        name = dialogue["dialogue_id"]
        if name not in theirs:
            continue
        for number, (turn, answer) in enumerate(zip(dialogue["turns"], theirs[name]["turns"], strict=True)):
            if turn["speaker"] != "USER":
                continue
            answers = {frame["service"]: frame for frame in answer["frames"]}
            for frame in turn["frames"]:
                service = frame["service"]
                scores = _frame_scores(frame, answers[service], turn["utterance"], schema[service], matching)
                yield Frame(name, number, service, scores)


def _frame_scores(
    gold: Any, predicted: Any, text: str, slots: Mapping[str, bool], matching: str
) -> dict[str, float | None]:
    wanted, given = gold["state"], predicted["state"]
    scores = goal_scores(wanted["slot_values"], given["slot_values"], slots, matching)
    scores["active_intent_accuracy"] = float(wanted["active_intent"] == given["active_intent"])
    scores |= list_scores("requested_slots", wanted["requested_slots"], given["requested_slots"])
    if "slots" in predicted:
        marked = [
            [(span["slot"], text[span["start"] : span["exclusive_end"]]) for span in frame["slots"]
             if not slots.get(span["slot"], True)]
            for frame in (gold, predicted)
        ]  # fmt: skip
        scores |= list_scores("slot_tagging", *marked)
    return scores


def pairs(some: Sequence[Frame], score: str, *, across_turn: bool) -> list[tuple[str, float]]:
    """Dialogue and score of every frame that has it, or of every turn where joint scores are multiplied."""
    known = [(frame.dialogue, frame.turn, value) for frame in some if (value := frame.scores.get(score)) is not None]
    if not across_turn or score not in JOINT:
        return [(dialogue, value) for dialogue, _, value in known]
    turns: dict[tuple[str, int], float] = {}
    for dialogue, turn, value in known:
        turns[dialogue, turn] = turns.get((dialogue, turn), 1.0) * value
    return [(dialogue, value) for (dialogue, _), value in turns.items()]


def groups(some: Sequence[Frame], seen: Schema | None) -> dict[str, list[Frame]]:
    """All frames, those of seen and unseen services, of each domain and of each service."""
    result = {"#ALL_SERVICES": list(some)}
    for frame in some:
        names = [frame.service, frame.service.partition("_")[0]]
        if seen is not None:
            names.append("#SEEN_SERVICES" if frame.service in seen else "#UNSEEN_SERVICES")
        for name in names:
            result.setdefault(name, []).append(frame)
    return result


def group_scores(
    some: Sequence[Frame], seen: Schema | None = None, *, across_turn: bool = False
) -> dict[str, dict[str, float]]:
    """By group the mean of every score that applies."""
    result = {}
    for name, members in groups(some, seen).items():
        names = {score for frame in members for score in frame.scores}
        values = {score: [value for _, value in pairs(members, score, across_turn=across_turn)] for score in names}
        result[name] = {score: sum(listed) / len(listed) for score, listed in values.items() if listed}
    return result
