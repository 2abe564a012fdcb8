"""What the commands about users share: their options, scoring with a progress bar, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from dialgauge.cli.choices import words
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option
from dialgauge.cli.screen import err, progress_bar

if TYPE_CHECKING:
    from dialgauge.engine import WorkPlace
    from dialgauge.runs import Run, Store
    from dialgauge.users import UserOptions

#: How many warnings and failures are printed one by one.
_MOST = 10

Source = Annotated[
    str | None,
    Argument(
        metavar="[CONVERSATIONS]",
        help="Recorded conversations (folder, file, pattern or archive), unless --from names a stored run.",
    ),
]
Map = Annotated[
    Path | None,
    Option("--canonical-map", metavar="FILE", help="Canonical values and their paraphrases (JSON)."),
]
ConfigFile = Annotated[Path | None, Option("--config", metavar="FILE", help="Scoring options (YAML).")]
Overrides = Annotated[
    list[str] | None,
    Option(
        "--set", metavar="PATH=VALUE", help="Set one scoring option: igcd_f1.repetitions.max_repetitions=3; repeatable."
    ),
]
Mode = Annotated[
    Literal["reference", "recommended"] | None,
    Option(
        metavar="TEXT", help="'reference': identical to the authors' evaluator; 'recommended': with its bugs fixed."
    ),
]
DatasetProfile = Annotated[
    str | None,
    Option(
        "--dataset",
        metavar="NAME|FILE",
        known=words("multiwoz21 multiwoz21-people sgd", closed=False),
        help="Dataset profile: multiwoz21, multiwoz21-people, sgd, or a YAML file.",
    ),
]
DatabaseFolder = Annotated[
    Path | None,
    Option("--database", metavar="FOLDER", help="Folder of DOMAIN_db.json files: shows which goal failures are real."),
]
SchemaFile = Annotated[
    Path | None,
    Option("--schema", metavar="FILE", help="Services and slots (JSON): describes domains, checks goals."),
]


def options_from(
    canonical_map: Path | None,
    config: Path | None,
    override: list[str] | None,
    mode: str | None,
    profile: str | None,
    database: Path | None,
    schema: Path | None,
    format: str | None,
) -> UserOptions:
    """The options of a command, put together."""
    from dialgauge.users import UserOptions

    overrides = [*(override or ()), *([f"mode={mode}"] if mode else ())]
    return UserOptions(
        canonical_map=canonical_map,
        config=config,
        overrides=tuple(overrides),
        profile=profile,
        database=database,
        schema=schema,
        format=format,
    )


def scored(
    source: str,
    options: UserOptions,
    workers: WorkPlace | int,
    *,
    measures: Sequence[str] = ("default",),
    resamples: int = 0,
    seed: int = 0,
    name: str | None = None,
    keep: Store | None = None,
) -> Run:
    """Score a source, with a progress bar, and say what reading left out."""
    from dialgauge.users import users_scored

    with progress_bar("scoring files") as advance:
        users = users_scored(
            source,
            options,
            measures=measures,
            workers=workers,
            resamples=resamples,
            seed=seed,
            name=name,
            store=keep,
            on_unit=advance,
        )
    for note in users.run.notes:
        err.print(f"{users.name}: {note}", style="dim")
    return users.run


def fresh_or_stored(
    conversations: str | None,
    from_run: str | None,
    store: Path | None,
    options: UserOptions,
    workers: int,
    measures: Sequence[str] = ("default",),
) -> Run:
    """The run to present: conversations scored now, or a stored run."""
    from dialgauge.errors import DialgaugeError

    if (conversations is None) == (from_run is None):
        raise DialgaugeError("give either conversations or a stored run (--from RUN)")
    if conversations is None:
        return opened(str(from_run), store)
    return scored(conversations, options, workers, measures=measures)


def opened(run: str, store: Path | None) -> Run:
    """A stored run of conversations."""
    from dialgauge.runs import Store
    from dialgauge.users import UserScores

    return UserScores(Store(store).open(run)).run


def finish(runs: Sequence[Run]) -> int:
    """Say what failed or looked odd, in fresh runs and stored ones alike; incomplete results are exit code 1."""
    from dialgauge.report import plain
    from dialgauge.users import failure_sentences, warnings

    incomplete = False
    for run in runs:
        odd = warnings(run)
        for dialogue, warning in odd[:_MOST]:
            err.print(plain(f"{run.name}: dialogue {dialogue}: {warning}"))
        if len(odd) > _MOST:
            err.print(f"{run.name}: ... and {len(odd) - _MOST} more warnings")
        failures = failure_sentences(run)
        if failures:
            incomplete = True
            total = run.coverage["dialogues"].expected
            err.print(f"{run.name}: {len(failures)} of {total} dialogues could not be scored:")
            for line in failures[:_MOST]:
                err.print(f"  {plain(line)}")
            if len(failures) > _MOST:
                err.print(f"  ... and {len(failures) - _MOST} more")
    return EXIT_INCOMPLETE if incomplete else 0
