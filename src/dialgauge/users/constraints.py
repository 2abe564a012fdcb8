"""I-GCDF1: does the user say all of its goal's constraints, and nothing but them? (spec section 6)

Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021), section 3.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from dialgauge.dialogue import Task
from dialgauge.users.acts import EQUALS
from dialgauge.users.ledger import Ledger
from dialgauge.users.outside import auto_matched, why_outside_goal
from dialgauge.users.repetitions import UNMATCHED, Repetitions
from dialgauge.users.scene import Scene
from dialgauge.users.signals import Signals

MEASURE: Final = "I-GCDF1"

OUTSIDE = "constraints_not_in_goal"
REPEATED = "multiple_constraint_informs"


def goal_constraints(task: Task) -> list[str]:
    """The goal's constraints as texts, each once, booking before search."""
    return list(
        dict.fromkeys(
            f"{slot}{EQUALS}{value}".lower()
            for constraints in (task.book, task.fail_book, task.info, task.fail_info)
            for slot, value in constraints.items()
        )
    )


def score_constraints(scene: Scene) -> list[Ledger]:
    """One ledger for each goal domain, then one for each other domain the user spoke of."""
    said = scene.user_parameters()
    ledgers = [_DomainScorer(scene, domain, said.get(domain, {})).run() for domain in scene.tasks]
    for service, constraints in said.items():
        if service not in scene.tasks:
            ledgers.append(_outside_domain(scene, service, constraints))
    return ledgers


def _outside_domain(scene: Scene, service: str, constraints: dict[str, list[int]]) -> Ledger:
    ledger = Ledger(MEASURE, service)
    for text, turns in constraints.items():
        for turn in turns if scene.config.igcd_f1.repetitions.count_fp else turns[:1]:
            scene.record(MEASURE, "informed_domains_outside_goals", service, text)
            ledger.said_wrong(text, turn, "outside-domain")
    return ledger


class _DomainScorer:
    """I-GCDF1 of one goal domain."""

    def __init__(self, scene: Scene, domain: str, said: dict[str, list[int]]) -> None:
        self._scene, self._domain, self._said = scene, domain, said
        self._options = scene.config.igcd_f1
        self._signals = Signals(scene, domain)
        self._repetitions = Repetitions(scene, self._signals, domain)
        self._goal = goal_constraints(scene.tasks[domain])
        self._goal_slots = {text.partition(EQUALS)[0] for text in self._goal}
        self._ledger = Ledger(MEASURE, domain, Counter(self._goal))

    def run(self) -> Ledger:
        for text, turns in self._said.items():
            self._constraint(text, turns)
        if not self._ledger.said and self._goal:
            self._scene.record(MEASURE, "missed_domain", self._domain)
        self._missing()
        return self._ledger

    def _constraint(self, text: str, turns: list[int]) -> None:
        slot = self._slot(text, turns[0])
        if slot is None:
            return
        if len(turns) > 1:
            self._scene.record(MEASURE, "repeated_inform", self._domain, text, count=len(turns))
        if len(turns) > self._options.repetitions_warning:
            self._scene.record(MEASURE, "repetitions_warning", self._domain, text)
        if slot not in self._goal_slots:
            self._outside_goal(text, slot, turns)
            return
        in_goal = text in self._ledger.truth
        if in_goal:
            self._ledger.said_right(text, turns[0], "credited")
        else:
            self._ledger.said_wrong(text, turns[0], "wrong-value")
        if not self._options.repetitions.count_fp:
            self._leave_out(text, turns[1:])
        elif len(turns) > 1:
            self._scene.require_domain(self._domain, turns[1])
            for ordinal, (first, second) in enumerate(pairwise(turns), start=1):
                self._repetition(text, slot, ordinal, first, second)
            return
        if not in_goal:
            self._scene.record(MEASURE, "single_repetitions_nog", self._domain, text, turns=(turns[0],))

    def _slot(self, text: str, turn: int) -> str | None:
        """The slot of a constraint; None when the constraint has no value and is passed over."""
        slot, equals, value = text.partition(EQUALS)
        if not equals:
            self._scene.fault(f"the user informs of the slot '{slot}' without a value", turn)
            return None
        if EQUALS in value and self._scene.config.strict:
            self._scene.fault(f"the value {value!r} contains '{EQUALS}', which separates slot and value", turn)
        return slot

    def _leave_out(self, text: str, turns: Sequence[int]) -> None:
        for turn in turns:
            self._ledger.uncounted(text, turn)

    def _repetition(self, text: str, slot: str, ordinal: int, first: int, second: int) -> None:
        labels, checks = self._repetitions.why(text, slot, first, second)
        for label in [*checks, *(labels or [UNMATCHED])]:
            self._scene.record(MEASURE, f"{REPEATED}/{label}", self._domain, text, turns=(first, second))
        because = tuple(labels) or (UNMATCHED,)
        if labels and ordinal <= self._options.repetitions.max_repetitions:
            self._ledger.warranted(text, second, "repeated-forgiven", because)
        else:
            self._ledger.said_wrong(text, second, "repeated-penalised", because)

    def _outside_goal(self, text: str, slot: str, turns: list[int]) -> None:
        options = self._options.constraints_not_in_goal
        counted = turns if self._options.repetitions.count_fp else turns[:1]
        label = auto_matched(self._scene, self._domain, slot, text.partition(EQUALS)[2])
        if label is None:
            self._mentions_outside_goal(text, slot, turns)
            return
        self._scene.record(MEASURE, f"{OUTSIDE}/{label}", self._domain, text, count=len(counted))
        for ordinal, turn in enumerate(counted, start=1):
            if ordinal <= options.auto_matching.max_repetions_matched:
                self._ledger.warranted(text, turn, "out-of-goal-credited", (label,))
            else:
                self._ledger.said_wrong(text, turn, "out-of-goal", (label,))
        self._leave_out(text, turns[len(counted) :])

    def _mentions_outside_goal(self, text: str, slot: str, turns: list[int]) -> None:
        """Each mention for itself; where repetitions do not count, the first that is warranted decides for all."""
        limit = self._options.constraints_not_in_goal.max_repetitions
        every = self._options.repetitions.count_fp
        wrong: list[tuple[int, tuple[str, ...]]] = []
        for ordinal, turn in enumerate(turns, start=1):
            labels, excuses = self._warrants(text, slot, turn)
            if excuses and ordinal <= limit:
                self._ledger.warranted(text, turn, "out-of-goal-credited", labels)
            elif every:
                self._ledger.said_wrong(text, turn, "out-of-goal", labels)
            else:
                wrong.append((turn, labels))
            if excuses and not every:
                break
        if not every:
            self._settle_once(text, turns, wrong)

    def _settle_once(self, text: str, turns: list[int], wrong: list[tuple[int, tuple[str, ...]]]) -> None:
        credited = self._ledger.said[text] > 0
        if not credited:
            turn, labels = wrong[0]
            self._ledger.said_wrong(text, turn, "out-of-goal", labels)
        entered = {entry.turn for entry in self._ledger.verdicts if entry.item == text}
        self._leave_out(text, [turn for turn in turns if turn not in entered])

    def _warrants(self, text: str, slot: str, turn: int) -> tuple[tuple[str, ...], bool]:
        """The labels of a mention whose slot the goal lacks, and whether they warrant it."""
        if turn == 0:
            self._scene.record(MEASURE, f"{OUTSIDE}/first_turn", self._domain, text, turns=(turn,))
            return ("first_turn",), False
        self._scene.require_domain(self._domain, turn)
        labels = why_outside_goal(self._scene, self._signals, slot, turn)
        if not labels:
            self._scene.record(MEASURE, f"{OUTSIDE}/{UNMATCHED}", self._domain, text, turns=(turn,))
            return (UNMATCHED,), False
        if slot in self._signals.domain.entity_slots and self._mentions_taxi(turn):
            self._scene.record(MEASURE, "wrong_taxi_annotations", self._domain, text, turns=(turn,))
            return ("wrong_taxi_annotations",), False
        for label in labels:
            self._scene.record(MEASURE, f"{OUTSIDE}/{label}", self._domain, text, turns=(turn,))
        return tuple(labels), True

    def _mentions_taxi(self, turn: int) -> bool:
        taxi, moment = self._scene.profile.taxi_domain, self._scene.moments[turn]
        return bool(taxi) and (taxi in moment.services or taxi in moment.text)

    def _missing(self) -> None:
        missing = [text for text in self._ledger.truth if not self._ledger.said[text]]
        missing = [text for text in missing if not self._preempted(text)]
        if not missing:
            return
        failed = self._search_failed()
        for text in missing:
            label = "failed_dialogue" if failed else self._why_missing(text)
            if failed and self._options.empty_db_result.compensate_missed_constraints:
                self._ledger.excuse(text, (label,))
            else:
                self._ledger.missing(text, (label,))
            if label in ("failed_dialogue", "missed_constraints"):
                self._scene.record(MEASURE, label, self._domain, text)
        if failed and self._options.empty_db_result.compensate_request and self._scene.tasks[self._domain].requests:
            self._scene.requests_removed.append(self._domain)

    def _preempted(self, text: str) -> bool:
        """Did the system say it, in any turn?"""
        spoken = self._scene.system_parameters()
        turns: list[int] | None = None
        for service in self._scene.with_booking(self._domain):
            turns = turns or spoken.get(service, {}).get(text)
        if turns is None:
            return False
        label = "sys_preempted_constraint"
        self._scene.record(MEASURE, label, self._domain, text, turns=tuple(turns))
        if self._options.compensate_preemption:
            self._ledger.said_right(text, turns[0], "pre-empted", (label,))
        else:
            self._ledger.missing(text, (label,))
        return True

    def _why_missing(self, text: str) -> str:
        slot = text.partition(EQUALS)[0]
        for provided in self._said:
            if slot in provided and provided not in self._ledger.truth:
                self._scene.record(MEASURE, "informed_wrong_value", self._domain, provided, expected=text)
                return "informed_wrong_value"
        return "missed_constraints"

    def _search_failed(self) -> bool:
        """Did the system find nothing right after the user's last constraint of the domain?"""
        if not self._said:
            return False
        last = max(turns[-1] for turns in self._said.values())
        if last + 1 >= len(self._scene.moments):
            self._scene.fault("the user's last turn states constraints and nobody answers it", last)
            return False
        answer = self._scene.moments[last + 1]
        return self._signals.is_void(answer) and not self._signals.has_choice(answer)
