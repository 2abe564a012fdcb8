"""What the commands about users share: their options, scoring with a progress bar, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Struct

from dialgauge import runs, users
from dialgauge.cli.choices import names_of
from dialgauge.cli.common import FormatOption
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option
from dialgauge.cli.output import OnScreen
from dialgauge.cli.screen import err
from dialgauge.rendering import plain

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: How many warnings and failures are printed one by one.
_MOST = 10

Source = Annotated[
    str | None,
    Argument(
        unless=("--from",),
        help="Recorded conversations (folder, file, pattern or archive), unless --from names a stored run.",
    ),
]
Map = Annotated[Path | None, Option(help="Canonical values and their paraphrases (JSON).")]
ConfigFile = Annotated[Path | None, Option(help="Scoring options (YAML).")]
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
        metavar="NAME|FILE",
        known=names_of("users", "shipped"),
        help="Dataset profile: multiwoz21, multiwoz21-people, a YAML file, or the folder of a domain.",
    ),
]


class Scoring(Struct, frozen=True):
    """How conversations are scored."""

    not_with: ClassVar = ("--from",)
    canonical_map: Map = None
    config: ConfigFile = None
    override: Overrides = None
    mode: Mode = None
    dataset: DatasetProfile = None
    format: FormatOption = None

    def options(self) -> users.UserOptions:
        """The options as the library takes them."""
        return users.UserOptions(
            canonical_map=self.canonical_map,
            config=self.config,
            overrides=(*(self.override or ()), *([f"mode={self.mode}"] if self.mode else ())),
            profile=self.dataset,
            format=self.format,
        )


def fresh_or_stored(
    conversations: str | None,
    from_run: str | None,
    store: Path | None,
    options: users.UserOptions,
    measures: Sequence[str] = ("default",),
) -> Run:
    """The run to present: conversations scored now, or a stored run."""
    if conversations is None:
        return opened(str(from_run), store)
    return users.score_users(conversations, options=options, measures=measures, resamples=0, progress=OnScreen())[0]


def opened(run: str, store: Path | None) -> Run:
    """A stored run of conversations."""
    return users.UserRuns([runs.Store(store).open(run)])[0]


def finish(runs: Sequence[Run]) -> int:
    """Say what failed or looked odd, in fresh runs and stored ones alike; incomplete results are exit code 1."""
    incomplete = False
    for run in runs:
        odd = users.warnings(run)
        for dialogue, warning in odd[:_MOST]:
            err.print(plain(f"{run.name}: dialogue {dialogue}: {warning}"))
        if len(odd) > _MOST:
            err.print(f"{run.name}: ... and {len(odd) - _MOST} more warnings")
        failures = users.failure_sentences(run)
        if failures:
            incomplete = True
            total = run.coverage["dialogues"].expected
            err.print(f"{run.name}: {len(failures)} of {total} dialogues could not be scored:")
            for line in failures[:_MOST]:
                err.print(f"  {plain(line)}")
            if len(failures) > _MOST:
                err.print(f"  ... and {len(failures) - _MOST} more")
    return EXIT_INCOMPLETE if incomplete else 0
