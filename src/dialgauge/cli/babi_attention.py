"""``dialgauge babi attention``: what a memory network looks at before it answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialgauge.cli.babi_options import DeviceOption, LogsOption, MaybeDataOption, data_or_logs, settings, tell
from dialgauge.cli.common import JsonOption, StoreOption, on_screen, out, write_json
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.rankers import Point, RankingTask


def register(app: typer.Typer) -> None:
    """Add the command to ``dialgauge babi``."""
    app.command("attention")(attention)


def attention(
    folder: Annotated[Path, typer.Option("--load", metavar="FOLDER", help="The trained memory network.")],
    data: MaybeDataOption = None,
    logs: LogsOption = None,
    dialog: Annotated[int, typer.Option(min=1, help="Which dialog of the split, counted from 1.")] = 1,
    turn: Annotated[int | None, typer.Option(min=1, help="Which reply, counted from 1. Default: all.")] = None,
    split: Annotated[str, typer.Option(help="trn, dev, tst or tst-OOV.")] = "tst",
    most: Annotated[int | None, typer.Option(min=1, help="Show only that many memories per reply.")] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A heat map (svg, png, pdf, json); needs --turn.")
    ] = None,
    device: DeviceOption = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """Show the memories of a dialog with their weights in every hop, and what the model then said."""
    import msgspec

    from dialgauge.rankers import load_ranker, seed_of
    from dialgauge.report import check_ending, save
    from dialgauge.responses import attend, attention_figure, attention_table, keep_attention
    from dialgauge.runs import Store

    if figure is not None:
        if turn is None:
            raise DialgaugeError("--figure draws one reply; name it with --turn")
        check_ending(figure)
    task = data_or_logs(data, logs, None, seed_of(folder), folder=folder, splits=(split,))
    ranker = load_ranker(folder, task=task, options=settings(None, None, device))
    seen = attend(ranker, _points(task, split, dialog, turn))
    for one in seen if on_screen(json) else ():
        out.print(attention_table(one, most).render("terminal"))
    tell(f"weights kept in run {keep_attention(ranker, task, split, seen, Store(store))}")
    if figure is not None:
        save(attention_figure(seen[0], most or 24), figure)
    if json is not None:
        write_json(json, {"attention": [msgspec.to_builtins(one) | {"turn": one.turn + 1} for one in seen]})


def _points(task: RankingTask, split: str, dialog: int, turn: int | None) -> list[Point]:
    dialogs = task.split(split)
    if dialog > len(dialogs):
        raise DialgaugeError(
            f"the split '{split}' has {counted(len(dialogs), 'dialog')}, so there is no dialog {dialog}"
        )
    points = dialogs[dialog - 1].points()
    if turn is None:
        return points
    if turn > len(points):
        raise DialgaugeError(f"the dialog has {counted(len(points), 'reply', 'replies')}, so there is no reply {turn}")
    return [points[turn - 1]]
