"""Scoring: gold and any number of systems, read and encoded once, compared under any number of profiles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Ontology, Turn
from dialgauge.engine import SILENT, Progress, Workers, place_of
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import file_name, named_files, read_ontology
from dialgauge.measures import Measure, Resampling, Scores, Signature, SystemEvidence, score_systems
from dialgauge.runs import Run, SharedCorpus, Store, new_run
from dialgauge.tracking.align import POLICIES, Aligned, Policy, align
from dialgauge.tracking.encode import Coder, EncodedDialogues, Items, carries_gold, encode, predicted_kind, require_gold
from dialgauge.tracking.inputs import (
    SELF,
    Remark,
    Source,
    SystemInput,
    blank_remarks,
    cut_down,
    declared_scope,
    how_many,
    load,
    load_systems,
    remarks_on,
)
from dialgauge.tracking.measures import MeasureChoice, chosen_measures, required_measures, slots_without_gold
from dialgauge.tracking.results import KIND, SENSITIVITY, TrackingRuns
from dialgauge.tracking.roles import require_roles, roles_text
from dialgauge.tracking.states import StateComparison
from dialgauge.tracking.tables import run_tables
from dialgauge.values import DEFAULT_PROFILE, HOUSE, Pair, Profile, profile_named

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison
    from dialgauge.tracking.ceiling import Ceilings
    from dialgauge.tracking.sgd.official import OfficialScores, SgdScoring


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
    workers: Workers = None,
    store: Store | None = None,
    progress: Progress = SILENT,
) -> TrackingRuns:
    """Score one or several trackers.

    ``gold`` and ``predictions`` are files in any known format, corpora from :func:`dialgauge.read`, frames of polars or
    pandas, Hugging Face datasets, lists of dialogues, or plain states: ``{"d1": [{"hotel-area": "north"}, ...]}``, for
    each dialogue the state of every user turn. ``predictions`` may also be several files, or a mapping of names to any
    of these. ``gold=None`` uses the gold states inside the predictions. Measures are names such as ``"JGA"`` or
    ``"FGA@0.5(rule=paper)"``; ``profile`` names the value-matching rules, or several. Intervals are 95%, from
    resampling dialogues.

    ``sgd`` adds SGD's official scores, ``sensitivity`` what other profiles would do to the first measure. With
    ``workers`` every system may be a folder or a pattern of many files, which are scored one by one (``store`` keeps
    what is finished): totals, but nothing by turn or slot.

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
    profiles = [named] if isinstance(named, str | Profile) else list(named)
    if not profiles:
        raise DialgaugeError("no profile was named; leave profile out for the default")
    chosen = chosen_measures(measures)
    rules = [profile_named(one) if isinstance(one, str) else one for one in profiles]
    if ontology is not None:
        _require_open_inventory(rules, "ontology" if isinstance(ontology, Ontology) else "--ontology")
    slots = read_ontology(Path(ontology)) if isinstance(ontology, str | Path) else ontology
    resampling = Resampling(resamples, seed) if intervals and resamples else None
    required = required_measures(measures)
    if place_of(workers).asked:
        if sgd or sensitivity or len(rules) > 1 or not isinstance(profiles[0], str):
            raise DialgaugeError(
                "with workers only sums come back, so that there is one profile, by name, and no sgd or sensitivity"
            )
        from dialgauge.tracking.shards import score_shards

        runs: list[Run] = []
        for name, source in named_files(predictions).items():
            with progress.bar(f"scoring {name}") as advance:
                runs += score_shards(
                    [source],
                    None if gold is None else file_name(gold),
                    measures=chosen,
                    required=required,
                    profile=profiles[0],
                    store=store or Store(),
                    coverage=coverage,
                    exclude=exclude,
                    ontology=slots,
                    resampling=resampling,
                    workers=workers,
                    format=pred_format,
                    gold_format=gold_format,
                    name=name,
                    on_unit=advance,
                ).runs
        results = TrackingRuns(runs)
    else:
        with progress.reading(1 + how_many(predictions)) as advance:
            reference = None if gold is None else load(gold, "gold", gold_format)
            advance(1)
            systems = load_systems(predictions, pred_format)
        for one in (reference, *systems):
            if one is not None:
                progress.say(one.described())
        for system in systems if reference else ():
            if carries_gold(system.dialogues):
                progress.say(f"{system.name}: ignoring its own gold states in favour of GOLD")
        inventory = slots or (sgd.schema if sgd else None)
        study = build_study(reference, systems, coverage=coverage, exclude=exclude, ontology=inventory)
        house = [profile_named(name) for name in HOUSE] if sensitivity else []
        others = [*house, *(profile for profile in rules if profile not in house)] if sensitivity else []
        steps = len(study.systems) * sum(1 + len(profile.values) for profile in others)
        with progress.bar("comparing profiles", steps) if others else nullcontext(lambda steps: None) as advance:
            results = score_study(
                study,
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


def compare_trackers(
    gold: Source | None,
    predictions: Mapping[str, Source] | Sequence[str | Path],
    *,
    measures: MeasureChoice = None,
    profile: str | Profile = DEFAULT_PROFILE,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    gold_format: str | None = None,
    pred_format: str | None = None,
    missing: str = "shared",
) -> Comparison:
    """Trackers by their predictions, as :func:`dialgauge.compare` compares them."""
    from dialgauge.comparison import SCORED_AS_EMPTY, compare_runs, missing_policy

    if how_many(predictions) < 2:
        raise DialgaugeError("a comparison needs at least two systems; name two or more prediction files")
    if missing == SCORED_AS_EMPTY:
        coverage, missing = "empty", "shared"
    missing_policy(missing)
    results = score(
        gold,
        predictions,
        measures=measures,
        profile=profile,
        coverage=coverage,
        exclude=exclude,
        ontology=ontology,
        intervals=False,
        gold_format=gold_format,
        pred_format=pred_format,
    )
    return compare_runs(results.runs, resamples=resamples, seed=seed, level=level, missing=missing)


def build_study(
    gold: SystemInput | None,
    systems: Sequence[SystemInput],
    *,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
) -> Study:
    """A study of inputs that were read; one that cannot be what its place says is refused."""
    require_roles(gold, systems)
    reference = [("gold", gold.path)] if gold and gold.path else []
    return Study(
        gold.dialogues if gold else None,
        {system.name: system.dialogues for system in systems},
        coverage=coverage_policy(coverage),
        exclude=exclude,
        ontology=ontology or (gold.ontology if gold else None),
        gold_name=(gold.path or gold.name) if gold else "gold",
        remarks={system.name: [*system.remarks, *blank_remarks(system.dialogues)] for system in systems},
        files={
            system.name: [*reference, *([(_role(system, gold), system.path)] if system.path else [])]
            for system in systems
        },
    )


def _role(system: SystemInput, gold: SystemInput | None) -> str:
    """What a prediction file was taken for."""
    return "gold and predictions" if gold is None and carries_gold(system.dialogues) else "predictions"


def _require_open_inventory(profiles: Sequence[Profile], given: str) -> None:
    """An error where every profile brings its own slots, so that those of an ontology would change nothing."""
    if all(profile.inventory is not None for profile in profiles):
        named = ", ".join(profile.name for profile in profiles)
        raise DialgaugeError(
            f"{given}: the slots come with the profile ({named}), so an ontology would be ignored; leave it out, or "
            "use a profile without slots of its own, such as verbatim"
        )


def coverage_policy(name: str) -> Policy:
    """A coverage policy by name."""
    for policy in POLICIES:
        if policy == name:
            return policy
    raise DialgaugeError(f"there is no coverage policy '{name}'.{nearest(name, POLICIES)}")


class GoldDialogues(SharedCorpus):
    """The dialogues with the gold states, and where their user turns stand; shared by the systems scored on them."""

    @cached_property
    def user_turns(self) -> list[Turn]:
        """All user turns, dialogue by dialogue."""
        return [turn for dialogue in self.dialogues for turn in dialogue.user_turns()]

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The position of each user turn among the turns of its dialogue."""
        turns = (enumerate(dialogue.turns) for dialogue in self.dialogues)
        return np.array([place for one in turns for place, turn in one if turn.speaker == "user"], np.int64)


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


class Study:
    """Systems and their gold. Without a gold input, each system must bring its own gold or be a flags file.

    ``files`` are the files each system was read from, with their roles, and ``remarks`` what reading them showed, for
    the record. ``partial``: these are some dialogues of more, so that none of them need be scored. Files of one-domain
    predictions are told by looking at all of their dialogues; what has only some of them cannot tell.
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
        partial: bool = False,
    ) -> None:
        if not systems:
            raise DialgaugeError("there is nothing to score: name at least one prediction file")
        self.items = Items()
        self.policy: Policy = coverage
        self.excluded = sorted(exclude)
        self.files, self.remarks = files or {}, remarks or {}
        self._ontology = ontology
        self._coders: dict[str, Coder] = {}
        self._partial = partial
        self._ceilings: Ceilings | None = None
        self._gold = None if gold is None else GoldDialogues(gold)
        shared: EncodedDialogues | None = None
        if gold is not None:
            if not partial:
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
        scope = declared_scope(dialogues) if not self._partial and gold is not None and kind == "predicted" else {}
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
        aligned = align(own or predicted, predicted, self.policy, exclude, scope.values(), partial=self._partial)
        source = gold if gold is not None else dialogues
        corpus = self._gold if self._gold is not None and self._gold.dialogues is source else GoldDialogues(source)
        roles = roles_text(kind, gold=own is not None, own=brings_gold)
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
        """Two encoded inputs of the study under one profile."""
        coder = self._coders.setdefault(profile.label, Coder(profile))
        return StateComparison(gold, predicted, aligned, self.items, coder, self._inventory(profile), roles)

    def ceiling(self, system: str, profile: Profile, measures: Sequence[Measure[Any]]) -> dict[str, float]:
        """What gold scores against itself where a system is scored, if that is not 100; empty if it is."""
        if profile.treats_sides_alike:
            return {}
        from dialgauge.tracking.ceiling import Ceilings

        self._ceilings = self._ceilings or Ceilings(self)
        return self._ceilings.of(system, profile, measures)

    def _inventory(self, profile: Profile) -> frozenset[Pair] | None:
        if self._ontology is None:
            return None
        pairs = (profile.pair(domain, slot) for domain, slot in self._ontology.slots())
        return frozenset(pair for pair in pairs if pair is not None)


class _Prepared(Struct, frozen=True, eq=False):
    """A system under a profile, ready to be measured."""

    system: System
    comparison: StateComparison
    evidence: SystemEvidence


def score_study(
    study: Study,
    measures: Sequence[Measure[Any]],
    profiles: Sequence[Profile],
    *,
    resampling: Resampling | None,
    required: Collection[str] = (),
    sgd: SgdScoring | None = None,
    sensitivity: Sequence[Profile] = (),
    advance: Callable[[int], None] = lambda steps: None,
) -> TrackingRuns:
    """Score every system of a study under every profile.

    A measure that a system's input cannot give is left out and said so; if it is ``required``, because the user named
    it, it is an error. With ``sensitivity``, the first measure is also computed under those profiles; ``advance`` is
    told of every comparison that takes.
    """
    prepared = [_prepared(study, name, profile, measures, required) for profile in profiles for name in study.systems]
    scored = score_systems([one.evidence for one in prepared], resampling)
    official = {name: sgd.score(system) for name, system in study.systems.items()} if sgd else {}
    tables: dict[str, dict[str, Any]] = {name: {} for name in study.systems}
    details: dict[str, Any] = {}
    if sensitivity:
        from dialgauge.tracking.sensitivity import profile_sensitivity

        result = profile_sensitivity(study, prepared[0].evidence.measures[0], sensitivity, advance)
        tables = {name: {SENSITIVITY: partial(result.frame, name)} for name in study.systems}
        details = {"sensitivity_ceilings": result.ceilings}
    runs = [
        _run(study, one, scores, resampling, tables[one.system.name], official.get(one.system.name), details)
        for one, scores in zip(prepared, scored, strict=True)
    ]
    return TrackingRuns(runs, measures)


def _prepared(
    study: Study, name: str, profile: Profile, measures: Sequence[Measure[Any]], required: Collection[str]
) -> _Prepared:
    comparison = study.comparison(name, profile)
    comparison.require_scope(name)
    counts = comparison.counts
    obstacles = {str(measure): measure.obstacle(counts) for measure in measures}
    left_out = {measure: why for measure, why in obstacles.items() if why}
    for measure, why in left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=name)
    possible = [measure for measure in measures if str(measure) not in left_out]
    if any(one.grouped for one in possible):
        counts = comparison.counts_with_slots()
    evidence = SystemEvidence(
        evidence=counts,
        measures=possible,
        dialogues=comparison.aligned.ids,
        signature=comparison.signature,
        coverage=comparison.aligned.coverage.counts(),
        left_out=left_out,
    )
    return _Prepared(study.systems[name], comparison, evidence)


def _run(
    study: Study,
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
        "gold_against_itself": study.ceiling(system.name, coder.profile, measures),
        "remarks": remarks_on(
            study.remarks.get(system.name, ()), official=bool(official), counts_blanks=coder.profile.counts_blanks
        ),
        **more,
    }
    hidden = slots_without_gold(prepared.evidence.evidence)
    if hidden:
        details["slots_without_gold"] = hidden
    signature = comparison.signature
    if official:
        scores = scores.joined(official.scores(signature["gold"]))
        details["sgd"] = official.details(signature["gold"])
        signature = Signature.shared(Signature.parse(one.signature) for one in scores.scores.values())
    return new_run(
        kind=KIND,
        name=system.name,
        scores=scores,
        tables={**run_tables(comparison, system, measures), **tables},
        corpus=system.gold_corpus,
        config={
            "system": system.name,
            "profile": coder.profile.label,
            "coverage": study.policy,
            "exclude": study.excluded,
        },
        inputs=study.files.get(system.name, ()),
        seeds=how.seed if how else None,
        signature=signature.with_(interval=str(how) if how else ""),
        details=details,
        notes=[
            comparison.aligned.coverage.note(),
            *_ceiling_notes(coder.profile.name, details, measures),
        ],
    )


def _ceiling_notes(profile: str, details: Mapping[str, Any], measures: Sequence[Measure[Any]]) -> list[str]:
    if not details["gold_against_itself"]:
        return []
    from dialgauge.tracking.ceiling import ceiling_sentence

    shares = {str(measure): measure.card.unit == "share" for measure in measures}
    return [ceiling_sentence(profile, details["gold_against_itself"], shares)]
