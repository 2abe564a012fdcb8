"""Guards of whole states: they hold changes, one domain, another turn, or none; turns are lost, or slots cut off."""

from __future__ import annotations

from collections import Counter

from dialgauge.formats import NO_ROWS
from dialgauge.text import counted
from dialgauge.tracking.guard_evidence import GuardEvidence
from dialgauge.tracking.guard_findings import CHANGES, FEW, NOTABLE, OUTPUTS, TURNS, GuardFinding, slot_text
from dialgauge.tracking.inputs import FileReading

#: The share of slots that are gone in the next turn: of changes at least, of whole states at most.
_GONE, _KEPT = 0.8, 0.2
#: The same where gold keeps its own, from which it is told: trackers that are merely bad lose half of their slots, too.
_HALF_GONE = 0.5
#: The same where there are many: from which it is told (trackers lose up to 0.03).
_LOST = 0.12
#: The share of turns with several gold domains that predict several, up to which each turn has the active domain only.
_ACTIVE = 0.05
#: The share of turns with a new domain that lose all others, from which that is no chance: trackers have up to 0.02,
#: and in 30 of their dialogues up to 0.18.
_PARTED = 0.75
#: The share of turns with the state of the turn before or after that is no chance, and how much rarer right ones are.
_LATE, _OFTEN = 0.3, 4
#: The same share, where there are many, from which it is told; trackers have up to 0.08.
_SOMETIMES = 0.15
#: The share of changes of gold at which predictions stay as they are from which they never change.
_FROZEN = 0.95
#: The share of turns with more slots in gold than any prediction has that have just as many as the most.
_CUT = 0.6
#: Fewer slots tell nothing of a file, not even in a note.
_SOME = 3
#: Slots of which some are shown.
_SHOWN = 5
#: The share of the other turns that have as many slots as gold.
_ALIKE = 0.55


def change_findings(evidence: GuardEvidence, reading: FileReading) -> list[GuardFinding]:
    """Turns that hold what changed and not the whole state: their slots are gone in the next turn, gold's are not."""
    (slots, gone), (stated, lost) = evidence.kept, evidence.gold_kept
    surely = slots >= FEW and gone >= _GONE * slots and lost <= _KEPT * stated
    many = slots >= FEW * FEW and gone > _LOST * slots
    some = slots >= _SOME and gone >= _HALF_GONE * slots
    if not (surely or ((many or some) and lost * slots * FEW < gone * stated)):
        return []
    seen = f"{gone:,} of {slots:,} predicted slots are gone in the next turn"
    if reading.adds_changes:
        message = f"{seen}: where changes are added up, a slot without a value is emptied; leave out slots that stay"
        return [GuardFinding(CHANGES, message, stops=surely)]
    others = " or ".join(f"'{name[:40]}'" for name in reading.other_states)
    kept = f"if {others} holds the whole states, call it 'prediction' and leave the other out; else " if others else ""
    message = (
        f"{f'the turns seem to hold only what changed: {seen}' if surely else f'{seen}, which gold keeps'}; {kept}"
        f"{'' if surely else 'if turns hold only what changed, '}write the whole state of every turn, or call the "
        "field 'changes' (in a file with one row per slot, 'changed_value'), and the changes are added up"
    )
    return [GuardFinding(CHANGES, message, stops=surely, example=rows_example(evidence, "changes") if surely else "")]


def rows_example(evidence: GuardEvidence, name: str = "state") -> str:
    """Rows that are read, with slots that the predictions fill."""
    from dialgauge.formats import example_rows

    often = sorted(evidence.predicted, key=lambda item: (-evidence.predicted[item], item))
    return example_rows("", {slot_text(item[:2]): item[2][0] for item in often[:_SHOWN] if item[2]}, name=name)


def empty_findings(evidence: GuardEvidence, reading: FileReading) -> list[GuardFinding]:
    """Predictions that fill no slot at all, where gold fills many: their states were not found, where they were sought.

    In a format that says where states are, they are empty: a system may predict nothing.
    """
    filled = sum((evidence.gold or {}).values())
    dialogues, blank = evidence.filled
    if evidence.predicted and blank >= max(2, NOTABLE * dialogues):
        message = (
            f"{blank:,} of {counted(dialogues, 'dialogue')} in which gold fills slots have only empty states; leave "
            "out those that were not predicted"
        )
        return [GuardFinding(OUTPUTS, message)]
    if evidence.predicted or filled < FEW:
        return []
    message = (
        f"the predictions fill no slot at all, where gold fills {filled:,}: their states were not found or are empty; "
        "'dialgauge data formats predictions' shows how states are written"
    )
    return [GuardFinding(OUTPUTS, message, stops=bool(reading.understood))]


def domain_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Turns that hold the slots of the active domain only: dialogues fill several domains, and turns one at a time."""
    turns, whole = evidence.domains
    (switches, parted), (ours, lost) = evidence.switches, evidence.gold_switches
    if turns >= FEW and whole <= _ACTIVE * turns:
        seen = (
            f"dialogues fill several domains, and of {counted(turns, 'turn')} with several in gold {turns - whole:,} "
            "have one or none"
        )
    elif min(switches, ours) >= FEW and parted >= _PARTED * switches and lost <= _KEPT * ours:
        seen = (
            f"of {counted(switches, 'turn')} that fill a new domain {parted:,} lose all slots of those before, which "
            "gold keeps"
        )
    else:
        return []
    message = f"the turns seem to hold only the domain that is spoken of: {seen}; write the whole state of every turn"
    return [GuardFinding(CHANGES, message, stops=True)]


def moved_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """States of another turn."""
    near = _near_findings(evidence)
    return near if any(finding.stops for finding in near) else _far_findings(evidence) or near


def _near_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """States of another turn: one late, as where they are stored before the user's turn is tracked; one early, as where
    the first is lost; or the last in all turns."""
    changes, right, late, right_before, early, unchanged, *_ = evidence.changed
    if changes < FEW:
        return []
    where = f"of {counted(changes, 'turn')} in which a gold state changes"
    if late >= _LATE * changes and late >= _OFTEN * right:
        message = (
            f"the states seem to be those of the turn before: {where}, {late:,} have that of the turn before, and "
            f"{right:,} the changed one; write the state after each user turn"
        )
    elif not early or early < _OFTEN * right_before:
        moved, which = max((late, "before"), (early, "after"))
        if changes < 2 * FEW or moved < _SOMETIMES * changes:
            return []
        message = f"{where}, {moved:,} have that of the turn {which}; check how the turns of each dialogue are counted"
        return [GuardFinding(TURNS, message)]
    elif unchanged >= _FROZEN * changes:
        message = (
            f"the states seem to be those after the last turn, in all turns: {where}, {unchanged:,} have the predicted "
            "state of the turn before; write the state after each user turn"
        )
    elif early >= _LATE * changes:
        message = (
            f"the states seem to be those of the turn after: before {early:,} of {counted(changes, 'change')} of a "
            f"gold state the predictions have the changed one already, and before {right_before:,} the one of their "
            "turn; put the state of the first turn in front of those of each dialogue ({} where it was not kept), or "
            "number the turns one higher"
        )
    else:
        return []
    return [GuardFinding(TURNS, message, stops=True)]


def _far_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """States of two turns before, or after."""
    changed = evidence.changed
    moved, right, which = max(
        (changed.late_by_two, changed.far_right, "before"), (changed.early_by_two, changed.far_right_before, "after")
    )
    if changed.far < FEW or moved < _LATE * changed.far or moved < _OFTEN * right:
        return []
    message = (
        f"the states seem to be those of two turns {which}: of {counted(changed.far, 'turn')} with another gold state "
        f"than those around them, {moved:,} have that one, and {right:,} their own; write the state after "
        "each user turn"
    )
    return [GuardFinding(TURNS, message, stops=True)]


def gap_findings(evidence: GuardEvidence, reading: FileReading) -> list[GuardFinding]:
    """Turns that fill nothing between turns of their dialogue that do, where gold fills slots, too: rows may be lost.

    Systems forget a whole state in up to 0.3% of the turns.
    """
    turns, gaps = evidence.gaps
    rows = sum(remark.count for remark in reading.remarks if remark.what == NO_ROWS)
    if not gaps or (not rows and gaps < max(FEW, NOTABLE * turns)):
        return []
    seen = f"{gaps:,} of {counted(turns, 'turn')} have {'no row or ' if rows else ''}an empty state"
    message = (
        f"{seen} between turns of their dialogue that have slots, and gold fills slots there: "
        f"they are scored as empty; {'add their rows if they were lost' if rows else 'check that no output was lost'}"
    )
    return [GuardFinding(OUTPUTS, message, stops=min(rows, gaps) >= max(2, NOTABLE * turns))]


def cut_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """States that never have more than so many slots, where gold has more, and as many as gold elsewhere."""
    most = max((filled for filled, _ in evidence.sizes), default=0)
    beyond = {sizes: count for sizes, count in evidence.sizes.items() if sizes[1] > most}
    within = {sizes: count for sizes, count in evidence.sizes.items() if sizes[1] <= most}
    turns, full = sum(beyond.values()), sum(count for (filled, _), count in beyond.items() if filled == most)
    alike = sum(count for (filled, gold), count in within.items() if filled == gold)
    several = len({gold for _, gold in beyond}) > 1
    of_size: Counter[int] = Counter()
    for (filled, _), count in evidence.sizes.items():
        of_size[filled] += count
    heaped = of_size[most] > of_size[most - 1]  # the largest states of a system are rare
    if turns < 2 * FEW or full < _CUT * turns or alike < _ALIKE * sum(within.values()):
        return []
    if most < 2 or not (several and heaped):
        return []
    message = (
        f"no predicted state has more than {counted(most, 'slot')}, and of {counted(turns, 'turn')} in which gold has "
        f"more {full:,} have just as many: the rest seems cut off; write all slots of each state"
    )
    return [GuardFinding(CHANGES, message, stops=True)]
