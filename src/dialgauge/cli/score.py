"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import click

from dialgauge import rendering, runs, stats, tracking
from dialgauge.cli import common
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    FOLDER,
    PATH,
    PROFILES,
    Whole,
    bundle,
    measures_of,
    option,
    options,
    refuse,
)
from dialgauge.cli.output import OnScreen, ViewedOutput
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

#: In place of GOLD: each prediction file brings its own gold.
SELF = "self"


@options
class Views:
    """What is shown beside the scores, which takes turns or dialogues."""

    by: tuple[Literal["domain", "slot", "turn"], ...] = option(
        "--by",
        type=click.Choice(["domain", "slot", "turn"]),
        multiple=True,
        help="Show the scores by domain, slot or turn too; repeatable.",
    )
    faults: bool = option("--faults", is_flag=True, help="Show errors by slot, confused values and first errors.")
    worst: int = option(
        "--worst", type=Whole(0), default=0, help="Show the N worst dialogues, and what is wrong in each."
    )
    worst_by: str | None = option(
        "--worst-by",
        metavar="MEASURE",
        shell_complete=measures_of("tracking", several=False),
        help="Measure that ranks dialogues for --worst. Default: FGA@0.5 if computed, otherwise the first measure.",
    )

    dialogue: tuple[str, ...] = option(
        "--dialogue", multiple=True, metavar="ID", help="Show this dialogue turn by turn; repeatable."
    )
    correlation: Literal["pearson", "spearman", "kendall", "all"] | None = option(
        "--correlation",
        type=click.Choice(["pearson", "spearman", "kendall", "all"]),
        help="Show correlations between measures in each system: pearson, spearman, kendall or all.",
    )
    ratings: Path | None = option(
        "--ratings",
        type=PATH,
        help="Human ratings (CSV: dialogue, rater, rating): which measure, and which λ, fits them best.",
    )
    rated: str | None = option(
        "--rated", metavar="SYSTEM", help="Which system was rated, if the ratings file does not say."
    )

    sheets: Path | None = option(
        "--rating-sheets", type=FOLDER, help="Write sheets of sampled dialogues for people to rate, and a table."
    )
    sample: int = option("--sample", type=Whole(1, 100_000), default=50, help="Dialogues to draw for --rating-sheets.")
    raters: int = option("--raters", type=Whole(1, 1000), default=3, help="Raters to leave room for in the table.")

    def correlations(self, results: tracking.TrackingRuns) -> list[rendering.Table]:
        """The tables of --correlation."""
        if self.correlation is None:
            return []
        kinds = stats.CORRELATIONS if self.correlation == "all" else (self.correlation,)
        return [table for table in results.correlations(*kinds) if not isinstance(table, str)]

    def texts(self, results: tracking.TrackingRuns) -> list[rendering.Table | str]:
        """Single dialogues, turn by turn."""
        worst = results.worst(self.worst, self.worst_by) if self.worst else ()
        return [*worst, *(text for dialogue in self.dialogue or () for text in results.explain(dialogue))]


@options
class SgdOptions:
    """The official scores of SGD."""

    schema: Path | None = option("--schema", type=PATH, help="SGD schema: also compute the official SGD scores.")
    train_schema: Path | None = option(
        "--train-schema", type=PATH, help="SGD training schema: separates seen from unseen services."
    )
    sgd_matching: Literal["levenshtein", "difflib", "exact"] | None = option(
        "--sgd-matching",
        type=click.Choice(["levenshtein", "difflib", "exact"]),
        help="How SGD's non-categorical values are compared: levenshtein (default), difflib or exact.",
    )
    sgd_across_turn: bool = option(
        "--sgd-across-turn", is_flag=True, help="Multiply SGD joint scores over the services of a turn."
    )

    def scoring(self) -> tracking.SgdScoring | None:
        """How they are computed, if they are asked for."""
        if self.schema is None:
            return None
        return tracking.SgdScoring.read(
            self.schema, self.train_schema, matching=self.sgd_matching or "", across_turn=self.sgd_across_turn
        )


@options
class Intervals:
    """How intervals are made."""

    no_intervals: bool = option(
        "--no-intervals", is_flag=True, help="Skip confidence intervals, as --resamples 0 does."
    )
    resamples: int = option(
        "--resamples",
        type=Whole(0, 1_000_000),
        default=1000,
        help="Bootstrap resamples for the 95% intervals; 0 for none.",
    )
    seed: int = option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")


@command("score")
@click.argument(
    "files",
    nargs=-1,
    metavar="[GOLD] PRED...",
    help="The gold file, then prediction files, in any known format, each FILE or NAME=FILE. A single file, or "
    "'self' in place of GOLD, uses the gold states inside the prediction files; a GOLD file takes precedence.",
)
@click.option(
    "--from",
    "from_runs",
    multiple=True,
    metavar="RUN",
    help="Show a stored run instead of scoring (id, system, tag or latest); repeatable.",
)
@click.option(
    "-m",
    "--measures",
    "measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("tracking"),
    help="Measures, comma-separated: JGA, FGA@0.5(rule=paper), ...; 'all' for every one.",
)
@click.option(
    "-p",
    "--profile",
    "profile",
    multiple=True,
    metavar="NAME|FILE",
    shell_complete=PROFILES,
    help="Value-matching rules: a profile name or a YAML file; repeatable.",
)
@click.option(
    "--sensitivity",
    "sensitivity",
    is_flag=True,
    help="Score the first measure under plain, canon and their variants too; show what each rule changes.",
)
@click.option("--ontology", "ontology", type=PATH, help="Slot inventory for profiles without one.")
@bundle(
    views=Views,
    inputs=common.Inputs,
    sgd=SgdOptions,
    intervals=Intervals,
    output=ViewedOutput,
    gates=Gates,
    placement=common.Placement,
)
def app(
    files: tuple[str, ...],
    from_runs: tuple[str, ...],
    measures: tuple[str, ...],
    profile: tuple[str, ...],
    sensitivity: bool,
    ontology: Path | None,
    views: Views,
    inputs: common.Inputs,
    sgd: SgdOptions,
    intervals: Intervals,
    output: ViewedOutput,
    gates: Gates,
    placement: common.Placement,
) -> int:
    """Score trackers: every measure the papers report, with intervals and signatures.

    GOLD and each PRED may also be a folder or a quoted pattern of many files; with --engine, workers read them.

    Exit code: 0 all gold turns were scored, 1 some had no prediction and were left out, 2 nothing could be scored,
    3 a --fail-under or --fail-on-drop check failed.
    """
    gate = gates.gate(
        output.store, kinds=("tracking",), family="tracking", check_names=sgd.schema is None, scores_files=not from_runs
    )
    if sgd.schema is None:
        refuse("SGD's scores need --schema FILE", SgdOptions)
    where = placement.place
    if from_runs:
        scoring = ("files", "measures", "profile", "sensitivity", "ontology", "run")
        refuse(
            "--from shows a run that is already scored",
            common.Inputs, SgdOptions, Intervals, common.Placement, names=scoring,
        )  # fmt: skip
    score_file: Callable[[str], runs.Run] | None = None
    if views.worst_by:
        tracking.ranking_measure(views.worst_by)
    if from_runs:
        results = tracking.TrackingRuns(runs.Store(output.store).open(from_run) for from_run in from_runs)
    else:
        if sgd.schema is None:
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
            exclude=inputs.exclude or (),
            ontology=ontology,
            sgd=sgd.scoring(),
            sensitivity=sensitivity,
            intervals=not intervals.no_intervals,
            resamples=intervals.resamples,
            seed=intervals.seed,
            gold_format=inputs.gold_format,
            pred_format=inputs.pred_format,
            turns=inputs.turns,
            rename=inputs.rename,
            accept=inputs.accept or (),
            workers=where if where.asked else None,
            progress=OnScreen(),
        )
        results, score_file = scored(common.named_systems(systems)), lambda file: scored([file]).runs[0]
    checks = gate.check(results.runs, score_file)
    by = views.by or ()
    rated = results.rated(views.ratings, views.rated) if views.ratings else None
    output.present(
        results,
        "score",
        tables=[
            *results.tables(by=by, faults=views.faults),
            *views.correlations(results),
            *(rated.tables() if rated else ()),
        ],
        texts=views.texts(results),
        document=lambda: (
            results.document(by=by, faults=views.faults) | ({"ratings": rated.document()} if rated else {})
        ),
        checks=checks,
        tested=not intervals.no_intervals,
    )
    if views.sheets:
        *sheets, table = results.rating_sheets(views.sheets, views.sample, raters=views.raters, seed=intervals.seed)
        err.print(
            f"{counted(len(sheets), 'sheet')} in {views.sheets}; ratings go into {table} (score --ratings reads it)"
        )
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)
