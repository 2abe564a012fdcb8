"""How users behave in corpora of conversations, side by side: a profile, and no score of realism.

Each feature is a number for each conversation. Corpora are compared by the distributions of these numbers, and the
corpus that the others stand beside also by its own random halves: what these differ by is what chance does. Trials of
one task are alike, so whole tasks are split, resampled and permuted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.rendering import Cell, Column, Table
from dialgauge.stats import Floats, distribution_distances, holm, ratio_intervals
from dialgauge.users.behaviour_features import FEATURES, user_talk
from dialgauge.users.faults import task_of

#: The chance of even one false difference between two corpora, over all features.
_LEVEL = 0.05
_FEWEST = 4


class FeatureMean(Struct, frozen=True):
    """A feature's mean over the conversations that have it, with its interval."""

    dialogues: int
    mean: float | None
    low: float | None = None
    high: float | None = None


class FeatureDistance(Struct, frozen=True):
    """Kolmogorov-Smirnov distance of two distributions, its interval, and p by permutation, Holm over all features."""

    distance: float | None
    low: float | None
    high: float | None
    p: float | None

    @property
    def told_apart(self) -> bool:
        """Whether chance alone does not explain the distance."""
        return self.p is not None and self.p < _LEVEL


class FeatureValues(NamedTuple):
    """(features, conversations in which the user speaks), NaN where one has no value; and the task of each, from 0."""

    values: Floats
    tasks: NDArray[np.intp]

    def of(self, places: NDArray[np.intp]) -> FeatureValues:
        """The same of some conversations."""
        return FeatureValues(self.values[:, places], np.unique(self.tasks[places], return_inverse=True)[1])


class CorpusProfile(Struct, frozen=True):
    """One corpus. Distances are to the corpus that it stands beside; of that one, between its halves."""

    name: str
    dialogues: int
    #: Different tasks: fewer than conversations where there are several trials.
    tasks: int
    #: Conversations in which the user never speaks, which are left out.
    silent: int
    features: dict[str, FeatureMean]
    distances: dict[str, FeatureDistance]


def behaviour_profile(
    conversations: Mapping[str, str | Path], *, beside: str = "", resamples: int = 1000, seed: int = 0
) -> list[CorpusProfile]:
    """A profile of each corpus, in order; ``beside`` names the one that all are compared with."""
    measured = {name: _measured(source) for name, source in conversations.items()}
    if beside and (len(measured[beside][0].tasks) < _FEWEST or _task_count(measured[beside][0]) < 2):
        raise DialgaugeError(
            f"a corpus to compare with needs {_FEWEST} conversations or more, of two tasks or more",
            file=str(conversations[beside]),
        )
    profiles = []
    for name, (corpus, silent) in measured.items():
        distances: dict[str, FeatureDistance] = {}
        if beside:
            pair = split_in_halves(corpus, seed) if name == beside else (measured[beside][0], corpus)
            distances = feature_distances(*pair, resamples=resamples, seed=seed)
        means = _means(corpus, resamples, seed)
        profiles.append(CorpusProfile(name, len(corpus.tasks), _task_count(corpus), silent, means, distances))
    return profiles


def _task_count(corpus: FeatureValues) -> int:
    return int(corpus.tasks.max()) + 1


def _measured(source: str | Path) -> tuple[FeatureValues, int]:
    dialogues = read(source).dialogues
    corpus = feature_values(dialogues)
    if not len(corpus.tasks):
        raise DialgaugeError("no conversation has a message of the user", file=str(source))
    return corpus, len(dialogues) - len(corpus.tasks)


def feature_values(dialogues: Sequence[Dialogue]) -> FeatureValues:
    """Every feature of the conversations in which the user speaks."""
    talks = [(task_of(dialogue), talk) for dialogue in dialogues if (talk := user_talk(dialogue)) is not None]
    values = [[feature.of(talk) for _, talk in talks] for feature in FEATURES]
    numbers: dict[str, int] = {}
    tasks = [numbers.setdefault(task, len(numbers)) for task, _ in talks]
    return FeatureValues(np.array(values, float).reshape(len(FEATURES), len(talks)), np.array(tasks, np.intp))


def split_in_halves(corpus: FeatureValues, seed: int) -> tuple[FeatureValues, FeatureValues]:
    """The tasks in two random halves, each with all of its conversations."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(_task_count(corpus))
    first = np.isin(corpus.tasks, order[: len(order) // 2])
    return corpus.of(np.flatnonzero(first)), corpus.of(np.flatnonzero(~first))


def feature_distances(
    first: FeatureValues, second: FeatureValues, *, resamples: int, seed: int
) -> dict[str, FeatureDistance]:
    """The distance of each feature between two corpora."""
    groups = (first.tasks, second.tasks)
    apart = distribution_distances(first.values, second.values, groups=groups, resamples=resamples, seed=seed)
    rows = zip(FEATURES, apart.distance, apart.low, apart.high, holm(apart.p), strict=True)
    return {feature.name: FeatureDistance(*map(_defined, numbers)) for feature, *numbers in rows}


def _defined(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _means(corpus: FeatureValues, resamples: int, seed: int) -> dict[str, FeatureMean]:
    values, known = corpus.values, ~np.isnan(corpus.values)
    intervals = np.full((len(values), 2), np.nan)
    if resamples:
        highest = [1.0 if feature.share else np.inf for feature in FEATURES]
        bounds = np.column_stack([np.zeros(len(values)), highest])
        sums = (np.array([np.bincount(corpus.tasks, row) for row in rows]) for rows in (np.nan_to_num(values), known))
        intervals = ratio_intervals(*sums, resamples=resamples, seed=seed, bounds=bounds)
    return {
        feature.name: FeatureMean(
            int(some.sum()), float(row[some].mean()) if some.any() else None, *map(_defined, ends)
        )
        for feature, row, some, ends in zip(FEATURES, values, known, intervals, strict=True)
    }


def profile_tables(profiles: Sequence[CorpusProfile], beside: str = "", resamples: int = 1000) -> list[Table]:
    """What users do, corpora across; and how far each is from the one that it stands beside."""
    return [_means_table(profiles), *([_distance_table(profiles, beside, resamples)] if beside else [])]


def _means_table(profiles: Sequence[CorpusProfile]) -> Table:
    number, percent = Column("", digits=2), Column("", digits=1, percent=True)
    columns = [Column(profile.name, align="right") for profile in profiles]
    table = Table("What users do: mean over conversations", [Column("feature", exact=True), *columns])
    table.add("conversations", *(profile.dialogues for profile in profiles))
    if any(profile.tasks < profile.dialogues for profile in profiles):
        table.add("tasks", *(profile.tasks for profile in profiles))
    for feature in FEATURES:
        look = percent if feature.share else number
        means = [profile.features[feature.name].mean for profile in profiles]
        table.add(feature.name + (", %" if feature.share else ""), *(Cell(mean, like=look) for mean in means))
    table.notes = [
        f"{profile.name}: {profile.silent:,} more conversations have no message of the user."
        for profile in profiles
        if profile.silent
    ]
    return table


def _distance_table(profiles: Sequence[CorpusProfile], beside: str, resamples: int) -> Table:
    columns = [
        Column("halves" if profile.name == beside else profile.name, digits=0, percent=True, align="right")
        for profile in profiles
    ]
    table = Table(
        f"Distance from {beside} (Kolmogorov–Smirnov: 0 alike, 100 apart)", [Column("feature", exact=True), *columns]
    )
    for feature in FEATURES:
        apart = [profile.distances[feature.name] for profile in profiles]
        table.add(
            feature.name, *(Cell(far.distance, far.low, far.high, mark="*" if far.told_apart else "") for far in apart)
        )
    table.notes = [
        f"halves: those of {beside}, at random: what chance does.",
        "A profile, not a score of realism: tasks, systems and how the words were written down make distances, too.",
    ]
    if not resamples:
        return table
    counts = [sum(distance.told_apart for distance in profile.distances.values()) for profile in profiles]
    table.add("told apart (*)", *(Cell(count, like=Column("", align="right")) for count in counts))
    table.notes.append(
        f"*: further than chance: p < {_LEVEL:g} by permutation of whole tasks, Holm over the features of a column."
    )
    if len(FEATURES) / (resamples + 1) >= _LEVEL:
        table.notes.append(f"Nothing can be told apart with {resamples} resamples: take 1,000.")
    return table


def profile_document(profiles: Sequence[CorpusProfile], beside: str = "") -> dict[str, Any]:
    """For JSON: what each feature counts, and each corpus; shares as fractions."""
    rows = [{"name": feature.name, "share": feature.share, "counts": feature.counts} for feature in FEATURES]
    return {"beside": beside or None, "features": rows, "corpora": [_corpus(profile) for profile in profiles]}


def _corpus(profile: CorpusProfile) -> dict[str, Any]:
    distances = {
        name: structs.asdict(distance) | {"told_apart": distance.told_apart}
        for name, distance in profile.distances.items()
    }
    means = {name: structs.asdict(mean) for name, mean in profile.features.items()}
    return structs.asdict(profile) | {"features": means, "distances": distances}
