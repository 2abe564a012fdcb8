"""What scoring gives: runs of systems, and everything that is shown of them, in memory or from a store alike.

results = dialgauge.score("test.json", ["augpt.json", "ubar.json"])
results["augpt"]["JGA"], results["augpt"].by("domain"), results.table()
stored = Store().add(results["augpt"].run)
present([stored]).table()
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs

from dialgauge.errors import DialgaugeError, missing_extra, nearest
from dialgauge.measures import ONE_MORE_UNIT, Measure, Resampling, Score, Scores, Signature, parse_measure
from dialgauge.text import counted, note_kind
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.inputs import Remark

if TYPE_CHECKING:
    import pandas
    import polars

    from dialgauge.report import Cell, Table
    from dialgauge.runs import Run
    from dialgauge.tracking.counts import Counts
    from dialgauge.tracking.faults import Faults
    from dialgauge.tracking.sensitivity import Sensitivity
    from dialgauge.tracking.views import View

KIND = "tracking"
#: How a sentence begins that says how intervals were made.
INTERVALS_MADE = "Intervals:"
#: The table in which runs keep what other profiles do to a score.
SENSITIVITY = "sensitivity"

#: Up to this many systems stand side by side, measures below each other with their intervals.
_SIDE_BY_SIDE = 4
_SHOWN = 3


class SystemScores:
    """One system under one profile: a tracking run, and what can be seen in it."""

    def __init__(self, run: Run, measures: Sequence[Measure[Any]] | None = None) -> None:
        if run.kind != KIND or "evidence" not in run.details:
            reason = (
                "it was stored by an older dialgauge: score again" if run.kind == KIND else f"its kind is {run.kind}"
            )
            raise DialgaugeError(f"run {run.id} cannot be shown as tracker scores: {reason}")
        self.run = run
        self.details = tracking_details(run)
        self._measures = measures

    @property
    def name(self) -> str:
        """The system."""
        return self.run.name

    @property
    def profile(self) -> str:
        """The profile's name."""
        return self.details.profile

    @cached_property
    def scores(self) -> dict[str, Score]:
        """The scores by measure; SGD's official ones stand apart, under ``run.details["sgd"]``."""
        if self.details.sgd is None:
            return self.run.scores
        return {name: score for name, score in self.run.scores.items() if not _official(score)}

    @cached_property
    def measures(self) -> list[Measure[Any]]:
        """The measures behind the scores."""
        return list(self._measures or (parse_measure(name, KIND) for name in self.scores))

    @property
    def coverage(self) -> TurnCoverage:
        """What was scored and what was not."""
        return self.details.coverage

    @property
    def left_out(self) -> dict[str, str]:
        """Measures that the input cannot give, with the reason."""
        return dict(self.details.left_out)

    @property
    def remarks(self) -> list[Remark]:
        """What in the prediction file was read as something else, such as invalid outputs of a language model."""
        return self.details.remarks

    @property
    def gold_against_itself(self) -> dict[str, float | None]:
        """What gold itself scores under the profile, by measure, where that is not 100; else empty."""
        return dict(self.details.gold_against_itself)

    @cached_property
    def signature(self) -> Signature:
        """What the scores share, but for the measure."""
        return Signature.shared(Signature.parse(one.signature) for one in self.scores.values()).with_(measure="")

    @cached_property
    def counts(self) -> Counts:
        """The counts of all turns."""
        from dialgauge.tracking.tables import read_counts

        return read_counts(self.run)

    @property
    def turns(self) -> polars.DataFrame:
        """The table ``turn_scores``: the counts of every turn, the error type, and every measure."""
        return self.run.table("turn_scores")

    def __getitem__(self, measure: str) -> float:
        if measure not in self.scores:
            why = self.left_out.get(measure)
            reason = f": {why}" if why else f": it was not requested.{nearest(measure, self.scores)}"
            raise DialgaugeError(f"{self.name} has no score {measure}{reason}")
        value = self.scores[measure].value
        return math.nan if value is None else value

    def is_share(self, measure: str) -> bool:
        """Whether a measure is a fraction, shown as percent."""
        return measure not in self.scores or self.scores[measure].unit in ("share", None)

    def by(self, name: str) -> View:
        """The scores by domain, service, slot, turn or n-domains."""
        from dialgauge.tracking.views import view

        return view(name, self)

    def left_out_of(self, name: str) -> dict[str, str]:
        """The measures that :meth:`by` does not show, with the reason."""
        from dialgauge.tracking.views import left_out_of

        return left_out_of(name, self)

    @cached_property
    def faults(self) -> Faults:
        """Where it goes wrong: episodes, confused values, first errors."""
        from dialgauge.tracking.faults import Faults

        return Faults(self)

    def as_dict(self, views: Sequence[str] = (), *, faults: bool = False) -> dict[str, Any]:
        """For JSON."""
        content = {
            "name": self.name,
            "profile": self.profile,
            "dialogues": self.coverage.dialogues,
            "turns": self.coverage.turns,
            "scores": {name: _score_dict(score) for name, score in self.scores.items()},
            "by": {name: _clean(self.by(name)) for name in views},
            "left_out_of_views": {name: self.left_out_of(name) for name in views},
            "counts": self.details.counts,
            "left_out": self.left_out,
            "gold_against_itself": self.gold_against_itself,
            "remarks": [structs.asdict(remark) for remark in self.remarks],
        }
        if faults:
            content["faults"] = self.faults.as_dict()
        if sgd := self.details.sgd:
            content |= {"sgd": sgd.scores, "sgd_signature": sgd.signature}
        return content

    def __repr__(self) -> str:
        return f"<{self.name} under {self.profile}: {_listed(self.scores)}>"

    def _repr_html_(self) -> str:
        return self.run._repr_html_()


class Results:
    """All systems under all profiles, in the order they were named."""

    def __init__(self, systems: Iterable[SystemScores]) -> None:
        self.systems = list(systems)
        if not self.systems:
            raise DialgaugeError("there are no scores to show; name at least one run")

    def __iter__(self) -> Iterator[SystemScores]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def __getitem__(self, name: str | int) -> SystemScores:
        if isinstance(name, int):
            return self.systems[name]
        for system in self.systems:
            if system.name == name:
                return system
        raise DialgaugeError(f"there is no system '{name}'.{nearest(name, (one.name for one in self.systems))}")

    @property
    def runs(self) -> list[Run]:
        """The runs of the systems; a store takes them: ``store.add(run)``."""
        return [system.run for system in self.systems]

    @cached_property
    def resampling(self) -> Resampling | None:
        """How the intervals were made, where they were made alike."""
        made = {Signature.parse(run.signature).get("interval", "") for run in self.runs}
        if len(made) > 1 or made == {""}:
            return None
        return Resampling.parse(made.pop())

    @cached_property
    def signature(self) -> Signature:
        """What all scores share; where systems differ in the turns or slots they were scored on, it is left open."""
        shared = Signature.shared(system.signature for system in self.systems)
        named = (system.signature.get("profile", "" if "roles" in shared else "unknown") for system in self.systems)
        profiles = "+".join(filter(None, dict.fromkeys(named)))
        made = Signature.shared(Signature.parse(system.run.signature) for system in self.systems).get("interval", "")
        interval = str(self.resampling) if self.resampling else made
        return Signature(**({"profile": "", **shared} | {"profile": profiles})).with_(interval=interval)

    @property
    def several_profiles(self) -> bool:
        """Was more than one profile asked for?"""
        return len({system.profile for system in self.systems}) > 1

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """The first measure under other profiles, where it was asked for when the systems were scored."""
        if all(SENSITIVITY not in run.tables for run in self.runs):
            return None
        from dialgauge.tracking.sensitivity import read_sensitivity

        return read_sensitivity(self.runs)

    def as_dict(self, views: Sequence[str] = (), *, faults: bool = False) -> dict[str, Any]:
        """The JSON that ``dialgauge score --json`` writes."""
        content = {
            "signature": self.signature.long(),
            "coverage": {
                "policy": self.systems[0].coverage.policy,
                "systems": {system.name: system.coverage.as_dict() for system in self.systems},
            },
            "systems": [system.as_dict(views, faults=faults) for system in self.systems],
        }
        return content | {"sensitivity": self.sensitivity.as_dict()} if self.sensitivity else content

    def table(self, *, compact: bool = False) -> Table:
        """Systems down, measures across, in percent; ``compact``: measures down and systems across while that fits."""
        if compact and len(self) <= _SIDE_BY_SIDE and all(self._shares.values()):
            return self._side_by_side()
        from dialgauge.report import Column, Table, score_column

        lead = [Column("system"), *([Column("profile")] if self.several_profiles else [])]
        lead += [Column("dialogues", drop=1), Column("turns", drop=2)]
        columns = []
        for name, share in self._shares.items():
            score = self._score(name)
            columns.append(score_column(name if share else f"{name} ({score.unit})", score, best=self._ranked))
        table = self._noted(Table(self._title, [*lead, *columns], signature=self.signature.long()))
        for system in self.systems:
            profile = [system.profile] if self.several_profiles else []
            cells = [_cell(system.scores.get(name)) for name in self._shares]
            table.add(system.name, *profile, system.coverage.dialogues, system.coverage.turns, *cells)
        return table

    def _side_by_side(self) -> Table:
        from dialgauge.report import Column, Table

        titles = [f"{one.name} {one.profile}" if self.several_profiles else one.name for one in self.systems]
        columns = [Column("measure"), *(Column(title, digits=2, percent=True) for title in titles)]
        table = self._noted(Table(self._title, columns, signature=self.signature.long()))
        for name in self._shares:
            scores = [system.scores.get(name) for system in self.systems]
            best = self._best(name, scores) if self._ranked else None
            table.add(name, *(_cell(score, best) for score in scores))
        return table

    def _noted(self, table: Table) -> Table:
        """The table with all notes; those about intervals only where it shows some."""
        from dialgauge.report import INTERVALS

        for note in self.interval_notes():
            table.explain(note, INTERVALS)
        table.notes += self.notes()
        return table

    @property
    def _ranked(self) -> bool:
        return len(self) > 1 and not self.several_profiles

    @cached_property
    def _shares(self) -> dict[str, bool]:
        """All measures that any system has, and whether each is a share."""
        return {name: system.is_share(name) for system in self.systems for name in system.scores}

    @property
    def _title(self) -> str:
        return f"State-tracking scores{' (percent)' if all(self._shares.values()) else ''}"

    def _score(self, measure: str) -> Score:
        return next(system.scores[measure] for system in self.systems if measure in system.scores)

    def _best(self, measure: str, scores: Iterable[Score | None]) -> float | None:
        known = Scores(dialogues=(), sums={}, scores={measure: self._score(measure)})
        return known.best(measure, (score.value for score in scores if score))

    def interval_notes(self) -> list[str]:
        """The meaning of intervals, where there are any."""
        few = self._with_one_more()
        if not self.resampling:
            made = (note for system in self.systems for note in system.run.notes if note_kind(note) == "intervals")
            return [*dict.fromkeys(made), *few]
        how = f"{self.resampling.level:.0%}, {self.resampling.resamples} resamples of dialogues"
        return [f"{INTERVALS_MADE} {how}, seed {self.resampling.seed}.", *few]

    def _with_one_more(self) -> list[str]:
        """The measures whose intervals do not come from resamples, as there are few dialogues of uneven length."""
        named = dict.fromkeys(
            name
            for system in self.systems
            for name, score in system.run.scores.items()
            if Signature.parse(score.signature).get("interval", "").endswith(ONE_MORE_UNIT)
        )
        if not named:
            return []
        told = (
            "few dialogues of uneven length, so the intervals ask what one more, as long as the longest, would change"
        )
        return [f"{', '.join(named)}: {told}."]

    def notes(self) -> list[str]:
        """What was not scored, and what limits the scores."""
        notes = []
        scored_on = {(system.profile, system.signature.get("gold")) for system in self.systems}
        if len(scored_on) > len({system.profile for system in self.systems}):
            notes.append(
                "The systems were not scored on the same gold turns: compare them with care, or score missing "
                "predictions as empty."
            )
        notes += self.ceilings()
        told = {system.name: system.remarks for system in self.systems if system.remarks}
        notes += [f"{name}: {'; '.join(one.sentence() for one in remarks)}." for name, remarks in told.items()]
        for system in self.systems:
            for measure, why in system.left_out.items():
                notes.append(f"{system.name}: no {measure}: {why}.")
            notes += _mean_over_slots(system)
        return notes

    def ceilings(self) -> list[str]:
        """A sentence for each profile under which gold itself does not score 100."""
        limited = [system for system in self.systems if system.gold_against_itself]
        if not limited:
            return []
        from dialgauge.tracking.ceiling import ceiling_sentence

        said = (ceiling_sentence(one.profile, one.gold_against_itself, self._shares) for one in limited)
        return list(dict.fromkeys(said))

    def tables(self, views: Sequence[str] = (), *, faults: bool = False) -> list[Table]:
        """Everything as tables: scores, views, where it goes wrong, and what else the runs keep."""
        tables = [self.table(compact=True)]
        if views:
            from dialgauge.tracking.views import view_table

            tables += [view_table(name, self.systems) for name in views]
        if faults:
            from dialgauge.tracking.faults import fault_tables

            tables += [table for system in self.systems for table in fault_tables(system)]
        if self.sensitivity:
            from dialgauge.tracking.sensitivity import sensitivity_tables

            tables += sensitivity_tables(self.sensitivity)
        if any(system.details.sgd for system in self.systems):
            from dialgauge.tracking.sgd.official import sgd_table

            tables.append(sgd_table(self.runs))
        return tables

    def frame(self) -> polars.DataFrame:
        """One row per system, profile and measure."""
        import polars

        return polars.DataFrame(
            [
                {
                    "system": system.name,
                    "profile": system.profile,
                    "measure": name,
                    "value": math.nan if score.value is None else score.value,
                    "low": score.low,
                    "high": score.high,
                    "signature": score.signature,
                }
                for system in self.systems
                for name, score in system.scores.items()
            ],
            schema_overrides=dict.fromkeys(("value", "low", "high"), polars.Float64),
        )

    def pandas(self) -> pandas.DataFrame:
        """:meth:`frame` for pandas (extra ``pandas``)."""
        try:
            return self.frame().to_pandas()
        except ModuleNotFoundError as error:
            raise missing_extra(error.name or "pandas", "pandas", "a pandas frame") from error

    def __str__(self) -> str:
        return self.table().render("markdown")

    def __repr__(self) -> str:
        names = list(dict.fromkeys(system.name for system in self.systems))
        profiles = dict.fromkeys(system.profile for system in self.systems)
        return f"<Results of {_listed(names)} under {', '.join(profiles)}: {_listed(self._shares)}>"

    def _repr_html_(self) -> str:
        from dialgauge.report import notebook_html

        return notebook_html([self.table(compact=True)])


def present(runs: Iterable[Run]) -> Results:
    """Tracking runs as results: tables, views, faults and JSON of runs in memory or in a store."""
    return Results(SystemScores(run) for run in runs)


def _official(score: Score) -> bool:
    from dialgauge.tracking.sgd.official import PROFILE

    return Signature.parse(score.signature).get("profile") == PROFILE


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return f"{', '.join(every[:_SHOWN])}{more}"


def _score_dict(score: Score) -> dict[str, Any]:
    return {"value": score.value, "low": score.low, "high": score.high, "signature": score.signature}


def _cell(score: Score | None, best: float | None = None) -> Cell:
    from dialgauge.report import Cell

    if score is None:
        return Cell(None)
    return Cell(score.value, score.low, score.high, bold=best is not None and score.value == best)


def _clean(view: View) -> View:
    return {
        group: {
            key: {name: None if math.isnan(score) else score for name, score in value.items()}
            if key == "scores"
            else value
            for key, value in facts.items()
        }
        for group, facts in view.items()
    }


def _mean_over_slots(system: SystemScores) -> list[str]:
    """What is in a mean over slots: predicted slots that gold never has, each of which counts 0."""
    name, hidden = "F1(average=slot)", system.details.slots_without_gold
    score = system.scores.get(name)
    if not hidden or score is None or score.value is None:
        return []
    interval = "" if score.low is not None else " No interval: more dialogues would bring more such slots."
    return [
        f"{system.name}: {name} counts {counted(hidden.slots, 'predicted slot')} that gold never has, each as 0. "
        f"Over the {hidden.gold_slots} slots of gold, F1(average=gold-slot), it is {100 * hidden.value:.2f} "
        f"instead of {100 * score.value:.2f}.{interval}"
    ]
