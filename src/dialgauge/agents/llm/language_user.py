"""``llm-user``: a simulated user of the town whose words are a language model's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dialgauge.agents.llm.speaker import REPORT_INSTRUCTION, LanguageAgent, VoiceSettings
from dialgauge.agents.protocol import USER_DONE, USER_GAVE_UP, Reply, UserContext
from dialgauge.agents.town.pipeline import requested
from dialgauge.dialogue import Act, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.town import REFERENCE, USER_ACTS, TownGoal, TownTask

DONE, GIVE_UP = "[DONE]", "[GIVE UP]"
#: A marker in brackets ends the conversation wherever it stands, without them only on a line of its own.
_DONE = re.compile(r"\[\s*DONE\s*\]|^[ \t]*DONE[ \t.!]*$", re.IGNORECASE | re.MULTILINE)
_GIVE_UP = re.compile(r"\[\s*GIVE[ _-]*UP\s*\]|^[ \t]*GIVE UP[ \t.!]*$", re.IGNORECASE | re.MULTILINE)
_OPENING = "(The assistant is listening. Say your first message.)"
_NOTHING = "(The assistant said nothing.)"
_NOUNS = {"restaurant": "a restaurant", "hotel": "a place to stay", "attraction": "a place to visit",
          "train": "a train", "taxi": "a taxi", "hospital": "a hospital", "police": "the police"}  # fmt: skip
_SAID = {
    "pricerange": "price range", "leaveAt": "leaves at or after", "arriveBy": "arrives by", "trainID": "train id",
    "stay": "nights", "openhours": "opening hours", REFERENCE: "reference number",
}  # fmt: skip
_PROMPT = """You are a customer at a town's information desk, not its assistant. What you want, in this order:
{items}

Write only your next message, one or two short sentences, with one or two of these points and never all at once. \
Invent no other wishes. When all is done, say goodbye and write {done} on a line of its own; when it cannot be done, \
say so and write {give_up} on a line of its own."""


class LlmUser(LanguageAgent):
    """A language model that was given a goal."""

    name = "llm-user"
    side, _partner = "user", "system"

    def start(self, context: UserContext) -> None:
        """A new goal."""
        if not isinstance(context, UserContext):
            raise DialgaugeError(f"{self.name} is a user; it cannot take the system's place")
        if not isinstance(context.plan, TownGoal):
            raise DialgaugeError(f"{self.name} is a user of the town: it needs one of the town's goals")
        prompt = goal_prompt(context.plan)
        if self._settings.report:
            prompt += f"\n\n{REPORT_INSTRUCTION}{act_list(USER_ACTS)}"
        self._begin(context, prompt)

    def _answer(self, turn: Turn | None, heard: tuple[Act, ...] | None) -> Reply:
        # To the model the roles are the other way round: it is the assistant that answers.
        heard_words = _OPENING if turn is None else turn.text or _NOTHING
        self._messages.append({"role": "user", "content": heard_words})
        answer = self._ask(self._messages)
        self._messages.append({"role": "assistant", "content": answer.text})
        said, gave_up, done = ends_conversation(answer.text)
        words, acts = self._worded(said)
        ends = gave_up or done
        silent = ends and not words
        return Reply(
            turn=None if silent else Turn(speaker="user", text=words, acts=acts, requested=requested(acts)),
            heard=heard,
            done=ends,
            end_reason=(USER_GAVE_UP if gave_up else USER_DONE) if ends else "",
            success=(not gave_up) if ends else None,
            usage=self._usage,
        )


def ends_conversation(text: str) -> tuple[str, bool, bool]:
    """The words without their markers, whether the user gives up, and whether it is done."""
    words = _DONE.sub("", _GIVE_UP.sub("", text)).strip()
    return words, bool(_GIVE_UP.search(text)), bool(_DONE.search(text))


def goal_prompt(goal: TownGoal) -> str:
    """The instructions of a goal, numbered, in the order in which it is to be discussed."""
    items = [line for task in goal.tasks for line in _instructions(task)]
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(items, 1))
    return _PROMPT.format(items=numbered, done=DONE, give_up=GIVE_UP)


def _instructions(task: TownTask) -> Iterator[str]:
    noun, wanted = _NOUNS.get(task.domain, task.domain), task.first or task.info
    yield f"You need {noun}" + (f" with {_listed(wanted)}." if wanted else ".")
    for slot, domain in task.links.items():
        yield f"The {slot} of the taxi is the {domain} that you settled on; say its name."
    if task.first:
        yield f"Only if there is none, ask for {_listed(_changed(task.first, task.info))} instead."
    if task.book:
        yield f"Then book it: {_listed(task.book_first or task.book)}."
        if task.book_first:
            yield f"Only if that booking is refused, try {_listed(_changed(task.book_first, task.book))} instead."
        yield "Get the reference number of the booking."
    if task.requests:
        yield f"Find out its {' and '.join(_SAID.get(slot, slot) for slot in task.requests)}."


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {slot: value for slot, value in after.items() if before.get(slot) != value}


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{_SAID.get(slot, slot)} {value}" for slot, value in values.items())


def act_list(acts: Mapping[str, tuple[str, ...]]) -> str:
    """Acts with their slots, for a prompt."""
    return "; ".join(f"{name}({', '.join(slot or 'no slot' for slot in slots)})" for name, slots in acts.items())


def llm_user(**settings: Any) -> LlmUser:
    """A user that a language model speaks."""
    return LlmUser(VoiceSettings(**settings))


# The registry checks and converts settings by the signature.
llm_user.__signature__ = inspect.signature(VoiceSettings)  # type: ignore[attr-defined]
