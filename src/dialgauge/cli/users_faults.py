"""``dialgauge users faults``: what recorded simulated users got wrong, and what was not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from dialgauge import formats, report
from dialgauge.agents import llm
from dialgauge.cli.common import FormatOption, LimitOption, ResamplesOption, SeedOption, row_limit
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.lab_options import named_settings
from dialgauge.cli.options import Argument, Option, command
from dialgauge.cli.output import OnScreen, Output
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue
    from dialgauge.runs import Run
    from dialgauge.users.faults import CheckedConversation, UserFault


#: Letters enough for a verdict with several faults.
_DEFAULTS = {"max_tokens": "1000"}


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


class _Judging(Struct):
    """What the checks and the judge found together, and the judge's own faults by conversation."""

    checked: list[CheckedConversation] = []
    judged: dict[tuple[str, str, int], Sequence[UserFault]] = {}
    failed: dict[str, str] = {}


def _judged(
    sources: list[str], judge: str, given: list[str] | None, format: str | None, resamples: int, seed: int
) -> tuple[list[Run], list[report.Table]]:
    """The runs of checks and a judge together, and how the judge agrees with the labels."""
    from dialgauge.users.faults import faults_run

    settings = llm.chat_settings({**_DEFAULTS, "endpoint": judge, **named_settings(given, "--judge-set")})
    runs: list[Run] = []
    judged: dict[tuple[str, str, int], Sequence[UserFault]] = {}
    for source, name in zip(sources, formats.system_names(sources), strict=True):
        dialogues = formats.read(source, format=format).dialogues
        result = _judge_conversations(dialogues, source, settings, seed)
        judged |= result.judged
        for dialogue, why in list(result.failed.items())[:1]:
            err.print(f"not judged: {len(result.failed):,} of {len(dialogues):,}, the first {dialogue}: {why}")
        inputs = [("conversations", source)] if source != "-" else []
        runs.append(
            faults_run(dialogues, name, checked=result.checked, inputs=inputs, judge=settings.model_name,
                       resamples=resamples, seed=seed)
        )  # fmt: skip
    return runs, [_agreement_table(judged, settings.model_name)]


def _judge_conversations(dialogues: Sequence[Dialogue], source: str, settings: llm.ChatSettings, seed: int) -> _Judging:
    """Check every conversation and ask the judge about it; one it cannot judge keeps what the checks record."""
    from dialgauge.users.faults import FaultJudge, check_user, with_judged

    client = llm.ChatClient(settings)

    def ask(prompt: str) -> str:
        messages = [{"role": "user", "content": prompt}]
        return client.ask(messages, seed=seed, purse=llm.DialogueBudget(settings)).text

    judge, result = FaultJudge(ask, settings.model_name), _Judging()
    with progress_bar("judging", len(dialogues)) as advance:
        for dialogue in dialogues:
            own = check_user(dialogue)
            try:
                faults = judge.faults(dialogue)
            except (DialgaugeError, llm.BudgetSpent) as error:
                result.failed[dialogue.id] = str(error)
            else:
                own = with_judged(own, faults)
                result.judged[_key(dialogue, source)] = faults
            result.checked.append(own)
            advance(1)
    return result


def _agreement_table(judged: Mapping[tuple[str, str, int], Sequence[UserFault]], model: str) -> report.Table:
    """The judge alone against the labels of those conversations that people labelled."""
    from dialgauge.users.faults import judge_records, load_labels

    labels = [label for label in load_labels() if label.key in judged]
    shares = [report.Column(name, digits=1, percent=True) for name in ("precision", "recall")]
    columns: list[str | report.Column] = ["kind", "right", "wrong", "missed", *shares]
    table = report.Table(f"How the judge {model} agrees with the labels", columns)
    if not labels:
        table.notes.append("None of these conversations is labelled, so how far the judge can be trusted is unknown.")
        return table
    for kind, record in judge_records({label.key: judged[label.key] for label in labels}, labels).items():
        if record.right or record.wrong or record.missed:
            table.add(kind, record.right, record.wrong, record.missed, record.precision.value, record.recall.value)
    table.notes.append(f"On {len(labels)} labelled conversations; what the checks found is not counted here.")
    return table


def _key(dialogue: Dialogue, source: str) -> tuple[str, str, int]:
    """The conversation as labels name it."""
    details = dialogue.outcome.details if dialogue.outcome else {}
    trial = details.get("trial", "0")
    return Path(source).name, details.get("task", dialogue.id), int(trial) if trial.isdigit() else 0
