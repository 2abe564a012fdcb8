"""Comparing runs of one kind, in memory or stored, and what keeps their scores from being comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from dialgauge.comparison.missing import MISSING_POLICIES, lacking_systems, refuse_lacking
from dialgauge.comparison.pairing import Pairing, pairing_of
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.scores import PairedScores, on_the_same_turns, paired_scores
from dialgauge.comparison.testing import RESAMPLES, compare_scores
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, choice
from dialgauge.measures import measure_of_kind
from dialgauge.runs import Run, Store
from dialgauge.stats import Floats, VectorSums
from dialgauge.text import Note, counted

if TYPE_CHECKING:
    import polars

SCORE_TABLE, SUMS_TABLE = "dialogue_scores", "dialogue_sums"

#: Parts of a signature in which compared systems may differ: what is compared, how much was scored, how intervals were
#: made. The checksum of the gold differs where one run lacks a dialogue, so it counts where the sizes agree.
OWN_PARTS = frozenset({"model", "seed", "seeds", "dialogues", "turns", "replies", "responses", "interval"})
_MEASURE, _GOLD, _SIZES = "measure", "gold", ("dialogues", "turns", "replies")


def compare_runs(
    runs: Sequence[Run | str],
    *,
    store: Store | str | PathLike[str] | None = None,
    measures: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    missing: str = "shared",
) -> Comparison:
    """Compare two or more runs of one kind over the dialogues and measures they share.

    Each is a run, in memory or stored, or the id (or its beginning) of a run in ``store``. Where some lack dialogues,
    ``missing="shared"`` compares what all have, ``refuse`` is an error.

    >>> comparison = dialgauge.compare(["20261115-0920", "20261115-0931"])     # doctest: +SKIP
    >>> comparison.difference("augpt", "dots", "JGA").adjusted                      # doctest: +SKIP
    0.0003
    """
    place = store if isinstance(store, Store) else Store(store)
    opened = [place.open(run) if isinstance(run, str) else run for run in runs]
    choice(missing, MISSING_POLICIES, "missing")
    if len(opened) < 2:
        raise DialgaugeError("a comparison needs at least two runs; name two or more")
    named = _named(opened)
    pairing = _common_pairing(named)
    frames = {name: pairing.unit_table(run, SCORE_TABLE) for name, run in named.items()}
    _refuse_unscored(named, frames)
    summed = {name for frame in _summed(named, frames, pairing) for name in frame["measure"].unique()}
    notes = _without_sums(named, summed, pairing)
    scores = _paired(named, frames, pairing)
    if missing == "refuse":
        refuse_lacking(lacking_systems(scores, named, pairing.unit))
    turns = {name: pairing.scored_turns(run) for name, run in named.items()}
    if all(frame is not None for frame in turns.values()):
        scores = on_the_same_turns(scores, {name: frame for name, frame in turns.items() if frame is not None})
    headlines = pairing.headlines(scores.measures) if measures is None else measures
    if list(headlines) != list(scores.measures):
        scores = scores.only(headlines)
    scores = _on_what_all_have(scores, named, pairing)
    notes = [*scores.notes, *notes, *_unlike_settings(scores, pairing), *pairing.notes(opened)]
    scores = replace(scores, notes=tuple(notes))
    return compare_scores(scores, resamples=resamples, seed=seed, level=level, runs=named, pairing=pairing)


def scores_of_run(run: Run) -> PairedScores:
    """The scores of a single run, dialogue by dialogue: what correlations and ratings are about."""
    named = {run.name: run}
    pairing = _common_pairing(named)
    frames = {run.name: pairing.unit_table(run, SCORE_TABLE)}
    _refuse_unscored(named, frames)
    return _paired(named, frames, pairing)


def _paired(runs: Mapping[str, Run], frames: Mapping[str, polars.DataFrame], pairing: Pairing) -> PairedScores:
    """The scores of the runs, those of several sums too where all runs have these."""
    known = {name: run.scores for name, run in runs.items()}
    sums = _summed(runs, {}, pairing)
    if not sums:
        return paired_scores(frames, known)
    no_ratios = not any(table.height for table in frames.values())
    frames = dict(zip(runs, map(without_scores, sums), strict=True)) if no_ratios else frames
    scores = paired_scores(frames, known)
    several = vector_sums(scores.dialogues, sums, next(iter(runs.values())).kind)
    together = scores.joined(several)
    unlike = [name for name in sums[0]["measure"].unique(maintain_order=True) if name not in several]
    message = "not every run stores the sums that this version needs; left out"
    notes = [Note("no_sums", f"{', '.join(unlike)}: {message}")] if unlike else []
    together = together.only(list(several)) if no_ratios else together
    return replace(together, notes=(*together.notes, *notes))


def _summed(
    runs: Mapping[str, Run], frames: Mapping[str, polars.DataFrame], pairing: Pairing
) -> list[polars.DataFrame]:
    """These tables and, where every run has one, those of several sums."""
    every = all(SUMS_TABLE in run.tables for run in runs.values())
    return [*frames.values(), *(pairing.unit_table(run, SUMS_TABLE) for run in runs.values() if every)]


def _on_what_all_have(scores: PairedScores, runs: Mapping[str, Run], pairing: Pairing) -> PairedScores:
    """The scores without dialogues that a measure leaves out for some system: else it would have an easier set."""
    left_out: dict[tuple[str, ...], list[str]] = {}
    compared = {dialogue_key(name) for name in scores.dialogues}
    for measure in scores.measures:
        lacked = {name for run in runs.values() for name in pairing.excluded(run, measure)}
        dialogues = sorted(name for name in lacked if dialogue_key(name) in compared)
        if dialogues:
            scores = scores.uncounted(measure, dialogues)
            left_out.setdefault(tuple(dialogues), []).append(measure)
    notes = [
        Note(
            "uncounted",
            f"{', '.join(named)}: compared without the {counted(len(dialogues), pairing.unit)} that some system lacks",
        )
        for dialogues, named in left_out.items()
    ]
    return replace(scores, notes=(*scores.notes, *notes))


def _named(runs: Sequence[Run]) -> dict[str, Run]:
    """The runs by their names where those tell them apart, by their ids where not."""
    names, ids = ({getattr(run, part) for run in runs} for part in ("name", "id"))
    if len(ids) < len(runs):
        raise DialgaugeError("a run is compared with itself; name different runs")
    return {run.name if len(names) == len(runs) else run.id: run for run in runs}


def _common_pairing(runs: Mapping[str, Run]) -> Pairing:
    kinds = dict.fromkeys(run.kind for run in runs.values())
    if len(kinds) > 1:
        listed = ", ".join(f"{name} ({run.kind})" for name, run in runs.items())
        raise DialgaugeError(f"runs of different kinds measure different things and cannot be compared: {listed}")
    return pairing_of(list(runs.values()))


def _without_sums(runs: Mapping[str, Run], summed: set[str], pairing: Pairing) -> list[str]:
    """A note on measures that no dialogue has a share of, such as F1 averaged over slots: they cannot be paired."""
    alone = list(dict.fromkeys(name for run in runs.values() for name in run.scores if name not in summed))
    if not alone:
        return []
    sentence = f"{', '.join(alone)} cannot be compared {pairing.unit} by {pairing.unit} (each run has its value)"
    if not summed:
        raise DialgaugeError(f"{sentence}; name another measure too")
    return [Note("not_paired", f"{sentence}; left out of the tests")]


def _refuse_unscored(runs: Mapping[str, Run], frames: Mapping[str, polars.DataFrame]) -> None:
    for name, run in runs.items():
        if not run.scores and not frames[name].height:
            raise DialgaugeError(f"the run '{name}' ({run.id}) has no scores of dialogues, so it cannot be compared")


def _unlike_settings(scores: PairedScores, pairing: Pairing) -> list[str]:
    """Warnings where systems were scored under different settings, and so may differ because of that."""
    notes: dict[str, None] = {}
    for measure in scores.measures:
        directions = {known[measure].higher_is_better for known in scores.run_scores if measure in known} - {None}
        if len(directions) > 1:
            raise DialgaugeError(
                f"higher values of {measure} are better in one run and worse in another; score the runs again"
            )
        signatures = {system: scores.signature(system, measure) for system in scores.systems}
        first, *others = signatures.values()
        unlike = dict.fromkeys(part for other in others for part in first.differences(other))
        same_size = not any(size in unlike for size in _SIZES)
        for part in unlike:
            values = "; ".join(f"{name} {signature.get(part, 'none')}" for name, signature in signatures.items())
            if part == _MEASURE:
                message = f"{measure} does not mean the same for all systems: {values}"
                notes[Note("other_meaning", message)] = None
            elif part not in OWN_PARTS | pairing.own_parts and (part != _GOLD or same_size):
                unlike_settings = f"the runs were scored with different settings ({part})"
                caution = f". {pairing.cautions[part]}" if part in pairing.cautions else ""
                message = f"{unlike_settings}, so differences may come from that: {values}{caution}"
                notes[Note("unlike_settings", message)] = None
    return list(notes)


def vector_sums(dialogues: Sequence[str], frames: Sequence[polars.DataFrame], kind: str) -> dict[str, VectorSums]:
    """The measures that all tables ``dialogue_sums`` have and that this dialgauge knows, over these dialogues."""
    first, *others = frames
    by_measure = {}
    for measure in first["measure"].unique(maintain_order=True):
        try:
            of = measure_of_kind(measure, kind).card.of
        except DialgaugeError:  # of a run that another version, or a package that is not here, wrote
            continue
        if all(measure in other["measure"] for other in others):
            sums = [_sums(frame, measure, dialogues) for frame in frames]
            if len({part.shape for part in sums}) == 1:
                by_measure[measure] = VectorSums(np.stack(sums), of)
    return by_measure


def without_scores(frame: polars.DataFrame) -> polars.DataFrame:
    """The dialogues of a table ``dialogue_sums`` as a table ``dialogue_scores`` in which none has a score."""
    import polars

    dialogues = frame.select("dialogue").unique(maintain_order=True)
    return dialogues.with_columns(measure=polars.lit(""), num=polars.lit(0.0), den=polars.lit(0.0))


def _sums(frame: polars.DataFrame, measure: str, dialogues: Sequence[str]) -> Floats:
    """The sums of each dialogue, (sums, dialogues)."""
    import polars

    rows = frame.filter(polars.col("measure") == measure)
    places = {dialogue_key(name): index for index, name in enumerate(dialogues)}
    columns = np.array([places.get(dialogue_key(name), -1) for name in rows["dialogue"]], np.int64)
    summands = rows["place"].to_numpy()
    table = np.zeros((summands.max(initial=0) + 1, len(dialogues)))
    known = columns >= 0
    np.add.at(table, (summands[known], columns[known]), rows["sum"].to_numpy()[known])
    return table
