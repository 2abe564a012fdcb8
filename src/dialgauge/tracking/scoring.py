"""Scoring trackers: from files or states to runs, by all measures under every profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict

from dialgauge.dialogue import Ontology
from dialgauge.engine import SILENT, Progress, Workers, place_of
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read_ontology
from dialgauge.measures import Measure, Resampling, Scores, Signature, SystemEvidence, score_systems
from dialgauge.report import RunSet
from dialgauge.runs import Run, new_run
from dialgauge.text import Note
from dialgauge.tracking.checks import ROLES, accepted_kinds, check_notes
from dialgauge.tracking.details import run_notes
from dialgauge.tracking.inputs import SELF, Source, SystemInput, Systems, load, load_parts, load_systems, named_systems
from dialgauge.tracking.measures import MeasureChoice, chosen_measures, required_measures
from dialgauge.tracking.prepared_inputs import PreparedInputs, require_roles
from dialgauge.tracking.renaming import Renaming, read_renaming, recounted, renamed
from dialgauge.tracking.states import StateComparison
from dialgauge.tracking.tables import RunParts, run_tables
from dialgauge.values import DEFAULT_PROFILE, SENSITIVITY_PROFILES, Profile, profile_named

if TYPE_CHECKING:
    from dialgauge.comparison import Ratings
    from dialgauge.tracking.sgd import SgdFrames, SgdScoring


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
    predictions: Systems,
    *,
    measures: MeasureChoice = None,
    profile: str | Profile | Sequence[str | Profile] | None = None,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | str | Path | None = None,
    sgd: SgdScoring | None = None,
    sensitivity: bool = False,
    ratings: str | Path | None = None,
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
) -> RunSet:
    """Score one or several trackers.

    ``predictions`` are files, or a mapping of names to sources: ``{"mine": source}``. A source, like ``gold``, is a
    file in any known format, a corpus from :func:`dialgauge.read`, a frame of polars or pandas, a Hugging Face dataset,
    a list of dialogues, or plain states: ``{"d1": [{"hotel-area": "north"}]}``, for each dialogue the state of every
    user turn. ``gold=None`` uses the gold states inside the predictions. Measures are names such as ``"JGA"``,
    ``"JGA[hotel]"`` or ``"FGA@0.5(rule=paper)"``; ``profile`` names the value-matching rules, or several. Intervals are
    95%, from resampling dialogues.

    ``turns`` says how predictions count turns (``"shift=1"``: from 1, ``"step=2"``: the system's too), ``rename``
    what gold calls their slots, domains and dialogues. Shifted turns, swapped roles and ids that do not meet are errors
    unless ``accept`` has ``turns``, ``roles`` or ``ids``.

    ``sgd`` adds SGD's official scores, ``sensitivity`` what other profiles would do to the first measure, ``ratings``
    (a CSV file of what people said of dialogues, naming the systems where there are several) which measure goes
    with them. With ``workers`` files are read where these run, each by one of them; that changes no number.

    >>> import dialgauge
    >>> results = dialgauge.score({"d": [{"hotel-area": "north"}]}, {"mine": {"d": [{"hotel-area": "north"}]}})
    >>> results["mine"]["JGA"]
    <Score 1, n=1>
    >>> f"{results['mine']['JGA']:.2f}", results.frame()["measure"].to_list()[:2]
    ('1.00', ['JGA', 'SA'])
    """
    if isinstance(gold, str) and gold == SELF:
        gold = None
    rules = _profiles(profile if profile is not None else "verbatim" if sgd else DEFAULT_PROFILE)
    chosen = chosen_measures(measures)
    if ontology is not None:
        _require_open_inventory(rules, "ontology" if isinstance(ontology, Ontology) else "--ontology")
    slots = read_ontology(Path(ontology)) if isinstance(ontology, str | Path) else ontology
    accepted = accepted_kinds(accept)
    with progress.reading(1 + len(named_systems(predictions))) as advance:
        if place_of(workers).asked and isinstance(gold, str | Path):
            reference: SystemInput | None = load_parts(gold, "gold", gold_format, workers)
        else:
            reference = None if gold is None else load(gold, "gold", gold_format)
        advance(1)
        empty = reference is not None and coverage == "empty"
        systems = load_systems(predictions, pred_format, may_be_empty=empty, workers=workers)
    for each in (reference, *systems):
        if each is not None:
            progress.say(each.described())
    people: Mapping[str, Ratings] = {}
    if ratings is not None:
        from dialgauge.tracking.ratings import ratings_of

        people = ratings_of(ratings, [system.name for system in systems])
    if rename is not None:
        renaming = read_renaming(rename)
        systems = [renamed(system, renaming) for system in systems]
    if turns is not None:
        systems = [recounted(system, turns) for system in systems]
    for system in systems if reference else ():
        if system.brings_gold:
            progress.say(f"{system.name}: ignoring its own gold states in favour of GOLD")
    if ROLES not in accepted:
        require_roles(reference, systems)
    inventory = slots or (sgd.schema if sgd else None)
    inputs = PreparedInputs(reference, systems, coverage=coverage, exclude=exclude, ontology=inventory)
    notes = {
        (system.name, rule.label): check_notes(
            system, inputs.coder(rules[0]), rule, inputs.inventory(rule), accept=accepted
        )
        for system in inputs.systems.values()
        for rule in rules
    }
    usual = [profile_named(name) for name in SENSITIVITY_PROFILES] if sensitivity else []
    others = [*usual, *(profile for profile in rules if profile not in usual)] if sensitivity else []
    steps = len(inputs.systems) * sum(1 + len(profile.values) for profile in others)
    with progress.bar("comparing profiles", steps) if others else nullcontext(lambda steps: None) as advance:
        runs = score_prepared(
            inputs,
            chosen,
            rules,
            resampling=Resampling(resamples, seed) if intervals and resamples else None,
            required=required_measures(measures),
            notes=notes,
            sgd=sgd,
            sensitivity=others,
            ratings=people,
            advance=advance,
        )
    return RunSet(runs)


def _profiles(given: str | Profile | Sequence[str | Profile]) -> list[Profile]:
    named = [given] if isinstance(given, str | Profile) or not isinstance(given, Sequence) else list(given)
    if not all(isinstance(each, str | Profile) for each in named):
        raise DialgaugeError(f"a profile is a name or a Profile, or a list of them (got {given!r:.60})")
    if not named:
        raise DialgaugeError("no profile was named; leave profile out for the default")
    return [profile_named(each) if isinstance(each, str) else each for each in named]


def _require_open_inventory(profiles: Sequence[Profile], given: str) -> None:
    """An error where every profile brings its own slots, so that those of an ontology would change nothing."""
    if all(profile.inventory is not None for profile in profiles):
        named = ", ".join(profile.name for profile in profiles)
        raise DialgaugeError(
            f"{given}: the slots come with the profile ({named}), so an ontology would be ignored; leave it out, or "
            "use a profile without slots of its own, such as verbatim"
        )


def score_prepared(
    inputs: PreparedInputs,
    measures: Sequence[Measure[Any]],
    profiles: Sequence[Profile],
    *,
    resampling: Resampling | None,
    required: Collection[str] = (),
    notes: Mapping[tuple[str, str], Sequence[Note]] = MappingProxyType({}),
    sgd: SgdScoring | None = None,
    sensitivity: Sequence[Profile] = (),
    ratings: Mapping[str, Ratings] | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[Run]:
    """Score every system under every profile.

    A measure that a system's input cannot give is left out and said so; if it is ``required``, because the user named
    it, it is an error. ``notes`` are of a system under the label of a profile. With ``sensitivity``, the first measure
    is also computed under those profiles; ``advance`` is told of every comparison that takes.
    """
    comparisons = [inputs.comparison(name, profile) for profile in profiles for name in inputs.systems]
    evidence = [_evidence(comparison, measures, required) for comparison in comparisons]
    scored = score_systems(evidence, resampling)
    official = {name: sgd.score(system) for name, system in inputs.systems.items()} if sgd else {}
    more: dict[str, dict[str, Any]] = {name: {} for name in inputs.systems}
    if sensitivity:
        from dialgauge.tracking.comparing import SENSITIVITY, profile_sensitivity

        frames = profile_sensitivity(inputs, evidence[0].measures[0], sensitivity, advance)
        more = {name: {SENSITIVITY: frame} for name, frame in frames.items()}
    runs = []
    for comparison, scores in zip(comparisons, scored, strict=True):
        name = comparison.system.name
        tables = dict(more[name])
        if given := (ratings or {}).get(name):
            from dialgauge.tracking.ratings import rating_tables

            tables |= rating_tables(given, name, scores, comparison.counts)
        said = notes.get((name, comparison.coder.profile.label), ())
        kept = [measure for measure in measures if str(measure) in scores.scores]
        parts = RunParts(comparison, kept, resampling, required)
        runs.append(_run(inputs, comparison, kept, scores, said, resampling, tables, official.get(name), parts))
    return runs


def state_scores(
    inputs: PreparedInputs, measures: Sequence[Measure[Any]], profile: Profile, *, resampling: Resampling | None
) -> list[Scores]:
    """The scores of every system, without making runs."""
    evidence = [_evidence(inputs.comparison(name, profile), measures, ()) for name in inputs.systems]
    return score_systems(evidence, resampling)


def _evidence(
    comparison: StateComparison, measures: Sequence[Measure[Any]], required: Collection[str]
) -> SystemEvidence:
    comparison.require_scope()
    obstacles = {str(measure): measure.obstacle(comparison.counts) for measure in measures}
    left_out = {measure: why for measure, why in obstacles.items() if why}
    for measure, why in left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=comparison.system.name)
    return SystemEvidence(
        evidence=comparison.counts,
        measures=[measure for measure in measures if str(measure) not in left_out],
        dialogues=comparison.aligned.ids,
        signature=comparison.signature,
        coverage=comparison.aligned.coverage.counts(),
        left_out=left_out,
    )


def _run(
    inputs: PreparedInputs,
    comparison: StateComparison,
    measures: Sequence[Measure[Any]],
    scores: Scores,
    said: Sequence[Note],
    how: Resampling | None,
    tables: Mapping[str, Any],
    official: SgdFrames | None,
    parts: RunParts,
) -> Run:
    """The run of one system under one profile; its tables are made when they are asked for."""
    system, profile = comparison.system, comparison.coder.profile
    details: dict[str, Any] = {
        "profile": profile.name,
        "coverage": comparison.aligned.coverage,
        "counts": comparison.counts.totals() | {"off_ontology": sum(comparison.off_ontology.values())},
        "evidence": comparison.basis,
        "gold_against_itself": inputs.ceiling(system.name, profile, measures),
    }
    remarks = system.given.remark_notes(official=official is not None, counts_blanks=profile.counts_blanks)
    notes = run_notes(details, [*system.given.said, *said, *remarks], scores)
    signature = comparison.signature
    if official:
        details["sgd"] = official.details()
        parts.add(official, official.ids, official.parts)
        scores = scores.joined(official.scores(signature["gold"], system.roles, how))
        signature = Signature.shared(Signature.parse(each.signature) for each in scores.scores.values())
        notes += official.notes()
    return new_run(
        kind="tracking",
        name=system.name,
        scores=scores,
        tables={**run_tables(comparison, measures), **parts.tables(), **tables},
        corpus=system.gold_corpus,
        config={
            "system": system.name,
            "profile": profile.label,
            "coverage": inputs.policy,
            "exclude": sorted(inputs.exclude),
        },
        inputs=system.files,
        seeds=how.seed if how else None,
        signature=signature.with_(interval=str(how) if how else ""),
        details=details,
        notes=notes,
    )
