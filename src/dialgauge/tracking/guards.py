"""Mistakes that make a score nonsense, found before anybody believes it: ids and names that differ, unread outputs.

Each is a :class:`GuardFinding` of a kind. It becomes a note of the run and, where the score would mean nothing, stops
the command until the option that it names is given, or its kind is accepted. Findings are made of
:class:`~dialgauge.tracking.guard_evidence.GuardEvidence`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dialgauge.errors import DialgaugeError, choice
from dialgauge.formats import INVALID, PARTLY, UNREAD_GOLD
from dialgauge.text import Note, counted, some_of, times
from dialgauge.tracking.guard_evidence import GuardEvidence, UnifiedSlots
from dialgauge.tracking.guard_findings import (
    DIALOGUES,
    FEW,
    GUARDS,
    LISTED,
    MANY,
    NOTABLE,
    OUTPUTS,
    OWN_GOLD,
    SEVERAL,
    SLOTS,
    TURNS,
    GuardFinding,
    slot_fills,
    slot_text,
)
from dialgauge.tracking.inputs import FileReading
from dialgauge.tracking.state_guards import (
    change_findings,
    cut_findings,
    domain_findings,
    empty_findings,
    gap_findings,
    moved_findings,
    rows_example,
)
from dialgauge.tracking.value_guards import (
    absent_findings,
    alternative_findings,
    anything_findings,
    boolean_findings,
    joined_findings,
    several_findings,
    spelling_findings,
)
from dialgauge.values import Pair, Profile

if TYPE_CHECKING:
    from dialgauge.tracking.align import TurnCoverage

#: The share of turns in which a file's own gold may differ from GOLD, and in which predictions that are gold are right.
_OTHER_GOLD, _SWAPPED = 0.1, 0.99
#: How alike the names of two slots are of which one may stand for the other.
_ALIKE = 0.5
_LOST_COLUMN = "polars keeps those of the first 100 rows, unless infer_schema_length=None"


def accepted_kinds(accept: str | Collection[str]) -> frozenset[str]:
    """The kinds that are accepted, each checked."""
    named = accept.split(",") if isinstance(accept, str) else accept
    return frozenset(choice(name.strip(), GUARDS, "what is accepted (--accept)") for name in named if name.strip())


def notes_of(findings: Iterable[GuardFinding], system: str, accept: Collection[str]) -> list[Note]:
    """The findings as notes; the first that stops and is not accepted is an error."""
    notes = []
    for kind, sentence, stops, example, advice in findings:
        if stops and kind not in accept:
            options = "; ".join(filter(None, (advice, f"--accept {kind} scores it as it is")))
            raise DialgaugeError(sentence, file=system, example=example, advice=options)
        notes.append(Note(kind, f"{sentence}; {advice}" if advice else sentence))
    return notes


def input_findings(
    evidence: GuardEvidence, coverage: TurnCoverage, reading: FileReading, *, own_gold: bool
) -> list[GuardFinding]:
    """What holds under any profile; ``own_gold``: the gold states are those inside the predictions."""
    changed = [] if own_gold else change_findings(evidence, reading)
    only_changes = any(finding.stops for finding in changed)  # which lose their domains as well
    return [
        *output_findings(
            coverage.predicted_turns, reading, own_gold=own_gold, example=partial(rows_example, evidence)
        ),  # first: states that were misread may look late or partial
        *empty_findings(evidence, reading),
        *changed,
        *([] if own_gold or only_changes else domain_findings(evidence)),
        *moved_findings(evidence),
        *([] if own_gold else own_gold_findings(evidence)),
        *order_findings(coverage, reading),
        *gap_findings(evidence, reading),
        *cut_findings(evidence),
        *dialogue_findings(coverage),
        *joined_findings(evidence),
        *several_findings(evidence),
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
        *(spelling_findings(evidence, profile) or (anything_findings(evidence, profile) if reading.understood else ())),
        *alternative_findings(evidence, profile),
        *slot_findings(evidence, profile, inventory, table_slots=reading.table_slots),
    ]


def own_gold_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """A file's own gold states that are not GOLD's: they are of another version, or its two columns are swapped."""
    turns, alike, right = evidence.own_gold
    if turns < FEW or alike >= (1 - _OTHER_GOLD) * turns:
        return []
    seen = f"what it calls gold differs from GOLD in {turns - alike:,} of {counted(turns, 'turn')}"
    if right >= _SWAPPED * turns:
        return [GuardFinding(OWN_GOLD, f"{seen}, and what it calls predicted is GOLD: they seem swapped", stops=True)]
    return [GuardFinding(OWN_GOLD, f"{seen}; GOLD is what counts")]


def unified_findings(unified: UnifiedSlots) -> list[GuardFinding]:
    """Slots that stand in one turn under two names, with different values, of which the profile makes one slot."""
    if not unified.again:
        return []
    shown = some_of([" and ".join(map(slot_text, sorted(names))) for _, names in sorted(unified.names.items())], 3)
    sentence = (
        f"{counted(unified.again, 'slot')} of the predictions {'has' if unified.again == 1 else 'have'} two names in "
        f"one turn, with different values ({shown}); the last is scored"
    )
    return [GuardFinding(SEVERAL, sentence)]


def dialogue_findings(coverage: TurnCoverage) -> list[GuardFinding]:
    """Ids that both sides have without the other: where most are, the ids are written otherwise."""
    missing, extra = sorted(coverage.missing_dialogues), sorted(coverage.extra_dialogues)
    shared = coverage.gold_dialogues - len(missing)
    if not (missing and extra) or 2 * shared >= min(coverage.gold_dialogues, coverage.predicted_dialogues):
        return []
    message = (
        f"only {shared:,} of {counted(coverage.gold_dialogues, 'gold dialogue')} have predictions, and "
        f"{counted(len(extra), 'predicted dialogue')} no gold: gold has ids like '{missing[0]}', the predictions like "
        f"'{extra[0]}'"
    )
    advice = "rename them with --rename FILE"
    return [GuardFinding(DIALOGUES, message, stops=True, example=id_example(extra, missing), advice=advice)]


def order_findings(coverage: TurnCoverage, reading: FileReading) -> list[GuardFinding]:
    """Turns that nothing but their order tells, where the order may not be theirs, or one may be missing."""
    fewer = {name: sizes for name, sizes in coverage.turn_count_mismatch.items() if sizes[1] < sizes[0]}
    if reading.row_per_slot and fewer and (reading.adds_changes or not coverage.all_gold_scored):
        lost = sum(turns - given for turns, given in fewer.values())
        message = (
            f"{counted(lost, 'turn')} behind the last {'change' if reading.adds_changes else 'row'} of their dialogue "
            f"{'has no row and counts' if lost == 1 else 'have no row and count'} as missing; give the last turn of "
            "each dialogue a row without a slot"
        )
        without = counted(len(coverage.missing_dialogues), "dialogue") + " without rows"
        others = f", which does so for {without}, too" if coverage.missing_dialogues else ""
        advice = "" if reading.adds_changes else f"to score them as empty states, add --coverage empty{others}"
        return [GuardFinding(TURNS, message, advice=advice)]
    if not reading.unnumbered:
        return []
    if reading.interleaved:
        message = (
            f"nothing numbers the turns, and in {counted(reading.interleaved, 'dialogue')} rows of other dialogues "
            "stand between them, so that their order may be lost; give each row its number in a field 'turn'"
        )
        return [GuardFinding(TURNS, message, stops=True)]
    if not fewer:
        return []
    name, (turns, given) = next(iter(fewer.items()))
    message = (
        f"nothing numbers the turns, and {counted(len(fewer), 'dialogue')} have fewer than gold ({name} has {given} of "
        f"{turns}): where one is missing, those behind it are scored as the turn before; give each its number in a "
        "field 'turn'"
    )
    return [GuardFinding(TURNS, message)]


def id_example(predicted: Sequence[str], gold: Sequence[str]) -> str:
    """A file of names to complete, for ids that gold does not have."""
    pairs = [f"  {_quoted(name)}: {_quoted(_nearest(name, gold[:5000]) or '???')}" for name in predicted[:3]]
    return "\n".join(["# rename.yaml, to be completed", "dialogues:", *pairs])


def output_findings(
    turns: int, reading: FileReading, *, own_gold: bool = False, example: Callable[[], str] = str
) -> list[GuardFinding]:
    """Texts of a language model that hold no state, or one that was understood in part.

    A model may fail to give a state in many turns; but what was not understood may also be ours to mend, and moves JGA
    by as many points as it has percent of the turns: from 1% on that is no less than the interval of a test set like
    MultiWOZ's.
    """
    scored = (INVALID, PARTLY, *([UNREAD_GOLD] if own_gold else []))
    remarks = {remark.what: remark for remark in reading.remarks if remark.what in scored}
    unread = [remark for what, remark in remarks.items() if what == PARTLY or reading.understood]
    count = sum(remark.count for remark in unread)
    if turns >= FEW and count >= NOTABLE * turns:
        first = next((location for remark in unread for location in remark.places), "")
        message = (
            f"{count:,} of {counted(turns, 'output')} were not understood in whole, and would be scored as far as they "
            f'were, first in {first}; write a state as an object of slots, such as {{"hotel-area": "north"}}, or as '
            "hotel-area=north; hotel-stars=4, and as {} where a model gives none"
        )
        return [GuardFinding(OUTPUTS, message, stops=True, example=example())]
    invalid = remarks[INVALID].count if INVALID in remarks else 0
    if turns < FEW or 2 * invalid <= turns:
        return []
    message = f"{invalid:,} of {counted(turns, 'output')} hold no state that can be read, and would be scored as empty"
    return [GuardFinding(OUTPUTS, message, stops=True, example=example())]


class _OneSided(NamedTuple):
    """Slots that only one side fills, and how often."""

    gold: Counter[Pair]
    never_predicted: dict[Pair, int]
    #: Those that predictions fill so rarely beside gold that most of them may be lost, and how often they do.
    rarely_predicted: dict[Pair, int]
    never_gold: dict[Pair, int]
    #: Notable ones of these, as the predictions write them, those first that are filled most.
    strange: dict[Pair, int]
    #: All values of the predictions.
    total: int

    @classmethod
    def of(cls, evidence: GuardEvidence, profile: Profile, inventory: Collection[Pair]) -> _OneSided:
        gold, _ = slot_fills(evidence.gold or {}, profile)
        written: Counter[Pair] = Counter()
        for (domain, slot, _), count in evidence.predicted.items():
            written[domain, slot] += count
        predicted, outside = slot_fills(written, profile)
        never_gold = {pair: count for pair, count in predicted.items() if pair not in gold and pair not in inventory}
        never_gold |= {pair: count for pair, count in outside.items() if pair not in evidence.gold_slots}
        least = NOTABLE * sum(evidence.sizes.values())  # JGA may lose a point for each percent of the turns
        rare = {pair: predicted[pair] for pair, n in gold.items() if n >= least and predicted[pair] <= NOTABLE * n}
        lost = {pair: gold[pair] for pair, count in rare.items() if not count} if predicted else {}
        spelling = {profile.pair(*pair) or pair: pair for pair in sorted(written, key=written.__getitem__)}
        strange = {
            spelling[pair]: count
            for pair, count in sorted(never_gold.items(), key=lambda each: (-each[1], each[0]))
            if count >= NOTABLE * written.total()
        }
        return cls(gold, lost, {pair: n for pair, n in rare.items() if n}, never_gold, strange, written.total())


def slot_findings(
    evidence: GuardEvidence, profile: Profile, inventory: Collection[Pair], *, table_slots: Collection[Pair] = ()
) -> list[GuardFinding]:
    """Slots that only one side ever fills, by name, but for predicted ones that the inventory has.

    ``table_slots``: those that the columns of a table gave the states.
    """
    slots = _OneSided.of(evidence, profile, inventory)
    known = {name.lower(): name for name, _ in (*evidence.gold_slots, *inventory, *slots.gold)}
    domains = {name: known.get(name.lower()) or _domain_meant(name, slots, profile) for name, _ in slots.strange}
    foreign = {name: other for name, other in domains.items() if name.lower() not in known}
    meant = _meant(slots, domains, evidence, profile)
    findings = []
    if slots.strange and slots.total >= FEW:
        unmatched = sum(slots.strange.values())
        names = [slot_text(pair) + (f" (gold: {name}?)" if name else "") for pair, name in meant.items()]
        sentence = f"gold never fills {some_of(names, LISTED)}: {unmatched:,} of {slots.total:,} predicted values"
        advice = "rename slots with --rename FILE"
        of_foreign = sum(count for (name, _), count in slots.strange.items() if name in foreign)
        stops = 2 * unmatched > slots.total or any(meant.values()) or of_foreign >= MANY * slots.total
        findings.append(GuardFinding(SLOTS, sentence, stops, rename_example(meant, foreign), advice))
    few_turns = min(FEW, MANY * sum(evidence.sizes.values())) if table_slots else FEW
    there = {profile.pair(*pair) or pair for pair in table_slots}
    return [*findings, *_lost_findings(slots, meant, 1 if findings else few_turns, there), *_rare_findings(slots)]


def _rare_findings(slots: _OneSided) -> list[GuardFinding]:
    told = [
        f"fill {slot_text(pair)} {times(count)}, gold {times(slots.gold[pair])}"
        for pair, count in slots.rarely_predicted.items()
    ]
    return [GuardFinding(SLOTS, f"the predictions {some_of(told, LISTED)}")] if told else []


def _lost_findings(
    slots: _OneSided, meant: Mapping[Pair, str], least: float, there: Collection[Pair]
) -> list[GuardFinding]:
    """Slots that gold fills at least so often and predictions never do; ``there``: those that a table has."""
    lost = {pair: count for pair, count in slots.never_predicted.items() if count >= least}
    if not lost:
        return []
    others = {name: slot_text(pair) for pair, name in meant.items()}
    names = []
    for pair in sorted(lost, key=lambda pair: (-lost[pair], pair)):
        near = _nearest(pair[1], [slot for domain, slot in slots.never_gold if domain == pair[0]])
        other = others.get(slot_text(pair)) or (near and slot_text((pair[0], near)))
        names.append(slot_text(pair) + (f" (predicted: {other}?)" if other else ""))
    filled, total = sum(lost.values()), slots.gold.total()
    sentence = (
        f"the predictions never fill {some_of(names, LISTED)}, which gold does: {filled:,} of {total:,} gold values"
    )
    empty, gone = (sorted(slot_text(pair) for pair in lost if (pair in there) is has) for has in (True, False))
    lacking = f"the columns of {some_of(gone, LISTED)}" if empty else "their columns"
    causes = [
        f"the table has {some_of(empty, LISTED)}, always empty" if empty else "",
        f"the table may have lost {lacking}: {_LOST_COLUMN}" if gone and there else "",
    ]
    sentence = "; ".join([sentence, *filter(None, causes)])
    return [GuardFinding(SLOTS, sentence, stops=filled >= FEW * FEW and 2 * filled > total)]


def _domain_meant(domain: str, slots: _OneSided, profile: Profile) -> str:
    """The domain of gold with most slots of one that gold lacks, at best such as the predictions never fill; or ""."""
    from difflib import SequenceMatcher

    names = [slot for name, slot in slots.strange if name == domain]

    def likeness(other: str) -> tuple[int, int, float]:
        pairs = [profile.pair(other, name) for name in names]
        lacking, shared = (sum(pair in side for pair in pairs) for side in (slots.never_predicted, slots.gold))
        return lacking, shared, SequenceMatcher(None, domain.lower(), other.lower()).ratio()

    known = sorted({name for name, _ in slots.gold})
    best = max(known, key=likeness, default="")
    return best if best and likeness(best)[1] else _nearest(domain, known)


def _meant(slots: _OneSided, domains: Mapping[str, str], evidence: GuardEvidence, profile: Profile) -> dict[Pair, str]:
    """For each strange slot the slot of gold that predictions never fill and that it may be another name of, or "".

    It is of the domain that is meant, and is named alike or alone has the same values. No two mean one.
    """
    from difflib import SequenceMatcher

    of_gold: dict[Pair, set[str]] = {}
    for written, words in evidence.gold_words.items():
        of_gold.setdefault(profile.pair(*written) or written, set()).update(words)
    values: dict[Pair, Counter[str]] = {pair: Counter() for pair in slots.strange}
    for (domain, slot, several), count in evidence.predicted.items():
        if (domain, slot) in values:
            values[domain, slot].update(dict.fromkeys((value.lower() for value in several), count))
    likely: list[tuple[float, Pair, Pair]] = []
    for pair in slots.strange:
        others = [other for other in slots.never_predicted if other[0] == domains[pair[0]]]
        shared = {
            other: sum(count for value, count in values[pair].items() if value in of_gold.get(other, ()))
            for other in others
        }
        same_values = [other for other in others if 2 * shared[other] > values[pair].total()]
        for other in others:
            alike = SequenceMatcher(None, pair[1].lower(), other[1]).ratio()
            elsewhere = not shared[other] and any(shared.values())  # as departure_time, which is no departure
            if (alike >= _ALIKE and not elsewhere) or same_values == [other]:
                likely.append((alike + shared[other] / max(1, values[pair].total()), pair, other))
    meant = dict.fromkeys(slots.strange, "")
    for _, pair, other in sorted(likely, key=lambda each: (-each[0], each[1:])):
        if not meant[pair] and slot_text(other) not in meant.values():
            meant[pair] = slot_text(other)
    return meant


def rename_example(meant: Mapping[Pair, str], domains: Mapping[str, str]) -> str:
    """A file of names to complete, for slots and domains that gold does not have, with those that may be meant."""
    lines = ["# rename.yaml, to be completed"]
    if domains:
        lines += ["domains:", *(f"  {_quoted(name)}: {_quoted(other or '???')}" for name, other in domains.items())]
    slots = [pair for pair in meant if pair[0] not in domains]
    if slots:
        entries = [f"  {_quoted(slot_text(pair))}: {_quoted(meant[pair] or '???')}" for pair in slots[:30]]
        lines += ["slots:", *entries]
    return "\n".join(lines)


def _nearest(name: str, known: Collection[str], likeness: float = 0.6) -> str:
    import difflib

    lower = {other.lower(): other for other in known}
    within = [other for other in lower if other in name.lower()]
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=likeness)
    return lower[near[0]] if near else lower[max(within, key=len)] if within else ""


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace(" ", "").isalpha() else json.dumps(name)
