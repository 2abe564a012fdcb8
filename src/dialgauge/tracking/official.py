"""SGD's official scores beside the others: the same inputs, scored frame by frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.report.cells import Column
from dialgauge.report.table import Table
from dialgauge.tracking.align import number
from dialgauge.tracking.sgd import SGD_CARDS, SgdScores, score_sgd
from dialgauge.tracking.sgd.scores import ALL, SEEN, UNSEEN
from dialgauge.tracking.signature import Signature
from dialgauge.tracking.study import System

if TYPE_CHECKING:
    import polars

#: What stands for a profile in the signatures of these scores: values are compared as the evaluation says.
PROFILE = "sgd-official"


class Official:
    """The official scores of one system of a study, with their signatures."""

    def __init__(
        self, system: System, schema: Ontology, seen: Collection[str] | None, *, fuzzy: bool, across_turn: bool
    ) -> None:
        excluded = {dialogue_key(name) for name in system.aligned.coverage.excluded}
        self.scores: SgdScores = score_sgd(
            _without(system.gold_dialogues, excluded),
            _without(system.dialogues, excluded),
            schema,
            seen_services=seen,
            fuzzy=fuzzy,
            across_turn=across_turn,
        )
        self._slots = len(list(schema.slots()))

    def signature(self, gold: str, measure: str = "SGD") -> Signature:
        """What the value of a measure depends on; ``gold`` is the checksum of the gold states."""
        scores, coverage = self.scores, self.scores.coverage
        matching, joint = "fuzzy" if scores.fuzzy else "exact", "turn" if scores.across_turn else "frame"
        return Signature(
            measure=f"{measure}(matching={matching},joint={joint})",
            profile=PROFILE,
            slots=str(self._slots),
            coverage="intersection",
            dialogues=str(coverage.dialogues),
            turns=str(coverage.turns),
            gold=gold,
        )

    def as_dict(self, gold: str) -> dict[str, Any]:
        """For the run store: the scores over all services."""
        return {
            name: {"value": value, "signature": self.signature(gold, name).long()}
            for name, value in self.scores.values(ALL).items()
        }

    def frame(self) -> polars.DataFrame:
        """dialogue, measure, num, den over all services."""
        import polars

        schema = {"dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64}
        return polars.DataFrame(list(self.scores.dialogue_rows()), schema=schema, orient="row")

    def notes(self, name: str) -> list[str]:
        """How it was scored, and what was left out."""
        scores, coverage = self.scores, self.scores.coverage
        matching = "fuzzy" if scores.fuzzy else "exact"
        joint = "multiplied over a turn's services" if scores.across_turn else "per frame"
        notes = [f"{name}: {number(len(scores.service), 'frame')}; {matching} matching; joint scores {joint}."]
        if coverage.missing_dialogues or coverage.missing_turns:
            dialogues, turns = len(coverage.missing_dialogues), coverage.missing_turns
            notes.append(
                f"{name}: SGD's scores leave out {number(dialogues, 'dialogue')} and {number(turns, 'turn')} "
                "without prediction, whatever --coverage says."
            )
        return notes


def _without(dialogues: Sequence[Dialogue], excluded: set[str]) -> list[Dialogue]:
    return [dialogue for dialogue in dialogues if dialogue_key(dialogue.id) not in excluded]


def sgd_table(found: Mapping[str, Official]) -> Table:
    """All, seen and unseen services of every system."""
    measures = [name for name in SGD_CARDS if any(name in official.scores.values() for official in found.values())]
    table = Table(
        "SGD's official scores (percent)",
        ["system", "services", *(Column(measure, digits=2, percent=True) for measure in measures)],
    )
    for name, official in found.items():
        scores = official.scores
        for group in (ALL, SEEN, UNSEEN):
            if group in scores.groups and scores.groups[group].any():
                values = scores.values(group)
                table.add(name, group, *(values.get(measure) for measure in measures))
        table.notes += official.notes(name)
    return table
