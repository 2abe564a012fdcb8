"""Evidence on the bAbI paper's bots: accuracies of rankers, the released dialogs, and where memory networks look.

``cells``         training (empty for rankers without, ``ours``, ``paper``), model, task, col, measure, value, low,
                  high, seeds, cut: means over seeds, least and most; learned models are those kept with the package
``response``, ``dialog``   a row per col with a column per model, learned ones by the paper's training; task, oov
``variants``      kept results with other settings: model, task, option, response
``chosen``, ``rules_dev``   the input TF-IDF match chose on dev by task; per-response accuracy of the rules on T6's dev
``printed_cells``, ``printed_counts``   Tables 2, 10 and 1 as printed
``counts``        the same counts of the released files
``lines``, ``facts``, ``candidates``, ``patterns``, ``offers``   the released dialogs
``settings``      what the preset ``paper`` takes, by place and row of the paper
``attention``, ``attention_answers``   weights by part, line and hop; rank of the right answer
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from importlib.resources import files
from pathlib import Path
from statistics import mean
from typing import Any

import msgspec
import polars as pl

from dialgauge.rankers import (
    TASKS,
    TIMES,
    RankingTask,
    embedding_preset,
    fit_model,
    load_task,
    memory_preset,
    ranker_class,
)
from dialgauge.reproduce.claims import Paper
from dialgauge.reproduce.evidence import ClaimTables, NotComputable
from dialgauge.responses import (
    averages,
    column_of,
    evaluate,
    joint_vocabulary,
    published,
    split_is_released,
    training_is_released,
)
from dialgauge.runs import Run

#: Rankers that are not trained, computed each time.
UNTRAINED = ("rules", "tfidf", "tfidf-dev", "tfidf-type", "tfidf-type-dev", "nearest")
LEARNED = ("embeddings", "memn2n", "memn2n-type", "embeddings-type", "embeddings-bigrams")
_TRAININGS = {"ours": "babi.json", "paper": "babi_paper.json"}
_SPLITS = ("tst", "tst-OOV")
_SPLIT_NAMES = {"trn": "training", "dev": "validation", "tst": "test", "tst-OOV": "out-of-vocabulary test"}


class KeptCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model on one task and split with one seed, as fractions."""

    model: str
    task: int
    split: str
    seed: int
    per_response: float
    per_dialog: float
    #: Settings other than those of the training, such as ``hops=1``.
    options: str = ""
    #: Whether the training was stopped before it had come to its end.
    cut: bool = False


class Kept(msgspec.Struct, frozen=True):
    """Results of earlier trainings; how they were made stands in the file."""

    cells: list[KeptCell]


class AttentionPlace(msgspec.Struct, frozen=True):
    """A reply of a dialog in the released files; both are counted from 1."""

    task: int
    split: str
    dialog: int
    reply: int


class AttentionSample(msgspec.Struct, frozen=True):
    """Where a memory network of ours looked, and what it then said. No words of a dialog are kept."""

    place: AttentionPlace
    #: Per hop the weight of each line.
    hops: list[list[float]]
    #: The rank of the right candidate, from 1.
    right: int


class KeptAttention(msgspec.Struct, frozen=True):
    """Attention of earlier trainings; how they were made stands in the file."""

    samples: list[AttentionSample]


def kept_results(training: str) -> list[KeptCell]:
    """The results of a training kept with the package."""
    return msgspec.json.decode(_kept(_TRAININGS[training]), type=Kept).cells


def _kept(name: str) -> bytes:
    return files("dialgauge.reproduce").joinpath("kept", name).read_bytes()


def evidence(paper: Paper, data: Path | None, runs: Mapping[str, Run]) -> ClaimTables:
    """Evidence from the released files; what the paper prints is the evidence ``in_print``."""
    bots = _Bots(data / "babi" if data is not None else None, paper.facts["places"])
    printed = ClaimTables({"response": partial(_wide_print, 0), "dialog": partial(_wide_print, 1)})
    no_data = str(_no_data())
    why_absent = {model.replace("-", "_"): no_data for model in UNTRAINED}
    names = (
        "cells", "response", "dialog", "variants", "chosen", "rules_dev", "printed_cells", "printed_counts", "counts",
        "lines", "facts", "candidates", "patterns", "offers", "settings", "attention", "attention_answers",
    )  # fmt: skip
    tables: dict[str, Callable[[], pl.DataFrame]] = {name: getattr(bots, name) for name in names}
    return ClaimTables(tables, why_absent, bots.missing, bots.datasets_to_get, in_print=printed)


class _Bots:
    def __init__(self, folder: Path | None, places: Sequence[Mapping[str, Any]]) -> None:
        self._folder, self._places = folder, places
        present = [] if folder is None else [n for n in TASKS if any(folder.glob(f"dialog-babi-task{n}-*"))]
        self.missing: list[str] = []
        if lost := [f"task {number}" for number in TASKS if number not in present]:
            self.missing.append(f"the dialog bAbI files of {', '.join(lost)} (dialgauge data get babi)")
        self._present = present
        if other := next((task.number for task in self.tasks if not _is_released(task)), None):
            self.missing.append(f"the dialog bAbI files as released: those of task {other} are others")
            self.tasks = []
        self.datasets_to_get = ["babi"] if self.missing else []

    @cached_property
    def tasks(self) -> list[RankingTask]:
        return [load_task(self._folder, number) for number in self._present] if self._folder else []

    def _all_tasks(self, *numbers: int) -> list[RankingTask]:
        tasks = [task for task in self.tasks if task.number in numbers]
        if len(tasks) < len(numbers):
            raise _no_data()
        return tasks

    # Accuracies

    def cells(self) -> pl.DataFrame:
        rows = [*self._untrained_cells]
        for training in _TRAININGS:
            groups: dict[tuple[str, int, str], list[KeptCell]] = {}
            for cell in kept_results(training):
                if cell.split in _SPLITS and not cell.options and cell.model in LEARNED:
                    groups.setdefault((cell.model, cell.task, cell.split), []).append(cell)
            for (model, task, split), cells in groups.items():
                col, cut = column_of(task, split), any(cell.cut for cell in cells)
                for measure in ("per_response", "per_dialog"):
                    values = [getattr(cell, measure) for cell in cells]
                    shown = measure.replace("_", "-")
                    known = (mean(values), min(values), max(values), len(values), cut)
                    rows.append((training, model, task, col, shown, *known))
        names = ["training", "model", "task", "col", "measure", "value", "low", "high", "seeds", "cut"]
        return pl.DataFrame(rows, schema=names, orient="row")

    @cached_property
    def _evaluated(self) -> dict[tuple[str, int], tuple[dict[str, Any], dict[str, tuple[float, float]]]]:
        """By model and task its settings and its accuracies by split; what chose the same is evaluated once."""
        known: dict[str, dict[str, tuple[float, float]]] = {}
        evaluated = {}
        for model in UNTRAINED:
            for task in self.tasks:
                ranker = ranker_class(model)()
                fit_model(ranker, task)
                settings = ranker.settings()
                how = repr((task.number, getattr(type(ranker), "scores", model), settings))
                if how not in known:
                    results = {name: evaluate(ranker, task.split(name)) for name in _SPLITS if name in task.splits}
                    known[how] = {name: (one.per_response, one.per_dialog) for name, one in results.items()}
                evaluated[model, task.number] = settings, known[how]
        return evaluated

    @property
    def _untrained_cells(self) -> Iterator[tuple[Any, ...]]:
        for (model, task), (_, splits) in self._evaluated.items():
            for split, accuracies in splits.items():
                for measure, value in zip(("per-response", "per-dialog"), accuracies, strict=True):
                    yield "", model, task, column_of(task, split), measure, value, value, value, 1, False

    def response(self) -> pl.DataFrame:
        return self._wide("per-response")

    def dialog(self) -> pl.DataFrame:
        return self._wide("per-dialog")

    def _wide(self, measure: str) -> pl.DataFrame:
        cells = self.cells().filter((pl.col("measure") == measure) & (pl.col("training") != "ours"))
        values = {(model, col): value for model, col, value in cells.select("model", "col", "value").rows()}
        return _wide(lambda model, col: values.get((model, col)), (*UNTRAINED, *LEARNED))

    def variants(self) -> pl.DataFrame:
        cells = [cell for cell in kept_results("paper") if cell.split == "tst"]
        rows = [(cell.model, cell.task, cell.options or "none", cell.seed, cell.per_response) for cell in cells]
        return pl.DataFrame(rows, schema=["model", "task", "option", "seed", "response"], orient="row")

    def chosen(self) -> pl.DataFrame:
        self._all_tasks(*TASKS)
        rows = [(task, how["input"]) for (model, task), (how, _) in self._evaluated.items() if model == "tfidf-dev"]
        return pl.DataFrame(rows, schema=["task", "input"], orient="row")

    def rules_dev(self) -> pl.DataFrame:
        [task] = self._all_tasks(6)
        rules = ranker_class("rules")()
        fit_model(rules, task)
        return pl.DataFrame({"response": [evaluate(rules, task.split("dev")).per_response]})

    def printed_cells(self) -> pl.DataFrame:
        rows = []
        for model in published().per_response:
            for col in published().columns:
                for measure, value in zip(("per-response", "per-dialog"), _printed(model, col), strict=True):
                    text = f"{100 * value:.1f}"
                    rows.append(
                        (model, col, measure, value, f"{text.removesuffix('.0') if value in (0, 1) else text}%")
                    )
        return pl.DataFrame(rows, schema=["model", "col", "measure", "value", "printed"], orient="row")

    # Table 1 and the settings

    def printed_counts(self) -> pl.DataFrame:
        paper = published()
        rows = [
            (f"T{number}", f"{name.replace('_', ' ')} per dialog", f"{numbers[number - 1]:g}")
            for name, numbers in paper.statistics.items()
            for number in TASKS
        ]
        for col in paper.vocabulary:
            rows += [(col, "vocabulary", f"{paper.vocabulary[col]}"), (col, "candidates", f"{paper.candidates[col]}")]
        return pl.DataFrame(rows, schema=["col", "what", "printed"], orient="row")

    def counts(self) -> pl.DataFrame:
        if not self.tasks:
            raise _no_data()
        rows: list[tuple[str, str, float]] = []
        for task in self.tasks:
            means = averages(task, "trn")
            rows += [(f"T{task.number}", f"{name.replace('_', ' ')} per dialog", one) for name, one in means.items()]
            for split, dialogs in task.splits.items():
                rows.append((f"T{task.number}", f"{_SPLIT_NAMES[split]} dialogs", float(len(dialogs))))
        for col, numbers in (("T1-T5", (1, 2, 3, 4, 5)), ("T6", (6,))):
            tasks = [task for task in self.tasks if task.number in numbers]
            if tasks:
                rows.append((col, "candidates", float(len(tasks[0].candidates))))
            if len(tasks) == len(numbers):
                rows.append((col, "vocabulary", float(joint_vocabulary(tasks))))
        return pl.DataFrame(rows, schema=["col", "what", "value"], orient="row")

    def settings(self) -> pl.DataFrame:
        """Learning rate, margin, dimension, negatives, and history or hops."""
        rows = []
        for task in TASKS:
            of_embedding, of_memory = embedding_preset(task, "paper"), memory_preset(task, "paper")
            for table, preset, last in (
                ("Table 8", of_embedding, of_embedding.history),
                ("Table 9", of_memory, of_memory.hops),
            ):
                text = f"{preset.learning_rate:g}, {preset.margin:g}, {preset.dim}, {preset.negatives}, {last}"
                rows.append((table, f"T{task}", text))
        memory = memory_preset(1, "paper")
        for name, text in (("time features", f"{TIMES}"), ("loss", memory.loss), ("optimiser", memory.optimiser)):
            rows.append(("Appendix A", name, text))
        return pl.DataFrame(rows, schema=["place", "row", "text"], orient="row")

    # The released dialogs

    def lines(self) -> pl.DataFrame:
        rows = [
            (task.number, split, number, place, line.kind, line.text)
            for task in self._all_tasks(*TASKS)
            for split, dialogs in task.splits.items()
            for number, dialog in enumerate(dialogs)
            for place, line in enumerate(dialog.lines)
        ]
        return pl.DataFrame(rows, schema=["task", "split", "dialog", "line", "kind", "text"], orient="row")

    def facts(self) -> pl.DataFrame:
        rows = [
            (name, fact.entity, fact.relation, fact.value)
            for name, task in zip(("T1-T5", "T6"), self._all_tasks(1, 6), strict=True)
            for fact in task.facts
        ]
        return pl.DataFrame(rows, schema=["base", "entity", "relation", "value"], orient="row")

    def candidates(self) -> pl.DataFrame:
        """The candidates of T1 to T5."""
        return pl.DataFrame({"text": list(self._all_tasks(1)[0].candidates)})

    def patterns(self) -> pl.DataFrame:
        """kind (user, bot), pattern: utterances of T1 to T5 with values replaced, cut into openings and fields."""
        tasks = self._all_tasks(1, 2, 3, 4, 5)
        rows = [(kind, pattern) for kind in ("user", "bot") for pattern in sorted(_patterns(tasks, kind))]
        return pl.DataFrame(rows, schema=["kind", "pattern"], orient="row")

    def offers(self) -> pl.DataFrame:
        """Of T6, each first offer after the results of a call, and whether it is one of the best rated."""
        rows = []
        [task] = self._all_tasks(6)
        for split in ("trn", "dev", "tst"):
            for number, dialog in enumerate(task.split(split)):
                ratings: dict[str, int] = {}
                waiting = False
                for line in dialog.lines:
                    words = line.text.split()
                    if line.kind == "fact":
                        waiting = True
                        ratings |= {words[0]: int(words[2])} if words[1] == "R_rating" else {}
                    elif line.kind == "bot" and line.text.startswith("api_call"):
                        ratings = {}
                    elif line.kind == "bot" and waiting:
                        waiting = False
                        offered = [name for name in ratings if _offers(line.text, name)][:1]
                        rows += [(split, number, ratings[name] == max(ratings.values())) for name in offered]
        return pl.DataFrame(rows, schema=["split", "dialog", "best"], orient="row")

    # Where memory networks look

    @cached_property
    def _samples(self) -> dict[str, AttentionSample]:
        """The samples by the part of the paper that prints the same place."""
        parts = {
            AttentionPlace(**{name: place[name] for name in ("task", "split", "dialog", "reply")}): place["part"]
            for place in self._places
        }
        kept = msgspec.json.decode(_kept("babi_attention.json"), type=KeptAttention).samples
        return {parts[sample.place]: sample for sample in kept if sample.place in parts}

    def attention(self) -> pl.DataFrame:
        rows = [
            (part, line, hop, weight)
            for part, sample in self._samples.items()
            for hop, weights in enumerate(sample.hops, start=1)
            for line, weight in enumerate(weights, start=1)
        ]
        return pl.DataFrame(rows, schema=["part", "line", "hop", "weight"], orient="row")

    def attention_answers(self) -> pl.DataFrame:
        rows = [(part, sample.right) for part, sample in self._samples.items()]
        return pl.DataFrame(rows, schema=["part", "right"], orient="row")


def _no_data() -> NotComputable:
    return NotComputable("the dialog bAbI files are not here", "dialgauge data get babi")


def _is_released(task: RankingTask) -> bool:
    tests = [split for split in _SPLITS if split in task.splits]
    return training_is_released(task) and all(split_is_released(task, split) for split in tests)


def _printed(model: str, col: str) -> tuple[float, float]:
    return published().accuracy(model, col) or (float("nan"), float("nan"))


def _wide_print(measure: int) -> pl.DataFrame:
    return _wide(lambda model, col: _printed(model, col)[measure], tuple(published().per_response))


def _wide(accuracy: Callable[[str, str], float | None], models: Sequence[str]) -> pl.DataFrame:
    """A row for each column of the paper; models that lack one are left out."""
    columns = published().columns
    frame = {"col": columns, "task": [int(col[1]) for col in columns], "oov": [col.endswith("OOV") for col in columns]}
    for model in models:
        values = [accuracy(model, col) for col in columns]
        frame |= {} if None in values else {model.replace("-", "_"): values}
    return pl.DataFrame(frame)


#: What says one field, wherever it stands: alone, or after an opening.
_FIELD = re.compile(
    r"in <R_location>|in a <R_price> price range|for <R_number> people|for <R_number>|"
    r"with <R_cuisine> (?:food|cuisine)|at <name>"
)


def _patterns(tasks: Sequence[RankingTask], kind: str) -> set[str]:
    facts = tasks[0].facts
    kinds = {fact.value: f"<{fact.relation}>" for fact in facts} | {fact.entity: "<name>" for fact in facts}
    replaced = cache(lambda text: " ".join(kinds.get(word, word) for word in text.split()))
    patterns = set()
    for text in {
        replaced(line.text)
        for task in tasks
        for dialogs in task.splits.values()
        for dialog in dialogs
        for line in dialog.lines
        if line.kind == kind
    }:
        fields = _FIELD.findall(text)
        opening = text.removesuffix(" ".join(fields)) if fields else text
        cut = fields and opening != text
        patterns.update([*fields, *filter(None, [opening.strip()])] if cut else [text])
    return patterns


def _offers(text: str, restaurant: str) -> bool:
    return text.startswith((f"{restaurant} ", f"{restaurant.replace('_', ' ')} "))
