"""A study: gold and any number of systems, read and encoded once, compared under any number of profiles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.errors import DialgaugeError
from dialgauge.tracking.align import Aligned, Policy, align
from dialgauge.tracking.coding import Coder
from dialgauge.tracking.comparison import Comparison
from dialgauge.tracking.encode import Encoded, Items, carries_gold, encode, predicted_kind, require_gold
from dialgauge.tracking.scope import cut_down, declared_scope
from dialgauge.values.profile import Profile
from dialgauge.values.rules import Pair


@dataclass(frozen=True)
class System:
    """One set of predictions: encoded, with the gold it is scored against (None: flags without gold), aligned."""

    name: str
    dialogues: Sequence[Dialogue]
    gold_dialogues: Sequence[Dialogue]
    predicted: Encoded
    gold: Encoded | None
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
        shared: Encoded | None = None
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
        shared: Encoded | None,
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

    def comparison(self, system: str, profile: Profile) -> Comparison:
        """One system under one profile. Distinct values are normalised once per profile, whatever the systems."""
        coder = self._coders.setdefault(profile.label, Coder(profile))
        chosen = self.systems[system]
        return Comparison(chosen.gold, chosen.predicted, chosen.aligned, self.items, coder, self._inventory(profile))

    def _inventory(self, profile: Profile) -> frozenset[Pair] | None:
        if self._ontology is None:
            return None
        pairs = (profile.pair(domain, slot) for domain, slot in self._ontology.slots())
        return frozenset(pair for pair in pairs if pair is not None)
