"""The public face of tracking: score predictions against gold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from dialgauge.dialogue import Ontology
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.tracking.align import POLICIES, Policy
from dialgauge.tracking.inputs import SELF, Source, SystemInput, load, load_systems
from dialgauge.tracking.intervals import Resampling
from dialgauge.tracking.measures.base import Measure
from dialgauge.tracking.measures.registry import DEFAULT_MEASURES, asked_for, parse_measures
from dialgauge.tracking.results import Results
from dialgauge.tracking.scoring import score_study
from dialgauge.tracking.study import Study
from dialgauge.values import DEFAULT_PROFILE as DEFAULT_PROFILE
from dialgauge.values import Profile, profile_named


def score(
    gold: Source | None,
    pred: Source | Mapping[str, Source] | Sequence[str | Path],
    *,
    measures: str | Sequence[str | Measure] | None = None,
    profile: str | Profile | Sequence[str | Profile] = DEFAULT_PROFILE,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
    intervals: bool = True,
    resamples: int = 1000,
    seed: int = 0,
    gold_format: str | None = None,
    pred_format: str | None = None,
) -> Results:
    """Score one or several trackers.

    ``gold`` and ``pred`` are files in any known format, corpora from :func:`dialgauge.read`, or lists of dialogues;
    ``pred`` may also be several files, or a mapping of names to any of these. ``gold=None`` uses the gold states inside
    the prediction files. Measures are names such as ``"JGA"`` or ``"FGA@0.5(rule=paper)"``; ``profile`` says when two
    values are the same. Intervals are 95%, from resampling dialogues.

    >>> from dialgauge import Dialogue, Turn, score
    >>> gold = [Dialogue(id="d", turns=(Turn(speaker="user", state={"hotel": {"area": ("north",)}}),))]
    >>> pred = [Dialogue(id="d", turns=(Turn(speaker="user", predicted={"hotel": {"area": ("north",)}}),))]
    >>> score(gold, pred)[0]["JGA"]
    1.0
    """
    reference = None if gold is None or gold == SELF else load(gold, "gold", gold_format)
    study = build_study(
        reference, load_systems(pred, pred_format), coverage=coverage, exclude=exclude, ontology=ontology
    )
    chosen = chosen_measures(measures)
    profiles = [profile] if isinstance(profile, str | Profile) else list(profile)
    if not profiles:
        raise DialgaugeError("no profile was named; leave profile out for the usual one")
    return score_study(
        study,
        chosen,
        [profile_named(one) if isinstance(one, str) else one for one in profiles],
        resampling=Resampling(resamples, seed) if intervals else None,
        required=required_measures(measures),
    )


def build_study(
    gold: SystemInput | None,
    systems: Sequence[SystemInput],
    *,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
) -> Study:
    """A study of inputs that were read."""
    return Study(
        gold.dialogues if gold else None,
        {system.name: system.dialogues for system in systems},
        coverage=coverage_policy(coverage),
        exclude=exclude,
        ontology=ontology or (gold.ontology if gold else None),
        gold_name=(gold.path or gold.name) if gold else "gold",
    )


def coverage_policy(name: str) -> Policy:
    """A coverage policy by name."""
    for policy in POLICIES:
        if policy == name:
            return policy
    raise DialgaugeError(f"there is no coverage policy '{name}'.{nearest(name, POLICIES)}")


def required_measures(measures: str | Sequence[str | Measure] | None) -> frozenset[str]:
    """The names of the measures that were asked for one by one: leaving one of them out is an error."""
    listed = [measures] if isinstance(measures, str) else list(measures or ())
    given = frozenset(str(one) for one in listed if isinstance(one, Measure))
    return given | asked_for(one for one in listed if isinstance(one, str))


def chosen_measures(measures: str | Sequence[str | Measure] | None) -> list[Measure]:
    """Measures from names; the usual ones where none is named."""
    if measures is None:
        return parse_measures(DEFAULT_MEASURES)
    listed = [measures] if isinstance(measures, str) else list(measures)
    if not listed:
        raise DialgaugeError("no measure was named; leave measures out for the usual ones")
    return [found for one in listed for found in ([one] if isinstance(one, Measure) else parse_measures([one]))]
