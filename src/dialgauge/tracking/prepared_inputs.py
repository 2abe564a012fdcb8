"""Gold and any number of systems, read and encoded once, to be compared under any number of profiles.

A tracker's file may bring its own gold states beside the predictions. In GOLD's place it would be scored as gold, and a
gold file in PRED's place as perfect predictions: swapped arguments would score 100. So neither is taken.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Ontology, Turn, dialogue_key
from dialgauge.errors import DialgaugeError, choice
from dialgauge.measures import Measure
from dialgauge.runs import SharedCorpus
from dialgauge.tracking.align import POLICIES, Aligned, Policy, align
from dialgauge.tracking.encode import (
    Coder,
    EncodedDialogues,
    Items,
    Kind,
    encode,
)
from dialgauge.tracking.inputs import SELF, SystemInput, cut_down, declared_scope
from dialgauge.tracking.states import StateComparison
from dialgauge.values import Pair, Profile


def with_last_turns(system: SystemInput, gold: SystemInput | None) -> Sequence[Dialogue]:
    """The dialogues of a system; where a mapping says what turns without a row are, as many user turns as in gold."""
    if gold is None or not system.missing:
        return system.dialogues
    lengths = {dialogue_key(dialogue.id): len(list(dialogue.user_turns())) for dialogue in gold.dialogues}
    made = []
    for dialogue in system.dialogues:
        turns = list(dialogue.user_turns())
        last = turns[-1].predicted if turns and system.missing == "carry" else {}
        added = [Turn(speaker="user", predicted=last)] * (lengths.get(dialogue_key(dialogue.id), 0) - len(turns))
        made.append(replace(dialogue, turns=(*dialogue.turns, *added)))
    return made


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

    given: SystemInput
    dialogues: Sequence[Dialogue]
    gold_corpus: GoldDialogues
    predicted: EncodedDialogues
    gold: EncodedDialogues | None
    aligned: Aligned
    #: What each input was taken for, as signatures say it: ``GOLD=gold,PRED=predictions``.
    roles: str
    #: The files behind it, each with its role.
    files: list[tuple[str, str]]

    @property
    def name(self) -> str:
        return self.given.name


_TAKEN_FOR: dict[Kind, str] = {"predicted": "predictions", "judged": "flags", "state": "states"}


class PreparedInputs:
    """Systems and their gold. Without a gold input, each system must bring its own gold or be a flags file."""

    def __init__(
        self,
        gold: SystemInput | None,
        systems: Sequence[SystemInput],
        *,
        coverage: str = "intersection",
        exclude: Collection[str] = (),
        ontology: Ontology | None = None,
    ) -> None:
        if not systems:
            raise DialgaugeError("there is nothing to score: name at least one prediction file")
        self.items = Items()
        self.policy: Policy = choice(coverage, POLICIES, "coverage")
        self.exclude = list(exclude)
        self._ontology = ontology or (gold.ontology if gold else None)
        self._coders: dict[str, Coder] = {}
        self._gold = None
        shared: EncodedDialogues | None = None
        if gold is not None:
            self._gold = GoldDialogues(gold.dialogues)
            if "state" not in gold.carried:
                raise DialgaugeError(
                    "no turn has a gold state; give a file with annotated states as GOLD, such as the dataset itself",
                    file=gold.path or gold.name,
                )
            shared = encode(gold.dialogues, "state", self.items)
        self.systems = {system.name: self._system(system, gold, shared) for system in systems}

    def _system(self, given: SystemInput, gold: SystemInput | None, shared: EncodedDialogues | None) -> System:
        dialogues, name = with_last_turns(given, gold), given.name
        silent = not len(dialogues) and self.policy == "empty"
        kind = "predicted" if silent else _predicted_kind(given)
        predicted = encode(dialogues, kind, self.items)
        own, corpus = shared, self._gold or GoldDialogues(dialogues)
        scope = declared_scope(dialogues) if gold is not None and kind == "predicted" else {}
        if scope:
            corpus = GoldDialogues(cut_down(corpus.dialogues, scope))
            own = encode(corpus.dialogues, "state", self.items)
        brings_gold = own is None and given.brings_gold
        if brings_gold:
            own = encode(dialogues, "state", self.items)
        if own is None and kind != "judged":
            raise DialgaugeError(
                "it has predictions but no gold states of its own; name the gold file first: dialgauge score GOLD PRED",
                file=name,
            )
        aligned = align(own or predicted, predicted, self.policy, self.exclude, scope.values())
        taken = _TAKEN_FOR[kind]
        roles = f"PRED=gold+{taken}" if brings_gold else f"GOLD=gold,PRED={taken}" if own else f"PRED={taken}"
        both = [each for each in (gold, given) if each is not None]
        if mappings := "+".join(each.mapping_sha256[:12] for each in both if each.mapping_sha256):
            roles = f"{roles},MAP={mappings}"
        paths = [
            *([("gold", gold.path)] if gold else []),
            ("gold and predictions" if brings_gold else "predictions", given.path),
            *(("mapping", each.mapping) for each in both),
        ]
        files = [(role, path) for role, path in paths if path]
        return System(given, dialogues, corpus, predicted, own, aligned, roles, files)

    def comparison(self, system: str, profile: Profile) -> StateComparison:
        """One system under one profile. Distinct values are normalised once per profile, whatever the systems."""
        return StateComparison(self.systems[system], self.coder(profile), self._slots(profile))

    def coder(self, profile: Profile) -> Coder:
        """The numbers of slots and values under a profile, the same for all systems."""
        return self._coders.setdefault(profile.label, Coder(profile))

    def ceiling(self, system: str, profile: Profile, measures: Sequence[Measure[Any]]) -> dict[str, float]:
        """What gold scores against itself where a system is scored, if that is not 100; empty if it is.

        TRADE corrects labels in gold alone, MultiWOZ_Evaluation drops ``dontcare`` from gold alone. A tracker that
        repeats the gold file word by word is then marked wrong, so that such scores have a ceiling of their own.
        """
        chosen = self.systems[system]
        if profile.treats_sides_alike or chosen.gold is None or chosen.predicted.kind == "judged":
            return {}
        aligned = structs.replace(chosen.aligned, predicted_row=chosen.aligned.gold_row)
        itself = structs.replace(chosen, predicted=chosen.gold, aligned=aligned)
        counts = StateComparison(itself, self.coder(profile), self._slots(profile)).counts
        return {} if counts.exact.all() else {str(measure): measure.value(counts) for measure in measures}

    def inventory(self, profile: Profile) -> frozenset[Pair]:
        """The slots that there are, filled or not, where the profile or an ontology says so."""
        return (self._slots(profile) or frozenset()) | frozenset(profile.inventory or ())

    def _slots(self, profile: Profile) -> frozenset[Pair] | None:
        """The slots of the ontology under the names of a profile."""
        if self._ontology is None:
            return None
        pairs = (profile.pair(domain, slot) for domain, slot in self._ontology.slots())
        return frozenset(pair for pair in pairs if pair is not None)


def _predicted_kind(system: SystemInput) -> Kind:
    """What a prediction file offers: predicted states, else flags, else plain states (gold scored against gold)."""
    kinds: tuple[Kind, ...] = ("predicted", "judged", "state")
    for kind in kinds:
        if kind in system.carried:
            return kind
    raise DialgaugeError(
        "no turn has a state, so there is nothing to score as tracking; response files of policy models have none; "
        "where the replies are states, write them as docs/formats/predictions.md shows",
        file=system.name,
    )


#: The format whose predictions have the shape of the dataset itself: its states may be predicted ones.
_SAME_SHAPE = "sgd"
_ORDER = "put the gold file first: dialgauge score GOLD PRED..."


def require_roles(gold: SystemInput | None, systems: Sequence[SystemInput]) -> None:
    """An error that names the right order where an input cannot be what its place says."""
    inputs = [*([gold] if gold else []), *systems]
    if gold is not None and (why := _no_gold(gold, systems)):
        raise _refused(gold, f"{why}, so it cannot be GOLD", inputs)
    for system in systems:
        if why := _no_predictions(system, gold):
            if gold is None:
                raise DialgaugeError(f"{why}; name both files: GOLD PRED...", file=system.path or system.name)
            raise _refused(system, f"{why}, so it cannot be PRED", inputs)
        paths = [Path(each.path) for each in (gold, system) if each is not None and each.path]
        if len(paths) == 2 and all(path.exists() for path in paths) and paths[0].samefile(paths[1]):
            raise DialgaugeError(
                f"it is given as both GOLD and PRED, and would score 100 against itself; {_ORDER}", file=system.path
            )


def _no_gold(gold: SystemInput, systems: Sequence[SystemInput]) -> str:
    has_states = "state" in gold.carried
    if not gold.predicts:
        broken = gold.kind == "predictions" and not has_states
        return f"it is a predictions file ({gold.format}) without gold states" if broken else ""
    # Dialogues in memory come under a name, gold=..., which says what is meant: refused only if they are swapped.
    if not gold.path and any(system.predicts for system in systems):
        return ""
    return f"it holds predictions{' alongside its gold states' if has_states else ''}"


def _no_predictions(system: SystemInput, gold: SystemInput | None) -> str:
    if system.predicts or "state" not in system.carried or not (system.path or system.read_as):
        return ""
    foreign = system.kind == "predictions" and not {"predicted", "judged"} & system.fields
    may_predict = system.format == _SAME_SHAPE or foreign
    if gold is None:
        return f"it has {'one state per turn' if may_predict else 'gold states'} but no predictions"
    if not may_predict:
        command = f"dialgauge data convert {shlex.quote(system.path or system.name)} predictions.json --to sgd"
        return (
            "it has gold states but no predictions (if a system predicted these states, make predictions of this "
            f"{system.format} file: '{command}')"
        )
    if _has_acts(system) and not _has_acts(gold) and gold.format == _SAME_SHAPE:
        return "it is annotated with dialogue acts like the dataset, and the file before it is not"
    return ""


def _has_acts(system: SystemInput) -> bool:
    return any(turn.acts for dialogue in system.dialogues for turn in dialogue.turns)


def _refused(culprit: SystemInput, message: str, inputs: Sequence[SystemInput]) -> DialgaugeError:
    """The error, with the files in the right order where what they carry tells it."""
    paths = " ".join(each.path for each in inputs)
    hint = ""
    if all(each.path for each in inputs):
        if all(each.brings_gold for each in inputs):
            hint = f"; for the gold states inside each file write {SELF} first: {SELF} {paths}"
        elif sum(not each.predicts for each in inputs) == 1:
            hint = f", here: {' '.join(each.path for each in sorted(inputs, key=lambda each: each.predicts))}"
    advice = "--accept roles scores the files as they are"
    return DialgaugeError(f"{message}; {_ORDER}{hint}", file=culprit.path or culprit.name, advice=advice)
