"""Scoring trackers: from files or states to runs, by all measures under every profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Ontology
from dialgauge.engine import SILENT, Progress, Workers, place_of
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read_ontology
from dialgauge.measures import Measure, Resampling, Scores, Signature, SystemEvidence, score_systems
from dialgauge.runs import Run, new_run
from dialgauge.text import Note
from dialgauge.tracking.checks import CheckCounts, accepted_kinds, check_notes
from dialgauge.tracking.details import run_notes
from dialgauge.tracking.inputs import (
    SELF,
    Source,
    SystemInput,
    how_many,
    load,
    load_parts,
    load_systems,
    remarks_on,
)
from dialgauge.tracking.measures import (
    MeasureChoice,
    averages_slots,
    chosen_measures,
    required_measures,
    slots_without_gold,
)
from dialgauge.tracking.parts import RunParts
from dialgauge.tracking.prepared_inputs import PreparedInputs, System, prepare_inputs
from dialgauge.tracking.renaming import (
    Renaming,
    named_as_gold,
    read_renaming,
    renamed,
    renaming_notes,
)
from dialgauge.tracking.results import SENSITIVITY, TrackingRuns
from dialgauge.tracking.states import StateComparison
from dialgauge.tracking.tables import run_tables
from dialgauge.tracking.tracked_system import KIND
from dialgauge.tracking.turn_numbers import counted_as_asked
from dialgauge.values import DEFAULT_PROFILE, SENSITIVITY_PROFILES, Profile, profile_named

if TYPE_CHECKING:
    from dialgauge.tracking.sgd.official import OfficialScores, SgdScoring


class TrackingOptions(TypedDict, total=False):
    """How gold and predictions of trackers are read and matched, as :func:`score` explains it."""

    profile: str | Profile | Sequence[str | Profile] | None
    coverage: str
    exclude: Collection[str]
    ontology: Ontology | str | Path | None
    gold_format: str | None
    pred_format: str | None
    turns: str | None
    rename: Renaming | Mapping[str, Mapping[str, str]] | str | Path | None
    accept: str | Collection[str]


def score(
    gold: Source | None,
    predictions: Source | Mapping[str, Source] | Sequence[str | Path],
    *,
    measures: MeasureChoice = None,
    profile: str | Profile | Sequence[str | Profile] | None = None,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | str | Path | None = None,
    sgd: SgdScoring | None = None,
    sensitivity: bool = False,
    intervals: bool = True,
    resamples: int = 1000,
    seed: int = 0,
    gold_format: str | None = None,
    pred_format: str | None = None,
    turns: str | None = None,
    rename: Renaming | Mapping[str, Mapping[str, str]] | str | Path | None = None,
    accept: str | Collection[str] = (),
    workers: Workers = None,
    progress: Progress = SILENT,
) -> TrackingRuns:
    """Score one or several trackers.

    ``gold`` and ``predictions`` are files in any known format, corpora from :func:`dialgauge.read`, frames of polars or
    pandas, Hugging Face datasets, lists of dialogues, or plain states: ``{"d1": [{"hotel-area": "north"}, ...]}``, for
    each dialogue the state of every user turn. ``predictions`` may also be several files, or a mapping of names to any
    of these. ``gold=None`` uses the gold states inside the predictions. Measures are names such as ``"JGA"`` or
    ``"FGA@0.5(rule=paper)"``; ``profile`` names the value-matching rules, or several. Intervals are 95%, from
    resampling dialogues.

    Predictions may be in any layout that has dialogues, turns and states, in files, frames, dictionaries or lists.
    ``turns`` says how they count turns (``"shift=1"``: from 1, ``"step=2"``: the system's too), ``rename``
    what gold calls their slots, domains and dialogues. Shifted turns, swapped roles and ids that do not meet are errors
    unless ``accept`` has ``turns``, ``roles`` or ``ids``.

    ``sgd`` adds SGD's official scores, ``sensitivity`` what other profiles would do to the first measure. With
    ``workers`` files are read where these run, each by one of them; that changes no number.

    >>> import dialgauge
    >>> results = dialgauge.score({"d": [{"hotel-area": "north"}]}, {"mine": {"d": [{"hotel-area": "north"}]}})
    >>> results["mine"]["JGA"]
    <Score 1, n=1>
    >>> f"{results['mine']['JGA']:.2f}", results.frame()["measure"].to_list()[:2]
    ('1.00', ['JGA', 'SA'])
    """
    if isinstance(gold, str) and gold == SELF:
        gold = None
    named = profile if profile is not None else "verbatim" if sgd else DEFAULT_PROFILE
    profiles = [named] if isinstance(named, str | Profile) or not isinstance(named, Sequence) else list(named)
    if not all(isinstance(each, str | Profile) for each in profiles):
        raise DialgaugeError(f"a profile is a name or a Profile, or a list of them (got {named!r:.60})")
    if not profiles:
        raise DialgaugeError("no profile was named; leave profile out for the default")
    chosen = chosen_measures(measures)
    rules = [profile_named(each) if isinstance(each, str) else each for each in profiles]
    if ontology is not None:
        _require_open_inventory(rules, "ontology" if isinstance(ontology, Ontology) else "--ontology")
    slots = read_ontology(Path(ontology)) if isinstance(ontology, str | Path) else ontology
    resampling = Resampling(resamples, seed) if intervals and resamples else None
    required = required_measures(measures)
    accepted = accepted_kinds(accept)
    with progress.reading(1 + how_many(predictions)) as advance:
        many = place_of(workers).asked
        if many and isinstance(gold, str | Path):
            reference: SystemInput | None = load_parts(gold, "gold", gold_format, workers)
        else:
            reference = None if gold is None else load(gold, "gold", gold_format)
        advance(1)
        empty = reference is not None and coverage == "empty"
        systems = load_systems(predictions, pred_format, may_be_empty=empty, workers=workers)
    for system_input in (reference, *systems):
        if system_input is not None:
            progress.say(system_input.described())
    systems, notes = _as_asked(reference, systems, turns, rename)
    for system in systems if reference else ():
        if system.brings_gold:
            progress.say(f"{system.name}: ignoring its own gold states in favour of GOLD")
    inventory = slots or (sgd.schema if sgd else None)
    inputs = prepare_inputs(reference, systems, coverage=coverage, exclude=exclude, ontology=inventory, accept=accepted)
    inputs.notes = _checked(inputs, systems, rules, notes, accepted)
    usual = [profile_named(name) for name in SENSITIVITY_PROFILES] if sensitivity else []
    others = [*usual, *(profile for profile in rules if profile not in usual)] if sensitivity else []
    steps = len(inputs.systems) * sum(1 + len(profile.values) for profile in others)
    with progress.bar("comparing profiles", steps) if others else nullcontext(lambda steps: None) as advance:
        results = score_prepared(
            inputs,
            chosen,
            rules,
            resampling=resampling,
            required=required,
            sgd=sgd,
            sensitivity=others,
            advance=advance,
        )
    for sentence in results.coverage_sentences():
        progress.say(sentence)
    return results


def _as_asked(
    gold: SystemInput | None,
    systems: Sequence[SystemInput],
    turns: str | None,
    rename: Renaming | Mapping[str, Mapping[str, str]] | str | Path | None,
) -> tuple[list[SystemInput], dict[str, list[Note]]]:
    """The systems with names and turns as asked, and what to say of each."""
    renaming = None if rename is None else read_renaming(rename)
    made, notes = [], {}
    for system in systems:
        dialogues, names = system.dialogues, []
        if renaming is not None:
            dialogues, used = renamed(dialogues, renaming)
            names = renaming_notes(renaming, used)
        as_gold: list[Note] = []
        if gold is not None:
            dialogues, as_gold = named_as_gold(gold.dialogues, dialogues, system.original_ids)
        notes[system.name] = [*system.notes(), *names, *as_gold]
        asked = replace(system, dialogues=dialogues)
        if turns is not None:
            recounted, note = counted_as_asked(asked.dialogues, turns, system.numbered_from)
            asked = replace(asked, dialogues=recounted)
            notes[system.name].append(note)
        made.append(asked)
    return made, notes


def _checked(
    inputs: PreparedInputs,
    systems: Sequence[SystemInput],
    profiles: Sequence[Profile],
    input_notes: Mapping[str, Sequence[Note]],
    accept: Collection[str],
) -> dict[tuple[str, str], list[Note]]:
    """Notes on each system under each profile; shifted turns and ids that do not meet are errors unless accepted."""
    notes: dict[tuple[str, str], list[Note]] = {}
    for system in systems:
        prepared = inputs.systems[system.name]
        counts = CheckCounts.of(prepared, inputs.coder(profiles[0]))
        for profile in profiles:
            found = check_notes(
                counts,
                prepared.aligned.coverage,
                profile,
                inputs.inventory(profile),
                system=system.name,
                numbered_from=system.numbered_from,
                accept=accept,
            )
            notes[system.name, profile.label] = [*input_notes[system.name], *found]
    return notes


def _require_open_inventory(profiles: Sequence[Profile], given: str) -> None:
    """An error where every profile brings its own slots, so that those of an ontology would change nothing."""
    if all(profile.inventory is not None for profile in profiles):
        named = ", ".join(profile.name for profile in profiles)
        raise DialgaugeError(
            f"{given}: the slots come with the profile ({named}), so an ontology would be ignored; leave it out, or "
            "use a profile without slots of its own, such as verbatim"
        )


class _Prepared(Struct, frozen=True, eq=False):
    """A system under a profile, ready to be measured."""

    system: System
    comparison: StateComparison
    evidence: SystemEvidence


def score_prepared(
    inputs: PreparedInputs,
    measures: Sequence[Measure[Any]],
    profiles: Sequence[Profile],
    *,
    resampling: Resampling | None,
    required: Collection[str] = (),
    sgd: SgdScoring | None = None,
    sensitivity: Sequence[Profile] = (),
    advance: Callable[[int], None] = lambda steps: None,
) -> TrackingRuns:
    """Score every system under every profile.

    A measure that a system's input cannot give is left out and said so; if it is ``required``, because the user named
    it, it is an error. With ``sensitivity``, the first measure is also computed under those profiles; ``advance`` is
    told of every comparison that takes.
    """
    prepared = [_prepared(inputs, name, profile, measures, required) for profile in profiles for name in inputs.systems]
    scored = score_systems([entry.evidence for entry in prepared], resampling)
    official = {name: sgd.score(system) for name, system in inputs.systems.items()} if sgd else {}
    tables: dict[str, dict[str, Any]] = {name: {} for name in inputs.systems}
    details: dict[str, Any] = {}
    if sensitivity:
        from dialgauge.tracking.sensitivity import profile_sensitivity

        result = profile_sensitivity(inputs, prepared[0].evidence.measures[0], sensitivity, advance)
        tables = {name: {SENSITIVITY: partial(result.frame, name)} for name in inputs.systems}
        details = {"sensitivity_ceilings": result.ceilings}
    runs = [
        _run(inputs, entry, scores, resampling, tables[entry.system.name], official.get(entry.system.name), details)
        for entry, scores in zip(prepared, scored, strict=True)
    ]
    return TrackingRuns(runs, measures)


def state_scores(
    inputs: PreparedInputs, measures: Sequence[Measure[Any]], profile: Profile, *, resampling: Resampling | None
) -> list[Scores]:
    """The scores of every system, without making runs."""
    return score_systems(
        [_prepared(inputs, name, profile, measures, ()).evidence for name in inputs.systems], resampling
    )


def _prepared(
    inputs: PreparedInputs, name: str, profile: Profile, measures: Sequence[Measure[Any]], required: Collection[str]
) -> _Prepared:
    comparison = inputs.comparison(name, profile)
    comparison.require_scope(name)
    counts = comparison.counts
    obstacles = {str(measure): measure.obstacle(counts) for measure in measures}
    left_out = {measure: why for measure, why in obstacles.items() if why}
    for measure, why in left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=name)
    possible = [measure for measure in measures if str(measure) not in left_out]
    evidence = SystemEvidence(
        evidence=counts,
        measures=possible,
        dialogues=comparison.aligned.ids,
        signature=comparison.signature,
        coverage=comparison.aligned.coverage.counts(),
        left_out=left_out,
    )
    return _Prepared(inputs.systems[name], comparison, evidence)


def _run(
    inputs: PreparedInputs,
    prepared: _Prepared,
    scores: Scores,
    how: Resampling | None,
    tables: Mapping[str, Any],
    official: OfficialScores | None,
    more: Mapping[str, Any],
) -> Run:
    """The run of one system under one profile; its tables are made when they are asked for."""
    system, comparison, measures = prepared.system, prepared.comparison, prepared.evidence.measures
    coder = comparison.coder
    details: dict[str, Any] = {
        "profile": coder.profile.name,
        "coverage": comparison.aligned.coverage,
        "counts": comparison.counts.totals() | {"off_ontology": comparison.off_ontology},
        "evidence": comparison.basis,
        "gold_against_itself": inputs.ceiling(system.name, coder.profile, measures),
        "remarks": remarks_on(
            inputs.remarks.get(system.name, ()), official=bool(official), counts_blanks=coder.profile.counts_blanks
        ),
        **more,
    }
    if any(averages_slots(measure) for measure in measures) and (hidden := slots_without_gold(comparison.counts)):
        details["slots_without_gold"] = hidden
    signature = comparison.signature
    if official:
        scores = scores.joined(official.scores(signature["gold"]))
        details["sgd"] = official.details(signature["gold"])
        signature = Signature.shared(Signature.parse(each.signature) for each in scores.scores.values())
    return new_run(
        kind=KIND,
        name=system.name,
        scores=scores,
        tables={
            **run_tables(comparison, system, measures),
            **RunParts(comparison, measures, how).tables(),
            **tables,
        },
        corpus=system.gold_corpus,
        config={
            "system": system.name,
            "profile": coder.profile.label,
            "coverage": inputs.policy,
            "exclude": inputs.excluded,
        },
        inputs=inputs.files.get(system.name, ()),
        seeds=how.seed if how else None,
        signature=signature.with_(interval=str(how) if how else ""),
        details=details,
        notes=run_notes(details, inputs.notes.get((system.name, coder.profile.label), ()), measures),
    )
