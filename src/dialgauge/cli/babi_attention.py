"""``dialgauge babi attention``: what a memory network looks at before it answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.babi_options import (
    CandidatesOption,
    DeviceOption,
    FactsOption,
    LogsOption,
    MaybeDataOption,
    data_or_logs,
    settings,
    tell,
)
from dialgauge.cli.common import JsonOption, StoreOption, WideOption, on_screen, out, write_json
from dialgauge.cli.options import CommandGroup, Option, OutputFile
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.rankers import Episode, RankingTask


def register(app: CommandGroup) -> None:
    """Add the command to ``dialgauge babi``."""
    app.command("attention")(attention)


def attention(
    folder: Annotated[Path, Option("--load", metavar="FOLDER", help="The trained memory network.")],
    data: MaybeDataOption = None,
    logs: LogsOption = None,
    candidates: CandidatesOption = None,
    facts: FactsOption = None,
    dialog: Annotated[int, Option(min=1, help="Which dialog of the split, counted from 1.")] = 1,
    turn: Annotated[int | None, Option(min=1, help="Which reply, counted from 1. Default: all.")] = None,
    split: Annotated[str, Option(help="trn, dev, tst or tst-OOV.")] = "tst",
    most: Annotated[int | None, Option(min=1, help="Show only that many memories per reply.")] = None,
    figure: Annotated[
        Path | None, OutputFile(metavar="FILE", help="A heat map (svg, png, pdf, json); needs --turn.")
    ] = None,
    device: DeviceOption = None,
    store: StoreOption = None,
    json: JsonOption = None,
    wide: WideOption = False,
) -> None:
    """Show the memories of a dialog with their weights in every hop, and what the model then said."""
    out.wide = wide
    import msgspec

    from dialgauge.rankers import load_ranker, seed_of
    from dialgauge.report import check_ending, save
    from dialgauge.responses import attention_figure, attention_of, attention_run, attention_table, run_record
    from dialgauge.runs import Store

    if figure is not None:
        if turn is None:
            raise DialgaugeError("--figure draws one reply; name it with --turn")
        check_ending(figure)
    task = data_or_logs(
        data, logs, None, seed_of(folder), candidates=candidates, facts=facts, folder=folder, splits=(split,)
    )
    ranker = load_ranker(folder, task=task, options=settings(None, None, device))
    chosen = _dialog(task, split, dialog)
    run = Store(store).add(attention_run(ranker, task, split, chosen, _replies(chosen, turn)))
    shown = attention_of(run)
    for one in shown if on_screen(json) else ():
        out.print(attention_table(one, most).render("terminal"))
    tell(f"weights stored in run {run.id}")
    if figure is not None:
        save(attention_figure(shown[0], most or 24), figure)
    if json is not None:
        weights = [msgspec.to_builtins(one) | {"turn": one.turn + 1} for one in shown]
        write_json(json, {"systems": [{**run_record(run), "attention": weights}]})


def _dialog(task: RankingTask, split: str, dialog: int) -> Episode:
    dialogs = task.split(split)
    if dialog > len(dialogs):
        raise DialgaugeError(
            f"the split '{split}' has {counted(len(dialogs), 'dialog')}, so there is no dialog {dialog}"
        )
    return dialogs[dialog - 1]


def _replies(dialog: Episode, turn: int | None) -> list[int]:
    """The numbers of the replies to show."""
    count = len(dialog.prompts)
    if turn is None:
        return list(range(count))
    if turn > count:
        raise DialgaugeError(f"the dialog has {counted(count, 'reply', 'replies')}, so there is no reply {turn}")
    return [turn - 1]
