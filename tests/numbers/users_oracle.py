"""GCDF1 from its formulas: scores from verdicts, the reference's records as rows, conversations in a few words.

Nothing here is the product's. A score follows from two multisets, what was wanted (T) and what was said (P); a verdict
says how many copies of one item it adds to both (true positives), to P alone or to T alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

COMBINED = "combined"
#: The name of the record that lets the counts of all verdicts sum to the combined score.
POOLED = "pooled"

Items = Counter[str]
#: F1, precision, recall.
Triple = tuple[float, float, float]
#: Dialogue, measure, domain, item, verdict, turn, labels, true positives, false positives, false negatives.
Verdict = tuple[str, str, str, str, str, int | None, tuple[str, ...], int, int, int]
#: Dialogue, measure, label, domain, item, turns, how often, what was expected instead.
Behaviour = tuple[str, str, str, str, str, tuple[int, ...], int, str]
#: Measure, label, domain, item, turns or a count, what was expected instead.
Row = tuple[str, str, str, str, tuple[int, ...], str]

_COUNTED = {
    "repeated_inform",
    "multiple_req",
    "constraints_not_in_goal/auto_matched_value",
    "constraints_not_in_goal/auto_matched_slot",
    "constraints_not_in_goal/auto_matched_slot_value_pair",
    "multiple_slot_requests/system_req_nlu_failure",
    "multiple_slot_requests/delayed_response",
    "multiple_slot_requests/repeated_despite_receiving_answer",
    "multiple_slot_requests/user_prempted_request",
}
#: Labels whose items stand in one inner list.
GROUPED = {
    "provision_entire_domain",
    "provision_slots",
    "requests_not_in_goal",
    "requested_domains_outside_goals",
    "informed_domains_outside_goals",
}


# Scores


def f_score(wanted: Items, said: Items) -> Triple | None:
    """F1, precision, recall of two multisets; precision is 1 if nothing was said, recall if nothing was wanted."""
    if not wanted and not said:
        return None
    both = (wanted & said).total()
    precision = both / said.total() if said else 1.0
    recall = both / wanted.total() if wanted else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f1, precision, recall


def multisets(verdicts: Iterable[Verdict]) -> tuple[Items, Items]:
    """What was wanted and what was said, from verdicts."""
    wanted, said = Items(), Items()
    for _, _, _, item, verdict, _, _, tp, fp, fn in verdicts:
        if verdict != POOLED:
            wanted[item] += tp + fn
            said[item] += tp + fp
    return +wanted, +said


def scores_of(verdicts: Sequence[Verdict]) -> dict[str, Triple]:
    """By domain and combined, from the verdicts of one dialogue and measure.

    The combined score pools the items. Those of I-GCDF1 do not name their domain, so what is wrong in one domain can
    meet what is missing in another.
    """
    by_domain: dict[str, list[Verdict]] = {}
    for row in verdicts:
        if row[4] != POOLED:
            by_domain.setdefault(row[2], []).append(row)
    found = {domain: f_score(*multisets(rows)) for domain, rows in by_domain.items()}
    found[COMBINED] = f_score(*multisets(verdicts))
    return {domain: score for domain, score in found.items() if score is not None}


def f1_of_counts(verdicts: Sequence[Verdict]) -> float:
    """2 TP / (2 TP + FP + FN) over the sums of all verdicts."""
    tp, fp, fn = sum(row[7] for row in verdicts), sum(row[8] for row in verdicts), sum(row[9] for row in verdicts)
    return 2 * tp / (2 * tp + fp + fn)


def means(scores: Mapping[str, Mapping[str, Triple]]) -> dict[str, Triple]:
    """The plain mean over the dialogues that have a score, for each domain."""
    by_domain: dict[str, list[Triple]] = {}
    for of_dialogue in scores.values():
        for domain, score in of_dialogue.items():
            by_domain.setdefault(domain, []).append(score)
    return {
        domain: (fmean(s[0] for s in found), fmean(s[1] for s in found), fmean(s[2] for s in found))
        for domain, found in by_domain.items()
    }


def same(ours: Mapping[str, Sequence[float]], theirs: Mapping[str, Sequence[float]]) -> bool:
    """Equal keys, and values within 1e-12."""
    return ours.keys() == theirs.keys() and all(
        abs(a - b) <= 1e-12 for key in ours for a, b in zip(ours[key], theirs[key], strict=True)
    )


def by_dialogue(rows: Iterable[Any]) -> dict[tuple[str, str], list[Any]]:
    """Rows of a stored table by dialogue and measure."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        groups.setdefault((row[0], row[1]), []).append(row)
    return groups


# Behaviours, as rows


def recorded_rows(measure: str, label: str, entries: Any, dialogue: str) -> Counter[Row]:
    """What the reference evaluator wrote under a label for one dialogue."""
    if label == "missed_domain":
        return Counter((measure, label, domain, "", (), "") for domain in entries)
    if label == "auto_ref":
        assert all(dialogues == [dialogue] for dialogues in entries.values())
        return Counter((measure, label, domain, "", (), "") for domain in entries)
    if label == "wrong_taxi_annotations":
        entries = {"": entries}
    found: Counter[Row] = Counter()
    for domain, records in entries.items():
        nested = label in GROUPED and records and isinstance(records[0], list)
        for record in records[0] if nested else records:
            found[measure, label, domain, *_parts(record)] += 1
    return found


def _parts(record: Any) -> tuple[str, tuple[int, ...], str]:
    if isinstance(record, str):
        return record, (), ""
    if "expected" in record:
        return record["provided"], (), record["expected"]
    [(item, numbers)] = record.items()
    return item, tuple(numbers) if isinstance(numbers, list) else (numbers,), ""


def stored_rows(behaviours: Iterable[Behaviour]) -> Counter[Row]:
    """The same from the stored table: labels that count have the count, others their turns."""
    found: Counter[Row] = Counter()
    for _, measure, label, domain, item, turns, count, expected in behaviours:
        if label in ("missed_domain", "auto_ref"):
            found[measure, label, domain, "", (), ""] += 1
            continue
        numbers = (count,) if label in _COUNTED else () if expected else turns
        found[measure, label, "" if label == "wrong_taxi_annotations" else domain, item, numbers, expected] += 1
    return found


# Conversations in a few words

_NAMES = {"nooffer": "NoOffer", "nobook": "NoBook", "offerbook": "OfferBook", "offerbooked": "OfferBooked"}


def act(text: str) -> tuple[str, dict[str, Any]]:
    """`hotel inform area=north` is the act Hotel-Inform of the service hotel, as is `hotel Hotel-Inform area=north`."""
    service, name, *rest = text.split(" ", 2)
    slot, equals, value = (rest[0] if rest else "").partition("=")
    values = value.split("|") if equals else ["?"] if name == "request" else []
    spelled = f"{service.capitalize()}-{_NAMES.get(name, name.capitalize())}"
    found: dict[str, Any] = {"act": name if "-" in name else spelled}
    if slot:
        found["slot"] = slot
    if values:
        found["values"] = values
    return service, found


def _frames(acts: Sequence[str], *, user: bool) -> list[dict[str, Any]]:
    frames: dict[str, dict[str, Any]] = {}
    for text in acts:
        service, found = act(text)
        frame = frames.setdefault(service, {"service": service, "actions": [], "slots": []})
        frame["actions"].append(found)
    if user:
        for service, frame in frames.items():
            asked = [f"{service}-{a['slot']}" for a in frame["actions"] if a["act"].endswith("-Request")]
            frame["state"] = {"active_intent": "NONE", "requested_slots": asked, "slot_values": {}}
    return list(frames.values())


def talk(goal: dict[str, Any], *turns: Sequence[str], id: str = "d1") -> dict[str, Any]:
    """A conversation as a GCDF1 file has it: turns of acts, the user first. Both sides understand every word."""
    made: list[dict[str, Any]] = []
    for place, acts in enumerate(turns):
        user = place % 2 == 0
        turn = {"turn_id": str(place), "speaker": "USER" if user else "SYSTEM", "utterance": ""}
        made.append({**turn, "frames": _frames(acts, user=user)})
    found = {"dialogue_id": id, "goal": goal, "services": [], "metrics": {}, "turns": made}
    for place, acts in enumerate(turns):
        found = mishear(found, place, *acts)
    return found


def mishear(record: dict[str, Any], place: int, *acts: str) -> dict[str, Any]:
    """The conversation with one turn understood as these acts; a file has that beside the turn that follows."""
    turns = list(record["turns"])
    if place + 1 < len(turns):
        turns[place + 1] = {**turns[place + 1], "nlu": {"frames": _frames(acts, user=False)}}
    return {**record, "turns": turns}
