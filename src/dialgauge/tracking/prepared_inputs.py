"""Gold and any number of systems, read and encoded once, to be compared under any number of profiles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Ontology, Turn, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import Measure
from dialgauge.runs import SharedCorpus
from dialgauge.text import Note
from dialgauge.tracking.align import POLICIES, Aligned, Policy, align
from dialgauge.tracking.checks import ROLES
from dialgauge.tracking.encode import Coder, EncodedDialogues, Items, carries_gold, encode, predicted_kind, require_gold
from dialgauge.tracking.inputs import (
    Remark,
    SystemInput,
    blank_remarks,
    cut_down,
    declared_scope,
)
from dialgauge.tracking.roles import require_roles, roles_text
from dialgauge.tracking.states import StateComparison
from dialgauge.values import Pair, Profile


def prepare_inputs(
    gold: SystemInput | None,
    systems: Sequence[SystemInput],
    *,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
    accept: Collection[str] = (),
) -> PreparedInputs:
    """Inputs that were read, ready to be scored together; swapped roles are refused unless accepted."""
    if ROLES not in accept:
        require_roles(gold, systems)
    reference = [("gold", gold.path)] if gold and gold.path else []
    return PreparedInputs(
        gold.dialogues if gold else None,
        {system.name: with_last_turns(system, gold) for system in systems},
        coverage=coverage_policy(coverage),
        exclude=exclude,
        ontology=ontology or (gold.ontology if gold else None),
        gold_name=(gold.path or gold.name) if gold else "gold",
        remarks={system.name: [*system.remarks, *blank_remarks(system.dialogues)] for system in systems},
        files={
            system.name: [
                *reference,
                *([(_role(system, gold), system.path)] if system.path else []),
                *(("mapping", each.mapping) for each in (gold, system) if each is not None and each.mapping),
            ]
            for system in systems
        },
        mappings={
            system.name: "+".join(
                each.mapping_sha256[:12] for each in (gold, system) if each is not None and each.mapping_sha256
            )
            for system in systems
        },
    )


def with_last_turns(system: SystemInput, gold: SystemInput | None) -> Sequence[Dialogue]:
    """The dialogues of a system; where a mapping says what turns without a row are, as many user turns as in gold."""
    if gold is None or not system.missing:
        return system.dialogues
    lengths = {dialogue_key(dialogue.id): len(list(dialogue.user_turns())) for dialogue in gold.dialogues}
    return [
        _longer(dialogue, lengths.get(dialogue_key(dialogue.id), 0), system.missing) for dialogue in system.dialogues
    ]


def _longer(dialogue: Dialogue, length: int, missing: str) -> Dialogue:
    turns = list(dialogue.user_turns())
    last = turns[-1].predicted if turns and missing == "carry" else {}
    added = [Turn(speaker="user", predicted=last)] * (length - len(turns))
    return replace(dialogue, turns=(*dialogue.turns, *added)) if added else dialogue


def _role(system: SystemInput, gold: SystemInput | None) -> str:
    """What a prediction file was taken for."""
    return "gold and predictions" if gold is None and system.brings_gold else "predictions"


def coverage_policy(name: str) -> Policy:
    """A coverage policy by name."""
    for policy in POLICIES:
        if policy == name:
            return policy
    raise DialgaugeError(f"there is no coverage policy '{name}'.{nearest(name, POLICIES)}")


class GoldDialogues(SharedCorpus):
    """The dialogues with the gold states, and where their user turns stand; shared by the systems scored on them."""

    @cached_property
    def user_turns(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Of each user turn its position among the turns of its dialogue, and whether it has a text."""
        turns = (enumerate(dialogue.turns) for dialogue in self.dialogues)
        known = [(position, bool(turn.text)) for each in turns for position, turn in each if turn.speaker == "user"]
        positions, texts = zip(*known, strict=True) if known else ((), ())
        return np.array(positions, np.int64), np.array(texts, bool)


class System(Struct, frozen=True, eq=False):
    """One set of predictions: encoded, with the gold it is scored against (None: flags without gold), aligned."""

    name: str
    dialogues: Sequence[Dialogue]
    gold_corpus: GoldDialogues
    predicted: EncodedDialogues
    gold: EncodedDialogues | None
    aligned: Aligned
    #: What each input was taken for.
    roles: str


class PreparedInputs:
    """Systems and their gold. Without a gold input, each system must bring its own gold or be a flags file.

    ``files`` are the files each system was read from, with their roles, ``mappings`` the checksums of what read them,
    and ``remarks`` what reading them showed, for the record.
    """

    def __init__(
        self,
        gold: Sequence[Dialogue] | None,
        systems: Mapping[str, Sequence[Dialogue]],
        *,
        coverage: Policy = "intersection",
        exclude: Collection[str] = (),
        ontology: Ontology | None = None,
        gold_name: str = "gold",
        files: Mapping[str, Sequence[tuple[str, str]]] | None = None,
        remarks: Mapping[str, Sequence[Remark]] | None = None,
        mappings: Mapping[str, str] | None = None,
    ) -> None:
        if not systems:
            raise DialgaugeError("there is nothing to score: name at least one prediction file")
        self.items = Items()
        self.policy: Policy = coverage
        self.excluded = sorted(exclude)
        self.files, self.remarks = files or {}, remarks or {}
        self._mappings = mappings or {}
        #: What to say of a system under a profile, by its name and the profile's label.
        self.notes: dict[tuple[str, str], list[Note]] = {}
        self._ontology = ontology
        self._coders: dict[str, Coder] = {}
        self._gold = None if gold is None else GoldDialogues(gold)
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
        silent = not len(dialogues) and self.policy == "empty"
        kind = "predicted" if silent else predicted_kind(dialogues, name)
        predicted = encode(dialogues, kind, self.items)
        own = shared
        scope = declared_scope(dialogues) if gold is not None and kind == "predicted" else {}
        if gold is not None and scope:
            gold = cut_down(gold, scope)
            own = encode(gold, "state", self.items)
        brings_gold = own is None and carries_gold(dialogues)
        if brings_gold:
            own = encode(dialogues, "state", self.items)
        if own is None and kind != "judged":
            raise DialgaugeError(
                "it has predictions but no gold states of its own; name the gold file first: dialgauge score GOLD PRED",
                file=name,
            )
        aligned = align(own or predicted, predicted, self.policy, exclude, scope.values())
        source = gold if gold is not None else dialogues
        corpus = self._gold if self._gold is not None and self._gold.dialogues is source else GoldDialogues(source)
        roles = roles_text(kind, gold=own is not None, own=brings_gold)
        if mapping := self._mappings.get(name):
            roles = f"{roles},MAP={mapping}"
        return System(name, dialogues, corpus, predicted, own, aligned, roles)

    def comparison(self, system: str, profile: Profile) -> StateComparison:
        """One system under one profile. Distinct values are normalised once per profile, whatever the systems."""
        chosen = self.systems[system]
        return self.compared(chosen.gold, chosen.predicted, chosen.aligned, profile, chosen.roles)

    def compared(
        self,
        gold: EncodedDialogues | None,
        predicted: EncodedDialogues,
        aligned: Aligned,
        profile: Profile,
        roles: str = "",
    ) -> StateComparison:
        coder, slots = self.coder(profile), slots_of(self._ontology, profile)
        return StateComparison(gold, predicted, aligned, self.items, coder, slots, roles)

    def coder(self, profile: Profile) -> Coder:
        """The numbers of slots and values under a profile, the same for all systems."""
        return self._coders.setdefault(profile.label, Coder(profile))

    def ceiling(self, system: str, profile: Profile, measures: Sequence[Measure[Any]]) -> dict[str, float]:
        """What gold scores against itself where a system is scored, if that is not 100; empty if it is.

        TRADE corrects labels in gold alone, MultiWOZ_Evaluation drops ``dontcare`` from gold alone. A tracker that
        repeats the gold file word by word is then marked wrong, so that such scores have a ceiling of their own.
        """
        itself = self.gold_itself(system, profile)
        if itself is None or itself.counts.exact.all():
            return {}
        return {str(measure): measure.value(itself.counts) for measure in measures}

    def gold_itself(self, system: str, profile: Profile) -> StateComparison | None:
        """Gold compared with itself where a system is scored; None where the two are sure to be the same."""
        chosen = self.systems[system]
        if profile.treats_sides_alike or chosen.gold is None or chosen.predicted.kind == "judged":
            return None
        aligned = structs.replace(chosen.aligned, predicted_row=chosen.aligned.gold_row)
        return self.compared(chosen.gold, chosen.gold, aligned, profile)

    def inventory(self, profile: Profile) -> frozenset[Pair]:
        """The slots that there are, filled or not, where the profile or an ontology says so."""
        return frozenset(profile.inventory or ()) | (slots_of(self._ontology, profile) or frozenset())


def slots_of(ontology: Ontology | None, profile: Profile) -> frozenset[Pair] | None:
    """The slots of an ontology under the names of a profile."""
    if ontology is None:
        return None
    pairs = (profile.pair(domain, slot) for domain, slot in ontology.slots())
    return frozenset(pair for pair in pairs if pair is not None)
