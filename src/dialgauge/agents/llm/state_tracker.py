"""``llm-tracker``: belief states of recorded dialogues, asked of a language model turn by turn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialgauge.agents.llm.budget import DialogueBudget
from dialgauge.agents.llm.chat import ChatClient
from dialgauge.agents.llm.settings import ChatSettings
from dialgauge.agents.registry import converted_options
from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.errors import DialgaugeError

#: Values of a slot that a prompt names; a slot with more is open.
_MOST_VALUES = 12
_PROMPT = """You read a conversation between a user and a system. Write down what the user wants after the last \
message: every slot that was settled so far, as one JSON object of domains with slots and values, in this form: \
{{"DOMAIN": {{"SLOT": "VALUE"}}}}. A later wish replaces an earlier one. Leave out what was not mentioned; write \
dontcare where the user does not mind. Take a value from those in brackets where there are some, else as the user or \
the system wrote it. Write nothing but the JSON.
Domains and their slots:
{slots}"""


def chat_settings(given: Mapping[str, str]) -> ChatSettings:
    """Settings as the command line has them."""
    settings = ChatSettings(**converted_options("llm-tracker", ChatSettings, given))
    settings.check()
    return settings


class LlmTracker:
    """Asks for the state after each user turn; the whole conversation so far is in each question."""

    def __init__(
        self, settings: ChatSettings, slots: Mapping[str, Mapping[str, Sequence[str]]], *, seed: int = 0
    ) -> None:
        """``slots``: domain to slots to the values to choose from, none where any will do."""
        self._client, self._seed = ChatClient(settings), seed
        self._prompt = _PROMPT.format(slots="\n".join(_described(domain, named) for domain, named in slots.items()))
        self._schema = _schema(slots)

    def track(self, dialogue: Dialogue) -> Iterator[tuple[int, str]]:
        """The number of each user turn with the model's answer as it came."""
        purse = DialogueBudget(self._client.settings)
        seed = _seed(self._seed, dialogue.id)
        utterances: list[str] = []
        number = 0
        for turn in dialogue.turns:
            utterances.append(f"{turn.speaker}: {turn.text}")
            if turn.speaker == "user":
                messages = [
                    {"role": "system", "content": self._prompt},
                    {"role": "user", "content": "\n".join(utterances)},
                ]
                answer = self._client.ask(messages, seed=seed, purse=purse, response_format=self._schema)
                yield number, answer.text
                number += 1


def _seed(seed: int, dialogue: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{dialogue}".encode()).digest()[:4]) >> 1


def _described(domain: str, slots: Mapping[str, Sequence[str]]) -> str:
    named = (f"{slot} ({'/'.join(values)})" if values else slot for slot, values in slots.items())
    return f"- {domain}: {', '.join(named)}"


def _schema(slots: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, Any]:
    """Any of the domains with any of their slots, each a text."""
    domains = {
        domain: {
            "type": "object",
            "properties": {slot: {"type": "string"} for slot in named},
            "additionalProperties": False,
        }
        for domain, named in slots.items()
    }
    schema = {"type": "object", "properties": domains, "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "state", "schema": schema}}


def slots_to_track(dialogues: Iterable[Dialogue], ontology: Ontology | None) -> dict[str, dict[str, tuple[str, ...]]]:
    """What a tracker is to look for: the ontology, or else the names of slots, not the values, in annotated states."""
    if ontology is not None:
        return {
            domain: {slot: spec.values if len(spec.values) <= _MOST_VALUES else () for slot, spec in slots.items()}
            for domain, slots in ontology.domains.items()
        }
    named: dict[str, dict[str, tuple[str, ...]]] = {}
    for dialogue in dialogues:
        for turn in dialogue.user_turns():
            for domain, slots in (turn.state or {}).items():
                named.setdefault(domain, {}).update(dict.fromkeys(slots, ()))
    if not named:
        raise DialgaugeError("nothing says which slots to track: the dialogues have no states and there is no ontology")
    return {domain: dict(sorted(slots.items())) for domain, slots in sorted(named.items())}
