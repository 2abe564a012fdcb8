"""What the paper says of its data and settings: Table 1, and the hyper-parameters of Tables 8 and 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialgauge.rankers import TASKS, TIMES, RankingTask, embedding_preset, memory_preset
from dialgauge.reproduce.babi.reasons import why_statistics
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.responses import averages, joint_vocabulary, published

_NO_DATA = "the data is not present"
#: Dialogs of each split as Table 1 prints them; tasks 1 to 5 have a second test set of as many.
_DIALOGS = {"trn": (1000, 1618), "dev": (1000, 500), "tst": (1000, 1117), "tst-OOV": (1000, None)}
_SPLIT_NAMES = {"trn": "training", "dev": "validation", "tst": "test", "tst-OOV": "out-of-vocabulary test"}


def table_1(record: Reproduction, tasks: list[RankingTask] | None, concierge: Mapping[str, Any]) -> None:
    """Table 1: the data."""
    part, paper = "Table 1", published()
    present = {task.number: averages(task, "trn") for task in tasks or ()}
    for number in TASKS:
        for name, numbers in paper.statistics.items():
            what, theirs = f"T{number}: {name.replace('_', ' ')} per dialog", f"{numbers[number - 1]:g}"
            ours = present[number][name] if number in present else None
            record.printed(part, what, theirs, ours, why=why_statistics(f"T{number}", name), absent=_NO_DATA)
    for column, chosen in (("T1-T5", (1, 2, 3, 4, 5)), ("T6", (6,))):
        present_tasks = [task for task in tasks or () if task.number in chosen]
        rows = {
            "vocabulary": (
                paper.vocabulary[column],
                joint_vocabulary(present_tasks) if len(present_tasks) == len(set(chosen) & set(TASKS)) else None,
            ),
            "candidates": (paper.candidates[column], len(present_tasks[0].candidates) if present_tasks else None),
        }
        for name, (theirs_count, count) in rows.items():
            why = why_statistics(column, name)
            record.printed(part, f"{column}: {name}", f"{theirs_count}", count, why=why, absent=_NO_DATA)
    _dialog_counts(record, tasks)
    for what, theirs in concierge["table1"].items():
        record.impossible(part, f"Concierge: {what}", theirs, concierge["why"])


def _dialog_counts(record: Reproduction, tasks: list[RankingTask] | None) -> None:
    """The last rows of Table 1, one line per task and split."""
    present = {task.number: task for task in tasks or ()}
    for number in TASKS:
        for split, (simulated, real) in _DIALOGS.items():
            theirs = real if number == 6 else simulated
            what = f"T{number}: {_SPLIT_NAMES[split]} dialogs"
            if theirs is not None:
                ours = len(present[number].split(split)) if number in present else None
                record.printed("Table 1", what, f"{theirs}", ours, absent=_NO_DATA)


#: Table 8: learning rate, margin, dimension, negatives, history; Table 9: learning rate, margin, dimension, negatives,
#: hops. Read off the paper, to be compared with the presets that are trained.
_TABLE_8 = {
    1: "0.01, 0.01, 32, 100, True", 2: "0.01, 0.01, 128, 100, False", 3: "0.01, 0.1, 128, 1000, False",
    4: "0.001, 0.1, 128, 1000, False", 5: "0.01, 0.01, 32, 100, True", 6: "0.001, 0.01, 128, 100, False",
}  # fmt: skip
_TABLE_9 = {
    1: "0.01, 0.1, 128, 100, 1", 2: "0.01, 0.1, 32, 100, 1", 3: "0.01, 0.1, 32, 100, 3",
    4: "0.01, 0.1, 128, 100, 2", 5: "0.01, 0.1, 32, 100, 3", 6: "0.01, 0.1, 128, 100, 4",
}  # fmt: skip
_CONCIERGE_8, _CONCIERGE_9 = "0.001, 0.1, 64, 100, False", "0.001, 0.1, 128, 100, 2"
_NAMES = "learning rate, margin, dimension, negatives"
_MARGIN_NOTE = (
    "Margin and negatives of Table 9 are read by the margin loss only (the setting loss=margin): appendix A trains "
    "memory networks with cross entropy over all candidates, as --preset paper does."
)


#: Appendix A, and what the preset ``paper`` takes.
_ARCHITECTURE = {"time features": "1000", "loss": "softmax", "optimiser": "sgd"}


def hyperparameters(record: Reproduction, why: str) -> None:
    """Tables 8 and 9 and appendix A: theirs, and what the preset ``paper`` takes; ``why`` Concierge has none."""
    for task, theirs in _TABLE_8.items():
        preset = embedding_preset(task, "paper")
        ours = f"{preset.learning_rate:g}, {preset.margin:g}, {preset.dim}, {preset.negatives}, {preset.history}"
        record.text("Table 8", f"T{task}: {_NAMES}, history", theirs, ours, counted=False)
    record.impossible("Table 8", f"Concierge: {_NAMES}, history", _CONCIERGE_8, why)
    for task, theirs in _TABLE_9.items():
        preset = memory_preset(task, "paper")
        ours = f"{preset.learning_rate:g}, {preset.margin:g}, {preset.dim}, {preset.negatives}, {preset.hops}"
        record.text("Table 9", f"T{task}: {_NAMES}, hops", theirs, ours, counted=False)
    record.impossible("Table 9", f"Concierge: {_NAMES}, hops", _CONCIERGE_9, why)
    record.notes.setdefault("Table 9", []).append(_MARGIN_NOTE)
    preset = memory_preset(1, "paper")
    ours_here = {"time features": f"{TIMES}", "loss": preset.loss, "optimiser": preset.optimiser}
    for name, theirs in _ARCHITECTURE.items():
        record.text("Appendix A", f"memory networks: {name}", theirs, ours_here[name], counted=False)
