"""One system under one profile: what a tracking run says of it, typed and checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Measure, Score, Signature, parse_measure
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.details import tracking_details

if TYPE_CHECKING:
    from dialgauge.runs import Run
    from dialgauge.tracking.counts import Counts
    from dialgauge.tracking.parts import PartScores
    from dialgauge.tracking.slot_errors import SlotErrors

KIND = "tracking"


class TrackedSystem:
    """One system under one profile: what a tracking run says, typed and checked."""

    def __init__(self, run: Run, own_measures: Iterable[Measure[Any]] = ()) -> None:
        """``own_measures`` are measures of no package, which cannot be found by their names."""
        if run.kind != KIND or "evidence" not in run.details:
            reason = (
                "it was stored by an older dialgauge: score again" if run.kind == KIND else f"its kind is {run.kind}"
            )
            raise DialgaugeError(f"run {run.id} cannot be shown as tracker scores: {reason}")
        self.run = run
        self.details = tracking_details(run)
        self._own = {str(measure): measure for measure in own_measures}

    @property
    def name(self) -> str:
        return self.run.name

    @property
    def profile(self) -> str:
        return self.details.profile

    @cached_property
    def scores(self) -> dict[str, Score]:
        """The scores by measure; SGD's official ones stand apart, under ``run.details["sgd"]``."""
        if self.details.sgd is None:
            return self.run.scores
        from dialgauge.tracking.sgd.official import PROFILE

        profiles = {name: Signature.parse(score.signature).get("profile") for name, score in self.run.scores.items()}
        return {name: score for name, score in self.run.scores.items() if profiles[name] != PROFILE}

    @cached_property
    def measures(self) -> list[Measure[Any]]:
        return [self._own[name] if name in self._own else parse_measure(name, KIND) for name in self.scores]

    @property
    def coverage(self) -> TurnCoverage:
        return self.details.coverage

    @property
    def left_out(self) -> dict[str, str]:
        """Measures that the input cannot give, with the reason."""
        return dict(self.details.left_out)

    @cached_property
    def signature(self) -> Signature:
        """What the scores share, but for the measure."""
        return Signature.shared(Signature.parse(score.signature) for score in self.scores.values()).with_(measure="")

    @cached_property
    def counts(self) -> Counts:
        from dialgauge.tracking.tables import read_counts

        return read_counts(self.run)

    def __getitem__(self, measure: str) -> Score:
        return self.run[measure]

    def is_share(self, measure: str) -> bool:
        """Whether a measure is a fraction, shown as percent."""
        return measure not in self.scores or self.scores[measure].unit in ("share", None)

    def by(self, name: str) -> dict[str, PartScores]:
        """The stored scores by domain, slot or turn."""
        from dialgauge.tracking.parts import stored_parts

        return stored_parts(self.run, name)

    @cached_property
    def faults(self) -> SlotErrors:
        """Where it goes wrong: episodes, confused values, first errors."""
        from dialgauge.tracking.slot_errors import SlotErrors

        return SlotErrors(self)

    def as_dict(self, views: Sequence[str] = (), *, faults: bool = False) -> dict[str, Any]:
        content = {
            "name": self.name,
            "profile": self.profile,
            "dialogues": self.coverage.dialogues,
            "turns": self.coverage.turns,
            "scores": {
                name: {part: getattr(score, part) for part in ("value", "low", "high", "signature")}
                for name, score in self.scores.items()
            },
            "by": {
                name: {
                    part: {
                        "dialogues": kept.dialogues,
                        "turns": kept.turns,
                        **({"spurious_domain_turns": kept.spurious_turns} if name == "domain" else {}),
                        "scores": {
                            measure: {end: getattr(score, end) for end in ("value", "low", "high")}
                            for measure, score in kept.scores.items()
                        },
                    }
                    for part, kept in self.by(name).items()
                }
                for name in views
            },
            "counts": self.details.counts,
            "left_out": self.left_out,
            "gold_against_itself": self.details.gold_against_itself,
            "remarks": [structs.asdict(remark) for remark in self.details.remarks],
        }
        if faults:
            content["faults"] = self.faults.as_dict()
        if sgd := self.details.sgd:
            content |= {"sgd": sgd.scores, "sgd_signature": sgd.signature}
        return content
