"""Comparing runs of one kind, in memory or stored, and what keeps their scores from being comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from dialgauge.comparison.pairing import Pairing, pairing_of
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.scores import PairedScores, on_the_same_turns, paired_scores
from dialgauge.comparison.testing import RESAMPLES, compare_scores
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import measure_of_kind
from dialgauge.report import part_of, system_names
from dialgauge.runs import Run, Store
from dialgauge.stats import Floats, VectorSums
from dialgauge.text import REMARK, Note, counted

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
    every_measure: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Compare two or more runs of one kind over the dialogues and measures that all of them have.

    Without ``measures`` those that matter most are compared, with ``every_measure`` all. Each run is one in memory or
    stored, or the id (or its beginning) of a run in ``store``.

    >>> comparison = dialgauge.compare(["20261115-0920", "20261115-0931"])     # doctest: +SKIP
    >>> comparison.difference("augpt", "dots", "JGA").adjusted                      # doctest: +SKIP
    0.0003
    """
    place = store if isinstance(store, Store) else Store(store)
    opened = [place.open(run) if isinstance(run, str) else run for run in runs]
    if len(opened) < 2:
        raise DialgaugeError("a comparison needs at least two runs; name two or more")
    named = _named(opened)
    pairing = _common_pairing(named)
    scores = _paired(named, pairing)
    turns = {name: pairing.scored_turns(run) for name, run in named.items()}
    if all(frame is not None for frame in turns.values()):
        scores = on_the_same_turns(scores, {name: frame for name, frame in turns.items() if frame is not None})
    asked = scores.measures if every_measure else measures
    scores = scores.only(pairing.headlines(scores.measures) if asked is None else asked)
    scores = _on_what_all_have(scores, named, pairing)
    notes = [*scores.notes, *_unlike_settings(scores, pairing), *pairing.notes(opened)]
    scores = replace(scores, notes=tuple(notes))
    compared = compare_scores(scores, resamples=resamples, seed=seed, level=level, runs=named, pairing=pairing)
    return replace(compared, named=asked is not None)


def scores_of_run(run: Run) -> PairedScores:
    """The scores of a single run, dialogue by dialogue: what correlations and ratings are about."""
    named = {run.name: run}
    return _paired(named, _common_pairing(named))


def _paired(runs: Mapping[str, Run], pairing: Pairing) -> PairedScores:
    """The scores of the runs. A measure of several sums, such as BLEU, is 0 / 0 in ``num`` and ``den``."""
    ratios = {name: pairing.unit_table(run, SCORE_TABLE) for name, run in runs.items()}
    sums = {name: pairing.unit_table(run, SUMS_TABLE) for name, run in runs.items() if SUMS_TABLE in run.tables}
    frames = {name: _both(ratios[name], sums.get(name)) for name in runs}
    for name, run in runs.items():
        if not run.scores and not frames[name].height:
            raise DialgaugeError(f"the run '{name}' ({run.id}) has no scores of dialogues, so it cannot be compared")
    paired = {measure for frame in frames.values() for measure in frame["measure"].unique()}
    notes = _not_paired(runs, paired, pairing)
    scores = paired_scores(frames, {name: run.scores for name, run in runs.items()})
    of_sums = [name for name in scores.measures if any(name in frame["measure"] for frame in sums.values())]
    kind = next(iter(runs.values())).kind
    several = {
        measure: VectorSums(
            np.stack([_sums(sums[name], measure, scores.dialogues) for name in runs]),
            measure_of_kind(measure, kind).card.of,
        )
        for measure in of_sums
    }
    return replace(scores, several=several, notes=(*scores.notes, *notes))


def _both(ratios: polars.DataFrame, sums: polars.DataFrame | None) -> polars.DataFrame:
    """A table ``dialogue_scores`` with the dialogues and measures of ``dialogue_sums``, as 0 / 0."""
    import polars as pl

    if sums is None:
        return ratios
    empty = sums.select("dialogue", "measure").unique(maintain_order=True)
    empty = empty.with_columns(num=pl.lit(0.0), den=pl.lit(0.0))
    return pl.concat([ratios.select(empty.columns), empty], how="vertical_relaxed")


def _sums(frame: polars.DataFrame, measure: str, dialogues: Sequence[str]) -> Floats:
    """The sums of each dialogue, (sums, dialogues)."""
    rows = frame.filter(frame["measure"] == measure)
    places = {dialogue_key(name): index for index, name in enumerate(dialogues)}
    columns = np.array([places.get(dialogue_key(name), -1) for name in rows["dialogue"]], np.int64)
    summands = rows["place"].to_numpy()
    table = np.zeros((summands.max(initial=0) + 1, len(dialogues)))
    known = columns >= 0
    np.add.at(table, (summands[known], columns[known]), rows["sum"].to_numpy()[known])
    return table


def _on_what_all_have(scores: PairedScores, runs: Mapping[str, Run], pairing: Pairing) -> PairedScores:
    """Drop, for all systems, the dialogues that a measure excludes for any of them."""
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
            f"{', '.join(name for name in named if not part_of(name)) or 'parts'}: compared without the "
            f"{counted(len(dialogues), pairing.unit)} that some system lacks",
        )
        for dialogues, named in left_out.items()
    ]
    return replace(scores, notes=(*scores.notes, *notes))


def _named(runs: Sequence[Run]) -> dict[str, Run]:
    if len({run.id for run in runs}) < len(runs):
        raise DialgaugeError("a run is compared with itself; name different runs")
    return dict(zip(system_names(runs), runs, strict=True))


def _common_pairing(runs: Mapping[str, Run]) -> Pairing:
    kinds = dict.fromkeys(run.kind for run in runs.values())
    if len(kinds) > 1:
        listed = ", ".join(f"{name} ({run.kind})" for name, run in runs.items())
        raise DialgaugeError(f"runs of different kinds measure different things and cannot be compared: {listed}")
    return pairing_of(list(runs.values()))


def _not_paired(runs: Mapping[str, Run], paired: set[str], pairing: Pairing) -> list[str]:
    """A note on measures that no dialogue has a share of, such as F1 averaged over slots."""
    alone = list(dict.fromkeys(name for run in runs.values() for name in run.scores if name not in paired))
    if not alone:
        return []
    sentence = f"{', '.join(alone)} cannot be compared {pairing.unit} by {pairing.unit} (each run has its value)"
    if not paired:
        raise DialgaugeError(f"{sentence}; name another measure too")
    return [Note(REMARK, f"{sentence}; left out of the tests")]


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
