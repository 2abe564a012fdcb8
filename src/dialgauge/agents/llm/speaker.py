"""What language models on both sides share: a conversation in messages, and words that a record can hold."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dialgauge.agents.listening import UserListener
from dialgauge.agents.llm.budget import BudgetSpent, DialogueBudget
from dialgauge.agents.llm.cassette import Completion
from dialgauge.agents.llm.chat import ChatClient, Messages
from dialgauge.agents.llm.settings import ChatSettings
from dialgauge.agents.llm.transport import ChatError
from dialgauge.agents.protocol import ENDPOINT_ERROR, NO_USAGE, TOKEN_BUDGET, Reply, SystemContext, Usage, UserContext
from dialgauge.agents.vocabulary import Vocabulary
from dialgauge.dialogue import Act, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.intents import INFORM, INTENTS, service_of
from dialgauge.worlds.domain import Domain

_FILTERED, _LENGTH = "content_filter", "length"
#: The line of a model that reports its acts.
_REPORT = re.compile(r"^[ \t]*ACTS:[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_HIGHEST_SEED = 2**31 - 1


class VoiceSettings(ChatSettings, frozen=True, kw_only=True):
    """Of a model that takes part in a conversation."""

    #: Should the model say which acts it meant?
    report: bool = False


class LanguageAgent(ABC):
    """One side of a conversation, spoken by a language model."""

    name: str
    side: Speaker
    _source: str
    #: Where the model writes which acts it meant.
    _report_place = "After your words"
    #: It hears and says words only, and takes its time.
    levels = ("text",)
    remote = True

    def __init__(self, settings: VoiceSettings) -> None:
        self._settings = settings
        self.client = ChatClient(settings)
        self.prices = [settings.price_in, settings.price_out]
        #: Where the acts of its turns come from.
        self.acts_source = "model" if settings.report else self._source

    def _begin(self, context: UserContext | SystemContext, domain: Domain, prompt: str) -> None:
        if context.level != "text":
            raise DialgaugeError(f"{self.name} has words only: it needs --level text")
        self._inventory = domain.acts(self.side)
        if self._settings.report:
            prompt += "\n\n" + _REPORT_INSTRUCTION.format(
                where=self._report_place, example=_example_act(domain, self._inventory), acts=act_list(self._inventory)
            )
        self._open(context, prompt)

    def _open(self, context: UserContext | SystemContext, prompt: str) -> None:
        if context.streams is None:
            raise DialgaugeError(f"{self.name} needs random streams, as the lab gives them")
        self._limits = context.limits
        self._purse = DialogueBudget(self._settings)
        self._seed = context.streams(f"{self.side}-llm").integer(0, _HIGHEST_SEED)
        self._messages: Messages = [{"role": "system", "content": prompt}]
        self._usage = NO_USAGE

    def respond(self, turn: Turn | None) -> Reply:
        """The next turn; what a model cannot answer, or may not cost, ends the dialogue and nothing else."""
        self._usage = NO_USAGE
        try:
            return self._answer(turn)
        except BudgetSpent as spent:
            return self._ended(TOKEN_BUDGET, str(spent))
        except ChatError as error:
            return self._ended(ENDPOINT_ERROR, str(error))

    @abstractmethod
    def _answer(self, turn: Turn | None) -> Reply:
        """What the model says to a turn."""

    def _ended(self, reason: str, why: str) -> Reply:
        return Reply(turn=None, done=True, end_reason=reason, explanation=f"{self.name}: {why}", usage=self._usage)

    def _ask(self, messages: Messages, **parameters: Any) -> Completion:
        answer = self.client.ask(messages, seed=self._seed, purse=self._purse, **parameters)
        self._usage += Usage(calls=1, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
        if answer.finish == _LENGTH:
            self._usage += Usage(cut=1)
        if answer.finish == _FILTERED:
            raise ChatError("a content filter withheld the model's answer")
        return answer

    def _worded(self, text: str) -> tuple[str, tuple[Act, ...] | None]:
        """What is said, no longer than allowed, and the acts that the model reports; None where it does not."""
        reports = _REPORT.findall(text) if self._settings.report else []
        if reports:
            text = _REPORT.sub("", text).strip()
        words = text[: self._limits.characters].strip()
        self._usage += Usage(empty=int(not words), cut=int(len(text) > self._limits.characters))
        if not self._settings.report:
            return words, None
        return words, reported_acts(reports[-1], self._inventory, self._limits.acts) if reports else ()


def act_list(acts: Mapping[str, tuple[str, ...]]) -> str:
    """Acts with their slots, for a prompt."""
    return "; ".join(f"{name}({', '.join(slot or 'no slot' for slot in slots)})" for name, slots in acts.items())


_REPORT_INSTRUCTION = (
    "{where} add one last line that lists what you meant, as ACTS: followed by a JSON list of [act, slot, value], such "
    'as ACTS: [{example}]. A question has the value "?". Nobody but the record sees this line. Acts and their slots: '
    "{acts}"
)


def _example_act(domain: Domain, inventory: Mapping[str, tuple[str, ...]]) -> str:
    """An act that somebody can say in the domain, with a value that exists where one is known."""
    spoken = [(name, slot) for name, slots in inventory.items() for slot in slots if slot]
    informs = [(name, slot) for name, slot in spoken if INTENTS[name] == INFORM]
    for name, slot in informs:
        spec = domain.ontology.domains.get(service_of(name), {}).get(slot)
        if spec is not None and spec.values:
            return json.dumps([name, slot, spec.values[0]])
    name, slot = spoken[0] if spoken else (next(iter(inventory)), "")
    return json.dumps([name, slot, "?" if slot else ""])


#: Characters of a value that anybody can have meant.
_LONGEST_VALUE = 200


class Observer:
    """Follows one conversation and labels what the user says. It is on the record that the acts are its own."""

    def __init__(self, vocabulary: Vocabulary, *, most: int = 12) -> None:
        """``most`` are the acts a turn may have."""
        self._listener, self._vocabulary, self._most = UserListener(vocabulary), vocabulary, most
        self._service = ""

    def label(self, text: str) -> tuple[Act, ...]:
        """The acts of what was said next."""
        acts = self._listener.hear(Turn(speaker="user", text=text), (), self._service)[: self._most]
        self._service = next((act.domain for act in reversed(acts) if act.domain in self._vocabulary), self._service)
        return acts


def reported_acts(given: object, inventory: Mapping[str, tuple[str, ...]], most: int) -> tuple[Act, ...]:
    """The acts that an agent says it meant: ``[["Hotel-Inform", "area", "north"], …]``, or the JSON of that.

    Those that nobody can say are left out.
    """
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    if not isinstance(given, list):
        return ()
    known = {name.lower(): (name, slots) for name, slots in inventory.items()}
    acts = []
    for entry in given:
        words = [str(word).strip() for word in entry] if isinstance(entry, list) else []
        name, slot, value = (*words, "", "", "")[:3]
        if name.lower() in known and len(value) <= _LONGEST_VALUE:
            spelled, slots = known[name.lower()]
            if slot in slots and (value or not slot):
                acts.append(Act(name=spelled, domain=service_of(spelled), slot=slot, values=(value,) if slot else ()))
    return tuple(dict.fromkeys(acts))[:most]
