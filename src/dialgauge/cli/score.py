"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from dialgauge import tracking
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    FORMATS,
    PATH,
    PROFILES,
    Advanced,
    bundle,
    given,
    measures_option,
    names_of,
    option,
    options,
    refuse,
)
from dialgauge.cli.output import OnScreen, Output, Placement, Resampling, named_systems
from dialgauge.errors import DialgaugeError

#: In place of GOLD: each prediction file brings its own gold.
SELF = "self"


@options
class Scoring:
    """What is scored, how gold files and predictions are read, and which of their turns count."""

    measures: tuple[str, ...] = measures_option("JGA,FGA@0.5(rule=paper), ... or all.", "tracking")
    profile: tuple[str, ...] = option(
        "-p",
        "--profile",
        multiple=True,
        metavar="NAME|FILE",
        shell_complete=PROFILES,
        help="Value-matching rules; repeatable.",
    )
    sensitivity: bool = option("--sensitivity", is_flag=True, help="Score under other profiles, too.")
    ratings: Path | None = option(
        "--ratings", type=PATH, help="People's ratings (CSV: dialogue, rater, rating, system): which measure agrees?"
    )
    ontology: Path | None = option("--ontology", type=PATH, help="Slot inventory for profiles without one.")
    coverage: Literal["intersection", "empty"] = option(
        "--coverage",
        type=click.Choice(["intersection", "empty"]),
        metavar="HOW",
        default="intersection",
        show_default=False,
        help="Turns without prediction: intersection or empty.",
    )
    exclude: tuple[str, ...] = option(
        "--exclude", multiple=True, metavar="ID", cls=Advanced, help="Leave out this dialogue; repeatable."
    )
    gold_format: str | None = option(
        "--gold-format", metavar="NAME", shell_complete=FORMATS, cls=Advanced, help="Format of GOLD."
    )
    pred_format: str | None = option(
        "--pred-format", metavar="NAME", shell_complete=FORMATS, cls=Advanced, help="Format of PRED."
    )
    turns: str | None = option("--turns", metavar="HOW", cls=Advanced, help="How PRED numbers turns: shift=1, step=2.")
    rename: Path | None = option("--rename", type=PATH, cls=Advanced, help="YAML: names in PRED to names in GOLD.")
    accept: tuple[str, ...] = option(
        "--accept",
        multiple=True,
        metavar="KIND",
        shell_complete=names_of("tracking", "STOPS"),
        cls=Advanced,
        help="Score although this check fails: turns, roles or ids.",
    )


@options
class Sgd:
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
            refuse("SGD's scores need --schema FILE", Sgd)
            return None
        return tracking.SgdScoring.read(
            self.schema, self.train_schema, matching=self.sgd_matching or "", across_turn=self.sgd_across_turn
        )


@command("score")
@click.argument(
    "files",
    nargs=-1,
    metavar="[GOLD] PRED...",
    help="The gold file, then predictions, each FILE or NAME=FILE. Gold inside the predictions: 'self', or no GOLD.",
)
@bundle(scoring=Scoring, sgd=Sgd, resampling=Resampling, output=Output, gates=Gates, placement=Placement)
def score(
    files: tuple[str, ...],
    scoring: Scoring,
    sgd: Sgd,
    resampling: Resampling,
    output: Output,
    gates: Gates,
    placement: Placement,
) -> int:
    """Score trackers: every measure the papers report, with intervals.

    The runs are stored; 'dialgauge show' has the rest: --by domain, --worst 5. GOLD and PRED may be folders or quoted
    patterns.

    Exit code: 1 some gold turns had no prediction and were left out, 3 a check failed.
    """
    gate = gates.gate(output.store, "tracking", known=sgd.schema is None)
    gold, *systems = files or [SELF]
    if not systems:
        gold, systems = SELF, [name for name in files if name != SELF]
    if not systems:
        raise DialgaugeError("name the gold file and at least one prediction file: dialgauge score GOLD PRED...")
    results = tracking.score(
        gold,
        named_systems(systems),
        sgd=sgd.scoring(),
        workers=placement.place,
        progress=OnScreen(),
        **given(scoring),
        **given(resampling),
    )
    checks = gate.check(results.runs)
    output.present_runs(results, checks, named=bool(scoring.measures))
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)
