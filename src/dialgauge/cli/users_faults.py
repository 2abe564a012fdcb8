"""``dialgauge users faults``: what recorded simulated users got wrong, and what was not checked."""

from __future__ import annotations

from typing import Annotated

from dialgauge import rendering
from dialgauge.cli.common import FormatOption, LimitOption, ResamplesOption, SeedOption, row_limit
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.lab_options import named_settings
from dialgauge.cli.options import Argument, Option, command
from dialgauge.cli.output import OnScreen, Output
from dialgauge.cli.screen import err, out


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
    judge: Annotated[str, Option(metavar="URL|local", help="Also ask a language model, which only adds faults.")] = "",
    judge_set: Annotated[
        list[str] | None, Option(metavar="NAME=VALUE", help="Judge setting: model, key_env, cassette, ...; repeatable.")
    ] = None,
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
    from dialgauge.users.faults import missing_sentence, model_judge, record_table, user_faults

    asked = model_judge(judge, named_settings(judge_set, "--judge-set"), seed=seed) if judge else None
    results = user_faults(
        conversations, format=format, resamples=resamples, seed=seed, judge=asked, progress=OnScreen()
    )
    screen = out if output.on_screen else err
    for each in results.runs:
        for note in each.notes:
            screen.print(f"{each.name}: {note}{'' if note.endswith('?') else '.'}")
        if missing := missing_sentence(each):
            screen.print(missing)

    def tables(rows: int, *, detailed: bool) -> list[rendering.Table]:
        if dialogue is None:
            return results.tables(limit=rows, detail=detailed)
        explained = [part for part in results.explain(dialogue) if not isinstance(part, str)]
        return [*explained, record_table(detail=detailed), *results.agreement]

    shown = tables(row_limit(limit), detailed=detail)
    output.present(results, "users-faults", tables=shown, in_files=lambda: tables(row_limit(0), detailed=True))
    return 0 if results.complete else EXIT_INCOMPLETE
