"""Bordes, Boureau and Weston, ICLR 2017: end-to-end goal-oriented dialog.

Rankers that need no training are computed here and now. The learned ones come from results that are kept with the
package (``kept/babi.json``, with the command, seeds and machine that made them); ``turnwise babi table`` makes them
anew.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from statistics import mean

import msgspec

from turnwise.errors import TurnwiseError
from turnwise.reproduce.record import Reproduction
from turnwise.responses.evaluate import evaluate
from turnwise.responses.neural.config import EMBEDDING_SIZES, MEMORY_SIZES
from turnwise.responses.published import column_of, published
from turnwise.responses.ranker import ranker_class
from turnwise.responses.tables import averages, joint_vocabulary
from turnwise.responses.task import TASKS, Task, load_task

TITLE = "Learning End-to-End Goal-Oriented Dialog"
CITATION = "Bordes, Boureau and Weston, ICLR 2017"
#: Computed each time: our model, and whose row of the paper it stands beside.
UNTRAINED = {
    "rules": "rules",
    "tfidf": "tfidf",
    "tfidf-dev": "tfidf",
    "tfidf-type": "tfidf-type",
    "tfidf-type-dev": "tfidf-type",
    "nearest": "nearest",
}
#: Taken from the kept results, and the table of the paper each stands in.
LEARNED = {
    "embeddings": "Table 2",
    "memn2n": "Table 2",
    "memn2n-type": "Table 2",
    "embeddings-type": "Table 10",
    "embeddings-bigrams": "Table 10",
}


class KeptCell(msgspec.Struct, frozen=True):
    """One model on one task and split with one seed, as fractions."""

    model: str
    task: int
    split: str
    seed: int
    per_response: float
    per_dialog: float


class Kept(msgspec.Struct, frozen=True):
    """Results of earlier trainings, and how they were made."""

    command: str
    hardware: str
    commit: str
    cells: list[KeptCell]


def kept_results() -> Kept | None:
    """The results kept with the package, or None where there are none."""
    path = files("turnwise.reproduce").joinpath("kept", "babi.json")
    return msgspec.json.decode(path.read_bytes(), type=Kept) if path.is_file() else None


def reproduce(data: Path | None) -> Reproduction:
    """Tables 1, 2 and 8 to 10, theirs beside ours; Tables 3 to 7 need a trained model."""
    record = Reproduction("babi", TITLE, CITATION)
    record.missing.append("the Concierge conversations (a proprietary data set that was never released)")
    tasks = _tasks(data)
    if tasks is None:
        record.missing.append("the dialog bAbI files: a folder 'babi' in the data folder ('turnwise data get babi')")
    _table_1(record, tasks)
    for model, row in UNTRAINED.items():
        _untrained(record, model, _printed(row), tasks)
    kept = kept_results()
    if kept is None:
        record.missing.append("results of the learned models ('turnwise babi table' trains them)")
    for model, part in LEARNED.items():
        _learned(record, model, part, kept)
    _hyperparameters(record)
    for number in range(3, 8):
        record.impossible(
            f"Table {number}", "attention of a memory network over one dialog", "a table of weights",
            "needs a trained model: 'turnwise babi train', then 'turnwise babi attention'",
        )  # fmt: skip
    return record


def _tasks(data: Path | None) -> list[Task] | None:
    folder = data / "babi" if data is not None else None
    if folder is None or not folder.is_dir():
        return None
    return [load_task(folder, number) for number in TASKS]


def _table_1(record: Reproduction, tasks: list[Task] | None) -> None:
    part, paper = "Table 1", published()
    present = {task.number: averages(task, "trn") for task in tasks or ()}
    for number in TASKS:
        for name, printed in paper.statistics.items():
            what, theirs = f"T{number}: {name.replace('_', ' ')} per dialog", f"{printed[number - 1]:g}"
            if number in present:
                record.printed(part, what, theirs, present[number][name])
            else:
                record.impossible(part, what, theirs, "the data is not present")
    for column, chosen in (("T1-T5", (1, 2, 3, 4, 5)), ("T6", (6,))):
        found = [task for task in tasks or () if task.number in chosen]
        rows = {
            "vocabulary": (paper.vocabulary[column], joint_vocabulary(found) if found else None),
            "candidates": (paper.candidates[column], len(found[0].candidates) if found else None),
        }
        for name, (theirs_count, ours) in rows.items():
            if ours is None:
                record.impossible(part, f"{column}: {name}", f"{theirs_count}", "the data is not present")
            else:
                record.printed(part, f"{column}: {name}", f"{theirs_count}", ours)


def _untrained(record: Reproduction, model: str, printed: dict[str, tuple[str, str]], tasks: list[Task] | None) -> None:
    if tasks is None:
        for column, (theirs, _) in printed.items():
            record.impossible("Table 2", f"{model}, {column}: per-response", theirs, "the data is not present")
        return
    for task in tasks:
        ranker = ranker_class(model)()
        ranker.fit(task)
        for split in (name for name in ("tst", "tst-OOV") if name in task.splits):
            result = evaluate(ranker, task.split(split))
            named = column_of(task.number, split) or ""
            record.printed("Table 2", f"{model}, {named}: per-response", printed[named][0], result.per_response)
            record.printed("Table 2", f"{model}, {named}: per-dialog", printed[named][1], result.per_dialog)


def _learned(record: Reproduction, model: str, part: str, kept: Kept | None) -> None:
    for column, (response, dialog) in _printed(model).items():
        wanted = (model, column)
        cells = [
            cell for cell in (kept.cells if kept else ()) if (cell.model, column_of(cell.task, cell.split)) == wanted
        ]
        for what, theirs, values in (
            ("per-response", response, [cell.per_response for cell in cells]),
            ("per-dialog", dialog, [cell.per_dialog for cell in cells]),
        ):
            label = f"{model}, {column}: {what}"
            if not values:
                record.impossible(part, label, theirs, "no kept result; 'turnwise babi table' trains the model")
            else:
                spread = (min(values), max(values))
                record.sampled(part, label, theirs, mean(values), spread, note=f"{len(values)} seeds, least to most")


def _printed(model: str) -> dict[str, tuple[str, str]]:
    """Column to per-response and per-dialog accuracy as printed."""
    found = {}
    for column in published().columns:
        accuracy = published().accuracy(model, column)
        if accuracy is None:
            raise TurnwiseError(f"the paper has no {model} in column {column}")
        found[column] = (_percent(accuracy[0]), _percent(accuracy[1]))
    return found


def _percent(value: float) -> str:
    """As the paper prints it: one digit, except for 100 and 0."""
    text = f"{100 * value:.1f}"
    return f"{text.removesuffix('.0') if text in ('100.0', '0.0') else text}%"


def _hyperparameters(record: Reproduction) -> None:
    names = "learning rate, margin, dimension, negatives, history"
    theirs = {
        1: "0.01, 0.01, 32, 100, True", 2: "0.01, 0.01, 128, 100, False", 3: "0.01, 0.1, 128, 1000, False",
        4: "0.001, 0.1, 128, 1000, False", 5: "0.01, 0.01, 32, 100, True", 6: "0.001, 0.01, 128, 100, False",
    }  # fmt: skip
    for task, printed in theirs.items():
        record.text("Table 8", f"T{task}: {names}", printed, ", ".join(map(str, EMBEDDING_SIZES[task])))
    sizes = {1: "128, 1", 2: "32, 1", 3: "32, 3", 4: "128, 2", 5: "32, 3", 6: "128, 4"}
    for task, printed in sizes.items():
        record.text("Table 9", f"T{task}: dimension, hops", printed, ", ".join(map(str, MEMORY_SIZES[task])))
