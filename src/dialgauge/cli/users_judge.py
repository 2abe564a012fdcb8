"""A language model as an additional judge of ``dialgauge users faults``, and how it agrees with the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from dialgauge import report
from dialgauge.agents import llm
from dialgauge.cli.lab_options import named_settings
from dialgauge.cli.options import Option
from dialgauge.cli.screen import progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.users import faults

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue

JudgeOption = Annotated[str, Option(metavar="URL|local", help="Also ask a language model, which only adds faults.")]
JudgeSettings = Annotated[
    list[str] | None, Option(metavar="NAME=VALUE", help="Judge setting: model, key_env, cassette, ...; repeatable.")
]
#: Letters enough for a verdict with several faults.
_DEFAULTS = {"max_tokens": "1000"}


class Judging(Struct):
    """What the checks and the judge found together, and the judge's own faults by conversation."""

    checked: list[faults.CheckedConversation] = []
    judged: dict[tuple[str, str, int], Sequence[faults.UserFault]] = {}
    failed: dict[str, str] = {}


def judge_settings(endpoint: str, given: Sequence[str] | None) -> llm.ChatSettings:
    """The judge as the options say it."""
    return llm.chat_settings({**_DEFAULTS, "endpoint": endpoint, **named_settings(given, "--judge-set")})


def judge_conversations(
    dialogues: Sequence[Dialogue], source: str, settings: llm.ChatSettings, seed: int = 0
) -> Judging:
    """Check every conversation and ask the judge about it; one it cannot judge keeps what the checks found."""
    from dialgauge.users.faults import FaultJudge, check_user, with_judged

    client = llm.ChatClient(settings)

    def ask(prompt: str) -> str:
        messages = [{"role": "user", "content": prompt}]
        return client.ask(messages, seed=seed, purse=llm.DialogueBudget(settings)).text

    judge, result = FaultJudge(ask, settings.model_name), Judging()
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


def agreement_table(judged: Mapping[tuple[str, str, int], Sequence[faults.UserFault]], model: str) -> report.Table:
    """The judge alone against the labels of those conversations that people labelled."""
    labels = [label for label in faults.load_labels() if label.key in judged]
    shares = [report.Column(name, digits=1, percent=True) for name in ("precision", "recall")]
    columns: list[str | report.Column] = ["kind", "right", "wrong", "missed", *shares]
    table = report.Table(f"How the judge {model} agrees with the labels", columns)
    if not labels:
        table.notes.append("None of these conversations is labelled, so how far the judge can be trusted is unknown.")
        return table
    for kind, judge_record in faults.judge_records({label.key: judged[label.key] for label in labels}, labels).items():
        if judge_record.right or judge_record.wrong or judge_record.missed:
            table.add(
                kind,
                judge_record.right,
                judge_record.wrong,
                judge_record.missed,
                judge_record.precision.value,
                judge_record.recall.value,
            )
    table.notes.append(f"On {len(labels)} labelled conversations; what the checks found is not counted here.")
    return table


def _key(dialogue: Dialogue, source: str) -> tuple[str, str, int]:
    """The conversation as labels name it."""
    details = dialogue.outcome.details if dialogue.outcome else {}
    trial = details.get("trial", "0")
    return Path(source).name, details.get("task", dialogue.id), int(trial) if trial.isdigit() else 0
