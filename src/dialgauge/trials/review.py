"""A log of an agent in at most 25 lines: what it is, whether it is what it says, what passes, and what to read first.

Everything here is said by others: coverage and pass^k by the scored run, whether conversations belong to their tasks by
the check of integrity, split and unfair tasks by the audit, and whose fault a failure was by the rules of blame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

import msgspec
from msgspec import Struct

from dialgauge.dialogue import contradicted_sentence, differing_instructions, differing_sentence
from dialgauge.measures import Score
from dialgauge.runs import Run
from dialgauge.text import capitalised, counted, note_kind, some_of
from dialgauge.trials.audit_views import FACT_WORDS, belonging_answer
from dialgauge.trials.blamed_log import LogBlame
from dialgauge.trials.facts import UNFAIR, tasks_by_fact
from dialgauge.trials.failure_evidence import ObservedFault
from dialgauge.trials.log_audit import LogAudit, PassSplit
from dialgauge.trials.log_findings import READINGS, SuggestedReading, stored_readings
from dialgauge.trials.measured_blame import load_blame_record
from dialgauge.trials.trial_scores import TRIALS
from dialgauge.trials.trial_wordings import trials_sentence
from dialgauge.worlds.tools import MOST_FOREIGN

#: Tasks or conversations that a line names.
_NAMED = 4
#: Letters of an id that is shown whole.
_LONG = 24
_UNSAID = {
    "audit": "whether tasks fit and were fair, and whose fault the failures were ({why}).",
    "format": "whether tasks fit and were fair, and whose fault the failures were: only results of τ-bench and "
    "τ²-bench hold tasks and every call (docs/formats/tau.md).",
    "replay": "whether verdicts replay: the domain's records and tools are missing; name them with --domain FOLDER "
    "(airline or retail: DIALGAUGE_DATA=CLONE, a clone of tau-bench or tau2-bench).",
    "blame": "whose fault the failures were ({why}).",
    "verdicts": "pass^k: no conversation has a verdict. Give each a field 'success' (true or false) beside its "
    "messages, name another field with --success, or add files of graders ('dialgauge tasks judges').",
}


class Missing(Struct, frozen=True):
    """A part of a review that a log does not allow, and why."""

    part: Literal["audit", "format", "replay", "blame", "verdicts"]
    why: str = ""


class Review(Struct, frozen=True, kw_only=True, dict=True):
    """One log with all that could be found out about it; what could not is ``missing``, each with its reason."""

    run: Run
    audit: LogAudit | None = None
    blame: LogBlame | None = None
    #: What checks saw in users, by conversation, of a log that cannot be audited; its failures may rest on it.
    faults: Mapping[str, Sequence[ObservedFault]] = {}
    missing: tuple[Missing, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The review as sentences, the answer first; what to read is not among them."""
        return _lines(self)

    @property
    def unsaid(self) -> list[str]:
        """What cannot be said of the log, and what it would take."""
        if not self.run.details["begun"]:
            return []
        missing = [each for each in self.missing if each.part != "replay" or not self.contradicted]
        if not any(name.startswith("pass^") for name in self.run.scores):
            missing.append(Missing("verdicts"))
        return [_UNSAID[each.part].format(why=each.why) for each in missing]

    @cached_property
    def _talks(self) -> dict[bytes, list[str]]:
        """Ids of conversations by a checksum of all that was said and done in them."""
        same: dict[bytes, list[str]] = {}
        for dialogue in self.run.dialogues():
            if dialogue.turns:
                same.setdefault(sha256(msgspec.json.encode(dialogue.turns)).digest(), []).append(dialogue.id)
        return same

    @property
    def identical(self) -> list[tuple[str, ...]]:
        """Conversations that are word for word the same."""
        if self.audit is not None:
            return list(self.audit.integrity.identical)
        return [tuple(names) for names in self._talks.values() if len(names) > 1]

    @property
    def fingerprint(self) -> str:
        """The same for logs with the same conversations, in whatever order; empty where nobody speaks."""
        talks = sorted(each for each, names in self._talks.items() for _ in names)
        return sha256(b"".join(talks)).hexdigest() if talks else ""

    @cached_property
    def differing(self) -> list[str]:
        """Tasks of a log that cannot be audited whose trials have different instructions."""
        if self.audit is not None:
            return []
        tasks = dict(self.run.table(TRIALS).select("dialogue", "task").rows())
        return differing_instructions((tasks.get(each.id, each.id), each) for each in self.run.dialogues())

    @property
    def per_task_stands(self) -> bool:
        """Whether figures by task can be trusted."""
        return self.audit is None or self.audit.integrity.per_task_stands

    @property
    def sound(self) -> bool:
        """Whether nothing contradicts what the log says of itself."""
        return not self.doubts

    @property
    def contradicted(self) -> list[str]:
        """Conversations with a contradicted verdict; a replay against the wrong task contradicts nothing."""
        if self.audit is None:
            return []
        return self.audit.contradicted if self.per_task_stands else self.audit.self_contradicted

    @property
    def doubts(self) -> list[str]:
        """What contradicts the log, in short; nothing where it is sound."""
        audit = self.audit
        counts = {
            "conversations of other tasks": len(audit.integrity.foreign) if audit else 0,
            "contradicted verdicts": len(self.contradicted),
            "tasks with different instructions": len(self.differing),
        }
        doubts = [f"{words} ({number:,})" for words, number in counts.items() if number]
        return doubts if self.run.coverage.complete else ["it is incomplete", *doubts]

    @property
    def readings(self) -> list[SuggestedReading]:
        """What to read first: what does not belong, what the replay contradicts, then failures of different tasks."""
        return stored_readings(self.run.table(READINGS)) if READINGS in self.run.tables else []

    def document(self) -> dict[str, Any]:
        return {
            "name": self.run.name,
            "sound": self.sound,
            "lines": self.lines,
            "scores": {name: score.value for name, score in self.run.scores.items()},
            "foreign": [filing.conversation for filing in self.audit.integrity.foreign] if self.audit else None,
            "split": msgspec.to_builtins(self.audit.split) if self.audit and self.per_task_stands else None,
            "unfair_tasks": dict(_unfair(self.audit)) if self.audit else None,
            "blame": dict(self.blame.counts) if self.blame else None,
            "read_first": [
                {"conversation": each.conversation, "message": each.message, "why": each.why} for each in self.readings
            ],
            "unsaid": self.unsaid,
        }


def _lines(review: Review) -> list[str]:
    coverage = f"{review.run.name}: {trials_sentence(review.run)}."
    if not review.run.details["begun"]:
        return [coverage, "There is nothing to review: the log holds no conversation."]
    return [
        coverage,
        *(f"{note[0].upper()}{note[1:]}." for note in review.run.notes if note_kind(note) == "verdict"),
        *_belonging(review),
        *_copies(review),
        *_replay(review),
        *_pass_rates(review),
        *_fairness(review),
        *_blame(review),
        *_faults(review),
        *(f"Not answered: {why}" for why in review.unsaid),
    ]


def _belonging(review: Review) -> Iterator[str]:
    if review.audit is None:
        return
    integrity = review.audit.integrity
    yield belonging_answer(integrity)
    if not integrity.per_task_stands:
        why = "That is too many" if integrity.foreign_share >= MOST_FOREIGN else "Ids are mixed up"
        yield f"{why}: what rests on tasks is withheld, and totals are those of the file as it is."


def _copies(review: Review) -> Iterator[str]:
    if review.identical:
        groups = counted(len(review.identical), "group of conversations is", "groups of conversations are")
        yield f"{groups} word for word the same (for example {', '.join(review.identical[0][:_NAMED])})."
    if review.differing:
        yield capitalised(differing_sentence(review.differing))


def _replay(review: Review) -> Iterator[str]:
    audit = review.audit
    if audit is None or not review.per_task_stands:
        return
    if odd := audit.self_contradicted:
        yield capitalised(contradicted_sentence(odd, len(audit.conversations)))
    if audit.no_replay is not None:
        if audit.differences:
            named = [difference.id for difference in audit.differences]
            yield (
                f"What was said and called contradicts {counted(len(named), 'recorded verdict')} "
                f"({some_of(named, _NAMED)})."
            )
        return
    same, known = audit.rewards_reproduced
    differing = some_of((conversation.id for conversation in audit.differences), _NAMED)
    differ = f", and contradicts {len(audit.differences):,} ({differing})" if audit.differences else ""
    yield f"Replaying its calls gives the recorded reward in {same:,} of {counted(known, 'conversation')}{differ}."


def _pass_rates(review: Review) -> Iterator[str]:
    rates = [(name, score) for name, score in review.run.scores.items() if name.startswith("pass^")]
    chosen = rates if len(rates) < 3 else [rates[0], rates[1], rates[-1]]
    tasks = review.run.details.get("pass_tasks") or {}
    uneven = len({tasks.get(name) for name, _ in chosen}) > 1
    if shown := [
        _rate(name, score) + (f" on {counted(tasks.get(name, 0), 'task')}" if uneven else "")
        for name, score in chosen
        if score.value is not None
    ]:
        yield f"{', '.join(shown)}."
    audit = review.audit
    if audit is None or not review.per_task_stands:
        return
    changed, unchanged = audit.split.get("writes_needed"), audit.split.get("null_pass")
    if changed and unchanged and changed.tasks and unchanged.tasks:
        yield (
            f"That blends two tests: where something must change it passes {_share(changed)}, where nothing may change "
            f"{_share(unchanged)}."
        )


def _rate(name: str, score: Score) -> str:
    value, low, high = (None if end is None else f"{100 * end:.1f}" for end in (score.value, score.low, score.high))
    return f"{name} {value}%" if low is None else f"{name} {value}% [{low}, {high}]"


def _share(split: PassSplit) -> str:
    return f"{100 * split.passed / max(split.conversations, 1):.1f}% of {counted(split.conversations, 'trial')}"


def _unfair(audit: LogAudit) -> Iterator[tuple[str, list[str]]]:
    held = tasks_by_fact(audit.tried_facts)
    yield from ((FACT_WORDS[code], held[code]) for code in UNFAIR if code in held)


def _fairness(review: Review) -> Iterator[str]:
    """Sentences about unfair tasks and, if conversations belong to their tasks, about those that no trial passes."""
    if review.audit is None:
        return
    parts = [f"{words} ({_some(tasks)})" for words, tasks in _unfair(review.audit)]
    if parts:
        yield f"Unfair tasks: {'; '.join(parts)}."
    never = review.audit.never_passed
    if never and review.per_task_stands:
        yield f"Passed in no trial ({_some(never)})."


def _some(tasks: Sequence[str]) -> str:
    """How many tasks, and the first of them; long ids would not fit, and shortened they may be taken for others."""
    if any(len(task) > _LONG for task in tasks[:_NAMED]):
        return f"{len(tasks):,}, named on the page"
    return f"{len(tasks):,}: {some_of(tasks, _NAMED)}"


def _faults(review: Review) -> Iterator[str]:
    """What users got wrong, for a log that cannot be audited or blamed."""
    erred = {name for name, faults in review.faults.items() if faults}
    if not erred:
        return
    kinds = Counter(kind for faults in review.faults.values() for kind in {fault.kind for fault in faults})
    listed = ", ".join(f"{kind.replace('_', ' ')} {number:,}" for kind, number in kinds.most_common())
    every = counted(len(review.faults), "conversation")
    yield f"The user erred in {len(erred):,} of {every} ({listed}); the checks find only a part."


def _blame(review: Review) -> Iterator[str]:
    if review.blame is None or not review.blame.failures:
        return
    sides = ", ".join(f"{side} {number:,}" for side, number in review.blame.counts.items() if number)
    right = load_blame_record().right
    yield (
        f"Whose fault, of {counted(len(review.blame.failures), 'failure')}: {sides}. Of such verdicts on tasks that no "
        f"rule was written on {100 * right.value:.0f}% [{100 * right.low:.0f}, {100 * right.high:.0f}] were right; "
        "user and task are suspicions."
    )


def same_reviews(reviews: Sequence[Review]) -> list[list[str]]:
    """Names of logs that hold the same conversations."""
    groups: dict[str, list[str]] = {}
    for each in reviews:
        if each.fingerprint:
            groups.setdefault(each.fingerprint, []).append(each.run.name)
    return [names for names in groups.values() if len(names) > 1]
