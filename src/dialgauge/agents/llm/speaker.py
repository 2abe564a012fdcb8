"""What language models on both sides share: a conversation in messages, and words that a record can hold."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from dialgauge.agents.llm.budget import BudgetSpent, DialogueBudget
from dialgauge.agents.llm.cassette import Completion
from dialgauge.agents.llm.chat import ChatClient, Messages
from dialgauge.agents.llm.observer import Observer, reported_acts
from dialgauge.agents.llm.settings import ChatSettings
from dialgauge.agents.llm.transport import ChatError
from dialgauge.agents.protocol import AGENT_ERROR, NO_USAGE, TOKEN_BUDGET, Reply, SystemContext, Usage, UserContext
from dialgauge.dialogue import Act, Speaker, Turn
from dialgauge.errors import DialgaugeError

_FILTERED = "content_filter"
#: The line of a model that reports its acts.
_REPORT = re.compile(r"^[ \t]*ACTS:[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_HIGHEST_SEED = 2**31 - 1


class VoiceSettings(ChatSettings, frozen=True, kw_only=True):
    """Of a model that takes part in a conversation."""

    #: The file of another model for the observer.
    nlu: str = ""
    #: Should the model say which acts it meant?
    report: bool = False


class LanguageAgent(ABC):
    """One side of a conversation, spoken by a language model."""

    name: str
    side: Speaker
    _partner: Speaker
    #: It hears and says words only, and takes its time.
    levels = ("text",)
    remote = True

    def __init__(self, settings: VoiceSettings) -> None:
        self._settings = settings
        self.client = ChatClient(settings)
        if settings.nlu:
            from dialgauge.agents.speech import NluModel

            NluModel.load(settings.nlu)
        self.prices = [settings.price_in, settings.price_out]
        #: Who labels its turns with acts.
        self.acts_source = "model" if settings.report else "observer"

    def _begin(self, context: UserContext | SystemContext, prompt: str) -> None:
        if context.level != "text" or context.streams is None:
            raise DialgaugeError(f"{self.name} has words only: it needs --level text")
        self._limits = context.limits
        self._observer = Observer(context.ontology, self._settings.nlu, most=context.limits.acts)
        self._purse = DialogueBudget(self._settings)
        self._seed = context.streams(f"{self.side}-llm").integer(0, _HIGHEST_SEED)
        self._messages: Messages = [{"role": "system", "content": prompt}]
        self._usage = NO_USAGE

    def respond(self, turn: Turn | None) -> Reply:
        """The next turn; what a model cannot answer, or may not cost, ends the dialogue and nothing else."""
        self._usage = NO_USAGE
        heard = None if turn is None else self._observer.label(turn.text, self._partner)
        try:
            return self._answer(turn, heard)
        except BudgetSpent as spent:
            return self._ended(TOKEN_BUDGET, str(spent))
        except ChatError as error:
            return self._ended(AGENT_ERROR, str(error))

    @abstractmethod
    def _answer(self, turn: Turn | None, heard: tuple[Act, ...] | None) -> Reply:
        """What the model says to a turn."""

    def _ended(self, reason: str, why: str) -> Reply:
        return Reply(turn=None, done=True, end_reason=reason, explanation=f"{self.name}: {why}", usage=self._usage)

    def _ask(self, messages: Messages, **parameters: Any) -> Completion:
        answer = self.client.ask(messages, seed=self._seed, purse=self._purse, **parameters)
        self._usage += Usage(calls=1, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
        if answer.finish == _FILTERED:
            raise ChatError("a content filter withheld the model's answer")
        return answer

    def _worded(self, text: str) -> tuple[str, tuple[Act, ...]]:
        """What is said, no longer than allowed, and its acts: the model's own report, or the observer's label."""
        reports = _REPORT.findall(text) if self._settings.report else []
        if reports:
            text = _REPORT.sub("", text).strip()
        words = text[: self._limits.characters].strip()
        observed = self._observer.label(words, self.side)
        if not self._settings.report:
            return words, observed
        return words, reported_acts(reports[-1], self.side, self._limits.acts) if reports else ()


REPORT_INSTRUCTION = (
    "After your words add one last line that lists what you meant, as ACTS: followed by a JSON list of "
    '[act, slot, value], such as ACTS: [["Hotel-Inform", "area", "north"]]. A question has the value "?". '
    "Nobody but the record sees this line. Acts and their slots: "
)
