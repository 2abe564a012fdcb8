"""What the commands about users share: their options, scoring with a progress bar, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialgauge.cli.common import err, out, progress_bar
from dialgauge.cli.dispatch import EXIT_INCOMPLETE

if TYPE_CHECKING:
    from dialgauge.report import Table
    from dialgauge.users import Settings, UserEvaluation

Source = Annotated[
    str, typer.Argument(metavar="CONVERSATIONS", help="A folder, file, pattern or archive of recorded conversations.")
]
Map = Annotated[
    Path | None,
    typer.Option("--canonical-map", metavar="FILE", help="Canonical values and their paraphrases (JSON)."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Options as YAML.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="One option: igcd_f1.repetitions.max_repetitions=3; repeatable."),
]
Mode = Annotated[
    str | None,
    typer.Option(help="'reference': as the authors' evaluator, to the bit; 'recommended': with its faults repaired."),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME|FILE", help="Dataset profile: multiwoz21, multiwoz21-people, sgd, or a YAML file."
    ),
]
DatabaseFolder = Annotated[
    Path | None,
    typer.Option("--database", metavar="FOLDER", help="DOMAIN_db.json files: tells which failures of a goal are real."),
]
Format = Annotated[str | None, typer.Option("--format", metavar="NAME", help="The format, if not recognised.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes; 0 is one for each core. Files are shared among them.")]
TableFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the tables: .md, .tex, .html, .csv, .json.")
]


def settings_from(
    canonical_map: Path | None,
    config: Path | None,
    override: list[str] | None,
    mode: str | None,
    profile: str | None,
    database: Path | None,
    format: str | None,
) -> Settings:
    """The options of a command, put together."""
    from dialgauge.users import Settings

    overrides = [*(override or ()), *([f"mode={mode}"] if mode else ())]
    return Settings(
        canonical_map=canonical_map,
        config=config,
        overrides=tuple(overrides),
        profile=profile,
        database=database,
        format=format,
    )


def evaluated(source: str, settings: Settings, workers: int) -> UserEvaluation:
    """Score a source, with a progress bar, and say what reading left out."""
    from dialgauge.users import evaluate

    with progress_bar("scoring files") as advance:
        evaluation = evaluate(source, settings, workers=workers, on_file=lambda _done, _all: advance(1))
    for what, count in sorted(evaluation.notes.items()):
        err.print(f"{evaluation.name}: {what} ({count:,})", style="dim", markup=False)
    return evaluation


def print_tables(tables: list[Table]) -> None:
    """Tables on the screen, a line apart."""
    for place, each in enumerate(tables):
        if place:
            out.print()
        out.print(each.render("terminal"))


def check_endings(table: Path | None, figures: Sequence[str] = ()) -> None:
    """Refuse a file of tables or a kind of figure that cannot be written, before any work is done."""
    from dialgauge.errors import DialgaugeError
    from dialgauge.report import ENDINGS, format_of

    if table is not None:
        format_of(table)
    for ending in figures:
        if f".{ending}" not in ENDINGS:
            kinds = ", ".join(each.removeprefix(".") for each in ENDINGS)
            raise DialgaugeError(f"a figure cannot be drawn as '{ending}'; choose from {kinds}")


def write_table_file(tables: list[Table], path: Path | None) -> None:
    """Tables into a file, if one was named."""
    if path is not None:
        from dialgauge.report import write_tables

        write_tables(tables, path)


def finish(evaluations: list[UserEvaluation]) -> None:
    """Say what failed or looked odd; incomplete results are exit code 1."""
    from dialgauge.report import plain
    from dialgauge.users import failure_lines

    for evaluation in evaluations:
        for dialogue, warning in evaluation.warnings[:10]:
            err.print(plain(f"{evaluation.name}: dialogue {dialogue}: {warning}"), markup=False, soft_wrap=True)
        if len(evaluation.warnings) > 10:
            err.print(f"{evaluation.name}: ... and {len(evaluation.warnings) - 10} more warnings", markup=False)
        if evaluation.failures:
            total = len(evaluation.failures) + len(evaluation.scores)
            err.print(f"{evaluation.name}: {len(evaluation.failures)} of {total} dialogues could not be scored:")
            for line in failure_lines(evaluation):
                err.print(f"  {line}", markup=False, soft_wrap=True)
    if any(each.failures for each in evaluations):
        raise typer.Exit(EXIT_INCOMPLETE)
