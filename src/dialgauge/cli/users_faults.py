"""``dialgauge users faults``: what recorded simulated users got wrong, and what was not checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from dialgauge import formats, report
from dialgauge.cli.common import FormatOption, LimitOption, ResamplesOption, SeedOption, row_limit
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, command
from dialgauge.cli.output import OnScreen, Output
from dialgauge.cli.screen import err, out
from dialgauge.cli.users_judge import JudgeOption, JudgeSettings

if TYPE_CHECKING:
    from dialgauge.runs import Run
    from dialgauge.users.faults import UserFault


@command()
def faults(
    conversations: Annotated[
        list[str],
        Argument(
            metavar="FILE...",
            help="Recorded conversations with goals or instructions (tau-bench, tau2-bench, lab, GCDF1, ...), or the "
            "folder of a stored run.",
        ),
    ],
    format: FormatOption = None,
    dialogue: Annotated[
        str | None, Option(metavar="ID", help="Show everything the checks found in one conversation.")
    ] = None,
    limit: LimitOption = 20,
    detail: Annotated[
        bool, Option(help="Also show how the checks were measured, by parts and earlier; files always have it.")
    ] = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    judge: JudgeOption = "",
    judge_set: JudgeSettings = None,
    *,
    output: Output,
) -> int:
    """Find what the simulated user got wrong: nine kinds of fault, each with the message as evidence.

    The user ends too early, invents facts, contradicts itself or its instruction, leaks the instruction, repeats
    itself, speaks as the agent, says nothing, withholds, or disobeys. Each check reports what it could not look at, and
    its precision and recall on labelled conversations. No language model is used unless --judge names one.

    Exit code: 0 complete; 1 a file holds fewer conversations than planned, or some that failed through
    infrastructure, were never judged, or contain no user message.
    """
    from dialgauge.users.faults import FaultRuns, missing_sentence, record_table, user_faults

    agreements: list[report.Table] = []
    if judge:
        runs, agreements = _judged(conversations, judge, judge_set, format, resamples, seed)
        results = FaultRuns(runs)
    else:
        results = user_faults(conversations, format=format, resamples=resamples, seed=seed, progress=OnScreen())
    screen = out if output.on_screen else err
    for each in results.runs:
        for note in each.notes:
            screen.print(f"{each.name}: {note}{'' if note.endswith('?') else '.'}")
        if missing := missing_sentence(each):
            screen.print(missing)

    def tables(rows: int, *, detailed: bool) -> list[report.Table]:
        if dialogue is None:
            return [*results.tables(limit=rows, detail=detailed), *agreements]
        explained = [part for part in results.explain(dialogue) if not isinstance(part, str)]
        return [*explained, record_table(detail=detailed), *agreements]

    shown = tables(row_limit(limit), detailed=detail)
    output.present(results, "users-faults", tables=shown, in_files=lambda: tables(row_limit(0), detailed=True))
    return 0 if results.complete else EXIT_INCOMPLETE


def _judged(
    sources: list[str], judge: str, given: list[str] | None, format: str | None, resamples: int, seed: int
) -> tuple[list[Run], list[report.Table]]:
    """The runs of checks and a judge together, and how the judge agrees with the labels."""
    from dialgauge.cli.users_judge import agreement_table, judge_conversations, judge_settings
    from dialgauge.users.faults import faults_run

    settings = judge_settings(judge, given)
    runs: list[Run] = []
    judged: dict[tuple[str, str, int], Sequence[UserFault]] = {}
    for source, name in zip(sources, formats.system_names(sources), strict=True):
        dialogues = formats.read(source, format=format).dialogues
        result = judge_conversations(dialogues, source, settings, seed)
        judged |= result.judged
        for dialogue, why in list(result.failed.items())[:1]:
            err.print(f"not judged: {len(result.failed):,} of {len(dialogues):,}, the first {dialogue}: {why}")
        inputs = [("conversations", source)] if source != "-" else []
        runs.append(
            faults_run(dialogues, name, checked=result.checked, inputs=inputs, judge=settings.model_name,
                       resamples=resamples, seed=seed)
        )  # fmt: skip
    return runs, [agreement_table(judged, settings.model_name)]
