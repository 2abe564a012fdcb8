"""A study: gold and any number of systems, read and encoded once, compared under any number of profiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Ontology, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.tracking.align import Aligned, Policy, align
from dialgauge.tracking.comparison import StateComparison
from dialgauge.tracking.encode import Coder, EncodedDialogues, Items, carries_gold, encode, predicted_kind, require_gold
from dialgauge.values import Pair, Profile


@dataclass(frozen=True)
class System:
    """One set of predictions: encoded, with the gold it is scored against (None: flags without gold), aligned."""

    name: str
    dialogues: Sequence[Dialogue]
    gold_dialogues: Sequence[Dialogue]
    predicted: EncodedDialogues
    gold: EncodedDialogues | None
    aligned: Aligned


class Study:
    """Systems and their gold. Without a gold input, each system must bring its own gold or be a flags file."""

    def __init__(
        self,
        gold: Sequence[Dialogue] | None,
        systems: Mapping[str, Sequence[Dialogue]],
        *,
        coverage: Policy = "intersection",
        exclude: Collection[str] = (),
        ontology: Ontology | None = None,
        gold_name: str = "gold",
    ) -> None:
        if not systems:
            raise DialgaugeError("there is nothing to score: name at least one prediction file")
        self.items = Items()
        self.policy: Policy = coverage
        self._ontology = ontology
        self._coders: dict[str, Coder] = {}
        shared: EncodedDialogues | None = None
        if gold is not None:
            require_gold(gold, gold_name)
            shared = encode(gold, "state", self.items)
        self.systems = {
            name: self._system(name, dialogues, gold, shared, exclude) for name, dialogues in systems.items()
        }

    def _system(
        self,
        name: str,
        dialogues: Sequence[Dialogue],
        gold: Sequence[Dialogue] | None,
        shared: EncodedDialogues | None,
        exclude: Collection[str],
    ) -> System:
        kind = predicted_kind(dialogues, name)
        predicted = encode(dialogues, kind, self.items)
        own = shared
        scope = declared_scope(dialogues) if gold is not None and kind == "predicted" else {}
        if gold is not None and scope:
            gold = cut_down(gold, scope)
            own = encode(gold, "state", self.items)
        if own is None and carries_gold(dialogues):
            own = encode(dialogues, "state", self.items)
        if own is None and kind != "judged":
            raise DialgaugeError(
                "it has predictions but no gold states of its own; name the gold file first: dialgauge score GOLD PRED",
                file=name,
            )
        aligned = align(own or predicted, predicted, self.policy, exclude, scope.values())
        return System(name, dialogues, gold if gold is not None else dialogues, predicted, own, aligned)

    def comparison(self, system: str, profile: Profile) -> StateComparison:
        """One system under one profile. Distinct values are normalised once per profile, whatever the systems."""
        coder = self._coders.setdefault(profile.label, Coder(profile))
        chosen = self.systems[system]
        return StateComparison(
            chosen.gold, chosen.predicted, chosen.aligned, self.items, coder, self._inventory(profile)
        )

    def _inventory(self, profile: Profile) -> frozenset[Pair] | None:
        if self._ontology is None:
            return None
        pairs = (profile.pair(domain, slot) for domain, slot in self._ontology.slots())
        return frozenset(pair for pair in pairs if pair is not None)


# Prediction files that hold one domain only: gold of all domains is cut down to it before it is compared.
#
# Zero-shot experiments (T5-DST) predict one held-out domain and write only its slots; the other domains of the gold
# states are outside the experiment, not missed.


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
