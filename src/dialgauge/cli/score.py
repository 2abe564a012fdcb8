"""``dialgauge score``: state-tracking scores of predictions against gold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from msgspec import Struct

from dialgauge import rendering, runs, stats, tracking
from dialgauge.cli import common
from dialgauge.cli.choices import PROFILES, measures_of
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import Argument, Option, OutputFolder, WholeNumber, application
from dialgauge.cli.output import OnScreen, ViewedOutput
from dialgauge.cli.parse import changed_options
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

#: In place of GOLD: each prediction file brings its own gold.
SELF = "self"

app = application("State-tracking scores of predicted against gold dialogue states.")


class Views(Struct, frozen=True):
    """What is shown beside the scores, which takes turns or dialogues."""

    not_with: ClassVar = common.DISTRIBUTED
    by: Annotated[
        list[Literal["domain", "service", "slot", "turn", "n-domains"]] | None,
        Option(metavar="WHAT", help="Break scores down by domain, service, slot, turn or n-domains; repeatable."),
    ] = None
    rates: Annotated[
        list[str] | None,
        Option(
            "--lambda",
            metavar="DOMAIN=RATE",
            help="Also show FGA with this λ for the domain, for example train=0.25; repeatable.",
        ),
    ] = None
    faults: Annotated[bool, Option(help="Show errors by slot, confused values and first errors.")] = False
    worst: common.WorstOption = 0
    worst_by: Annotated[
        str | None,
        Option(
            metavar="MEASURE",
            known=measures_of("tracking", several=False),
            needs="--worst",
            help="Measure that ranks dialogues for --worst. Default: FGA@0.5 if computed, otherwise the first measure.",
        ),
    ] = None

    dialogue: Annotated[list[str] | None, Option(metavar="ID", help="Show this dialogue turn by turn; repeatable.")] = (
        None
    )
    correlation: Annotated[
        Literal["pearson", "spearman", "kendall", "all"] | None,
        Option(
            metavar="KIND", help="Show correlations between measures in each system: pearson, spearman, kendall or all."
        ),
    ] = None
    ratings: Annotated[
        Path | None,
        Option(help="Human ratings (CSV: dialogue, rater, rating): which measure, and which λ, fits them best."),
    ] = None
    rated: Annotated[
        str | None,
        Option(metavar="SYSTEM", needs="--ratings", help="Which system was rated, if the ratings file does not say."),
    ] = None

    sheets: Annotated[
        Path | None,
        OutputFolder("--rating-sheets", help="Write sheets of sampled dialogues for people to rate, and a table."),
    ] = None
    sample: Annotated[
        int, WholeNumber(of="dialogues", min=1, needs="--rating-sheets", help="Dialogues to draw for --rating-sheets.")
    ] = 50
    raters: Annotated[
        int, WholeNumber(of="raters", min=1, needs="--rating-sheets", help="Raters to leave room for in the table.")
    ] = 3

    def domain_rates(self) -> dict[str, float]:
        """The λ of each domain."""
        rates: dict[str, float] = {}
        for text in self.rates or ():
            domain, _, rate = text.rpartition("=")
            try:
                rates[domain] = float(rate)
            except ValueError:
                rates[domain] = -1.0
            if not domain or not rates[domain] >= 0:
                raise DialgaugeError(f"--lambda expects DOMAIN=RATE, a rate of 0 or more: train=0.25 (got '{text}')")
        return rates

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


class SgdOptions(Struct, frozen=True):
    """The official scores of SGD."""

    not_with: ClassVar = ("--from", *common.DISTRIBUTED)
    schema: Annotated[Path | None, Option(help="SGD schema: also compute the official SGD scores.")] = None
    train_schema: Annotated[
        Path | None, Option(needs="--schema", help="SGD training schema: separates seen from unseen services.")
    ] = None
    sgd_matching: Annotated[
        Literal["levenshtein", "difflib", "exact"] | None,
        Option(
            metavar="NAME",
            needs="--schema",
            help="How SGD's non-categorical values are compared: levenshtein (default), difflib or exact.",
        ),
    ] = None
    sgd_across_turn: Annotated[
        bool, Option(needs="--schema", help="Multiply SGD joint scores over the services of a turn.")
    ] = False

    def scoring(self) -> tracking.SgdScoring | None:
        """How they are computed, if they are asked for."""
        if self.schema is None:
            return None
        return tracking.SgdScoring.read(
            self.schema, self.train_schema, matching=self.sgd_matching or "", across_turn=self.sgd_across_turn
        )


class Intervals(Struct, frozen=True):
    """How intervals are made."""

    no_intervals: Annotated[
        bool, Option(not_with=("--from",), help="Skip confidence intervals, as --resamples 0 does.")
    ] = False
    resamples: common.ResamplesOption = 1000
    seed: common.SeedOption = 0


@app.command()
def score(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="[GOLD] PRED...",
            not_with=("--from",),
            help="The gold file, then prediction files, in any known format, each FILE or NAME=FILE. A single file, "
            "or 'self' in place of GOLD, uses the gold states inside the prediction files; a GOLD file takes "
            "precedence.",
        ),
    ] = None,
    from_runs: common.FromRunsOption = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            known=measures_of("tracking"),
            not_with=("--from",),
            help="Measures, comma-separated: JGA, FGA@0.5(rule=paper), ...; 'all' for every one.",
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            known=PROFILES,
            not_with=("--from",),
            help="Value-matching rules: a profile name or a YAML file; repeatable.",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        Option(
            not_with=("--from", *common.DISTRIBUTED),
            help="Score the first measure under plain, canon and their variants too; show what each rule changes.",
        ),
    ] = False,
    ontology: Annotated[
        Path | None, Option(not_with=("--from",), help="Slot inventory for profiles without one.")
    ] = None,
    *,
    views: Views,
    inputs: common.Inputs,
    sgd: SgdOptions,
    intervals: Intervals,
    output: ViewedOutput,
    gates: Gates,
    placement: common.Placement,
) -> int:
    """Score trackers: every measure the papers report, with intervals and signatures.

    With --engine, each PRED may be a folder or a quoted pattern of many files. Workers score them one by one and send
    back sums, so you get the totals, but nothing by turn or slot.

    Exit code: 0 all gold turns were scored, 1 some had no prediction and were left out, 2 nothing could be scored,
    3 a --fail-under or --fail-on-drop check failed.
    """
    gate = gates.gate(
        output.store, kinds=("tracking",), family="tracking", check_names=sgd.schema is None, scores_files=not from_runs
    )
    where, rates = placement.place, views.domain_rates()
    score_file: Callable[[str], runs.Run] | None = None
    if views.worst_by:
        tracking.ranking_measure(views.worst_by)
    if from_runs:
        results = tracking.TrackingRuns(runs.Store(output.store).open(from_run) for from_run in from_runs)
        if looks := changed_options(views):
            results.require_turns(", ".join(looks))
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
            store=common.working_store(output.store) if where.asked else None,
            progress=OnScreen(),
        )
        results, score_file = scored(common.named_systems(systems)), lambda file: scored([file]).runs[0]
    checks = gate.check(results.runs, score_file)
    by = views.by or ()
    rated = results.rated(views.ratings, views.rated, by_domain="domain" in by) if views.ratings else None
    output.present(
        results,
        "score",
        tables=[
            *results.tables(by=by, faults=views.faults, rates=rates),
            *views.correlations(results),
            *(rated.tables() if rated else ()),
        ],
        texts=views.texts(results),
        document=lambda: (
            results.document(by=by, faults=views.faults, rates=rates) | ({"ratings": rated.document()} if rated else {})
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
