"""``dialgauge babi attention``: what a memory network looks at before it answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from dialgauge import rankers, rendering, responses, runs
from dialgauge.cli.babi_options import DeviceOption, Replies, tell
from dialgauge.cli.common import DrawnOutput, LimitOption, RunOption, StoreOption
from dialgauge.cli.options import Option, command
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted


@command()
def attention(
    folder: Annotated[Path, Option("--load", metavar="FOLDER", help="Folder of the trained memory network.")],
    dialogue: Annotated[int, Option(min=1, help="Dialogue to show: its number within the split, from 1.")] = 1,
    turn: Annotated[int | None, Option(min=1, help="Reply number, from 1. Default: all.")] = None,
    split: Annotated[
        Literal["trn", "dev", "tst", "tst-OOV"], Option(metavar="TEXT", help="trn, dev, tst or tst-OOV.")
    ] = "tst",
    answers: Annotated[
        int, Option(min=0, max=1_000, help="Also show the model's N best answers, and where the right one is.")
    ] = 0,
    limit: LimitOption = 0,
    device: DeviceOption = None,
    run: RunOption = False,
    store: StoreOption = None,
    *,
    replies: Replies,
    output: DrawnOutput,
) -> None:
    """Show the memories of a dialog with their weights in every hop, and the model's reply. Figures are heat maps."""
    task = replies.task(None, rankers.seed_of(folder), folder=folder, splits=(split,))
    ranker = rankers.load_ranker(folder, task=task, options={} if device is None else {"device": device})
    chosen = _dialog(task, split, dialogue)
    made = responses.attention_run(ranker, task, split, chosen, _replies(chosen, turn), answers=answers)
    if run:
        made = runs.Store(store).add(made)
        tell(f"stored as run {made.id}")
    shown = responses.attention_of(made)
    best = _best_answers(made, shown) if answers else {}
    output.show(
        [
            table
            for sample in shown
            for table in (responses.attention_table(sample, limit or None), *best.get(sample.turn, ()))
        ],
        in_file=[
            table for sample in shown for table in (responses.attention_table(sample), *best.get(sample.turn, ()))
        ],
    )
    maps = {f"attention{sample.turn + 1}": partial(responses.attention_figure, sample, limit or 24) for sample in shown}
    output.draw(maps)
    weights = [msgspec.to_builtins(sample) | {"turn": sample.turn + 1} for sample in shown]
    output.document("babi-attention", {"systems": [{**responses.run_record(made), "attention": weights}]})


def _best_answers(made: runs.Run, shown: Sequence[rankers.Attention]) -> dict[int, list[rendering.Table]]:
    """Number of the reply to the table of answers to it."""
    turns = made.table("replies")["turn"].to_list()
    return {
        sample.turn: [responses.answers_table(made, sample, turn)] for sample, turn in zip(shown, turns, strict=True)
    }


def _dialog(task: rankers.RankingTask, split: str, dialog: int) -> rankers.Episode:
    dialogs = task.split(split)
    if dialog > len(dialogs):
        raise DialgaugeError(f"the split '{split}' has {counted(len(dialogs), 'dialogue')}, so no dialogue {dialog}")
    return dialogs[dialog - 1]


def _replies(dialog: rankers.Episode, turn: int | None) -> list[int]:
    """The numbers of the replies to show."""
    count = len(dialog.prompts)
    if turn is None:
        return list(range(count))
    if turn > count:
        raise DialgaugeError(f"the dialogue has {counted(count, 'reply', 'replies')}, so no reply {turn}")
    return [turn - 1]
