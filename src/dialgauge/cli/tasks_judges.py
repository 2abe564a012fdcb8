"""``dialgauge tasks judges``: do graders agree, and how much of a pass rate is the grader?"""

from __future__ import annotations

from typing import Annotated

from dialgauge import tasks
from dialgauge.cli.common import ResamplesOption, SeedOption, TableOutput
from dialgauge.cli.options import Argument, Option, command


@command()
def judges(
    verdicts: Annotated[
        list[str],
        Argument(
            help="CSV or JSON Lines with conversation (or task and trial), verdict, and optionally grader, replicate."
        ),
    ],
    truth: Annotated[
        str | None,
        Option(
            metavar="GRADER", help="Grader to take as correct; the others' pass rates are corrected by its verdicts."
        ),
    ] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    *,
    output: TableOutput,
) -> None:
    """Compare graders (people, models, rules): agreement, kappa, flips, and how much of pass^k depends on them.

    With --truth, sensitivity and specificity of each other grader, and the pass rate corrected for its errors.
    """
    figures = tasks.judge_figures(tasks.read_verdicts(verdicts), truth=truth, resamples=resamples, seed=seed)
    output.show(tasks.judge_tables(figures))
    output.document("tasks-judges", tasks.judge_document(figures))
