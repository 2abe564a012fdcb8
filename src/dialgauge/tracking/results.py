"""What scoring trackers gives: runs by system, and what is shown of them, in memory or from a store alike.

results = dialgauge.score("test.json", ["augpt.json", "ubar.json"])
results["augpt"]["JGA"], results.by("domain"), results.table()
stored = results.save()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dialgauge.measures import ONE_MORE_UNIT, Measure, Resampling, Score, Signature, parse_measure
from dialgauge.rendering import INTERVALS, Column, Display, RunSet, Table, score_cell, score_column
from dialgauge.text import Note, counted, note_kind, sentence, some_of, upper_first
from dialgauge.tracking.checks import SHOWN
from dialgauge.tracking.details import ceiling_sentence, inventory_notes, tracking_details
from dialgauge.tracking.parts import BY
from dialgauge.tracking.tracked_system import KIND, TrackedSystem

if TYPE_CHECKING:
    from pathlib import Path

    from dialgauge.runs import Run
    from dialgauge.tracking.parts import PartScores
    from dialgauge.tracking.rated import RatedSystems
    from dialgauge.tracking.sensitivity import Sensitivity
    from dialgauge.tracking.slot_errors import SlotErrors

#: How a sentence begins that says how intervals were made.
INTERVALS_MADE = "Intervals:"
#: The table in which runs keep what other profiles do to a score.
SENSITIVITY = "sensitivity"

#: Up to this many systems stand side by side, more of them below each other.
SIDE_BY_SIDE = 4


class TrackingRuns(RunSet):
    """All systems under all profiles; where there are several profiles, a name is ``augpt (canon)``."""

    def __init__(self, runs: Iterable[Run], own_measures: Iterable[Measure[Any]] = ()) -> None:
        self._own_measures = list(own_measures)
        super().__init__(runs)

    def _check(self, run: Run) -> None:
        TrackedSystem(run)

    def _labels(self, runs: Sequence[Run]) -> list[str]:
        profiles = [tracking_details(run).profile for run in runs]
        if len(set(profiles)) == 1:
            return super()._labels(runs)
        return [f"{run.name} ({profile})" for run, profile in zip(runs, profiles, strict=True)]

    def _facts(self, run: Run) -> dict[str, str]:
        return {"profile": tracking_details(run).profile}

    @cached_property
    def systems(self) -> list[TrackedSystem]:
        return [TrackedSystem(run, self._own_measures) for run in self.runs]

    @property
    def complete(self) -> bool:
        """Was every gold turn scored, be it against an empty state?"""
        return all(system.coverage.all_gold_scored for system in self.systems)

    def by(self, name: str) -> dict[str, dict[str, PartScores]]:
        """The scores of each system by domain, slot or turn, as its run keeps them."""
        return {label: system.by(name) for label, system in zip(self, self.systems, strict=True)}

    def _rows_by(self, by: str) -> Iterator[dict[str, Any]]:
        if by not in BY:
            yield from super()._rows_by(by)
            return
        for name, parts in self.by(by).items():
            for part, kept in parts.items():
                for measure, score in kept.scores.items():
                    ends = {end: getattr(score, end) for end in ("value", "low", "high")}
                    yield {"system": name, by: part, "measure": measure} | ends | {
                        "dialogues": kept.dialogues, "turns": kept.turns
                    }  # fmt: skip

    def faults(self) -> dict[str, SlotErrors]:
        """Where each system goes wrong: episodes, confused values, first errors."""
        return {label: system.faults for label, system in zip(self, self.systems, strict=True)}

    def worst(self, n: int = 5, by: str | None = None) -> Display:
        """The worst dialogues of each system turn by turn: by a measure, or by FGA@0.5 where that was measured."""
        from dialgauge.tracking.worst import layout, ranking_measure, worst_ranking

        shown = Display()
        for system in self.systems:
            ranking = worst_ranking(system, ranking_measure(by) if by else None)
            known = system.run.scores.get(ranking.measure)
            unit = known.unit if known is not None else parse_measure(ranking.measure, KIND).card.unit
            for index, (dialogue, value) in enumerate(zip(ranking.dialogues[:n], ranking.values, strict=False), 1):
                score = f"{value:.2%}" if unit == "share" else f"{value:.4g} {unit}"
                title = f"{system.name} ({system.profile}): worst dialogue no. {index}, ranked by {ranking.basis}"
                own = f"{dialogue} has {ranking.measure} {score}"
                shown.append(f"{title}\n{own}\n{layout(system, dialogue)}")
        return shown

    def _explained(self, run: Run, dialogue: str) -> list[Table | str]:
        from dialgauge.tracking.worst import layout

        system = next(each for each in self.systems if each.run is run)
        return [f"{system.name} ({system.profile})\n{layout(system, dialogue)}"]

    def correlations(self, *kinds: str) -> Display:
        """How the measures go together within each system, over turns and over dialogues: Pearson's unless named."""
        from dialgauge.tracking.rated import correlation_tables

        return Display(table for system in self.systems for table in correlation_tables(system, kinds or ("pearson",)))

    def rated(
        self,
        ratings: str | Path,
        system: str | None = None,
        *,
        rates: tuple[float, float] = (0, 3),
    ) -> RatedSystems:
        """What people's ratings of dialogues say of the measures (CSV with columns dialogue, rater, rating)."""
        from dialgauge.tracking.rated import RatedSystems

        return RatedSystems(self.systems, ratings, system, rates)

    def rating_sheets(self, folder: str | Path, dialogues: int = 50, **how: Any) -> list[Path]:
        """Sheets of sampled dialogues for people to rate, and a table to fill in, which :meth:`rated` reads back."""
        from dialgauge.tracking.rated import write_sheets

        return write_sheets(self.systems, folder, dialogues=dialogues, **how)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """Scores with their intervals, where errors begin, scores by domain."""
        from dialgauge.tracking.figures import scored_figures

        return {**super().figures(), **scored_figures(self)}

    @cached_property
    def resampling(self) -> Resampling | None:
        """How the intervals were made, where they were made alike."""
        made = {Signature.parse(run.signature).get("interval", "") for run in self.runs}
        if len(made) > 1 or made == {""}:
            return None
        return Resampling.parse(made.pop())

    @cached_property
    def shared_signature(self) -> Signature:
        """What all scores share; where systems differ in the turns or slots they were scored on, it is left open."""
        shared = Signature.shared(system.signature for system in self.systems)
        named = (system.signature.get("profile", "" if "roles" in shared else "unknown") for system in self.systems)
        profiles = "+".join(filter(None, dict.fromkeys(named)))
        made = Signature.shared(Signature.parse(system.run.signature) for system in self.systems).get("interval", "")
        interval = str(self.resampling) if self.resampling else made
        return Signature(**({"profile": "", **shared} | {"profile": profiles})).with_(interval=interval)

    @property
    def signature(self) -> str:
        """What all scores share, in its long form."""
        return self.shared_signature.long()

    @property
    def several_profiles(self) -> bool:
        return len({system.profile for system in self.systems}) > 1

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """The first measure under other profiles, where it was asked for when the systems were scored."""
        if all(SENSITIVITY not in run.tables for run in self.runs):
            return None
        from dialgauge.tracking.sensitivity import read_sensitivity

        return read_sensitivity(self.runs)

    def document(self, *, by: Sequence[str] = (), faults: bool = False) -> dict[str, Any]:
        """The JSON that ``dialgauge score --json`` writes."""
        content = {
            "signature": self.signature,
            "coverage": {
                "policy": self.systems[0].coverage.policy,
                "systems": {system.name: system.coverage.as_dict() for system in self.systems},
            },
            "systems": [system.as_dict(by, faults=faults) for system in self.systems],
        }
        return content | {"sensitivity": self.sensitivity.as_dict()} if self.sensitivity else content

    def table(self, *, compact: bool = False) -> Table:
        """Systems down, measures across, in percent; ``compact``: measures down and systems across while that fits."""
        if compact and len(self) <= SIDE_BY_SIDE and all(self._shares.values()):
            return self._side_by_side()
        lead = [Column("system"), *([Column("profile")] if self.several_profiles else [])]
        lead += [Column("dialogues", drop=1), Column("turns", drop=2)]
        columns = []
        for name, share in self._shares.items():
            score = self._score(name)
            columns.append(score_column(name if share else f"{name} ({score.unit})", score))
        table = self._noted(self._scores_table([*lead, *columns], self._captioned()))
        for system in self.systems:
            profile = [system.profile] if self.several_profiles else []
            cells = [score_cell(system.scores.get(name)) for name in self._shares]
            table.add(system.name, *profile, system.coverage.dialogues, system.coverage.turns, *cells)
        return table

    def _side_by_side(self) -> Table:
        titles = [
            f"{system.name} {system.profile}" if self.several_profiles else system.name for system in self.systems
        ]
        columns = [Column("measure"), *(Column(title, digits=2, percent=True) for title in titles)]
        sizes = sorted({system.coverage.dialogues for system in self.systems})
        most = counted(sizes[-1], "dialogue")
        caption = most if len(sizes) == 1 else f"{sizes[0]:,} to {most}"
        table = self._noted(self._scores_table(columns, self._captioned(caption)))
        for name in self._shares:
            table.add(name, *(score_cell(system.scores.get(name)) for system in self.systems))
        return table

    def _scores_table(self, columns: list[Column], caption: str) -> Table:
        unit = "percent" if all(self._shares.values()) else ""
        return Table("State-tracking scores", columns, signature=self.signature, caption=caption, unit=unit)

    def _captioned(self, *facts: str) -> str:
        """For a paper: these facts, and the profile where no column has it."""
        named = [] if self.several_profiles else [f"profile {self.systems[0].profile}"]
        return upper_first(", ".join([*facts, *named]))

    def _noted(self, table: Table) -> Table:
        """The table with all notes; those about intervals only where it shows some."""
        for note in self._interval_notes():
            table.explain(note, INTERVALS)
        table.notes += self._limits()
        return table

    @cached_property
    def _shares(self) -> dict[str, bool]:
        """All measures that any system has, and whether each is a share."""
        return {name: system.is_share(name) for system in self.systems for name in system.scores}

    def _score(self, measure: str) -> Score:
        return next(system.scores[measure] for system in self.systems if measure in system.scores)

    @property
    def notes(self) -> list[str]:
        """How intervals were made, what was not scored, and what limits the scores."""
        sentences = [] if self.complete else self.coverage_sentences()
        return [*sentences, *self._interval_notes(), *self._limits()]

    def _interval_notes(self) -> list[str]:
        """The meaning of intervals, where there are any."""
        few = self._with_one_more()
        if not self.resampling:
            made = (note for system in self.systems for note in system.run.notes if note_kind(note) == "intervals")
            return [*dict.fromkeys(made), *few]
        how = f"{self.resampling.level:.0%}, {self.resampling.resamples} resamples of dialogues"
        return [f"{INTERVALS_MADE} {how}, seed {self.resampling.seed}.", *few]

    def _with_one_more(self) -> list[str]:
        """The measures whose intervals do not come from resamples."""
        named = dict.fromkeys(
            name
            for system in self.systems
            for name, score in system.run.scores.items()
            if Signature.parse(score.signature).get("interval", "").endswith(ONE_MORE_UNIT)
        )
        return [f"{', '.join(named)}: intervals ask what one more dialogue would change."] if named else []

    def _limits(self) -> list[str]:
        notes = []
        scored_on = {(system.profile, system.signature.get("gold")) for system in self.systems}
        if len(scored_on) > len({system.profile for system in self.systems}):
            notes.append(
                "The systems were not scored on the same gold turns: compare them with care, or score missing "
                "predictions as empty."
            )
        notes += self.ceilings()
        notes += map(sentence, self.reading_notes())
        for system in self.systems:
            for measure, why in system.left_out.items():
                notes.append(f"{system.name}: no {measure}: {why}.")
            notes += _mean_over_slots(system)
        return notes

    def coverage_sentences(self) -> list[str]:
        """For each system what was scored, and what its profile did to slot names."""
        sentences = []
        for system in self.systems:
            evidence, unknown = system.details.evidence, system.details.counts.get("off_ontology", 0)
            renamed, outside = evidence.slots_renamed, evidence.slots_out_of_scope
            named = some_of(outside)
            facts = {
                f"{counted(renamed, 'slot name')} unified": renamed,
                f"{counted(len(outside), 'slot name')} out of scope ({named})": outside,
                "".join(inventory_notes(unknown, evidence.slots_not_in_inventory)): unknown,
            }
            statements = [system.coverage.sentence(), ", ".join(fact for fact, count in facts.items() if count)]
            sentences += [f"{system.name} ({system.profile}): {name}" for name in statements if name]
        return sentences

    def reading_notes(self) -> list[Note]:
        """What is odd in the predictions of each system, and what had to be read as something else, without stops."""
        notes = [
            Note(kind, f"{system.name}: {note}")
            for system in self.systems
            for note in system.run.notes
            if (kind := note_kind(note)) in SHOWN
        ]
        remarks = {system.name: system.details.remarks for system in self.systems if system.details.remarks}
        return notes + [
            Note("remarks", f"{name}: {'; '.join(remark.sentence() for remark in several)}")
            for name, several in remarks.items()
        ]

    def ceilings(self) -> list[str]:
        """A sentence for each profile under which gold itself does not score 100."""
        limited = ((each.profile, each.details.gold_against_itself) for each in self.systems)
        return list(dict.fromkeys(ceiling_sentence(*limit, self._shares) for limit in limited if limit[1]))

    def tables(self, *, by: Sequence[str] = (), faults: bool = False) -> list[Table]:
        """Everything as tables: scores, parts (:meth:`by`), where it goes wrong, and what else the runs keep."""
        tables = [self.table(compact=True), *(self._part_table(name) for name in by)]
        if faults:
            from dialgauge.tracking.slot_errors import slot_error_tables

            tables += [table for system in self.systems for table in slot_error_tables(system)]
        if self.sensitivity:
            from dialgauge.tracking.sensitivity import sensitivity_tables

            tables += sensitivity_tables(self.sensitivity)
        if any(system.details.sgd for system in self.systems):
            from dialgauge.tracking.sgd.official import sgd_table

            tables.append(sgd_table(self.runs))
        return tables

    def _part_table(self, by: str) -> Table:
        """The parts down, and under each of them the systems."""
        views, several = self.by(by), len(self) > 1
        parts = dict.fromkeys(part for view in views.values() for part in view)
        measures = dict.fromkeys(name for view in views.values() for kept in view.values() for name in kept.scores)
        sizes = [Column("dialogues", drop=1), Column("turns", drop=2)]
        sizes += [Column("spurious domain turns", drop=3)] if by == "domain" else []
        columns = [score_column(name, self._score(name)) for name in measures]
        title = f"{'Systems' if several else next(iter(views))} by {by}"
        table = Table(title, [Column(by), *([Column("system")] if several else []), *sizes, *columns])
        for part in parts:
            for system, view in views.items():
                if (kept := view.get(part)) is not None:
                    counts = (kept.dialogues, kept.turns, kept.spurious_turns)[: len(sizes)]
                    scores = (score_cell(kept.scores.get(name)) for name in measures)
                    table.add(part, *([system] if several else []), *counts, *scores)
        table.notes += _PART_NOTES.get(by, ())
        return table


#: What the numbers of parts mean.
_PART_NOTES = {
    "domain": (
        "Turns whose gold state has the domain, and their dialogues; both states restricted to it. SA still divides by "
        "all slots, SA(T=part)[hotel] by the domain's.",
        "Spurious domain turns: turns where the domain is predicted but not in gold; not in the other numbers.",
    ),
    "slot": ("Both states restricted to the slot, over all turns: JGA is how often it is right, AGA its recall.",),
}


def _mean_over_slots(system: TrackedSystem) -> list[str]:
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
