"""What results of tau-bench and tau2-bench have in common: ids, rewards, ends.

A conversation's id is ``TASK#TRIAL``; a task and trial that stands again is numbered on, as conversations filed under
wrong ids must reach the check that finds them. Success is a reward of 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from dialgauge.dialogue import Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import as_text, checksum

#: A reward this close to 1 is a success, as both benchmarks have it.
TOLERANCE = 1e-6
#: Beyond any trial, or reward, that somebody meant.
MOST = 1_000_000
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
FIELDS = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})


#: The test of the data, as tau-bench and tau2-bench call it.
_DATA_PARTS = frozenset({"r_actions", "DB"})


def each_conversation(
    decoder: msgspec.json.Decoder[Any], pieces: Iterable[Raw], part: Part, notes: Notes
) -> Iterable[tuple[str, Any]]:
    """Each conversation with its name; those of the wrong shape are refused."""
    for number, raw in enumerate(pieces, start=1):
        name = _name(raw, number)
        try:
            record = decode(decoder, raw, part, dialogue=name)
            if not 0 <= (record.trial or 0) < MOST:
                raise DialgaugeError(
                    f"the trial must be from 0 to {MOST - 1:,} (got {record.trial})",
                    file=part.name,
                    dialogue=name,
                )
        except DialgaugeError as error:
            notes.refuse(error)
        else:
            yield name, record


def _name(raw: Raw, number: int) -> str:
    """What an error calls a conversation: by task and trial, or by its number in the file."""
    try:
        given = _OBJECT.decode(raw)
        task, trial = (msgspec.json.decode(given[key]) for key in ("task_id", "trial"))
    except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError):
        return f"number {number}"
    return f"{task}#{trial}" if isinstance(task, str | int) and isinstance(trial, int) else f"number {number}"


def succeeded(reward: float | None) -> bool | None:
    """Whether a reward is that of a success; None where there is none."""
    return None if reward is None else abs(reward - 1) <= TOLERANCE


def contradicts_parts(outcome: Outcome) -> bool:
    """Whether a reward of either benchmark is not the product of the parts stored with it.

    tau-bench stores only the last part, so that what was told does not say all.
    """
    if outcome.reward is None or not outcome.parts or outcome.benchmark not in ("tau", "tau2"):
        return False
    fulfilled = all(value >= 1 - TOLERANCE for value in outcome.parts.values())
    if outcome.reward >= 1 - TOLERANCE:
        return not fulfilled
    return fulfilled and (outcome.benchmark == "tau2" or not _DATA_PARTS.isdisjoint(outcome.parts))


def given_facts(**values: Any) -> dict[str, str]:
    """What the file says, as texts."""
    return {name: as_text(value) for name, value in values.items() if value is not None}


class TrialNames:
    """Ids of the conversations of a file, by task and trial."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._seen: Counter[tuple[str, int]] = Counter()

    def name(self, task: str, trial: int) -> str:
        """``TASK#TRIAL``; one that stands again is numbered on, and noted."""
        self._seen[task, trial] += 1
        if (number := self._seen[task, trial]) == 1:
            return f"{task}#{trial}"
        self._notes.add("a task and trial given again, numbered on")
        return f"{task}#{trial} ({number})"


def task_set(instructions: Mapping[str, str]) -> str:
    """The checksum of tasks with their instructions, whatever order they stand in."""
    return checksum(msgspec.json.encode(sorted(instructions.items())))
