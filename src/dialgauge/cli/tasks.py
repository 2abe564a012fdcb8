"""``dialgauge tasks``: was the job done? Inform, Success, BLEU of recorded responses, and what these numbers hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dialgauge import tasks
from dialgauge.cli import common
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    PATH,
    Whole,
    bundle,
    measures_of,
    option,
    options,
)
from dialgauge.cli.output import OnScreen, Output
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.report import RunSet


app = group("tasks", "Was the job done? Responses scored against the user's goal and the database.")


@options
class Responses:
    """How responses are read and scored."""

    database: Path | None = option(
        "--database", type=PATH, metavar="FOLDER", help="MultiWOZ database. Default: the folder db next to GOLD."
    )
    domains: Literal["file", "state", "placeholders"] | None = option(
        "--domains",
        type=click.Choice(["file", "state", "placeholders"]),
        help="How to tell a response's domain: file (active_domains), state (what changed) or placeholders (their "
        "names). Default: file if every turn has active_domains, else state.",
    )
    unanswered: Literal["skip", "fail"] = option(
        "--unanswered",
        type=click.Choice(["skip", "fail"]),
        default="skip",
        help="Dialogues without responses: skip (as mwzeval does) or fail.",
    )
    references: Path | None = option(
        "--references", type=PATH, help="Your own BLEU references (JSON): dialogue id to list of texts."
    )
    references_are: Literal["raw", "clean"] | None = option(
        "--references-are",
        type=click.Choice(["raw", "clean"]),
        help="Kind of --references: raw (placeholders in brackets) or clean (used as is).",
    )
    no_human: bool = option("--no-human", is_flag=True, help="Leave out the scores of the human responses.")


@app.command()
@click.argument(
    "files",
    nargs=-1,
    metavar="GOLD PRED...",
    help="The MultiWOZ file with goals, then one response file (mwzeval format) per system, FILE or NAME=FILE.",
)
@click.option(
    "-m",
    "--measures",
    "measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("tasks"),
    help="Measures, comma-separated: Success, Inform(rules=grounded), Success[hotel], BLEU; or a list: 'richness', "
    "'all'.",
)
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="Bootstrap resamples for the 95% intervals; 0 for none.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for resampling.")
@bundle(responses=Responses, output=Output, gates=Gates)
def score(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    resamples: int,
    seed: int,
    responses: Responses,
    output: Output,
    gates: Gates,
) -> int:
    """Score MultiWOZ responses: Inform, Success, BLEU, Combined, as the standard evaluator does, and by rules that are
    harder to game.

    Exit code: 0 all dialogues were answered, 1 some were not and were left out, 2 nothing could be scored, 3 a
    --fail-under or --fail-on-drop check failed.
    """
    if len(files) < 2:
        raise DialgaugeError(
            "give the gold file and at least one response file: dialgauge tasks score GOLD PRED... (logs of agents: "
            "dialgauge review LOG)",
            file=files[0] if files else None,
        )
    gate = gates.gate(output.store, kinds=("tasks",), scores_files=True)

    def scored(answers: Sequence[str] | Mapping[str, str]) -> RunSet:
        return tasks.score_tasks(
            files[0],
            answers,
            measures=measures or ["default"],
            database=responses.database,
            references=responses.references,
            references_are=responses.references_are,
            mode=responses.domains,
            missing=responses.unanswered,
            human=not responses.no_human,
            resamples=resamples,
            seed=seed,
            progress=OnScreen(),
        )

    results = scored(common.named_systems(list(files[1:])))
    checks = gate.check(results.runs, lambda file: scored([file]).runs[0])
    output.present(results, checks=checks)
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)
