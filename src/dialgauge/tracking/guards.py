"""Mistakes that make a score nonsense, found before anybody believes it: names that differ, states that are none.

Each is a :class:`GuardFinding` of a kind. It becomes a note of the run and, where the score would mean nothing, stops
the command until the option that it names is given, or its kind is accepted. Findings are made of
:class:`~dialgauge.tracking.guard_evidence.GuardEvidence`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dialgauge.errors import DialgaugeError, choice
from dialgauge.formats import INVALID, PARTLY
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.encode import Item
from dialgauge.tracking.guard_evidence import GuardEvidence
from dialgauge.tracking.inputs import FileReading
from dialgauge.values import Pair, Profile, profile_named

if TYPE_CHECKING:
    from dialgauge.tracking.align import TurnCoverage

TURNS, SLOTS, DIALOGUES, OUTPUTS = "turn_numbers", "slot_names", "dialogue_ids", "invalid_outputs"
ABSENT, JOINED, CHANGES = "absent_values", "joined_slots", "turn_changes"
BOOLEANS, SPELLINGS, SEVERAL = "boolean_values", "value_spellings", "several_values"
#: What may be accepted.
GUARDS = (TURNS, SLOTS, DIALOGUES, OUTPUTS, ABSENT, JOINED, CHANGES, BOOLEANS, SPELLINGS)
#: What notes of runs are about that are shown beside scores.
SHOWN = (*GUARDS, "renamed", "renumbered", SEVERAL)

#: Fewer filled slots or turns are too few to call a score nonsense.
FEW = 10
#: The share of filled slots from which values that name other slots stop the score.
_MANY = 0.1
#: The share of filled slots from which a name that only one side has is told.
_NOTABLE = 0.01
#: The share of slots that are gone in the next turn: of changes at least, of whole states at most.
_GONE, _KEPT = 0.8, 0.2
#: The same, where there are many and gold keeps its own: from which it is told (trackers lose up to 0.03), and stops.
_LOST, _PARTLY_LOST = 0.12, 0.4
#: The share of turns with several gold domains that predict several, up to which each turn has the active domain only.
_ACTIVE = 0.05
#: The share of filled slots from which values are told that only another profile reads.
_SPELLED = 0.005
#: The share of turns with the state of the turn before, and how much more often than right ones, that is no chance.
_LATE, _OFTEN = 0.3, 4
_LISTED = 8
#: What programs write for what gold calls yes and no.
_YES_NO = {"true": "yes", "false": "no"}
#: Slots whose values are names, which people spell in many ways.
_NAMES = ("name", "departure", "destination")


class GuardFinding(NamedTuple):
    """A likely mistake; ``stops``: the score would mean nothing. ``example`` is what would mend it."""

    kind: str
    sentence: str
    stops: bool = False
    example: str = ""


def accepted_kinds(accept: str | Collection[str]) -> frozenset[str]:
    """The kinds that are accepted, each checked."""
    named = accept.split(",") if isinstance(accept, str) else accept
    return frozenset(choice(name.strip(), GUARDS, "what is accepted (--accept)") for name in named if name.strip())


def notes_of(findings: Iterable[GuardFinding], system: str, accept: Collection[str]) -> list[Note]:
    """The findings as notes; the first that stops and is not accepted is an error."""
    notes = []
    for kind, sentence, stops, example in findings:
        if stops and kind not in accept:
            raise DialgaugeError(f"{sentence}; --accept {kind} scores it as it is", file=system, example=example)
        notes.append(Note(kind, sentence))
    return notes


def input_findings(
    evidence: GuardEvidence, coverage: TurnCoverage, reading: FileReading, *, own_gold: bool
) -> list[GuardFinding]:
    """What holds under any profile; ``own_gold``: the gold states are those inside the predictions."""
    return [
        *output_findings(coverage.predicted_turns, reading),  # first: states that were misread may look late or partial
        *empty_findings(evidence),
        *([] if own_gold else change_findings(evidence)),
        *([] if own_gold else domain_findings(evidence)),
        *late_findings(evidence),
        *dialogue_findings(coverage),
        *joined_findings(evidence),
        *(several_findings(evidence) if reading.understood else ()),
    ]


def profile_findings(
    evidence: GuardEvidence, reading: FileReading, profile: Profile, inventory: Collection[Pair]
) -> list[GuardFinding]:
    """What holds under one profile, whose slots, filled or not, are the inventory."""
    if evidence.gold is None:
        return []
    return [
        *absent_findings(evidence, profile),
        *boolean_findings(evidence, profile),
        *spelling_findings(evidence, profile),
        *slot_findings(evidence, profile, inventory, inferred=reading.from_structs),
    ]


def change_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Turns that hold what changed and not the whole state: their slots are gone in the next turn, gold's are not."""
    (slots, gone), (stated, lost) = evidence.kept, evidence.gold_kept
    surely = slots >= FEW and gone >= _GONE * slots and lost <= _KEPT * stated
    many = slots >= FEW * FEW and gone > _LOST * slots and lost * slots * FEW < gone * stated
    if not (surely or many):
        return []
    told = (
        f"{'the' if surely else 'some'} turns seem to hold only what changed: {gone:,} of {slots:,} predicted slots "
        "are gone in the next turn; write the whole state of every turn, or call the field 'changes' (in a file with "
        "one row per slot, 'changed_value'), and the changes are added up"
    )
    return [GuardFinding(CHANGES, told, stops=surely or gone > _PARTLY_LOST * slots)]


def empty_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Predictions that fill no slot at all, where gold fills many: their states were not found."""
    filled = sum((evidence.gold or {}).values())
    if evidence.predicted or filled < FEW:
        return []
    told = (
        f"the predictions fill no slot at all, where gold fills {filled:,}: their states were not found or are empty; "
        "'dialgauge data formats predictions' shows how states are written"
    )
    return [GuardFinding(OUTPUTS, told, stops=True)]


def domain_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Turns that hold the slots of the active domain only: dialogues fill several domains, and turns one at a time."""
    turns, whole = evidence.domains
    if turns < FEW or whole > _ACTIVE * turns:
        return []
    told = (
        "the turns seem to hold only the domain that is spoken of: dialogues fill several domains, and of "
        f"{counted(turns, 'turn')} with several in gold {turns - whole:,} have one or none; write the whole state of "
        "every turn"
    )
    return [GuardFinding(CHANGES, told, stops=True)]


def late_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """States that are one turn late, as those that are stored before the user's turn is tracked."""
    changed, right, late = evidence.changed
    if changed < FEW or late < _LATE * changed or late < _OFTEN * right:
        return []
    told = (
        f"the states seem to be those of the turn before: of {counted(changed, 'turn')} in which a gold state changes, "
        f"{late:,} have that of the turn before, and {right:,} the changed one; write the state after each "
        "user turn"
    )
    return [GuardFinding(TURNS, told, stops=True)]


def dialogue_findings(coverage: TurnCoverage) -> list[GuardFinding]:
    """Ids that both sides have without the other: where most are, the ids are written otherwise."""
    missing, extra = sorted(coverage.missing_dialogues), sorted(coverage.extra_dialogues)
    shared = coverage.gold_dialogues - len(missing)
    if not (missing and extra) or 2 * shared >= min(coverage.gold_dialogues, coverage.predicted_dialogues):
        return []
    told = (
        f"only {shared:,} of {counted(coverage.gold_dialogues, 'gold dialogue')} have predictions, and "
        f"{counted(len(extra), 'predicted dialogue')} no gold: gold has ids like '{missing[0]}', the predictions like "
        f"'{extra[0]}'; rename them with --rename FILE"
    )
    return [GuardFinding(DIALOGUES, told, stops=True, example=id_example(extra, missing))]


def id_example(predicted: Sequence[str], gold: Sequence[str]) -> str:
    """A file of names to complete, for ids that gold does not have."""
    pairs = [f"  {_quoted(name)}: {_quoted(_nearest(name, gold[:5000]) or '???')}" for name in predicted[:3]]
    return "\n".join(["# rename.yaml, to be completed", "dialogues:", *pairs])


def output_findings(turns: int, reading: FileReading) -> list[GuardFinding]:
    """Texts of a language model that hold no state, or one that was understood in part.

    A model may fail to give a state in many turns; but what was not understood may also be ours to mend, and moves JGA
    by as many points as it has percent of the turns: from 1% on that is no less than the interval of a test set like
    MultiWOZ's.
    """
    remarks = {remark.what: remark for remark in reading.remarks if remark.what in (INVALID, PARTLY)}
    unread = [remark for what, remark in remarks.items() if what == PARTLY or reading.understood]
    count = sum(remark.count for remark in unread)
    if turns >= FEW and count >= _NOTABLE * turns:
        first = next((place for remark in unread for place in remark.places), "")
        told = (
            f"{count:,} of {counted(turns, 'output')} were not understood in whole, and would be scored as far as they "
            f"were, first in {first}; write states as JSON, or as hotel-area=north; hotel-stars=4, and {{}} where a "
            "model gives none"
        )
        return [GuardFinding(OUTPUTS, told, stops=True)]
    invalid = remarks[INVALID].count if INVALID in remarks else 0
    if turns < FEW or 2 * invalid <= turns:
        return []
    told = f"{invalid:,} of {counted(turns, 'output')} hold no state that can be read, and would be scored as empty"
    return [GuardFinding(OUTPUTS, told, stops=True)]


def absent_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """A word that most predicted slots have and gold never has: it says that the slot is absent."""
    filled = evidence.predicted
    total = sum(filled.values())
    strange = _absent_words(evidence)
    if total < FEW or not strange:
        return []
    kept: Counter[Pair] = Counter()
    fills: Counter[Pair] = Counter()
    for (domain, slot, values), count in filled.items():
        fills[domain, slot] += count
        pair = profile.pair(domain, slot)
        if pair and len(values) == 1 and values[0] in strange and profile.normalise(pair, values, "predicted"):
            kept[domain, slot] += count
    mostly = any(count >= FEW and 2 * count > fills[slot] for slot, count in kept.items())
    if not (mostly or kept.total() > _MANY * total):
        return []
    shown = some_of([f"'{word[:40]}'" for word in sorted(strange)], _LISTED)
    helps = ", or use a profile that knows the word (-p llm)" if all(map(_means_absent, strange)) else ""
    told = (
        f"{shown} {'fills' if len(strange) == 1 else 'fill'} {kept.total():,} of {total:,} predicted slots, and gold "
        f"never has it: it seems to mean that the slot is absent; leave such slots out of the file{helps}"
    )
    return [GuardFinding(ABSENT, told, stops=True)]


def _absent_words(evidence: GuardEvidence) -> set[str]:
    """Words that gold never has and that seem to say that a slot is absent: one that most slots have, or known ones."""
    filled = evidence.predicted
    words = Counter[str]()
    for (_, _, values), count in filled.items():
        if len(values) == 1:
            words[values[0]] += count
    word, often = words.most_common(1)[0] if words else ("", 0)
    slots = {item[:2] for item in filled if item[2] == (word,)}
    known = {word for word in words if _means_absent(word)}
    strange = {word} if 2 * often > sum(filled.values()) and len(slots) > 1 else known
    return {word for word in strange if word.lower() not in evidence.gold_values}


@lru_cache(maxsize=1 << 14)
def _means_absent(word: str) -> bool:
    """Is it one of the words that the profile for language models reads as an absent slot?"""
    return not profile_named("llm").normalise(("any", "name"), (word,), "predicted")


def boolean_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """True and false in slots of gold, which has yes and no instead, where the profile tells them apart."""
    known = evidence.gold_values
    if not known.isdisjoint(_YES_NO) or known.isdisjoint(_YES_NO.values()):
        return []
    slots = {profile.pair(*name) for name in evidence.gold or ()} - {None}
    fills: Counter[Pair] = Counter()
    strange: Counter[Pair] = Counter()
    for (domain, slot, values), count in evidence.predicted.items():
        pair = profile.pair(domain, slot)
        if pair is None or pair not in slots:
            continue
        fills[pair] += count
        word = values[0].lower() if len(values) == 1 else ""
        if word in _YES_NO and not _reads_as(profile, pair, word, _YES_NO[word]):
            strange[pair] += count
    total = sum(evidence.predicted.values())
    if total < FEW or strange.total() < max(1, _NOTABLE * total):
        return []
    llm = profile_named("llm")
    helps = all(_reads_as(llm, pair, *words) for pair in strange for words in _YES_NO.items())
    told = (
        f"true and false fill {strange.total():,} of {total:,} predicted slots "
        f"({some_of(sorted(map(_name, strange)), _LISTED)}), where gold has yes and no; write yes and no in the file"
        f"{', or use a profile that reads them so (-p llm)' if helps else ''}"
    )
    return [GuardFinding(BOOLEANS, told, stops=any(2 * count > fills[pair] for pair, count in strange.items()))]


def _reads_as(profile: Profile, pair: Pair, word: str, gold: str) -> bool:
    """Are the predicted word and that of gold the same to the profile?"""
    meant = profile.normalise(pair, (gold,), "gold")
    return not set(meant).isdisjoint(profile.normalise(pair, (word,), "predicted"))


def spelling_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """Values that gold never has in a slot: where they fill most of it, gold spells them in another way.

    Few are told where the profile for language models reads them as gold's (``any`` for dontcare), but for names, which
    gold itself spells in several ways. Trackers of MultiWOZ have up to 2% values that gold lacks, up to 26% in a slot.
    """
    known = _GoldWords(evidence, profile)
    llm, total = profile_named("llm"), sum(evidence.predicted.values())
    joined: dict[Item, int] | None = None

    def is_other(item: Item) -> bool:
        """Does another guard tell it?"""
        nonlocal joined
        joined = _joined(evidence) if joined is None else joined
        return item in joined or item[2][0].lower() in _YES_NO or item[2][0] in absent

    absent = _absent_words(evidence)
    fills: Counter[Pair] = Counter()
    strange: dict[Pair, Counter[str]] = {}
    read: Counter[Pair] = Counter()
    for (domain, slot, values), count in evidence.predicted.items():
        pair = profile.pair(domain, slot)
        if pair is None:
            continue
        fills[pair] += count
        if len(values) != 1 or known.has(pair, values) or is_other((domain, slot, values)):
            continue
        strange.setdefault(pair, Counter())[values[0]] += count
        if (named := llm.pair(domain, slot)) and known.has(pair, llm.normalise(named, values, "predicted")):
            read[pair] += count
    odd = {
        pair
        for pair, words in strange.items()
        if (min(fills[pair], known.fills[pair]) >= 2 * FEW and words.total() >= _GONE * fills[pair])
        or (read[pair] >= FEW and 2 * read[pair] > fills[pair])
    }
    told = odd or {pair for pair in read if pair[1] not in _NAMES}
    often = sum(strange[pair].total() if odd else read[pair] for pair in told)
    if often < max(FEW, _SPELLED * total):
        return []
    words = Counter({(pair, word): count for pair in told for word, count in strange[pair].items()})
    shown = [f"{_name(pair)} '{word[:40]}'" for pair, word in sorted(words, key=lambda each: (-words[each], each))]
    helps = 2 * sum(read[pair] for pair in told) > often
    first = min(told, key=lambda pair: (-strange[pair].total(), pair))
    sentence = (
        f"gold never has {often:,} of {counted(total, 'predicted value')}: {some_of(shown, 3)}; gold has "
        f"{some_of([repr(word[:40]) for word in sorted(known.words(first))], 2)} in {_name(first)}; write values as "
        f"gold does{', or use a profile that reads them (-p llm)' if helps else ''}"
    )
    return [GuardFinding(SPELLINGS, sentence, stops=bool(odd))]


class _GoldWords:
    """The values that gold has in each slot, under the names and in the spelling of a profile."""

    def __init__(self, evidence: GuardEvidence, profile: Profile) -> None:
        self._profile = profile
        self._written: dict[Pair, set[str]] = {}
        self._spelled: dict[Pair, set[str]] = {}
        self.fills, _ = _fills(evidence.gold or {}, profile)
        for name, words in evidence.gold_words.items():
            if pair := profile.pair(*name):
                self._written.setdefault(pair, set()).update(words)

    def words(self, pair: Pair) -> set[str]:
        return self._written.get(pair, set())

    def has(self, pair: Pair, values: Sequence[str]) -> bool:
        """Has gold one of these values in the slot, or are they no values to the profile?"""
        written = self.words(pair)
        if not written.isdisjoint([value.lower() for value in values]):
            return True
        ours = self._profile.normalise(pair, tuple(values), "predicted")
        if pair not in self._spelled and ours:
            spelled = (self._profile.normalise(pair, (word,), "gold") for word in written)
            self._spelled[pair] = {word for words in spelled for word in words}
        return not ours or not self._spelled[pair].isdisjoint(ours)


def several_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Slots with more than one predicted value, of which only the first counts."""
    filled = evidence.predicted
    several = {item: count for item, count in filled.items() if len(item[2]) > 1}
    if not several:
        return []
    domain, slot, values = _most(several)
    told = (
        f"{sum(several.values()):,} of {counted(sum(filled.values()), 'predicted slot')} have several values, such as "
        f"{domain}-{slot} = {some_of([repr(value[:40]) for value in values], 3)}; the first is scored"
    )
    return [GuardFinding(SEVERAL, told)]


def _most(items: dict[Item, int]) -> Item:
    """The most frequent, whatever the order in which the files were read."""
    return min(items, key=lambda item: (-items[item], item))


def _joined(evidence: GuardEvidence) -> dict[Item, int]:
    """Values that hold further slots, as where a text has nothing between them, or remarks.

    ``north hotel stars 4``: a slot with its domain; behind a gold value ``north stars 4``, ``north (he said)`` and
    ``north:0.93``.
    """
    pairs = [(re.escape(domain.lower()), re.escape(slot.lower())) for domain, slot in evidence.gold or ()]
    if not pairs:
        return {}
    named = re.compile(rf"\b(?:{'|'.join(sorted({f'{domain}[ -]{slot}' for domain, slot in pairs}))})\b")
    slots = "|".join(sorted({slot for _, slot in pairs}))
    behind = re.compile(rf"(\S.*?)(?:,? (?:\(|(?:{slots})[ :=]+\S)| ?[:|@(] ?[01]?\.[0-9]+\)?$)")

    def is_joined(value: str) -> bool:
        before = behind.match(value) if not value.isalnum() and value not in evidence.gold_values else None
        return bool(named.search(value) or (before and before[1] in evidence.gold_values))

    filled = evidence.predicted
    return {item: n for item, n in filled.items() if any(is_joined(value[:500].lower()) for value in item[2])}


def joined_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Values that hold more than a value."""
    joined = _joined(evidence)
    often, total = sum(joined.values()), sum(evidence.predicted.values())
    if not joined or often < _NOTABLE * total:
        return []
    domain, slot, values = _most(joined)
    told = (
        f"{often:,} of {counted(total, 'predicted value')} hold further slots or words, such as {domain}-{slot} = "
        f"'{values[0][:60]}'; write states as JSON, or as hotel-area=north; hotel-stars=4"
    )
    return [GuardFinding(JOINED, told, stops=total >= FEW and often >= _MANY * total)]


def slot_findings(
    evidence: GuardEvidence, profile: Profile, inventory: Collection[Pair], *, inferred: bool = False
) -> list[GuardFinding]:
    """Slots that only one side ever fills, by name, but for predicted ones that the inventory has.

    ``inferred``: a frame of polars gave the states their slots.
    """
    gold, _ = _fills(evidence.gold or {}, profile)
    written: Counter[Pair] = Counter()
    for (domain, slot, _), count in evidence.predicted.items():
        written[domain, slot] += count
    predicted, outside = _fills(written, profile)
    known = {_name(pair) for pair in gold}
    never_gold = {pair: count for pair, count in predicted.items() if pair not in gold and pair not in inventory}
    never_gold |= {pair: count for pair, count in outside.items() if pair not in evidence.gold_slots}
    total = predicted.total() + sum(outside.values())
    never_predicted = {pair: count for pair, count in gold.items() if pair not in predicted}
    never_predicted = {pair: count for pair, count in never_predicted.items() if count >= _NOTABLE * gold.total()}
    told = sorted(
        (pair for pair, count in never_gold.items() if count >= _NOTABLE * total),
        key=lambda pair: (-never_gold[pair], pair),
    )
    spelling = {profile.pair(*pair) or pair: pair for pair in sorted(written, key=written.__getitem__)}
    meant = {spelling[pair]: _meant(pair, never_predicted) for pair in told}
    findings = []
    if told and total >= FEW:
        unmatched = sum(never_gold[pair] for pair in told)
        names = [_name(pair) + (f" (gold: {name}?)" if name else "") for pair, name in meant.items()]
        sentence = (
            f"gold never fills {some_of(names, _LISTED)}: {unmatched:,} of {total:,} predicted values; "
            "rename slots with --rename FILE"
        )
        stops = 2 * unmatched > total or any(meant.values())
        findings.append(GuardFinding(SLOTS, sentence, stops, rename_example(meant, known)))
    if never_predicted and predicted and (findings or inferred):
        lost = "; polars keeps the slots of the first 100 states only, unless infer_schema_length=None"
        names = [_name(pair) for pair in sorted(never_predicted)]
        sentence = f"the predictions never fill {some_of(names, _LISTED)}, which gold does{lost if inferred else ''}"
        findings.append(GuardFinding(SLOTS, sentence))
    return findings


def _meant(pair: Pair, lacking: Collection[Pair]) -> str:
    """The slot of gold that predictions never fill and that this one may be another name of; empty where none is."""
    domain = _nearest(pair[0], {name for name, _ in lacking})
    slots = [slot for name, slot in lacking if name == domain]
    near = _nearest(pair[1], slots, 0.5)
    return f"{domain}-{near or slots[0]}" if near or len(slots) == 1 else ""


def rename_example(meant: dict[Pair, str], known: Collection[str]) -> str:
    """A file of names to complete, for slots that gold does not have, and those of gold that may be meant."""
    domains = {name.partition("-")[0] for name in known}
    lines = ["# rename.yaml, to be completed"]
    strange = [name for name in dict.fromkeys(pair[0] for pair in meant) if name.lower() not in domains]
    if strange:
        lines += ["domains:", *(f"  {_quoted(name)}: {_quoted(_nearest(name, domains) or '???')}" for name in strange)]
    slots = [pair for pair in meant if pair[0] not in strange]
    if slots:
        entries = [f"  {_quoted(_name(pair))}: {_quoted(meant[pair] or '???')}" for pair in slots[:30]]
        lines += ["slots:", *entries]
    return "\n".join(lines)


def _fills(written: dict[Pair, int], profile: Profile) -> tuple[Counter[Pair], Counter[Pair]]:
    """How often each slot is filled, under the profile's names; those out of its scope as written."""
    inside: Counter[Pair] = Counter()
    outside: Counter[Pair] = Counter()
    for name, count in written.items():
        pair = profile.pair(*name)
        if pair is None:
            outside[name] += count
        else:
            inside[pair] += count
    return inside, outside


def _name(pair: Pair) -> str:
    return f"{pair[0]}-{pair[1]}"


def _nearest(name: str, known: Collection[str], likeness: float = 0.6) -> str:
    import difflib

    lower = {other.lower(): other for other in known}
    within = [other for other in lower if other in name.lower()]
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=likeness)
    return lower[near[0]] if near else lower[max(within, key=len)] if within else ""


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace(" ", "").isalpha() else json.dumps(name)
