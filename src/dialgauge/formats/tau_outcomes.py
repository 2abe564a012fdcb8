"""What results of tau-bench and tau2-bench have in common: conversations by task and trial, rewards, details.

A conversation's id is ``TASK#TRIAL``. ``goal.message`` is the user's instruction, ``outcome`` the verdict: success is a
reward of 1, ``reason`` how it ended, and ``details`` what else the file says of it, as texts; parts of the
reward stand under ``reward[PART]``. What was planned stands in the details of every conversation, so that a converted
file still says how much of it there should be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from dialgauge.dialogue import write_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import as_text, checksum

#: A reward this close to 1 is a success, as both benchmarks have it.
TOLERANCE = 1e-6
#: Beyond any trial, or reward, that somebody meant.
MOST = 1_000_000
RAW_LIST = msgspec.json.Decoder(list[Raw])
RAW = msgspec.json.Decoder(Raw)
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
FIELDS = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})


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


def reward_details(reward: float | None, parts: Mapping[str, float]) -> dict[str, str]:
    """The reward and its parts, as texts."""
    texts = {part: as_text(value) for part, value in parts.items()}
    return {**given_details(reward=reward), **write_details("reward", texts)}


def given_details(**values: Any) -> dict[str, str]:
    """What the file says, as texts."""
    return {name: as_text(value) for name, value in values.items() if value is not None}


def succeeded(reward: float | None) -> bool | None:
    """Whether a reward is that of a success; None where there is none."""
    return None if reward is None else abs(reward - 1) <= TOLERANCE


def task_set(instructions: Mapping[str, str]) -> str:
    """The checksum of tasks with their instructions, whatever order they stand in."""
    return checksum(msgspec.json.encode(sorted(instructions.items())))
