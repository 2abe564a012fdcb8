"""Prediction files that hold one domain only: gold of all domains is cut down to it before it is compared.

Zero-shot experiments (T5-DST) predict one held-out domain and write only its slots; the other domains of the gold
states are outside the experiment, not missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key


def declared_scope(dialogues: Sequence[Dialogue]) -> dict[str, str]:
    """For a file of one-domain predictions the domain of each dialogue, by dialogue key; empty for all others.

    It is such a file when every dialogue declares exactly one domain, and no state, its own gold or predicted, reaches
    beyond it. Files that declare the first of a dialogue's domains, and then hold a single other one throughout, are
    read as files of that domain.
    """
    if not dialogues or any(len(dialogue.domains) != 1 for dialogue in dialogues):
        return {}
    occurring = {dialogue.id: set(_domains(dialogue)) for dialogue in dialogues}
    everywhere = set[str]().union(*occurring.values())
    if all(occurring[dialogue.id] <= {dialogue.domains[0].lower()} for dialogue in dialogues):
        return {dialogue_key(dialogue.id): dialogue.domains[0].lower() for dialogue in dialogues}
    if len(everywhere) == 1:
        return dict.fromkeys((dialogue_key(dialogue.id) for dialogue in dialogues), everywhere.pop())
    return {}


def cut_down(gold: Sequence[Dialogue], scope: Mapping[str, str]) -> list[Dialogue]:
    """Gold dialogues with only the slots in scope; dialogues that the file does not have stay whole."""
    return [_cut(dialogue, scope.get(dialogue_key(dialogue.id))) for dialogue in gold]


def _cut(dialogue: Dialogue, domain: str | None) -> Dialogue:
    if domain is None:
        return dialogue
    return replace(dialogue, turns=tuple(_cut_turn(turn, domain) for turn in dialogue.turns))


def _cut_turn(turn: Turn, domain: str) -> Turn:
    if turn.state is None or all(name.lower() == domain for name in turn.state):
        return turn
    kept: State = {name: slots for name, slots in turn.state.items() if name.lower() == domain}
    return replace(turn, state=kept)


def _domains(dialogue: Dialogue) -> Iterator[str]:
    for turn in dialogue.turns:
        for state in (turn.state, turn.predicted):
            yield from (domain.lower() for domain in state or ())
