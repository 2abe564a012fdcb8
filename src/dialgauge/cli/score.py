"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

import click

from dialgauge import tracking
from dialgauge.cli import common
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import PATH, PROFILES, Advanced, Whole, bundle, measures_of, option, options, refuse
from dialgauge.cli.output import OnScreen, Output
from dialgauge.errors import DialgaugeError

#: In place of GOLD: each prediction file brings its own gold.
SELF = "self"


@options
class SgdOptions:
    """The official scores of SGD."""

    schema: Path | None = option("--schema", type=PATH, cls=Advanced, help="SGD schema: also the official SGD scores.")
    train_schema: Path | None = option(
        "--train-schema", type=PATH, cls=Advanced, help="Separates seen from unseen services."
    )
    sgd_matching: Literal["levenshtein", "difflib", "exact"] | None = option(
        "--sgd-matching",
        type=click.Choice(["levenshtein", "difflib", "exact"]),
        metavar="HOW",
        cls=Advanced,
        help="levenshtein (default), difflib or exact.",
    )
    sgd_across_turn: bool = option(
        "--sgd-across-turn", is_flag=True, cls=Advanced, help="Multiply over the services of a turn."
    )

    def scoring(self) -> tracking.SgdScoring | None:
        """How they are computed, if they are asked for."""
        if self.schema is None:
            return None
        return tracking.SgdScoring.read(
            self.schema, self.train_schema, matching=self.sgd_matching or "", across_turn=self.sgd_across_turn
        )


@options
class RatingOptions:
    """What people said of the dialogues."""

    ratings: Path | None = option(
        "--ratings",
        type=PATH,
        help="CSV of dialogue, rater, rating: what fits?",
    )
    rated: str | None = option("--rated", metavar="SYSTEM", cls=Advanced, help="Which system was rated.")


@options
class Intervals:
    """How intervals are made."""

    resamples: int = option(
        "--resamples",
        type=Whole(0, 1_000_000),
        default=1000,
        help="For the 95% intervals.",
    )
    seed: int = option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")


@command("score")
@click.argument(
    "files",
    nargs=-1,
    metavar="[GOLD] PRED...",
    help="The gold file, then predictions, each FILE or NAME=FILE. Gold inside the predictions: 'self', or no GOLD.",
)
@click.option(
    "-m",
    "--measures",
    "measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("tracking"),
    help="JGA,FGA@0.5(rule=paper), ... or all.",
)
@click.option(
    "-p",
    "--profile",
    "profile",
    multiple=True,
    metavar="NAME|FILE",
    shell_complete=PROFILES,
    help="Value-matching rules; repeatable.",
)
@click.option(
    "--sensitivity",
    "sensitivity",
    is_flag=True,
    help="Score under other profiles, too.",
)
@click.option("--ontology", "ontology", type=PATH, help="Slot inventory for profiles without one.")
@bundle(
    inputs=common.Inputs,
    sgd=SgdOptions,
    people=RatingOptions,
    intervals=Intervals,
    output=Output,
    gates=Gates,
    placement=common.Placement,
)
def app(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    profile: tuple[str, ...],
    sensitivity: bool,
    ontology: Path | None,
    inputs: common.Inputs,
    sgd: SgdOptions,
    people: RatingOptions,
    intervals: Intervals,
    output: Output,
    gates: Gates,
    placement: common.Placement,
) -> int:
    """Score trackers: every measure the papers report, with intervals.

    The runs are stored; 'dialgauge show' has the rest: --by domain, --worst 5. GOLD and PRED may be folders or quoted
    patterns.

    Exit code: 1 some gold turns had no prediction and were left out, 3 a check failed.
    """
    gate = gates.gate(
        output.store, kinds=("tracking",), family="tracking", check_names=sgd.schema is None, scores_files=True
    )
    if sgd.schema is None:
        refuse("SGD's scores need --schema FILE", SgdOptions)
        gate.require(tracking.chosen_measures(measures or None))
    gold, *systems = files or [SELF]
    if not systems:
        gold, systems = SELF, [name for name in files or () if name != SELF]
    if not systems:
        raise DialgaugeError("name the gold file and at least one prediction file: dialgauge score GOLD PRED...")
    scored = partial(
        tracking.score,
        gold,
        measures=measures or None,
        profile=profile or None,
        coverage=inputs.coverage,
        exclude=inputs.exclude,
        ontology=ontology,
        sgd=sgd.scoring(),
        sensitivity=sensitivity,
        resamples=intervals.resamples,
        seed=intervals.seed,
        gold_format=inputs.gold_format,
        pred_format=inputs.pred_format,
        turns=inputs.turns,
        rename=inputs.rename,
        accept=inputs.accept,
        workers=placement.place if placement.place.asked else None,
        progress=OnScreen(),
    )
    results = scored(common.named_systems(systems), ratings=people.ratings, rated=people.rated)
    checks = gate.check(results.runs, lambda file: scored([file]).runs[0])
    output.present(results, checks=checks)
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)
