"""``llm-user``: a simulated user of any domain whose words are a language model's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dialgauge.agents.act_agents import requested
from dialgauge.agents.llm.speaker import LanguageAgent, Observer, VoiceSettings
from dialgauge.agents.protocol import USER_DONE, USER_GAVE_UP, Reply, UserContext
from dialgauge.agents.vocabulary import ServiceWords, Vocabulary
from dialgauge.agents.wording import items
from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.domain import Domain, DomainGoal, ServiceTask

DONE, GIVE_UP = "[DONE]", "[GIVE UP]"
#: A marker in brackets ends the conversation wherever it stands, without them only on a line of its own.
_DONE = re.compile(r"\[\s*DONE\s*\]|^[ \t]*DONE[ \t.!]*$", re.IGNORECASE | re.MULTILINE)
_GIVE_UP = re.compile(r"\[\s*GIVE[ _-]*UP\s*\]|^[ \t]*GIVE UP[ \t.!]*$", re.IGNORECASE | re.MULTILINE)
_OPENING = "Hello, what can I do for you?"
_NOTHING = "(The assistant said nothing.)"
_PROMPT = """You are a customer who contacted {title}; whoever writes to you is its assistant.

How to talk:
- Write only your next message, one or two short sentences. Bring up one or two points at a time, never all at once. \
Never mention these instructions.
- Use the values below as they stand. Wish for nothing else: when you are asked about something that is not below, say \
that you don't mind; when you are asked for something that you would have to know and don't, such as a name or a \
number, say that you don't know.
- Take the first offer that has what you wish for; if it lacks something, say what. When you are asked to confirm, say \
yes where it is what you want, else what is wrong. An answer that something is unknown is an answer: go on.
- If you cannot get one thing, go on with the rest. When nothing is left, say goodbye and write {done} on a line of \
its own. If you did not get everything, or the assistant makes no headway, write {give_up} there instead.

What you want, in this order:
{items}"""


class LlmUser(LanguageAgent):
    """A language model that was given a goal."""

    name = "llm-user"
    side, _source = "user", "observer"

    def start(self, context: UserContext) -> None:
        """A new goal."""
        if not isinstance(context, UserContext):
            raise DialgaugeError(f"{self.name} is a user; it cannot take the system's place")
        goal, domain = context.plan, context.domain
        if not isinstance(goal, DomainGoal) or not isinstance(domain, Domain):
            raise DialgaugeError(f"{self.name} is a user of domains with services: it needs one of their goals")
        vocabulary = Vocabulary.of(domain, context.ontology)
        self._begin(context, domain, goal_prompt(goal, vocabulary))
        self._observer = Observer(vocabulary, most=context.limits.acts)

    def _answer(self, turn: Turn | None) -> Reply:
        # To the model the roles are the other way round: it is the assistant that answers.
        heard_words = _OPENING if turn is None else turn.text or _NOTHING
        self._messages.append({"role": "user", "content": heard_words})
        answer = self._ask(self._messages)
        self._messages.append({"role": "assistant", "content": answer.text})
        utterance, gave_up, done = ends_conversation(answer.text)
        words, reported = self._worded(utterance)
        acts = self._observer.label(words) if reported is None else reported
        ends = gave_up or done
        silent = ends and not words
        return Reply(
            turn=None if silent else Turn(speaker="user", text=words, acts=acts, requested=requested(acts)),
            done=ends,
            end_reason=(USER_GAVE_UP if gave_up else USER_DONE) if ends else "",
            success=(not gave_up) if ends else None,
            usage=self._usage,
        )


def ends_conversation(text: str) -> tuple[str, bool, bool]:
    """The words without their markers, whether the user gives up, and whether it is done."""
    words = _DONE.sub("", _GIVE_UP.sub("", text)).strip()
    return words, bool(_GIVE_UP.search(text)), bool(_DONE.search(text))


def goal_prompt(goal: DomainGoal, vocabulary: Vocabulary) -> str:
    """The instructions of a goal, numbered, in the order in which it is to be discussed."""
    lines = [line for task in goal.tasks for line in instructions(task, vocabulary[task.domain])]
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return _PROMPT.format(title=vocabulary.domain.title, items=numbered, done=DONE, give_up=GIVE_UP)


def instructions(task: ServiceTask, words: ServiceWords) -> Iterator[str]:
    """What to do about one service, in sentences."""
    service, wanted = words.service, task.first or task.info
    told = [items(words, wanted)] if wanted else []
    booked = [items(words, task.book_first or task.book)] if task.book else []
    linked = [
        f"for the {words.label(slot)}, say the name of the {other} that you settled on"
        for slot, other in task.links.items()
    ]
    if service.rows is None:
        yield f"You want to book {service.title}: {'; '.join([*told, *booked, *linked])}."
    else:
        yield f"You need {service.title}.{f' Your wishes: {told[0]}.' if told else ''}"
    if task.first:
        yield f"Only if there is none like that, {_instead(words, task.first, task.info)}."
    asked = [words.label(slot) for slot in task.requests if slot not in service.gives]
    if asked:
        yield f"Find out: {', '.join(asked)}."
    if booked and service.rows is not None:
        yield f"Then book it: {'; '.join([*booked, *linked])}."
    if task.book and task.book_first:
        yield f"Only if that booking is refused, {_instead(words, task.book_first, task.book)}."
    if booked and service.gives:
        yield f"Make sure that you are told: {', '.join(map(words.label, service.gives))}."


def _instead(words: ServiceWords, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What is other than before; all that is left where something was only left out."""
    changed = {slot: value for slot, value in after.items() if before.get(slot) != value}
    if changed and before.keys() <= after.keys():
        return f"change this and keep the rest: {items(words, changed)}"
    return f"ask for just this instead: {items(words, after)}"


def llm_user(**settings: Any) -> LlmUser:
    """A user that a language model speaks."""
    return LlmUser(VoiceSettings(**settings))


# The registry checks and converts settings by the signature.
llm_user.__signature__ = inspect.signature(VoiceSettings)  # type: ignore[attr-defined]
