"""Mistakes that make a score nonsense, found before anybody believes it: turns counted otherwise, names that differ.

Each is a :class:`GuardFinding` of a kind. It becomes a note of the run and, where the score would mean nothing, stops
the command until the option that it names is given, or its kind is accepted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError, choice
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.inputs import SystemInput

if TYPE_CHECKING:
    from dialgauge.tracking.encode import Codes, EncodedDialogues, Item
    from dialgauge.tracking.prepared_inputs import System
    from dialgauge.values import Pair, Profile

TURNS, SLOTS, DIALOGUES, OUTPUTS = "turn_numbers", "slot_names", "dialogue_ids", "invalid_outputs"
ABSENT, JOINED, CHANGES = "absent_values", "joined_slots", "turn_changes"
SEVERAL = "several_values"
#: What may be accepted.
GUARDS = (TURNS, SLOTS, DIALOGUES, OUTPUTS, ABSENT, JOINED, CHANGES)
#: What notes of runs are about that are shown beside scores.
SHOWN = (*GUARDS, "renamed", "renumbered", SEVERAL)

#: Fewer filled slots or turns are too few to call a score nonsense.
_FEW = 10
#: The share of filled slots from which values that name other slots stop the score.
_MANY = 0.1
#: The share of filled slots from which a name that only one side has is told.
_NOTABLE = 0.01
#: The share of slots that are gone in the next turn: of changes at least, of whole states at most.
_GONE, _KEPT = 0.8, 0.2
_LISTED = 8
_TURN_OFFSET = re.compile(r"[0-9]{1,2}")


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


# -- turns -----------------------------------------------------------------------------------------------------------


class Counting(NamedTuple):
    """How predictions number the user's turns: ``number = shift + step * turn``."""

    shift: int = 0
    step: int = 1

    def __str__(self) -> str:
        parts = {"shift": self.shift, "step": self.step if self.step > 1 else 0}
        return ",".join(f"{name}={value}" for name, value in parts.items() if value) or "shift=0"

    def sentence(self) -> str:
        """In words."""
        if self == AS_WRITTEN:
            return "as they were read, so nothing changed"
        if self.shift < 0:
            return "numbered from 0, and the first turn of each dialogue is left out"
        by = " in steps of 2, as where the system's turns are counted too" if self.step == 2 else ""
        return f"numbered from {self.shift}{by}"

    def place(self, number: int) -> int | None:
        """The user turn of a number; None where it is that of no user turn."""
        turn, rest = divmod(number - self.shift, self.step)
        return turn if turn >= 0 and not rest else None


AS_WRITTEN = Counting()
_OTHERS = (Counting(1, 1), Counting(0, 2), Counting(1, 2))
#: Turns read as numbered from 1 of which each dialogue lacks the first.
_LATE = Counting(-1)


def counting_named(text: str) -> Counting:
    """A way of counting: ``shift=1``, ``step=2``, or both with a comma between."""
    values = {"shift": 0, "step": 1}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in values or not _TURN_OFFSET.fullmatch(number):
            lacking = "; a file that lacks the first turns needs them, with empty states" if "=-" in text else ""
            raise DialgaugeError(f"--turns must be auto, shift=1, step=2 or shift=1,step=2 (got '{text}'){lacking}")
        values[name] = int(number)
    if values["step"] not in (1, 2):
        raise DialgaugeError(f"--turns: a step is 1 or 2 (got {values['step']})")
    return Counting(**values)


def counted_turns(
    gold: SystemInput | None, system: SystemInput, turns: str | None, accept: Collection[str]
) -> tuple[SystemInput, list[Note]]:
    """The system with its turns counted as asked; refused where they fit gold only when counted otherwise."""
    if turns is not None and turns != "auto":
        counting = counting_named(turns)
        if counting.step == 1:
            counting = Counting(counting.shift - system.numbered_from)
        return _recounted(system, counting), [Note("renumbered", f"turns counted as asked: {counting.sentence()}")]
    if gold is None:
        return system, []
    others = (*_OTHERS, _LATE) if system.numbered_from else _OTHERS
    better, fitting, shared = _better_counting(gold.dialogues, system.dialogues, others)
    if better is None:
        return system, []
    fits = f"the turns of {fitting:,} of {counted(shared, 'dialogue')} fit gold if they are {better.sentence()}"
    if turns == "auto":
        return _recounted(system, better), [Note("renumbered", f"{fits}, and were so counted")]
    named = Counting(better.shift + system.numbered_from) if better.step == 1 else better
    told = f"{fits}; score them so with --turns {named} (in Python turns='{named}')"
    return system, notes_of([GuardFinding(TURNS, told, stops=True)], system.name, accept)


def _recounted(system: SystemInput, counting: Counting) -> SystemInput:
    return replace(system, dialogues=[_recounted_dialogue(one, counting) for one in system.dialogues])


def _recounted_dialogue(dialogue: Dialogue, counting: Counting) -> Dialogue:
    turns = {counting.place(number): turn for number, turn in enumerate(dialogue.user_turns())}
    turns.pop(None, None)
    length = max((number for number in turns if number is not None), default=-1) + 1
    return replace(dialogue, turns=tuple(turns.get(number, Turn(speaker="user")) for number in range(length)))


def _better_counting(
    gold: Sequence[Dialogue], predicted: Sequence[Dialogue], others: Sequence[Counting]
) -> tuple[Counting | None, int, int]:
    """The counting under which nearly all dialogues have gold's turns, where as written most do not."""
    golden = {dialogue_key(one.id): one for one in gold}
    both = [(golden[key], one) for one in predicted if (key := dialogue_key(one.id)) in golden]
    if _most_fit(both):
        return None, 0, 0
    shared = [(list(ours.user_turns()), list(theirs.user_turns())) for ours, theirs in both]
    best = max(others, key=lambda counting: sum(_fits(ours, theirs, counting) for ours, theirs in shared))
    fitting = sum(_fits(ours, theirs, best) for ours, theirs in shared)
    if 10 * fitting < 9 * len(shared) or not _agrees_better(shared, best):
        return None, 0, 0
    return best, fitting, len(shared)


def _most_fit(both: Sequence[tuple[Dialogue, Dialogue]]) -> bool:
    """Have at least half of the dialogues gold's turns as they are written?"""
    fitting = 0
    for gold, predicted in both:
        if 2 * fitting >= len(both):
            break
        stated = [turn.state is not None for turn in gold.turns if turn.speaker == "user"]
        there = [_predicts(turn) for turn in predicted.turns if turn.speaker == "user"]
        fitting += stated == there or _fits(list(gold.user_turns()), list(predicted.user_turns()), AS_WRITTEN)
    return 2 * fitting >= len(both)


def _fits(gold: Sequence[Turn], predicted: Sequence[Turn], counting: Counting) -> bool:
    there = {counting.place(number) for number, turn in enumerate(predicted) if _predicts(turn)} - {None}
    stated = {number for number, turn in enumerate(gold) if turn.state is not None}
    return there == (stated - {0} if counting.shift < 0 else stated)


def _predicts(turn: Turn) -> bool:
    return turn.predicted is not None or turn.judged is not None


def _agrees_better(shared: Sequence[tuple[Sequence[Turn], Sequence[Turn]]], counting: Counting) -> bool:
    """Do gold turns lack predictions as written, or else do more turns fill as many slots as gold does?"""

    def alike(how: Counting) -> int:
        return sum(
            _filled(ours[place].state) == _filled(turn.predicted)
            for ours, theirs in shared
            for number, turn in enumerate(theirs)
            if (place := how.place(number)) is not None and place < len(ours) and _predicts(turn)
        )

    lacking = any(
        turn.state is not None and not (number < len(theirs) and _predicts(theirs[number]))
        for ours, theirs in shared
        for number, turn in enumerate(ours)
    )
    enough = sum(len(ours) for ours, _ in shared) >= _FEW
    return (lacking and counting.shift >= 0) or (enough and alike(counting) > alike(AS_WRITTEN))


def _filled(state: object) -> int:
    return sum(len(slots) for slots in state.values()) if isinstance(state, dict) else 0


def change_findings(gold: SystemInput, system: SystemInput) -> list[GuardFinding]:
    """Turns that hold what changed and not the whole state: their slots are gone in the next turn, gold's are not."""
    slots, gone = _gone([[turn.predicted for turn in one.user_turns()] for one in system.dialogues])
    if slots < _FEW or gone < _GONE * slots:
        return []
    stated, lost = _gone([[turn.state for turn in one.user_turns()] for one in gold.dialogues])
    if lost > _KEPT * stated:
        return []
    told = (
        f"the turns seem to hold only what changed: {gone:,} of {slots:,} predicted slots are gone in the next turn; "
        "write the whole state of every turn, or give records with what changed as 'changes' (a row a slot: as "
        "'changed_value'), which are put together"
    )
    return [GuardFinding(CHANGES, told, stops=True)]


def _gone(dialogues: Iterable[Sequence[State | None]]) -> tuple[int, int]:
    """How many slots turns before the last have, and how many of them the next turn lacks."""
    slots = gone = 0
    for states in dialogues:
        for state, following in pairwise(states):
            if state and following is not None:
                for domain, inside in state.items():
                    slots += len(inside)
                    after = following.get(domain, {})
                    if after is not inside:  # turns share what did not change between them
                        gone += len(inside.keys() - after.keys())
    return slots, gone


# -- names -----------------------------------------------------------------------------------------------------------


def dialogue_findings(system: System) -> list[GuardFinding]:
    """Ids that both sides have without the other: where most are, the ids are written otherwise."""
    coverage = system.aligned.coverage
    missing, extra = coverage.missing_dialogues, coverage.extra_dialogues
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


def output_findings(system: System, invalid: int) -> list[GuardFinding]:
    """Texts of a language model that hold no state."""
    turns = system.aligned.coverage.predicted_turns
    if turns < _FEW or 2 * invalid <= turns:
        return []
    told = f"{invalid:,} of {counted(turns, 'output')} hold no state that can be read, and would be scored as empty"
    return [GuardFinding(OUTPUTS, told, stops=True)]


def absent_findings(system: System, profile: Profile) -> list[GuardFinding]:
    """A word that most predicted slots have and gold never has: it says that the slot is absent."""
    if system.gold is None or system.predicted.kind == "judged":
        return []
    rows = system.aligned.predicted_row
    filled = _filled_items(system.predicted, rows[rows >= 0])
    total = sum(filled.values())
    words = Counter[str]()
    for (_, _, values), count in filled.items():
        if len(values) == 1:
            words[values[0]] += count
    word, often = words.most_common(1)[0] if words else ("", 0)
    slots = {item[:2] for item in filled if item[2] == (word,)}
    known = {word for word in words if _means_absent(word)}
    strange = {word} if 2 * often > total and len(slots) > 1 else known
    if total < _FEW or not strange:
        return []
    ours = _filled_items(system.gold, system.aligned.gold_row)
    golden = {value.lower() for _, _, values in ours for value in values}
    strange = {word for word in strange if word.lower() not in golden}
    kept: Counter[Pair] = Counter()
    fills: Counter[Pair] = Counter()
    for (domain, slot, values), count in filled.items():
        fills[domain, slot] += count
        pair = profile.pair(domain, slot)
        if pair and len(values) == 1 and values[0] in strange and profile.normalise(pair, values, "predicted"):
            kept[domain, slot] += count
    mostly = any(count >= _FEW and 2 * count > fills[slot] for slot, count in kept.items())
    if not (mostly or kept.total() > _MANY * total):
        return []
    shown = some_of([f"'{word[:40]}'" for word in sorted(strange)], _LISTED)
    told = (
        f"{shown} {'fills' if len(strange) == 1 else 'fill'} {kept.total():,} of {total:,} predicted slots, and gold "
        "never has it: it seems to mean that the slot is absent; leave such slots out of the file, or use a profile "
        "that knows the word (-p llm knows many)"
    )
    return [GuardFinding(ABSENT, told, stops=True)]


@lru_cache(maxsize=1 << 14)
def _means_absent(word: str) -> bool:
    """Is it one of the words that the profile for language models reads as an absent slot?"""
    from dialgauge.values import profile_named

    return not profile_named("llm").normalise(("any", "name"), (word,), "predicted")


def several_findings(system: System) -> list[GuardFinding]:
    """Slots with more than one predicted value, of which only the first counts."""
    rows = system.aligned.predicted_row
    filled = {} if system.predicted.kind == "judged" else _filled_items(system.predicted, rows[rows >= 0])
    several = {item: count for item, count in filled.items() if len(item[2]) > 1}
    if not several:
        return []
    domain, slot, values = max(several, key=lambda item: several[item])
    told = (
        f"{sum(several.values()):,} of {counted(sum(filled.values()), 'predicted slot')} have several values, such as "
        f"{domain}-{slot} = {some_of([repr(value[:40]) for value in values], 3)}; the first is scored"
    )
    return [GuardFinding(SEVERAL, told)]


def joined_findings(system: System) -> list[GuardFinding]:
    """Values that hold further slots, as where a text has nothing between them: ``north hotel stars 4``."""
    if system.gold is None or system.predicted.kind == "judged":
        return []
    ours = _filled_items(system.gold, system.aligned.gold_row)
    names = {f"{re.escape(domain.lower())}[ -]{re.escape(slot.lower())}" for domain, slot, _ in ours}
    if not names:
        return []
    named = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    rows = system.aligned.predicted_row
    filled = _filled_items(system.predicted, rows[rows >= 0])
    if not named.search("\n".join([value[:500].lower() for _, _, values in filled for value in values])):
        return []
    joined = {
        item: count for item, count in filled.items() if any(named.search(value[:500].lower()) for value in item[2])
    }
    often, total = sum(joined.values()), sum(filled.values())
    if often < _NOTABLE * total:
        return []
    domain, slot, values = max(joined, key=lambda item: joined[item])
    told = (
        f"{often:,} of {counted(total, 'predicted value')} name further slots, such as {domain}-{slot} = "
        f"'{values[0][:60]}'; write states as JSON, or as hotel-area=north; hotel-stars=4"
    )
    return [GuardFinding(JOINED, told, stops=total >= _FEW and often >= _MANY * total)]


def slot_findings(
    system: System, profile: Profile, inventory: Collection[Pair], *, inferred: bool = False
) -> list[GuardFinding]:
    """Slots that only one side ever fills, by name, but for predicted ones that the inventory has.

    ``inferred``: a frame of polars gave the states their slots.
    """
    if system.gold is None or system.predicted.kind == "judged":
        return []
    gold, _ = _fills(system.gold, system.aligned.gold_row, profile)
    rows = system.aligned.predicted_row
    predicted, outside = _fills(system.predicted, rows[rows >= 0], profile)
    known = {_name(pair) for pair in gold}
    never_gold = {pair: count for pair, count in predicted.items() if pair not in gold and pair not in inventory}
    never_gold |= {pair: count for pair, count in outside.items() if pair not in system.gold.names}
    total = predicted.total() + sum(outside.values())
    never_predicted = {pair: count for pair, count in gold.items() if pair not in predicted}
    never_predicted = {pair: count for pair, count in never_predicted.items() if count >= _NOTABLE * gold.total()}
    told = sorted(
        (pair for pair, count in never_gold.items() if count >= _NOTABLE * total),
        key=lambda pair: -never_gold[pair],
    )
    meant = {pair: _meant(pair, never_predicted) for pair in told}
    findings = []
    if told and total >= _FEW:
        unmatched = sum(never_gold[pair] for pair in told)
        names = [_name(pair) + (f" (gold: {meant[pair]}?)" if meant[pair] else "") for pair in told]
        sentence = (
            f"gold never fills {some_of(names, _LISTED)}: {unmatched:,} of {total:,} predicted values; "
            "rename slots with --rename FILE"
        )
        stops = 2 * unmatched > total or any(meant.values())
        findings.append(GuardFinding(SLOTS, sentence, stops, rename_example(told, meant, known)))
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


def rename_example(unknown: Sequence[Pair], suggested: dict[Pair, str], known: Collection[str]) -> str:
    """A file of names to complete, for slots that gold does not have."""
    domains = {name.partition("-")[0] for name in known}
    lines = ["# rename.yaml, to be completed"]
    strange = [name for name in dict.fromkeys(pair[0] for pair in unknown) if name.lower() not in domains]
    if strange:
        lines += ["domains:", *(f"  {_quoted(name)}: {_quoted(_nearest(name, domains) or '???')}" for name in strange)]
    slots = [pair for pair in unknown if pair[0] not in strange]
    if slots:
        entries = [f"  {_quoted(_name(pair))}: {_quoted(suggested[pair] or '???')}" for pair in slots[:30]]
        lines += ["slots:", *entries]
    return "\n".join(lines)


def _fills(side: EncodedDialogues, rows: Codes, profile: Profile) -> tuple[Counter[Pair], Counter[Pair]]:
    """How often each slot is filled in these rows, under the profile's names; those out of its scope as written."""
    written: Counter[Pair] = Counter()
    inside: Counter[Pair] = Counter()
    outside: Counter[Pair] = Counter()
    for (domain, slot, _), count in _filled_items(side, rows).items():
        written[domain, slot] += count
    for name, count in written.items():
        pair = profile.pair(*name)
        if pair is None:
            outside[name] += count
        else:
            inside[pair] += count
    return inside, outside


def _filled_items(side: EncodedDialogues, rows: Codes) -> dict[Item, int]:
    """How often each slot has which values in these rows, as written."""
    among = np.zeros(len(side.present), np.bool_)
    among[rows] = True
    return side.filled if among.all() else side.filled_at(among[side.cell_row])


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
