"""``dialgauge lab cross``: every user in front of every system, from stored runs."""

from __future__ import annotations

from typing import Annotated

from dialgauge import lab
from dialgauge.cli.common import ResamplesOption, SeedOption, StoreOption, TableOutput
from dialgauge.cli.options import Argument, Option, command


@command()
def cross(
    runs: Annotated[list[str], Argument(metavar="RUN...", help="Lab runs: one for each user and system.")],
    measure: Annotated[
        str, Option(metavar="NAME", help="What a cell shows; any measure of the runs.")
    ] = "Success(rules=strict)",
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    store: StoreOption = None,
    *,
    output: TableOutput,
) -> None:
    """Cross-evaluation: a matrix of users and systems with intervals, the mean of each, and GCDF1 of the users."""
    from dialgauge.runs import Store

    stored = Store(store)
    made = lab.cross_evaluation([stored.open(run) for run in runs], measure, resamples=resamples, seed=seed)
    output.show([made.table()])
    if output.json is not None:
        output.document("lab-cross", made.document())
