"""An optional judge: any callable from a prompt to a text, such as an endpoint's. It adds faults, and replaces none.

faults = dialgauge.user_faults("tau.json", judge=model_judge("http://localhost:8000/v1", {"model": "wise"}))

Where it judges labelled conversations, its agreement with the labels stands beside its faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, structs

from dialgauge.dialogue import Dialogue
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError
from dialgauge.users.faults.labelled import FRESH, ConversationKey, check_records, load_labels
from dialgauge.users.faults.records import (
    KINDS,
    CheckedConversation,
    FaultFindings,
    FaultKind,
    UserFault,
    merge_repeats,
    message_of,
)

#: Letters enough for a verdict with several faults.
_DEFAULTS = {"max_tokens": "1000"}
#: From a prompt to what the model wrote.
JudgeCall: TypeAlias = Callable[[str], str]

_PROMPT = """\
A simulated user talks to an agent. The user was given this instruction:

{instruction}

The conversation, each message with its number:

{conversation}

What did the user do that its instruction does not warrant? The kinds:
{kinds}
Mark the first message of each fault, and only messages of the user. When in doubt, mark nothing.
Answer with one JSON object and nothing else: {{"faults": [{{"kind": "...", "message": 0, "sentence": "..."}}]}}
"""


_DEFINITIONS: dict[FaultKind, str] = {
    "early_end": "ends (stop token, goodbye) while a wish of the instruction was never brought up, or is not yet done, "
    "answered, refused or handed over; a stop token beside a confirmation counts",
    "invented": "states as fact a name, id, number, date, place or event that neither the instruction nor the agent "
    "gave and that does not follow from them; guessing counts, choosing among offers does not",
    "contradicted": "says, chooses or accepts what conflicts with the instruction or with its own words, such as a "
    "cost above its limit or a fall-back before its condition holds",
    "leaked": "shows text of the instruction that addresses it, writes tool syntax, or goes on after a stop token",
    "repeated": "the whole message says again what the agent has answered, adding nothing",
    "role_swap": "speaks as the agent",
    "empty": "has neither text nor a tool call",
    "withheld": "is asked for something that the instruction gives and does not give it",
    "disobeyed": "ignores an order about its manner, such as not to mention something or to insist",
}


class _Judged(Struct, frozen=True):
    kind: FaultKind
    message: int
    sentence: str = "so the judge"


class _Answer(Struct, frozen=True):
    faults: tuple[_Judged, ...]


class FaultJudge:
    """A judge behind a callable."""

    def __init__(self, call: JudgeCall, name: str = "judge") -> None:
        self._call = call
        self.name = name
        #: All that it found in the conversations it was asked about, also what the checks found too.
        self.judged: dict[ConversationKey, Sequence[UserFault]] = {}

    def faults(self, dialogue: Dialogue) -> list[UserFault]:
        """The faults that the judge finds in a conversation."""
        return _verdict(self._call(judge_prompt(dialogue)), dialogue, self.name)

    def add_faults(
        self,
        checked: Sequence[CheckedConversation],
        dialogues: Sequence[Dialogue],
        file: str = "",
        progress: Progress = SILENT,
    ) -> list[CheckedConversation]:
        """The results of checks and judge together; a conversation that it cannot judge keeps those of the checks."""
        judged, failed = [], []
        with progress.bar("judging", len(dialogues)) as advance:
            for own, dialogue in zip(checked, dialogues, strict=True):
                try:
                    found = self.faults(dialogue)
                    self.judged[Path(file).name, dialogue.ended.task or dialogue.id, dialogue.ended.trial] = found
                    judged.append(with_judged(own, found))
                except DialgaugeError as error:
                    failed.append(f"{dialogue.id}: {error}")
                    judged.append(own)
                advance(1)
        if failed:
            progress.say(f"not judged: {len(failed):,} of {len(dialogues):,}, the first {failed[0]}")
        return judged

    def agreement(self) -> list[dict[str, Any]]:
        """The judge alone against the labels of the conversations that people labelled: a row for each kind."""
        labels = [label for label in (*load_labels(), *load_labels(FRESH)) if label.key in self.judged]
        empty = tuple(FaultFindings(kind, "whole", "judge") for kind in KINDS)
        alone = {key: with_judged(CheckedConversation(key[1], empty), faults) for key, faults in self.judged.items()}
        return [
            {"kind": kind, "labelled": len(labels), **msgspec.to_builtins(record)}
            for kind, record in check_records(alone, labels).items()
            if record.right or record.wrong or record.missed
        ]


def model_judge(endpoint: str, settings: Mapping[str, str] | None = None, *, seed: int = 0) -> FaultJudge:
    """A language model as the judge: the address of an endpoint or ``local``, and settings such as ``model``."""
    from dialgauge.agents import llm

    chosen = llm.chat_settings({**_DEFAULTS, "endpoint": endpoint, **(settings or {})})
    client = llm.ChatClient(chosen)

    def ask(prompt: str) -> str:
        messages = [{"role": "user", "content": prompt}]
        return client.ask(messages, seed=seed).text

    return FaultJudge(ask, chosen.model_name)


def judge_prompt(dialogue: Dialogue) -> str:
    """Instruction, conversation and definitions, as a judge gets them."""
    if not dialogue.instruction:
        raise DialgaugeError("a judge needs the user's instruction, but there is none", dialogue=dialogue.id)
    names = {"user": "user", "system": "agent"}
    lines = [
        f"[{message_of(dialogue, index)}] {names[turn.speaker]}: {turn.text}"
        for index, turn in enumerate(dialogue.turns)
    ]
    return _PROMPT.format(
        instruction="\n".join(dialogue.instruction),
        conversation="\n".join(lines),
        kinds="\n".join(f"- {kind}: {meaning}" for kind, meaning in _DEFINITIONS.items()),
    )


def _verdict(answer: str, dialogue: Dialogue, by: str) -> list[UserFault]:
    """The faults in a judge's answer; text around the JSON object is passed over."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        verdict = msgspec.json.decode(answer[start : end + 1].encode("utf-8", "replace"), type=_Answer)
    except msgspec.DecodeError as error:
        raise DialgaugeError(f"the judge's answer is not a verdict ({error})", dialogue=dialogue.id) from error
    places = {message_of(dialogue, at): at for at, turn in enumerate(dialogue.turns) if turn.speaker == "user"}
    return [
        UserFault(fault.kind, places[fault.message], fault.message, "judged", given=(fault.sentence,), by=by)
        for fault in verdict.faults
        if fault.message in places
    ]


def with_judged(checked: CheckedConversation, judged: Sequence[UserFault]) -> CheckedConversation:
    """A judge's faults beside those of the checks; a kind that a check found in a conversation stays the check's."""

    def joined(finding: FaultFindings) -> FaultFindings:
        own = [] if finding.faults else [fault for fault in judged if fault.kind == finding.kind]
        extent = "part" if own and finding.extent == "none" else finding.extent
        return structs.replace(finding, extent=extent, faults=merge_repeats(own)) if own else finding

    return structs.replace(checked, findings=tuple(map(joined, checked.findings)))
